//! Tickets: the owner of each flash operation, and the action when it is done.

use crate::nand::job::{Job, Place, Work};
use fathom_base::Ppn;

/// No request, or no program.
pub(super) const NOBODY: u32 = u32::MAX;
/// Stands for a step of folding in idle time in place of a request.
pub(super) const FOLDING: u32 = u32::MAX - 1;
/// Marks a program that is not the last one of a buffer batch.
pub(super) const NO_BATCH: u32 = u32::MAX;

/// The owner of a flash operation.
#[derive(Clone, Debug)]
pub(super) enum Ticket {
    /// A host read: `bytes` bytes go over the link.
    Read { request: u32, bytes: u32 },
    /// A read of data that a program waits for.
    Gather { program: u32 },
    /// A program or a copy.
    Program(Program),
    /// An erase, with the number of stations still working on it.
    Erase { cblock: u32, stations: u32 },
    /// A read-ahead.
    Ahead,
    /// A read of the mapping table, and the operations that wait for it.
    Map {
        place: Place,
        work: Work,
        waiting: Vec<Wants>,
    },
    /// A program outside of the mapped blocks.
    Apart { sectors: u32 },
    /// Reads of the other pages of a stripe, with the number of those to come, for the operation that goes on then.
    Rebuild { job: Job, left: u32 },
    /// Background work of a station.
    Busy { station: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Its number in its domain.
    pub(super) number: u64,
    pub(super) at: Ppn,
    pub(super) units: u32,
    /// Source of a copy within one station; [`Ppn::NONE`] if the data comes from the controller.
    pub(super) from: Ppn,
    /// For a copy: true if it stays within the planes of its lane.
    pub(super) stays: bool,
    /// Sectors of the buffer to release when it is done, if it is the last program of its batch; otherwise [`NO_BATCH`].
    pub(super) releases: u32,
    /// The unbuffered write that waits for it, or [`NOBODY`].
    pub(super) request: u32,
    /// Number of reads that it waits for.
    pub(super) reads: u32,
    /// A program that starts together with it, because it may need the data of these reads; [`NOBODY`] if there is none.
    pub(super) next: u32,
}

/// A read of a part of the mapping table.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapRead {
    /// Its place in flash.
    pub(super) place: Place,
    /// True if it is read from host memory.
    pub(super) from_host: bool,
}

/// An operation that waits for a part of the mapping table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wants {
    /// A host read, to locate its data.
    Read { request: u32 },
    /// A program.
    Program { program: u32 },
    /// Nothing.
    Nobody,
}

impl Wants {
    /// Returns the kind of flash read to use for it.
    pub(super) fn work(self) -> Work {
        match self {
            Wants::Read { .. } => Work::Read,
            Wants::Program { .. } | Wants::Nobody => Work::Gather,
        }
    }
}
