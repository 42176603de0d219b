//! What is on its way from the buffer into the flash array, and which stations that keeps at work.

/// Programs on their way to a station that count: one in the array, and one that is there when it ends.
const PER_STATION: u32 = 2;

/// Batches of a buffer that are not in flash yet, by the station of their last program.
#[derive(Clone, Debug, Default)]
pub(super) struct Draining {
    batches: u32,
    sectors: u64,
    of_station: Vec<u32>,
    /// Of every station, as many of them as count.
    counted: u32,
    enough: u32,
}

impl Draining {
    /// Nothing is on its way. `in_turn`: what leaves goes to one station after the other. Where the address tells the
    /// station, some get more than others, and to wait for the last of them would empty the buffer: then it is enough if
    /// they have three quarters of what they need.
    pub(super) fn new(stations: u32, in_turn: bool) -> Self {
        let all = PER_STATION * stations;
        Self {
            of_station: vec![0; stations as usize],
            enough: if in_turn { all } else { (3 * all).div_ceil(4) },
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
        self.counted += u32::from(*here <= PER_STATION);
    }

    pub(super) fn end(&mut self, station: u32, sectors: u32) {
        self.batches -= 1;
        self.sectors -= u64::from(sectors);
        let here = &mut self.of_station[station as usize];
        self.counted -= u32::from(*here <= PER_STATION);
        *here -= 1;
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        self.of_station.fill(0);
        (self.batches, self.sectors, self.counted) = (0, 0, 0);
    }
}
