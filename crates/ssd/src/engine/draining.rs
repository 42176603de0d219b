//! Batches on their way from the buffer into the flash array, and the stations that they keep busy.

use crate::geometry::Geometry;
use crate::spec::{ProgramMode, Spec};

/// Number of programs on their way to a station that are counted: those in the array, and as many to follow when these
/// end.
fn per_station(spec: &Spec, g: &Geometry) -> u32 {
    let planes = g.groups * g.lanes_per_group / g.stations;
    match spec.flash.program_mode {
        ProgramMode::MultiPlane => 2 * planes,
        ProgramMode::Page | ProgramMode::Cache => 2,
    }
}

/// Batches of a buffer that are not in flash yet, by the station of their last program.
#[derive(Clone, Debug, Default)]
pub(super) struct Draining {
    batches: u32,
    sectors: u64,
    of_station: Vec<u32>,
    /// Maximum number that is counted per station.
    per_station: u32,
    /// Sum over all stations of the counted batches.
    counted: u32,
    enough: u32,
}

impl Draining {
    /// Creates the state with no batches in progress.
    pub(super) fn new(spec: &Spec, g: &Geometry) -> Self {
        let per_station = per_station(spec, g);
        Self {
            of_station: vec![0; g.stations as usize],
            per_station,
            enough: per_station * g.stations,
            ..Self::default()
        }
    }

    /// Returns true if no batches are in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.batches == 0
    }

    /// Returns the number of sectors in progress.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Returns true if every station has enough work queued.
    pub(super) fn is_enough(&self) -> bool {
        self.counted >= self.enough
    }

    #[inline]
    pub(super) fn begin(&mut self, station: u32, sectors: u32) {
        self.batches += 1;
        self.sectors += u64::from(sectors);
        let here = &mut self.of_station[station as usize];
        *here += 1;
        self.counted += u32::from(*here <= self.per_station);
    }

    #[inline]
    pub(super) fn end(&mut self, station: u32, sectors: u32) {
        self.batches -= 1;
        self.sectors -= u64::from(sectors);
        let here = &mut self.of_station[station as usize];
        self.counted -= u32::from(*here <= self.per_station);
        *here -= 1;
    }

    /// Forgets the batches in progress.
    pub(super) fn clear(&mut self) {
        self.of_station.fill(0);
        (self.batches, self.sectors, self.counted) = (0, 0, 0);
    }
}
