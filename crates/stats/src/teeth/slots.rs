//! The places on a regular grid, for a quick look: it excludes most sizes, and gives one tooth in eight to the wrong place.

use std::ops::Range;

/// For every slot the score and the logarithm of the place that belongs to its middle, NaN without one. Two tables, because
/// each has to fit into a cache.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    scores: Vec<f32>,
    logs: Vec<f32>,
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
            let value = |index: &Option<usize>| index.map_or(f32::NAN, |index| of[index] as f32);
            places.iter().map(value).collect()
        };
        Self {
            scores: table(scores),
            logs: table(logs),
            from,
            shift,
        }
    }

    /// Returns the sum of the scores, and the number of places, at the multiples of `period` with these numbers.
    pub(super) fn scores(&self, numbers: Range<u64>, period: u64) -> (f32, f32) {
        self.sum(&self.scores, numbers, period, 0)
    }

    /// Returns the sum of the logarithms, and the number of places, `before` bytes before these multiples.
    pub(super) fn logs(&self, numbers: Range<u64>, period: u64, before: u64) -> (f32, f32) {
        self.sum(&self.logs, numbers, period, before)
    }

    fn sum(&self, table: &[f32], numbers: Range<u64>, period: u64, before: u64) -> (f32, f32) {
        let from = self.from + before;
        let first = from.div_ceil(period).max(numbers.start) * period;
        let (mut sum, mut places) = (0.0, 0.0);
        for position in (first..numbers.end * period).step_by(period as usize) {
            let slot = ((position - from) >> self.shift) as usize;
            if let Some(value) = table.get(slot).filter(|value| !value.is_nan()) {
                sum += value;
                places += 1.0;
            }
        }
        (sum, places)
    }
}
