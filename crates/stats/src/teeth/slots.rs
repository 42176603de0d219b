//! The places on a regular grid, for a quick look: it excludes most sizes, and gives one tooth in eight to the wrong place.
//!
//! Sums for several delays are one pass: the slots of one phase of a pitch are contiguous, so that the values of a place and of
//! those after it are one vector.

use std::ops::Range;

/// The most slots: more than any scan needs. Places that need more are no scan, and are dropped.
pub(super) const SLOTS_MAX: u64 = 1 << 22;

/// A table entry is `PLACE` plus the value in units of 1 / `SCALE`, or 0 without a place, so that one addition adds the value
/// and counts the place. Values lie within 8 of zero, and at most `BATCH` entries are added: their values stay below half of
/// `PLACE`, and the sum fits.
const PLACE: i32 = 1 << 22;
const SCALE: f64 = (1 << 9) as f64;
const BATCH: u64 = 256;

/// The most sums in one pass.
pub(super) const LANES: usize = 20;

/// The slots of a range of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// The beginning of the first slot, in bytes.
    from: u64,
    /// The length of a slot in bytes, a whole part of the pitch.
    slot: u64,
    /// Number of slots in a pitch: 1, 2 or 4.
    phases: u64,
    /// Number of pitches.
    rows: u64,
}

impl Grid {
    pub(super) fn new(range: &Range<u64>, pitch: u64) -> Self {
        let phases = [4, 2, 1].into_iter().find(|n| pitch.is_multiple_of(*n));
        let phases = phases.unwrap_or(1);
        Self {
            from: range.start,
            slot: pitch / phases,
            phases,
            rows: (range.end - range.start) / pitch + 1,
        }
    }

    /// Returns the number of slots.
    pub(super) fn slots(&self) -> u64 {
        self.rows.saturating_mul(self.phases)
    }

    /// Returns the middles of the slots, in bytes.
    pub(super) fn middles(self) -> impl Iterator<Item = u64> {
        (0..self.slots()).map(move |slot| self.from + slot * self.slot + self.slot / 2)
    }

    fn pitch(&self) -> u64 {
        self.slot * self.phases
    }

    /// The length of the table of one phase. Behind its slots nothing is added.
    fn stride(&self) -> u64 {
        self.rows + LANES as u64
    }
}

/// For every slot the score and the logarithm of the place that belongs to its middle. Two tables, because each has to fit
/// into a cache.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    scores: Vec<i32>,
    logs: Vec<i32>,
    grid: Grid,
}

impl Slots {
    /// Takes the place of each slot, and the scores and logarithms of all places.
    pub(super) fn new(grid: Grid, places: &[Option<usize>], scores: &[f64], logs: &[f64]) -> Self {
        let table = |of: &[f64]| {
            let mut table = vec![0; (grid.stride() * grid.phases) as usize];
            for (slot, place) in (0..).zip(places) {
                let at = slot % grid.phases * grid.stride() + slot / grid.phases;
                let entry = |value: f64| PLACE + (value.clamp(-8.0, 8.0) * SCALE).round() as i32;
                table[at as usize] = place.map_or(0, |index| entry(of[index]));
            }
            table
        };
        Self {
            scores: table(scores),
            logs: table(logs),
            grid,
        }
    }

    /// Returns the sum of the scores, and the number of places, `delay` bytes after the multiples of `period` with these
    /// numbers, and the same 1 to `N` - 1 pitches later.
    pub(super) fn scores<const N: usize>(
        &self,
        numbers: Range<u64>,
        period: u64,
        delay: u64,
    ) -> [(f64, f64); N] {
        const { assert!(N <= LANES) };
        let from = self.grid.from as i64 - delay as i64;
        self.sums(&self.scores, numbers, period, from)
    }

    /// Returns the sum of the logarithms, and the number of places, `before` bytes before these positions.
    pub(super) fn logs(
        &self,
        numbers: Range<u64>,
        period: u64,
        before: u64,
        delay: u64,
    ) -> (f64, f64) {
        let from = (self.grid.from + before) as i64 - delay as i64;
        let [sum] = self.sums(&self.logs, numbers, period, from);
        sum
    }

    /// Returns the sums at the multiples less `from`, which are positions in the table.
    #[allow(
        clippy::needless_range_loop,
        reason = "iterators in step are not always inlined here, and the loop is one vector addition"
    )]
    fn sums<const N: usize>(
        &self,
        table: &[i32],
        numbers: Range<u64>,
        period: u64,
        from: i64,
    ) -> [(f64, f64); N] {
        let mut sums = [(0.0, 0.0); N];
        let first = u64::try_from(from).map_or(0, |from| from.div_ceil(period));
        let first = first.max(numbers.start);
        let mut left = numbers.end.saturating_sub(first);
        let position = (first * period) as i64 - from;
        let mut cursor = Cursor::new(self.grid, position.max(0) as u64, period);
        while left > 0 && cursor.row < self.grid.rows {
            let mut batch = [0_i32; N];
            for _ in 0..left.min(BATCH) {
                let at = cursor.index();
                let inside = cursor.row < self.grid.rows;
                let rest = table.get(at..).filter(|_| inside);
                let Some(entries) = rest.and_then(|rest| rest.first_chunk::<N>()) else {
                    break;
                };
                for lane in 0..N {
                    batch[lane] += entries[lane];
                }
                cursor.advance();
            }
            left -= left.min(BATCH);
            for ((value, count), sum) in sums.iter_mut().zip(batch) {
                let places = (sum + PLACE / 2).div_euclid(PLACE);
                *value += f64::from(sum - places * PLACE) / SCALE;
                *count += f64::from(places);
            }
        }
        sums
    }
}

/// A position in the tables: a pitch, and the bytes in it.
struct Cursor {
    grid: Grid,
    row: u64,
    within: u64,
    /// What a step adds.
    step: (u64, u64),
}

impl Cursor {
    fn new(grid: Grid, position: u64, step: u64) -> Self {
        let pitch = grid.pitch();
        Self {
            grid,
            row: position / pitch,
            within: position % pitch,
            step: (step / pitch, step % pitch),
        }
    }

    /// Returns the index in a table. Without a division, which would take longer than the sum.
    #[inline]
    fn index(&self) -> usize {
        let slot = self.grid.slot;
        let passed = |slots: u64| u64::from(self.within >= slots * slot);
        let phase = passed(1) + passed(2) + passed(3);
        (phase * self.grid.stride() + self.row) as usize
    }

    #[inline]
    fn advance(&mut self) {
        let pitch = self.grid.pitch();
        self.row += self.step.0;
        self.within += self.step.1;
        if self.within >= pitch {
            self.within -= pitch;
            self.row += 1;
        }
    }
}
