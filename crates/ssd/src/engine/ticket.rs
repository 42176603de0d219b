//! Whose a flash operation is, and what follows when it is done.

use crate::nand::job::{Place, Work};
use fathom_base::Ppn;

/// No request, or no program.
pub(super) const NOBODY: u32 = u32::MAX;
/// Not the last program of what left the buffer together.
pub(super) const NO_BATCH: u32 = u32::MAX;

/// Whose a flash operation is.
#[derive(Clone, Debug)]
pub(super) enum Ticket {
    /// A host read: its bytes go over the link.
    Read { request: u32, bytes: u32 },
    /// A read for a program that waits for it.
    Gather { program: u32 },
    /// A program or a copy.
    Program(Program),
    /// An erase, with stations still at work.
    Erase { cblock: u32, stations: u32 },
    /// Sectors that are read ahead.
    Ahead,
    /// A read of the map, and what waits for it.
    Map {
        place: Place,
        work: Work,
        waiting: Vec<Wants>,
    },
    /// Background work of a station.
    Busy { station: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Its number in its domain.
    pub(super) number: u64,
    pub(super) at: Ppn,
    pub(super) units: u32,
    /// Where its station itself copies from; [`Ppn::NONE`] if the data comes from the controller.
    pub(super) from: Ppn,
    /// Whether it stays within the planes of its lane.
    pub(super) stays: bool,
    /// Sectors of the buffer that the batch sets free whose last program it is; [`NO_BATCH`] for any other.
    pub(super) releases: u32,
    /// The unbuffered write that waits for it.
    pub(super) request: u32,
    /// Reads that it waits for.
    pub(super) reads: u32,
    /// A program that starts with it, because it may need what these reads bring; [`NOBODY`] if there is none.
    pub(super) next: u32,
}

/// What waits for a part of the map.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wants {
    /// A host read, for its places.
    Read { request: u32 },
    /// A program.
    Program { program: u32 },
    /// Nothing.
    Nobody,
}

impl Wants {
    /// How the map is read for it.
    pub(super) fn work(self) -> Work {
        match self {
            Wants::Read { .. } => Work::Read,
            Wants::Program { .. } | Wants::Nobody => Work::Gather,
        }
    }
}
