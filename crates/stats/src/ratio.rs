//! The ratio of two means with its confidence interval.
//!
//! It uses Fieller's interval (E. C. Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16, 1954) over
//! batch means. If both means are of the same items, the batches are formed of the same items, and the covariance narrows
//! the interval: it contains exactly those ratios for which the paired differences `y - ratio * x` may be zero on average.

use crate::batches::{Batches, Interval};
use crate::law::student_t;
use serde::Serialize;

/// The least number of batches of pairs for an interval.
const BATCHES_MIN: usize = 10;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The variance of the mean (its standard error squared) and its degrees of freedom; `None` with too few values.
    pub error: Option<(f64, f64)>,
}

impl Mean {
    /// Computes it from the mean of `count` values: the interval is that of Student's t over batch means, and `count`
    /// determines the number of batches.
    pub fn of(interval: &Interval, count: u64) -> Self {
        let freedom = Batches::complete(count) as f64 - 1.0;
        let half = interval.high.map(|high| high - interval.mean);
        let error = half
            .zip(student_t(freedom))
            .map(|(half, t)| ((half / t) * (half / t), freedom));
        Self {
            mean: interval.mean,
            error,
        }
    }
}

/// The data from which the interval of a ratio was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Pairs: the same access in both runs.
    Pairs,
    /// The batches of each run by itself, as if the runs had nothing in common.
    Independent,
}

/// The conclusion of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The mean is lower than that of the base.
    Faster,
    /// The mean is higher than that of the base.
    Slower,
    /// The interval contains 1: no difference is shown.
    NoDifference,
    /// Every access took exactly as long in both runs.
    Same,
    /// Too few accesses for an interval.
    TooFew,
}

/// A mean response time divided by that of the base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio; below 1 is faster than the base. `None` if the base took no time.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The data from which the interval was computed.
    pub basis: Basis,
    /// The conclusion.
    pub verdict: Verdict,
}

impl Ratio {
    /// Compares two runs that have nothing in common. The degrees of freedom are those of Welch and Satterthwaite, at the
    /// ratio itself.
    pub fn independent(base: &Mean, run: &Mean) -> Self {
        let interval = base.error.zip(run.error).and_then(|((v0, n0), (v1, n1))| {
            let ratio = run.mean / base.mean;
            let (a, b) = (v1, ratio * ratio * v0);
            let freedom = match a + b {
                0.0 => n0.min(n1),
                sum => sum * sum / (a * a / n1 + b * b / n0),
            };
            fieller((base.mean, run.mean), (v0, v1, 0.0), student_t(freedom)?)
        });
        Self::new((base.mean, run.mean), interval, Basis::Independent)
    }

    fn new((base, run): (f64, f64), interval: Option<(f64, f64)>, basis: Basis) -> Self {
        let verdict = match interval {
            None => Verdict::TooFew,
            Some((_, high)) if high < 1.0 => Verdict::Faster,
            Some((low, _)) if low > 1.0 => Verdict::Slower,
            Some(_) => Verdict::NoDifference,
        };
        Self {
            value: (base > 0.0).then(|| run / base),
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            basis,
            verdict,
        }
    }
}

/// Two means of the same items, batch by batch.
#[derive(Clone, Debug, Default)]
pub struct Paired {
    base: Batches,
    run: Batches,
    differs: bool,
}

impl Paired {
    /// Adds the next item: its value in the base and its value in the run.
    pub fn push(&mut self, base: f64, run: f64) {
        self.base.push(base);
        self.run.push(run);
        self.differs |= base != run;
    }

    /// Returns the ratio; `None` without items.
    pub fn ratio(&self) -> Option<Ratio> {
        let means = (self.base.interval()?.mean, self.run.interval()?.mean);
        let (x, y) = (self.base.means(), self.run.means());
        let n = x.len() as f64;
        let interval = (x.len() >= BATCHES_MIN)
            .then(|| {
                let errors = (
                    product(&x, &x) / n,
                    product(&y, &y) / n,
                    product(&x, &y) / n,
                );
                fieller(means, errors, student_t(n - 1.0)?)
            })
            .flatten();
        let ratio = Ratio::new(means, interval, Basis::Pairs);
        Some(match self.differs {
            true => ratio,
            false => Ratio {
                verdict: Verdict::Same,
                ..ratio
            },
        })
    }
}

/// Returns the sample covariance of paired values.
fn product(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my));
    products.sum::<f64>() / (n - 1.0)
}

/// Returns Fieller's interval of `y / x`: every ratio for which `y - ratio * x` lies within `t` standard errors of zero.
/// `errors` are the variance of `x`, that of `y`, and their covariance. `None` if `x` is not significantly different from
/// zero, because the interval is then unbounded. Response times are not negative, so the interval is cut at zero.
fn fieller((x, y): (f64, f64), (xx, yy, xy): (f64, f64, f64), t: f64) -> Option<(f64, f64)> {
    let a = x * x - t * t * xx;
    let b = x * y - t * t * xy;
    let c = y * y - t * t * yy;
    // Equal runs give zero, and rounding may make it negative.
    let root = (b * b - a * c).max(0.0).sqrt();
    (x > 0.0 && a > 0.0).then(|| (((b - root) / a).max(0.0), (b + root) / a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn covariance_by_hand() {
        // The means are 2 and 4; the products of the deviations are (-1)(-2), 0 and (1)(2).
        assert_eq!(product(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 2.0);
        assert_eq!(product(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), -2.0);
    }

    #[test]
    fn the_interval_is_that_of_the_hand_computed_quadratic() {
        // 96 r^2 - 400 r + 396 = 0.
        let (low, high) = fieller((10.0, 20.0), (1.0, 1.0, 0.0), 2.0).unwrap();
        assert!((low - (200.0 - 1984_f64.sqrt()) / 96.0).abs() < 1e-12);
        assert!((high - (200.0 + 1984_f64.sqrt()) / 96.0).abs() < 1e-12);
        // If the base is known exactly, the interval is that of the other mean, scaled.
        assert_eq!(fieller((4.0, 10.0), (0.0, 1.0, 0.0), 2.0), Some((2.0, 3.0)));
        // With perfectly correlated means the interval is a point.
        assert_eq!(
            fieller((10.0, 20.0), (1.0, 4.0, 2.0), 2.0),
            Some((2.0, 2.0))
        );
    }

    #[test]
    fn a_base_that_may_be_zero_has_no_interval() {
        assert_eq!(fieller((1.0, 1.0), (1.0, 0.1, 0.0), 2.0), None);
        assert_eq!(fieller((0.0, 1.0), (0.0, 0.1, 0.0), 2.0), None);
        let none = Mean {
            mean: 0.0,
            error: Some((0.0, 9.0)),
        };
        assert_eq!(Ratio::independent(&none, &none).verdict, Verdict::TooFew);
        assert_eq!(Ratio::independent(&none, &none).value, None);
    }

    #[test]
    fn what_is_told_follows_from_the_interval() {
        let verdict = |interval| Ratio::new((1.0, 1.0), interval, Basis::Pairs).verdict;
        assert_eq!(verdict(Some((0.8, 0.99))), Verdict::Faster);
        assert_eq!(verdict(Some((1.01, 1.2))), Verdict::Slower);
        assert_eq!(verdict(Some((0.9, 1.0))), Verdict::NoDifference);
        assert_eq!(verdict(None), Verdict::TooFew);
    }

    /// Returns batch means of a stream around `mean` in which neighbours are correlated.
    fn stream(rng: &mut Rng, mean: f64) -> Mean {
        let (mut batches, mut x) = (Batches::default(), 0.0);
        for _ in 0..8_000 {
            x = 0.6 * x + rng.normal();
            batches.push(mean + x);
        }
        Mean::of(&batches.interval().unwrap(), batches.count())
    }

    #[test]
    fn the_independent_interval_holds_the_ratio_as_often_as_it_says() {
        let holds = |seed: u64| {
            let mut rng = Rng::new(seed, 7);
            let (base, run) = (stream(&mut rng, 1.0), stream(&mut rng, 1.5));
            let ratio = Ratio::independent(&base, &run);
            (ratio.low.unwrap()..ratio.high.unwrap()).contains(&1.5)
        };
        let held = (0..800).filter(|&seed| holds(seed)).count();
        // 95 % of 800, within three standard errors of that count.
        assert!((742..=778).contains(&held), "{held} of 800");
    }

    #[test]
    fn the_number_of_batches_follows_from_the_number_of_values() {
        let mut batches = Batches::default();
        for count in 1..=5_000 {
            batches.push(1.0);
            assert_eq!(Batches::complete(count), batches.means().len(), "{count}");
        }
    }

    /// Returns two runs that share most of what makes an item slow; the true ratio is 1.2.
    fn simulated(seed: u64) -> Paired {
        let mut rng = Rng::new(seed, 3);
        let mut both = Paired::default();
        for _ in 0..4_000 {
            let shared = rng.exponential(10_000.0);
            let base = (shared + rng.exponential(1_000.0)).round();
            both.push(base, (1.2 * shared + rng.exponential(1_200.0)).round());
        }
        both
    }

    #[test]
    fn the_paired_interval_holds_the_ratio_as_often_as_it_says() {
        let holds = |seed: u64| {
            let ratio = simulated(seed).ratio().unwrap();
            (ratio.low.unwrap()..ratio.high.unwrap()).contains(&1.2)
        };
        let held = (0..800).filter(|&seed| holds(seed)).count();
        // 95 % of 800, within three standard errors of that count.
        assert!((742..=778).contains(&held), "{held} of 800");
    }

    #[test]
    fn pairs_are_narrower_than_the_runs_alone() {
        let both = simulated(1);
        let alone = |batches: &Batches| Mean::of(&batches.interval().unwrap(), batches.count());
        let loose = Ratio::independent(&alone(&both.base), &alone(&both.run));
        let paired = both.ratio().unwrap();
        let width = |ratio: &Ratio| ratio.high.unwrap() - ratio.low.unwrap();
        // The shared part is ten elevenths of the time.
        assert!(width(&paired) < width(&loose) / 4.0, "{paired:?} {loose:?}");
        assert_eq!(paired.value, loose.value);
    }
}
