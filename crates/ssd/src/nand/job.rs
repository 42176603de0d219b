//! Jobs of the flash array: the kind of operation, the station and the place.

use crate::event::End;
use crate::geometry::Geometry;
use fathom_base::Ppn;
use std::collections::VecDeque;

/// Kinds of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Array to controller, for a host read.
    Read,
    /// Array to controller, for a program that waits for the data. Has no priority over other operations.
    Gather,
    /// Controller to array.
    Program,
    /// Array to controller and back into the array, on one station.
    Copy,
    /// Erase of the part of a clustered block that lies on one station.
    Erase,
    /// Background work of a given length, in nanoseconds.
    Busy(u32),
}

/// Sectors within one clustered page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Clustered page, numbered over all clustered blocks.
    pub(crate) cpage: u32,
    /// First sector within the page.
    pub(crate) first: u32,
    /// Number of sectors.
    pub(crate) sectors: u32,
}

impl Place {
    /// The place of `units` mapped units from `at` on.
    #[inline]
    pub(crate) fn of(g: &Geometry, at: Ppn, units: u32) -> Self {
        let (cpage, unit) = g.cpage_of_unit(at.0);
        Self {
            cpage,
            first: unit * g.sectors_per_unit,
            sectors: units * g.sectors_per_unit,
        }
    }

    /// The place of `sectors` sectors of one mapped unit, from its sector `first` on.
    #[inline]
    pub(crate) fn within(g: &Geometry, unit: Ppn, first: u32, sectors: u32) -> Self {
        let whole = Self::of(g, unit, 1);
        Self {
            first: whole.first + first,
            sectors,
            ..whole
        }
    }
}

/// An operation for a station. `ticket` identifies its owner in the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) station: u32,
    pub(crate) place: Place,
    pub(crate) ticket: u32,
    /// Number of the page that a program or a copy fills, within its block and lane.
    pub(crate) number: u32,
    /// Index of its lane among the lanes that share the station.
    pub(crate) plane: u32,
    /// For a copy: the data stays within its planes and need not cross the bus.
    pub(crate) stays: bool,
    /// For a read that has ended: its last repetition has failed. Only where parity can rebuild the data.
    pub(crate) failed: bool,
    /// The place is in a block in SLC mode. A copy reads in that mode and programs in native mode.
    pub(crate) fast: bool,
}

impl Job {
    /// An operation on a station that fills no page.
    #[inline]
    pub(crate) fn on(station: u32, work: Work, place: Place, ticket: u32) -> Self {
        Self {
            work,
            station,
            place,
            ticket,
            number: 0,
            plane: 0,
            stays: false,
            failed: false,
            fast: false,
        }
    }
}

/// A program, a read of the host, or a run of copies into the pages of a block one after another, whose ends are known when they
/// start. It needs no ticket: the array keeps what its owner must know at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    /// What it is: a read, a program, or copies, whose data stays within their planes.
    pub(crate) end: End,
    /// Number of copies, 1 for anything else, and how many of them are not done.
    pub(crate) run: u32,
    pub(crate) left: u32,
    /// Where the data is read or programmed; of copies, the sectors of each.
    pub(crate) place: Place,
    /// Number of the page that is filled next, within its block and lane.
    pub(crate) page: u32,
    /// The owner's: its domain, and its first number there.
    pub(crate) domain: u32,
    pub(crate) number: u64,
    /// The owner's: sectors of the memory that it releases, or a mark.
    pub(crate) releases: u32,
    /// The owner's: the read, or the unbuffered write, that waits for it, or a mark.
    pub(crate) request: u32,
}

impl Plain {
    /// One operation that is in no domain yet and fills no page.
    #[inline]
    pub(crate) fn of(end: End, place: Place, releases: u32, request: u32) -> Self {
        Self {
            end,
            run: 1,
            left: 1,
            place,
            page: 0,
            domain: 0,
            number: 0,
            releases,
            request,
        }
    }
}

/// The plain operations of a station.
#[derive(Clone, Debug)]
pub(super) struct PlainLine {
    /// The one at work, if one is: the station is busy and has no current operation. It is written in place: copies of one that has
    /// just been written wait for the processor's stores.
    pub(super) at_work: Plain,
    /// Those that wait, in order. They come before the other operations that wait.
    pub(super) waiting: VecDeque<Plain>,
}

impl PlainLine {
    /// No operations.
    pub(super) fn new() -> Self {
        Self {
            at_work: Plain::of(End::Other, Place::default(), 0, 0),
            waiting: VecDeque::new(),
        }
    }
}

/// The end of a program, or of a copy.
pub(crate) struct Ended {
    /// Sectors that were programmed.
    pub(crate) sectors: u32,
    /// Its plain operation, unless other copies of the run follow.
    pub(crate) operation: Option<Plain>,
}
