//! Tests whether one sample of latencies (or rates) is larger than another, on a log scale.
//!
//! The p-value is that of Mann & Whitney 1947 (exact up to 20 values without ties, otherwise the normal approximation,
//! corrected for ties and continuity). The ratio is that of Hodges & Lehmann 1963, with the interval that inverts the test
//! (Hollander & Wolfe 1999, 4.3; normal approximation of the rank). It compares typical values, not totals. All pairs are
//! formed, so thin out samples of more than 2000 values.

use crate::law::{normal_quantile, normal_tail};
use crate::location;

/// A closed interval from `low` to `high`, in the unit of the quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Applies an increasing function, such as `f64::exp`, to both ends.
    fn map(self, grow: impl Fn(f64) -> f64) -> Self {
        Self {
            low: grow(self.low),
            high: grow(self.high),
        }
    }
}

/// The conclusion of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The first is larger.
    Greater,
    /// The first is smaller.
    Less,
    /// The difference, if any, is within the margin.
    NotDifferent,
    /// The samples do not decide.
    Undecided,
}

/// The comparison of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// The typical ratio of the first to the second.
    pub ratio: f64,
    /// The interval of `ratio`, at the requested confidence.
    pub interval: Interval,
    /// Two-sided p-value of Mann and Whitney's test.
    pub p: f64,
    /// The conclusion, from the interval.
    pub decision: Decision,
}

/// Compares `a` with `b`. `confidence` (0 to 1) is that of the interval; `margin` is the relative difference that does not
/// matter (0.05 for 5 %). Values that are not positive are ignored. Returns `None` with fewer than 4 values on a side.
pub fn separate(a: &[f64], b: &[f64], confidence: f64, margin: f64) -> Option<Separation> {
    let (a, b) = (location::logs(a), location::logs(b));
    if a.len().min(b.len()) < 4 {
        return None;
    }
    let mut shifts: Vec<f64> = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| x - y))
        .collect();
    shifts.sort_unstable_by(f64::total_cmp);
    let (m, n) = (a.len() as f64, b.len() as f64);
    let spread = (m * n * (m + n + 1.0) / 12.0).sqrt();
    let rank = (0.5 * m * n - normal_quantile(0.5 + 0.5 * confidence) * spread).floor();
    let rank = rank.max(0.0) as usize;
    let interval = Interval {
        low: *shifts.get(rank)?,
        high: *shifts.get(shifts.len().checked_sub(rank + 1)?)?,
    };
    Some(Separation {
        ratio: location::quantile_of_sorted(&shifts, 0.5)?.exp(),
        interval: interval.map(f64::exp),
        p: mann_whitney_p(&a, &b)?,
        decision: decide(interval, margin.max(0.0).ln_1p()),
    })
}

fn decide(interval: Interval, margin: f64) -> Decision {
    if -margin <= interval.low && interval.high <= margin {
        Decision::NotDifferent
    } else if interval.low > 0.0 {
        Decision::Greater
    } else if interval.high < 0.0 {
        Decision::Less
    } else {
        Decision::Undecided
    }
}

/// Returns the two-sided p-value of Mann and Whitney's test; `None` if a sample is empty.
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (location::sorted(a), location::sorted(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    // U: the number of pairs in which a is larger; ties count as half.
    let below = |x: f64| b.partition_point(|y| *y < x) + b.partition_point(|y| *y <= x);
    let wins = a.iter().map(|&x| below(x)).sum::<usize>() as f64 / 2.0;
    let joint = location::sorted(&[a.as_slice(), b.as_slice()].concat());
    let ties: f64 = joint
        .chunk_by(|x, y| x == y)
        .map(|same| (same.len() as f64).powi(3) - same.len() as f64)
        .sum();
    let (m, n) = (a.len() as f64, b.len() as f64);
    if ties == 0.0 && joint.len() <= 20 {
        return Some(exact_p(wins as usize, a.len(), b.len()));
    }
    let total = m + n;
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    let away = ((wins - 0.5 * m * n).abs() - 0.5).max(0.0);
    if variance <= 0.0 {
        return Some(1.0);
    }
    Some((2.0 * normal_tail(away / variance.sqrt())).min(1.0))
}

/// Returns the exact p-value, from the number of orders of `m + n` values with `u` wins:
/// `count(m, n, u) = count(m - 1, n, u - n) + count(m, n - 1, u)` (Mann & Whitney 1947).
fn exact_p(wins: usize, m: usize, n: usize) -> f64 {
    let mut counts = vec![vec![0.0f64; m * n + 1]; n + 1];
    counts.iter_mut().for_each(|row| row[0] = 1.0);
    for _ in 0..m {
        let before = counts.clone();
        for j in 0..=n {
            for u in 0..=m * n {
                let last_is_a = if u >= j { before[j][u - j] } else { 0.0 };
                let last_is_b = if j > 0 { counts[j - 1][u] } else { 0.0 };
                counts[j][u] = last_is_a + last_is_b;
            }
        }
    }
    let row = &counts[n];
    let smaller = wins.min(m * n - wins);
    let tail: f64 = row[..=smaller].iter().sum();
    (2.0 * tail / row.iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    /// Returns a lognormal error; 3 % of the errors are multiplied by a spike of 5 to 50.
    fn factor(sigma: f64, rng: &mut Rng) -> f64 {
        let spike = if rng.chance(0.03) {
            5.0 + 45.0 * rng.uniform()
        } else {
            1.0
        };
        spike * (sigma * rng.normal()).exp()
    }

    #[test]
    fn exact_p_values_are_those_of_the_table() {
        // 3 against 3, all larger: 2 of C(6, 3) = 20 orders.
        let p = mann_whitney_p(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((p - 0.1).abs() < 1e-12, "{p}");
        // 2 against 3 with U = 1 (1 of 6 pairs): 2 of 10 orders have U <= 1, so both sides are 4 of 10.
        let p = mann_whitney_p(&[1.0, 2.5], &[2.0, 3.0, 4.0]).unwrap();
        assert!((p - 0.4).abs() < 1e-12, "{p}");
        assert_eq!(mann_whitney_p(&[], &[1.0]), None);
        assert_eq!(mann_whitney_p(&[1.0; 9], &[1.0; 9]), Some(1.0));
    }

    #[test]
    fn the_normal_approximation_meets_the_exact_one() {
        let a: Vec<f64> = (0..10).map(|i| f64::from(2 * i + 5)).collect();
        let b: Vec<f64> = (0..10).map(|i| f64::from(2 * i)).collect();
        let exact = mann_whitney_p(&a, &b).unwrap();
        let m = 10.0f64;
        let wins = 10.0 * 10.0 - 28.0;
        let z = (wins - 50.0f64 - 0.5) / (m * m * 21.0 / 12.0).sqrt();
        // Pairs with b > a: the sum of 0..=7 is 28.
        assert!((exact - 2.0 * normal_tail(z)).abs() < 0.005, "{exact}");
    }

    #[test]
    fn ratio_by_hand() {
        let a = [2.0, 4.0, 8.0, 16.0];
        let b = [1.0, 2.0, 4.0, 8.0];
        let found = separate(&a, &b, 0.9, 0.05).unwrap();
        assert!((found.ratio - 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.decision, Decision::Undecided);
        assert_eq!(separate(&a[..3], &b, 0.9, 0.05), None);
    }

    #[test]
    fn decisions_are_right_and_undecided_when_noise_is_high() {
        let seed = 31;
        let mut rng = Rng::new(seed, 0);
        let mut run = |ratio: f64, sigma: f64, n: usize| {
            let mut counts = [0u32; 4];
            for _ in 0..200 {
                let a: Vec<f64> = (0..n).map(|_| ratio * factor(sigma, &mut rng)).collect();
                let b: Vec<f64> = (0..n).map(|_| factor(sigma, &mut rng)).collect();
                let found = separate(&a, &b, 0.99, 0.05).unwrap();
                assert!((found.interval.low..=found.interval.high).contains(&found.ratio));
                counts[found.decision as usize] += 1;
            }
            println!("seed {seed}, ratio {ratio}, noise {sigma}, {n} values: {counts:?}");
            counts
        };
        let [greater, less, same, _] = run(1.2, 0.12, 60);
        assert!(greater >= 198 && less == 0 && same == 0);
        let [greater, less, same, _] = run(0.8, 0.12, 60);
        assert!(less >= 198 && greater == 0 && same == 0);
        let [greater, less, same, _] = run(1.0, 0.05, 60);
        assert!(same >= 194 && greater + less <= 4);
        let [greater, less, _, undecided] = run(1.0, 0.25, 60);
        assert!(undecided >= 190 && greater + less <= 6);
    }
}
