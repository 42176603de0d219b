//! What a station of the flash array is asked to do, and where.

use crate::geometry::Geometry;
use fathom_base::Ppn;

/// What a station is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Array to controller, for a read of the host's.
    Read,
    /// The same for a program that waits for it: it goes before nothing.
    Gather,
    /// Controller to array.
    Program,
    /// Array to controller and back into the array, on one station.
    Copy,
    /// A clustered block's share of one station.
    Erase,
    /// Background work of a given length, in nanoseconds.
    Busy(u32),
}

/// Sectors of one clustered page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Clustered page, over all clustered blocks.
    pub(crate) cpage: u32,
    /// First sector in it.
    pub(crate) first: u32,
    /// Sectors.
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

    /// So many sectors of one mapped unit, from its sector `first` on.
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

/// An operation for a station. `ticket` is whose it is; the engine knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) station: u32,
    pub(crate) place: Place,
    pub(crate) ticket: u32,
    /// The number of the page that a program or a copy fills, within its block.
    pub(crate) number: u32,
    /// Which of the lanes that share the station it lies on.
    pub(crate) plane: u32,
    /// Of a copy: it stays within its planes, so that it need not cross the bus.
    pub(crate) stays: bool,
}

impl Job {
    /// Work on a station that fills no page.
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
        }
    }
}
