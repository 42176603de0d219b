//! Location, spread and ranks, for samples with spikes.
//!
//! Sources: quantiles, Hyndman & Fan 1996 (type 7); median absolute deviation, Hampel 1974; normal scores, van der
//! Waerden 1952.
//!
//! [`quantile`], [`median`] and [`mad`] ignore values that are not finite. A function without enough values returns `None`.

use crate::law::{binomial_tail, normal_quantile};

/// Returns the finite values, ascending.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    finite
}

/// Returns the natural logarithms of the positive, finite values.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .filter(|v| v.is_finite() && **v > 0.0)
        .map(|v| v.ln())
        .collect()
}

/// Returns the quantile `share` (0 to 1) of values that are ascending already; type 7, linear between order statistics.
pub(crate) fn quantile_of_sorted(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = *ascending.get(below)?;
    let high = *ascending.get((below + 1).min(last))?;
    Some(low + (place - below as f64) * (high - low))
}

/// Returns the quantile `share` (0 to 1), type 7.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), share)
}

/// Returns the mean of all values; `None` if there are none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns a distribution-free interval for the median (David and Nagaraja, "Order Statistics", 7.1): the narrowest pair of
/// order statistics, equally far from both ends, that holds it in at least 95 % of cases. `None` below six values.
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    median_interval_at(values, 0.95)
}

/// Returns the interval of [`median_interval`] at another confidence (0 to 1). `None` if all values do not give it.
pub fn median_interval_at(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let ascending = sorted(values);
    let count = ascending.len() as u64;
    let missed = |cut: u64| Some(2.0 * binomial_tail(0.5, count, count.checked_sub(cut + 1)?)?);
    // With `cut` values cut off at each end, the median is missed if more than `count - cut - 1` lie on one side of it.
    let cut = (0..count / 2)
        .take_while(|&cut| missed(cut).is_some_and(|missed| missed <= 1.0 - confidence + 1e-12))
        .last()?;
    let last = ascending.len().checked_sub(1 + cut as usize)?;
    Some((*ascending.get(cut as usize)?, *ascending.get(last)?))
}

/// Returns the median absolute deviation from the median, not scaled.
pub fn mad(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median(
        &values
            .iter()
            .map(|v| (v - center).abs())
            .collect::<Vec<_>>(),
    )
}

/// Returns the ranks, from 1; equal values share the mean of their ranks.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|index| ranks[*index] = rank);
        before += tied.len();
    }
    ranks
}

/// Returns the normal scores of values: the standard normal quantiles of rank / (n + 1).
pub fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mut ranks = ranks(values);
    for rank in &mut ranks {
        *rank = normal_quantile(*rank / (n + 1.0));
    }
    ranks
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
    fn the_deviation_by_hand() {
        // Deviations from the median 3 are 2, 1, 0, 1 and 97; their median is 1.
        assert_eq!(mad(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.0));
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_the_tables() {
        // Tables of the sign test: with 12 values ranks 3 to 10 (96.1 %), with 6 ranks 1 to 6 (96.9 %), with 5 none.
        let values: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(median_interval(&values), Some((3.0, 10.0)));
        assert_eq!(median_interval(&values[..6]), Some((1.0, 6.0)));
        // All of ten miss the median in 2 / 1024 of cases.
        assert_eq!(median_interval_at(&values[..10], 0.998), Some((1.0, 10.0)));
        assert_eq!(median_interval_at(&values[..10], 0.9985), None);
        assert_eq!(median_interval(&values[..5]), None);
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[7.0, 3.0, 7.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(ranks(&[5.0; 3]), [2.0; 3]);
    }

    #[test]
    fn normal_scores_by_hand() {
        // Ranks 1, 2.5, 2.5, 4 of 5: quantiles of 0.2, 0.5, 0.5 and 0.8.
        let found = normal_scores(&[3.0, 7.0, 7.0, 9.0]);
        for (found, right) in found.iter().zip([-0.8416, 0.0, 0.0, 0.8416]) {
            assert!((found - right).abs() < 1e-3, "{found} {right}");
        }
    }
}
