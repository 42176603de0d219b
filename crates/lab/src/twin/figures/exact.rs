//! The figure of the values of a kind, and how exactly a record tells it.

use super::what::{Samples, What};
use fathom_stats::location::{self, quantile};

/// Returns the figure of values: a quantile, or the rate of all overwrites together, of which few merge blocks and take most of the
/// time.
pub(super) fn figure(what: What, values: &[f64], share: f64) -> Option<f64> {
    match what.merges() {
        true => location::mean(&inverse(values)).map(f64::recip),
        false => quantile(values, share),
    }
}

/// Returns the times for which rates stand.
fn inverse(rates: &[f64]) -> Vec<f64> {
    rates.iter().map(|rate| rate.recip()).collect()
}

/// Returns the relative standard error of a figure of samples, as a difference of logarithms. That of a quantile is by ranks
/// (Conover, "Practical Nonparametric Statistics", 3.2): a quantile between two kinds of requests, such as writes with a merge and
/// those without, is one of either by chance. That of the rate of a loop is by the times of its requests, and that of overwrites by
/// the times of batches: a few merges may take most of it.
pub(super) fn unsure(samples: &Samples, what: What, x: u64, share: f64) -> f64 {
    let of = |what| samples.get(&(what, x)).map_or(&[][..], Vec::as_slice);
    // Requests in flight wait together.
    let together = if what.load() { x.max(1) as f64 } else { 1.0 };
    if what == What::Load {
        let times = || of(What::LoadRead).iter().chain(of(What::LoadWrite));
        let (sum, squares) = times().fold((0.0, 0.0), |(sum, squares), ns| {
            (sum + ns, squares + ns * ns)
        });
        return if sum > 0.0 {
            f64::sqrt(together * squares) / sum
        } else {
            0.0
        };
    }
    let values = of(what);
    if what.merges() {
        let times = inverse(values);
        let (sum, mean) = (
            times.iter().sum::<f64>(),
            location::mean(&times).unwrap_or(0.0),
        );
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        return if sum > 0.0 { squares.sqrt() / sum } else { 0.0 };
    }
    let count = (values.len() as f64 / together).max(1.0);
    let error = (share * (1.0 - share) / count).sqrt();
    let ends = quantile(values, share - error).zip(quantile(values, share + error));
    ends.map_or(0.0, |(low, high)| {
        (high / low.max(f64::MIN_POSITIVE)).ln() / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One or two writes of a hundred that merge blocks are about the 99th percentile.
    #[test]
    fn a_quantile_between_two_kinds_of_requests_is_unsure() {
        let merges = |count: usize, of: usize| -> Vec<f64> {
            (0..of)
                .map(|n| if n < count { 64e6 } else { 1.1e6 })
                .collect()
        };
        let error =
            |what, values: Vec<f64>, share| unsure(&[((what, 0), values)].into(), what, 0, share);
        assert!(error(What::LoadWrite, merges(1, 100), 0.99) > 1.0);
        assert!(error(What::Write, merges(2, 16), 0.9) > 1.0);
        assert_eq!(error(What::Write, merges(2, 16), 0.5), 0.0);
        assert_eq!(error(What::LoadWrite, merges(100, 2000), 0.99), 0.0);
        assert_eq!(error(What::Fill, vec![3e9], 0.5), 0.0);
        // A uniform distribution: 0.5 / sqrt(n) of its width about the middle.
        let even: Vec<f64> = (0..=400).map(|n| 100.0 + f64::from(n) / 40.0).collect();
        let expected = 0.5 / 401.0_f64.sqrt() * 10.0 / 105.0;
        assert!((error(What::One, even, 0.5) / expected - 1.0).abs() < 0.02);
    }

    /// Of four batches of overwrites one merges blocks: 4 s for all, and the median of their rates would be 4 times as high.
    #[test]
    fn overwrites_count_by_the_time_of_all() {
        let rates = [1e6, 1e6, 1e6, 1e6 / 13.0];
        let value = figure(What::Near, &rates, 0.5).unwrap();
        assert!((value - 0.25e6).abs() < 1.0, "{value}");
        let error = unsure(
            &[((What::Near, 0), rates.into())].into(),
            What::Near,
            0,
            0.5,
        );
        // Times of 1, 1, 1 and 13: their deviations are 3, 3, 3 and 9 of 16.
        assert!((error - 108.0_f64.sqrt() / 16.0).abs() < 1e-9);
    }

    /// Four equal waits take nearly all of the time of a loop: their number is known to a half.
    #[test]
    fn the_rate_of_a_loop_of_few_merges_is_unsure() {
        let writes = [vec![1e9; 4], vec![1e5; 96]].concat();
        let loops = [
            ((What::LoadWrite, 1), writes),
            ((What::LoadRead, 1), vec![1e5; 300]),
        ];
        let error = unsure(&loops.into(), What::Load, 1, 0.5);
        assert!((0.48..0.5).contains(&error), "{error}");
    }
}
