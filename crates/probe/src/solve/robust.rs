//! Location, spread and their intervals, for samples with spikes.
//!
//! Sources: quantiles, Hyndman & Fan 1996 (type 7); median absolute deviation, Hampel 1974; Hodges & Lehmann 1963;
//! interval of the median from order statistics, David & Nagaraja 2003 (7.1); percentile bootstrap, Efron 1979;
//! Theil 1950 and Sen 1968 for the line. Robust regression with more columns is in [`super::regression`].
//!
//! Values that are not finite are left out everywhere; a function without enough values answers `None`.

use super::Interval;
use fathom_base::Rng;

/// The finite ones of `values`, ascending.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    finite
}

/// Natural logarithms of the positive, finite ones of `values`.
pub fn logs(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .filter(|v| v.is_finite() && **v > 0.0)
        .map(|v| v.ln())
        .collect()
}

/// The quantile `share` (0 to 1) of values that are ascending already; type 7, linear between order statistics.
pub fn quantile_of_sorted(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = *ascending.get(below)?;
    let high = *ascending.get((below + 1).min(last))?;
    Some(low + (place - below as f64) * (high - low))
}

/// The quantile `share` (0 to 1), type 7.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), share)
}

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The median.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median on a log scale: `exp(median(ln v))`. Differs from [`median`] between two middle values, of which it
/// is the geometric mean. Values that are not positive are left out.
pub fn median_of_logs(values: &[f64]) -> Option<f64> {
    median(&logs(values)).map(f64::exp)
}

/// Median absolute deviation from the median, not scaled.
pub fn mad(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median(
        &values
            .iter()
            .map(|v| (v - center).abs())
            .collect::<Vec<_>>(),
    )
}

/// Hodges-Lehmann location: the median of the means of all pairs, a value with itself included. Quadratic in the
/// number of values.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let finite = sorted(values);
    let mut means = Vec::with_capacity(finite.len() * (finite.len() + 1) / 2);
    for (i, a) in finite.iter().enumerate() {
        means.extend(finite[i..].iter().map(|b| 0.5 * (a + b)));
    }
    median(&means)
}

/// Interval of the median from order statistics: holds with at least `confidence` (0 to 1) whatever the
/// distribution. `None` where there are too few values for that confidence (fewer than 6 for 0.95).
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let ascending = sorted(values);
    let rank = median_rank(ascending.len(), confidence)?;
    Some(Interval {
        low: *ascending.get(rank)?,
        high: *ascending.get(ascending.len() - 1 - rank)?,
    })
}

/// The largest `r` such that the median lies between the order statistics `r` and `n - 1 - r` (from zero) with
/// probability `confidence`: 2 P(Binomial(n, 1/2) <= r) <= 1 - confidence.
fn median_rank(n: usize, confidence: f64) -> Option<usize> {
    use statrs::distribution::{Binomial, DiscreteCDF};
    let heads = Binomial::new(0.5, n as u64).ok()?;
    let misses = |rank: usize| 2.0 * heads.cdf(rank as u64) <= 1.0 - confidence;
    if n == 0 || !misses(0) {
        return None;
    }
    let (mut fits, mut over) = (0, n / 2 + 1);
    while over - fits > 1 {
        let middle = usize::midpoint(fits, over);
        if misses(middle) {
            fits = middle;
        } else {
            over = middle;
        }
    }
    Some(fits)
}

/// Percentile bootstrap interval of `statistic` from `resamples` resamples (1000 or more for 0.95).
/// `None` without values or where the statistic is `None` for more than half of the resamples.
pub fn bootstrap_interval(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    confidence: f64,
    resamples: u32,
    rng: &mut Rng,
) -> Option<Interval> {
    let finite = sorted(values);
    if finite.is_empty() {
        return None;
    }
    let mut draw = vec![0.0; finite.len()];
    let mut found = Vec::with_capacity(resamples as usize);
    for _ in 0..resamples {
        for slot in &mut draw {
            *slot = *rng.pick(&finite)?;
        }
        found.extend(statistic(&draw));
    }
    if found.len() * 2 < resamples as usize {
        return None;
    }
    found.sort_unstable_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - confidence);
    Some(Interval {
        low: quantile_of_sorted(&found, tail)?,
        high: quantile_of_sorted(&found, 1.0 - tail)?,
    })
}

/// A line `intercept + slope * x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// At `x = 0`.
    pub intercept: f64,
    /// Per unit of `x`.
    pub slope: f64,
}

/// Theil-Sen line: the median of the slopes of all pairs with different `x`, and the median of what is left as
/// intercept. Quadratic in the number of points. `None` with fewer than two different `x`.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Line> {
    let mut slopes = Vec::new();
    for (i, a) in points.iter().enumerate() {
        let others = points[i + 1..].iter().filter(|b| b.0 != a.0);
        slopes.extend(others.map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    let slope = median(&slopes)?;
    let rest: Vec<f64> = points.iter().map(|p| p.1 - slope * p.0).collect();
    let intercept = median(&rest)?;
    Some(Line { intercept, slope })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_type_7() {
        // R: quantile(c(1,2,4,8), c(0, .25, .5, 1), type = 7)
        let v = [8.0, 1.0, f64::NAN, 4.0, 2.0];
        assert_eq!(quantile(&v, 0.0), Some(1.0));
        assert_eq!(quantile(&v, 0.25), Some(1.75));
        assert_eq!(quantile(&v, 0.5), Some(3.0));
        assert_eq!(quantile(&v, 1.0), Some(8.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn median_of_logs_is_the_geometric_mean_of_the_middle_two() {
        let middle = median_of_logs(&[1.0, 2.0, 8.0, 100.0, -3.0]).unwrap();
        assert!((middle - 4.0).abs() < 1e-12, "{middle}");
    }

    #[test]
    fn spread_and_location_by_hand() {
        // Deviations from 3: 2 1 0 1 97, their median 1.
        assert_eq!(mad(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.0));
        // Pair means of 1, 2, 9: 1, 1.5, 5, 2, 5.5, 9; median (2 + 5) / 2.
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 9.0]), Some(3.5));
    }

    #[test]
    fn median_interval_has_the_binomial_ranks() {
        // 2 P(Bin(10, 1/2) <= 1) = 22 / 1024 <= 0.05 < 2 P(<= 2): second smallest to second largest.
        let v: Vec<f64> = (1..=10).map(f64::from).collect();
        let both = median_interval(&v, 0.95).unwrap();
        assert_eq!((both.low, both.high), (2.0, 9.0));
        // 2 / 2^5 > 0.05
        assert_eq!(median_interval(&v[..5], 0.95), None);
    }

    #[test]
    fn median_ranks_are_the_largest_that_keep_the_confidence() {
        for n in 6..=50usize {
            // Binomial coefficients one after the other, as shares of 2^n.
            let (mut term, mut tail, mut rank) = (0.5f64.powi(n as i32), 0.0, None);
            for r in 0..n / 2 {
                tail += term;
                if 2.0 * tail <= 0.05 {
                    rank = Some(r);
                }
                term *= (n - r) as f64 / (r + 1) as f64;
            }
            assert_eq!(median_rank(n, 0.95), rank, "{n}");
        }
        assert_eq!(median_rank(0, 0.95), None);
    }

    #[test]
    fn median_interval_covers_under_a_skewed_distribution() {
        let seed = 11;
        let mut rng = Rng::new(seed, 0);
        let runs = 2000;
        let covered = (0..runs)
            .filter(|_| {
                let v: Vec<f64> = (0..41).map(|_| rng.exponential(1.0)).collect();
                median_interval(&v, 0.95).unwrap().contains(2f64.ln())
            })
            .count();
        // Exact coverage at n = 41 is 0.9596; 4 sigma below.
        println!("seed {seed}: covered {covered} of {runs}");
        assert!((1883..=1955).contains(&covered), "{covered}");
    }

    #[test]
    fn bootstrap_of_the_mean_is_near_its_normal_interval() {
        let seed = 12;
        let mut rng = Rng::new(seed, 0);
        let v: Vec<f64> = (0..400).map(f64::from).collect();
        let mean = |d: &[f64]| Some(d.iter().sum::<f64>() / d.len() as f64);
        let found = bootstrap_interval(&v, mean, 0.95, 2000, &mut rng).unwrap();
        // sigma = sqrt((400^2 - 1) / 12) = 115.47, of the mean 5.77, times 1.96 = 11.32
        assert!((found.low - (199.5 - 11.32)).abs() < 1.0, "{found:?}");
        assert!((found.high - (199.5 + 11.32)).abs() < 1.0, "{found:?}");
        assert_eq!(bootstrap_interval(&[], mean, 0.95, 10, &mut rng), None);
    }

    #[test]
    fn theil_sen_ignores_a_quarter_of_spikes() {
        let points: Vec<(f64, f64)> = (0..40)
            .map(f64::from)
            .map(|x| {
                (
                    x,
                    if (x as u32).is_multiple_of(4) {
                        1e6
                    } else {
                        3.0 + 2.0 * x
                    },
                )
            })
            .collect();
        let line = theil_sen(&points).unwrap();
        assert!(
            (line.slope - 2.0).abs() < 1e-9 && (line.intercept - 3.0).abs() < 1e-9,
            "{line:?}"
        );
        assert_eq!(theil_sen(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
