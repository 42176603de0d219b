//! The ratio of two means with its interval.

use crate::{Batches, Side};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The variance of the mean (its standard error squared) and the degrees of freedom behind it; `None` where
    /// there is too little to say.
    pub error: Option<(f64, f64)>,
}

impl Mean {
    /// Of a run's figures: its interval is that of Student's t over batch means, whose number follows from the
    /// number of accesses.
    pub fn of(side: &Side) -> Self {
        let freedom = Batches::complete(side.count) as f64 - 1.0;
        let half = side
            .response_ns
            .high
            .map(|high| high - side.response_ns.mean);
        let error = half
            .zip(t(freedom))
            .map(|(half, t)| ((half / t) * (half / t), freedom));
        Self {
            mean: side.response_ns.mean,
            error,
        }
    }
}

/// The upper 97.5 % point of Student's t; `None` below one degree of freedom.
pub(super) fn t(freedom: f64) -> Option<f64> {
    let law = (freedom >= 1.0).then(|| StudentsT::new(0.0, 1.0, freedom).ok());
    Some(law??.inverse_cdf(0.975))
}

/// From what a ratio's interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The same access in both runs, access by access.
    Pairs,
    /// Each run's own batches, as if the runs had nothing in common.
    Independent,
}

/// What can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The mean is lower than the base's.
    Faster,
    /// The mean is higher than the base's.
    Slower,
    /// The interval holds 1: no difference can be told.
    NoDifference,
    /// Every access took exactly as long.
    Same,
    /// Too few accesses for an interval.
    TooFew,
}

/// A mean response time divided by the base's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio; below 1 is faster than the base. `None` where the base took no time at all.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What the interval was found from.
    pub basis: Basis,
    /// What can be told.
    pub verdict: Verdict,
}

impl Ratio {
    /// Of two runs that have nothing in common. The degrees of freedom are Welch and Satterthwaite's, at the ratio
    /// itself.
    pub fn independent(base: &Mean, run: &Mean) -> Self {
        let interval = base.error.zip(run.error).and_then(|((v0, n0), (v1, n1))| {
            let ratio = run.mean / base.mean;
            let (a, b) = (v1, ratio * ratio * v0);
            let freedom = match a + b {
                0.0 => n0.min(n1),
                sum => sum * sum / (a * a / n1 + b * b / n0),
            };
            fieller((base.mean, run.mean), (v0, v1, 0.0), t(freedom)?)
        });
        Self::new((base.mean, run.mean), interval, Basis::Independent)
    }

    pub(super) fn new((base, run): (f64, f64), interval: Option<(f64, f64)>, basis: Basis) -> Self {
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

/// Fieller's interval of `y / x`: every ratio for which `y - ratio * x` lies within `t` standard errors of zero.
/// `errors` are the variance of `x`, that of `y`, and their covariance. `None` where `x` itself cannot be told from
/// zero, so that the interval has no end. Response times are not negative, and the interval is not either.
pub fn fieller((x, y): (f64, f64), (xx, yy, xy): (f64, f64, f64), t: f64) -> Option<(f64, f64)> {
    let a = x * x - t * t * xx;
    let b = x * y - t * t * xy;
    let c = y * y - t * t * yy;
    // Equal runs give zero, and rounding may put it below.
    let root = (b * b - a * c).max(0.0).sqrt();
    (x > 0.0 && a > 0.0).then(|| (((b - root) / a).max(0.0), (b + root) / a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn the_interval_is_that_of_the_hand_computed_quadratic() {
        // 96 r^2 - 400 r + 396 = 0.
        let (low, high) = fieller((10.0, 20.0), (1.0, 1.0, 0.0), 2.0).unwrap();
        assert!((low - (200.0 - 1984_f64.sqrt()) / 96.0).abs() < 1e-12);
        assert!((high - (200.0 + 1984_f64.sqrt()) / 96.0).abs() < 1e-12);
        // A base that is known exactly scales the interval of the other.
        assert_eq!(fieller((4.0, 10.0), (0.0, 1.0, 0.0), 2.0), Some((2.0, 3.0)));
        // Means that go together leave nothing open.
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

    /// Batch means of a stream around `mean`, whose neighbours resemble each other.
    fn stream(rng: &mut Rng, mean: f64) -> Mean {
        let (mut batches, mut x) = (Batches::default(), 0.0);
        for _ in 0..8_000 {
            x = 0.6 * x + rng.normal();
            batches.push(mean + x);
        }
        let interval = batches.interval().unwrap();
        let freedom = batches.means().len() as f64 - 1.0;
        let error = (interval.high.unwrap() - interval.mean) / t(freedom).unwrap();
        Mean {
            mean: interval.mean,
            error: Some((error * error, freedom)),
        }
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
        // 95 % of 800, and three standard errors of that count.
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
}
