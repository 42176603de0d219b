//! Counts of response times by step of a histogram with three significant digits. The histogram itself is made at the end:
//! recording into it took 56 instructions for each access ([`super::recorder`] has what was saved).

use hdrhistogram::Histogram;

/// Significant decimal digits of a quantile.
const DIGITS: u8 = 3;
/// Bits of a value that a step tells: three digits need 2048 steps.
const BITS: u32 = 11;
/// Steps for each power of two above the first 2048 values.
const STEPS: usize = 1 << (BITS - 1);

/// How many values fell into each step. A value below 2048 is a step of its own; from there on, each power of two has 1024.
/// These are the steps of [`Histogram`].
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    counts: Vec<u64>,
}

impl Tally {
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        let step = step_of(value);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
    }

    /// Returns the counts of both.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let (long, short) = match self.counts.len() < other.counts.len() {
            true => (other, self),
            false => (self, other),
        };
        let mut counts = long.counts.clone();
        let pairs = counts.iter_mut().zip(&short.counts);
        pairs.for_each(|(count, more)| *count += more);
        Self { counts }
    }

    /// Makes the histogram.
    #[allow(
        clippy::expect_used,
        reason = "it fails for more than five digits only"
    )]
    pub(super) fn histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new(DIGITS).expect("three digits are allowed");
        for (step, &count) in self.counts.iter().enumerate() {
            if count > 0 {
                // The histogram resizes itself and accepts every value of 63 bits.
                let _ = histogram.record_n(first_of(step), count);
            }
        }
        histogram
    }
}

#[inline]
fn step_of(value: u64) -> usize {
    let shift = (u64::BITS - BITS).saturating_sub(value.leading_zeros());
    shift as usize * STEPS + (value >> shift) as usize
}

/// Returns the first value of a step.
fn first_of(step: usize) -> u64 {
    match (step / STEPS).checked_sub(1) {
        None => step as u64,
        Some(shift) => ((step % STEPS + STEPS) as u64) << shift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn the_steps_are_those_of_the_histogram() {
        let mut rng = Rng::new(1, 0);
        let (mut tally, mut histogram) = (Tally::default(), Tally::default().histogram());
        let edges = (0..62).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let drawn = (0..20_000).map(|_| rng.below(1 << 20) << rng.below(40));
        let near = (0..5_000u64).chain(u64::from(u32::MAX) - 9..u64::from(u32::MAX) + 9);
        for value in edges.chain(drawn.collect::<Vec<_>>()).chain(near) {
            tally.add(value);
            histogram.record(value).unwrap();
            assert!(
                histogram.equivalent(value, first_of(step_of(value))),
                "{value}"
            );
        }
        let made = tally.histogram();
        assert_eq!(made.len(), histogram.len());
        for share in (0..=1_000).map(|n| f64::from(n) / 1_000.0) {
            assert_eq!(
                made.value_at_quantile(share),
                histogram.value_at_quantile(share),
                "{share}"
            );
        }
        let mut few = Tally::default();
        few.add(3);
        for both in [tally.joined(&few), few.joined(&tally)] {
            let both = both.histogram();
            assert_eq!(both.len(), histogram.len() + 1);
            assert_eq!(both.count_at(3), histogram.count_at(3) + 1);
        }
    }
}
