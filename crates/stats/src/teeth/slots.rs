//! The places on a regular grid, for a quick look: it excludes most sizes, and gives one tooth in eight to the wrong place.

use std::ops::Range;

/// The most slots: more than any scan needs. Places that need more are no scan, and are dropped.
pub(super) const SLOTS_MAX: u64 = 1 << 22;

/// A table entry is `PLACE` plus the value in units of 1 / `SCALE`, or 0 without a place, so that one addition adds the value
/// and counts the place. Values lie within 8 of zero, and at most 2^20 are added: their sum stays below half of `PLACE`.
const PLACE: i64 = 1 << 42;
const SCALE: f64 = (1 << 17) as f64;

/// For every slot the score and the logarithm of the place that belongs to its middle. Two tables, because each has to fit
/// into a cache.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    scores: Vec<i64>,
    logs: Vec<i64>,
    /// The beginning of the first slot, in bytes.
    from: u64,
    /// The length of a slot in bytes, as an exponent of two.
    shift: u32,
}

impl Slots {
    /// Returns the middles of the slots of a range of bytes, in bytes.
    pub(super) fn middles(range: &Range<u64>, shift: u32) -> impl Iterator<Item = u64> + use<> {
        let from = range.start;
        let slots = 0..=(range.end - from) >> shift;
        slots.map(move |slot| from + (slot << shift) + (1 << shift) / 2)
    }

    /// Takes the place of each slot, and the scores and logarithms of all places.
    pub(super) fn new(
        from: u64,
        shift: u32,
        places: &[Option<usize>],
        scores: &[f64],
        logs: &[f64],
    ) -> Self {
        let table = |of: &[f64]| {
            let entry = |value: f64| PLACE + (value.clamp(-8.0, 8.0) * SCALE) as i64;
            let of_place = |index: &Option<usize>| index.map_or(0, |index| entry(of[index]));
            places.iter().map(of_place).collect()
        };
        Self {
            scores: table(scores),
            logs: table(logs),
            from,
            shift,
        }
    }

    /// Returns the sum of the scores, and the number of places, at the multiples of `period` with these numbers.
    pub(super) fn scores(&self, numbers: Range<u64>, period: u64) -> (f64, f64) {
        self.sum(&self.scores, numbers, period, 0)
    }

    /// Returns the sum of the logarithms, and the number of places, `before` bytes before these multiples.
    pub(super) fn logs(&self, numbers: Range<u64>, period: u64, before: u64) -> (f64, f64) {
        self.sum(&self.logs, numbers, period, before)
    }

    #[inline]
    fn sum(&self, table: &[i64], numbers: Range<u64>, period: u64, before: u64) -> (f64, f64) {
        let from = self.from + before;
        let mut position = from.div_ceil(period).max(numbers.start) * period;
        let beyond = (numbers.end * period).min(from + ((table.len() as u64) << self.shift));
        let mut sum = 0_i64;
        while position < beyond {
            sum += table[((position - from) >> self.shift) as usize];
            position += period;
        }
        let places = (sum + PLACE / 2) / PLACE;
        ((sum - places * PLACE) as f64 / SCALE, places as f64)
    }
}
