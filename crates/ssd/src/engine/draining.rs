//! What is on its way from the buffer into the flash array, and which stations that keeps at work.

use crate::geometry::Geometry;
use crate::spec::{ProgramMode, Spec};

/// Programs on their way to a station that count: what is in the array at a time, and as much that is there when it ends.
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
    /// How many of a station count.
    per_station: u32,
    /// Of every station, as many of them as count.
    counted: u32,
    enough: u32,
}

impl Draining {
    /// Nothing is on its way.
    pub(super) fn new(spec: &Spec, g: &Geometry) -> Self {
        let per_station = per_station(spec, g);
        Self {
            of_station: vec![0; g.stations as usize],
            per_station,
            enough: per_station * g.stations,
            ..Self::default()
        }
    }

    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.batches == 0
    }

    /// Sectors that are on their way.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether stations have what they need.
    pub(super) fn is_enough(&self) -> bool {
        self.counted >= self.enough
    }

    pub(super) fn begin(&mut self, station: u32, sectors: u32) {
        self.batches += 1;
        self.sectors += u64::from(sectors);
        let here = &mut self.of_station[station as usize];
        *here += 1;
        self.counted += u32::from(*here <= self.per_station);
    }

    pub(super) fn end(&mut self, station: u32, sectors: u32) {
        self.batches -= 1;
        self.sectors -= u64::from(sectors);
        let here = &mut self.of_station[station as usize];
        self.counted -= u32::from(*here <= self.per_station);
        *here -= 1;
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        self.of_station.fill(0);
        (self.batches, self.sectors, self.counted) = (0, 0, 0);
    }
}
