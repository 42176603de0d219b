//! A histogram of latencies: linear within each power of two, like HdrHistogram.

/// Number of buckets for each power of two, as a power of two: values are right to 1/64.
const BITS: u32 = 6;
const LINEAR: usize = 1 << BITS;
/// Buckets for every u64: the first `2 * LINEAR` values have their own, each further power of two has `LINEAR`.
const BUCKETS: usize = LINEAR * (64 - BITS as usize + 1);

/// The latencies of the reads of a thread, from right before the submission to right after the caller saw the completion.
/// Quantiles are right to 1/64 of their value.
#[derive(Clone, Debug)]
pub struct Latency {
    counts: Vec<u64>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    /// Length of a tick in nanoseconds.
    tick_ns: f64,
}

/// Returns the bucket of a value in ticks.
#[inline]
fn bucket(value: u64) -> usize {
    let exponent = (63 - (value | (LINEAR as u64)).leading_zeros()) - BITS;
    let mantissa = (value >> exponent) as usize;
    LINEAR * exponent as usize + mantissa
}

/// Returns the middle of a bucket, in ticks.
fn middle(bucket: usize) -> f64 {
    let exponent = (bucket / LINEAR).saturating_sub(1);
    let low = (bucket - LINEAR * exponent) as f64;
    let width = (exponent as f64).exp2();
    low * width + (width - 1.0) / 2.0
}

impl Latency {
    /// Creates an empty histogram of times in ticks of this length.
    pub(super) fn new(tick_ns: f64) -> Self {
        Self {
            counts: vec![0; BUCKETS],
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            tick_ns,
        }
    }

    /// Forgets all latencies.
    pub(super) fn clear(&mut self) {
        self.counts.fill(0);
        *self = Self {
            counts: std::mem::take(&mut self.counts),
            ..Self::new(self.tick_ns)
        };
    }

    /// Adds a latency in ticks.
    #[inline]
    pub(super) fn add(&mut self, ticks: u64) {
        self.counts[bucket(ticks)] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(ticks);
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
    }

    /// Returns the number of reads.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean in nanoseconds, exactly; `None` without reads.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 * self.tick_ns)
    }

    /// Returns the longest in nanoseconds, exactly; `None` without reads.
    pub fn max_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max as f64 * self.tick_ns)
    }

    /// Returns the quantile of a `share` from 0 to 1 in nanoseconds: the smallest latency that at least this share of the
    /// reads does not exceed. `None` without reads.
    pub fn quantile_ns(&self, share: f64) -> Option<f64> {
        let rank = ((share.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let at = self.counts.iter().position(|&n| {
            below += n;
            below >= rank
        })?;
        let ticks = middle(at).clamp(self.min as f64, self.max as f64);
        Some(ticks * self.tick_ns)
    }

    /// Adds the reads of another thread of the same run.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(a, b)| *a += b);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_is_near_its_values(shift in 0u32..64, bits: u64) {
            let value = bits >> shift;
            let at = bucket(value);
            prop_assert!(at < BUCKETS);
            let error = (middle(at) - value as f64).abs();
            prop_assert!(error <= value as f64 / LINEAR as f64, "{value} {at} {}", middle(at));
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in prop::collection::vec(1u64..1 << 40, 1..300), share in 0.0..1.0f64) {
            let mut latency = Latency::new(0.5);
            values.iter().for_each(|&v| latency.add(v));
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64 * 0.5;
            let told = latency.quantile_ns(share).unwrap();
            prop_assert!((told / exact - 1.0).abs() <= 1.0 / 64.0, "{told} {exact}");
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64 * 0.5;
            prop_assert!((latency.mean_ns().unwrap() / mean - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_has_no_latency_and_sums_are_sums() {
        let mut empty = Latency::new(1.0);
        assert_eq!(
            (empty.count(), empty.mean_ns(), empty.quantile_ns(0.5)),
            (0, None, None)
        );
        assert_eq!(empty.max_ns(), None);
        let mut other = Latency::new(1.0);
        other.add(10);
        other.add(30);
        empty.merge(&other);
        assert_eq!((empty.count(), empty.mean_ns()), (2, Some(20.0)));
        assert_eq!(empty.max_ns(), Some(30.0));
    }
}
