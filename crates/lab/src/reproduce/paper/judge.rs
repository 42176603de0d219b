//! Whether what a paper says of a figure holds on our runs.
//!
//! Every number is computed for each seed from the runs of that seed alone, which saw the same workload; the numbers of
//! several seeds then have a mean and a 95 % interval. With one seed there is no interval, and a verdict says what that
//! seed says. The limits are those of [`mod@crate::reproduce::judge`].

use super::assume::{Assumed, judge_each};
use super::expected::{Claimed, Selector, Take, Test, Tested};
use super::metric::Metric;
use crate::reproduce::judge::rule::directed;
use crate::reproduce::{NO_DIFFERENCE_PERCENT, Verdict};
use crate::study::Finished;
use fathom_run::half_width;
use serde::Serialize;

/// A number with half of its 95 % interval over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The mean over seeds.
    pub mean: f64,
    /// Half of the interval; 0 with one seed.
    pub half: f64,
    /// Seeds.
    pub seeds: usize,
}

impl Measured {
    /// Of the numbers of all seeds; `None` where there is none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let seeds = values.len();
        (seeds > 0).then(|| Self {
            mean: values.iter().sum::<f64>() / seeds as f64,
            half: half_width(values, 2).unwrap_or(0.0),
            seeds,
        })
    }

    /// In words, with a unit.
    pub fn words(self, unit: &str) -> String {
        // Three digits or so.
        let digits = match self.mean.abs() {
            ..0.01 => 5,
            ..0.1 => 4,
            ..1.0 => 3,
            ..10.0 => 2,
            _ => 1,
        };
        match self.half >= 0.5 * 10_f64.powi(-digits) {
            true => format!(
                "{:.*}{unit} (± {:.*})",
                digits as usize, self.mean, digits as usize, self.half
            ),
            false => format!("{:.*}{unit}", digits as usize, self.mean),
        }
    }
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// What was measured, in words.
    pub measured: String,
    /// What was claimed, in words.
    pub claimed: String,
    /// What came of it under each assumption; empty where the claim assumes nothing.
    pub assumed: Vec<Assumed>,
}

/// The point of an axis, or the workload.
pub(super) fn point<'a>(run: &'a Finished, axis: &str) -> Option<&'a str> {
    if axis == "workload" {
        return Some(&run.run.workload);
    }
    let found = run.run.points.iter().find(|(name, _)| name == axis);
    found.map(|(_, point)| point.as_str())
}

/// Whether a run is among those that are meant.
pub(super) fn selected(run: &Finished, selector: &Selector) -> bool {
    let is = |(axis, wanted): (&String, &String)| point(run, axis) == Some(wanted);
    selector.iter().all(is)
}

/// The points of an axis among runs, in their order.
pub(super) fn points_of<'a>(runs: &[&'a Finished], axis: &str) -> Vec<&'a str> {
    let mut points = Vec::new();
    for run in runs {
        if let Some(point) = point(run, axis)
            && !points.contains(&point)
        {
            points.push(point);
        }
    }
    points
}

/// The mean of a metric over runs; `None` where there are none, or one of them has no such thing.
pub(super) fn mean(runs: &[&Finished], metric: Metric) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| metric.of(&run.record)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// A claim on the runs of its study.
pub(super) fn judge(claim: &Tested, runs: &[Finished]) -> Judged {
    let here: Vec<&Finished> = runs.iter().filter(|r| selected(r, &claim.at)).collect();
    match claim.assuming.is_empty() {
        true => judge_there(claim, &here),
        false => judge_each(claim, &here),
    }
}

/// A claim on these runs.
pub(super) fn judge_there(claim: &Tested, here: &[&Finished]) -> Judged {
    let mut seeds: Vec<u64> = here.iter().map(|run| run.run.plan.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let values: Option<Vec<f64>> = seeds
        .iter()
        .map(|seed| {
            let of_seed = here.iter().filter(|run| run.run.plan.seed == *seed);
            compute(claim, &of_seed.copied().collect::<Vec<_>>())
        })
        .collect();
    let (claimed, unit) = shape(&claim.test);
    let Some(measured) = values.as_deref().and_then(Measured::of) else {
        return Judged {
            verdict: Verdict::CannotBeTold,
            measured: match here.is_empty() {
                true => "the runs that it needs were left out".into(),
                false => "a run that it needs has no such figure".into(),
            },
            claimed: claimed.words(unit),
            assumed: Vec::new(),
        };
    };
    let percent = matches!(claim.test, Test::Gain { .. });
    Judged {
        verdict: decide(claimed, measured, percent),
        measured: measured.words(unit),
        claimed: claimed.words(unit),
        assumed: Vec::new(),
    }
}

pub(super) fn shape(test: &Test) -> (Claimed, &'static str) {
    match test {
        Test::Gain { claimed, .. } | Test::Spread { claimed, .. } => (*claimed, " %"),
        Test::Ratio { claimed, .. } => (*claimed, " times"),
        Test::Value { claimed, .. } => (*claimed, ""),
    }
}

/// A size that is off, but on its side of nothing, holds in its direction; less than 1 % is nothing.
fn decide(claimed: Claimed, measured: Measured, gain: bool) -> Verdict {
    let Measured { mean, half, .. } = measured;
    match claimed {
        Claimed::AtLeast(least) => directed(mean - least, half),
        Claimed::AtMost(most) => directed(most - mean, half),
        Claimed::Within(most) => directed(most - mean.abs(), half),
        Claimed::About { value, within } => {
            let verdict = directed(within - (mean - value).abs(), half);
            let side = mean * value.signum() - half >= NO_DIFFERENCE_PERCENT;
            match verdict {
                Verdict::DoesNotHold if gain && side => Verdict::DirectionOnly,
                verdict => verdict,
            }
        }
    }
}

/// The number of a claim from the runs of one seed.
fn compute(claim: &Tested, runs: &[&Finished]) -> Option<f64> {
    let of = |selector: &Selector, runs: &[&Finished]| {
        let runs = runs.iter().copied().filter(|run| selected(run, selector));
        mean(&runs.collect::<Vec<_>>(), claim.metric)
    };
    match &claim.test {
        Test::Value { of: which, .. } => of(which, runs),
        Test::Ratio {
            of: which, than, ..
        } => Some(of(which, runs)? / of(than, runs).filter(|x| *x > 0.0)?),
        Test::Spread { over, among, .. } => {
            let points = points_of(runs, over).into_iter();
            let wanted = |point: &&str| among.is_empty() || among.iter().any(|a| a == point);
            let at = |point: &str| of(&Selector::from([(over.clone(), point.to_owned())]), runs);
            let values: Vec<f64> = points.filter(wanted).map(at).collect::<Option<_>>()?;
            let least = values.iter().copied().min_by(f64::total_cmp)?;
            let most = values.iter().copied().max_by(f64::total_cmp)?;
            (least > 0.0).then(|| (most / least - 1.0) * 100.0)
        }
        Test::Gain {
            of: which,
            than,
            over,
            take,
            ..
        } => {
            let one = |runs: &[&Finished]| {
                let value = of(which, runs)?;
                let others: Option<Vec<f64>> = than.iter().map(|than| of(than, runs)).collect();
                gain(value, &others?, claim.metric.better())
            };
            let Some(axis) = over else {
                return one(runs);
            };
            let gains: Option<Vec<f64>> = points_of(runs, axis)
                .into_iter()
                .map(|at| {
                    let here = runs.iter().copied().filter(|r| point(r, axis) == Some(at));
                    one(&here.collect::<Vec<_>>())
                })
                .collect();
            taken(&gains?, *take)
        }
    }
}

/// How much better than the best of others, in percent of that.
fn gain(value: f64, others: &[f64], better: f64) -> Option<f64> {
    let best = others
        .iter()
        .copied()
        .max_by(|a, b| (a * better).total_cmp(&(b * better)))?;
    (best > 0.0).then(|| better * (value / best - 1.0) * 100.0)
}

fn taken(values: &[f64], take: Take) -> Option<f64> {
    let all = values.iter().copied();
    match take {
        Take::Mean => Measured::of(values).map(|m| m.mean),
        Take::Highest => all.max_by(f64::total_cmp),
        Take::Lowest => all.min_by(f64::total_cmp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};

    #[test]
    fn a_gain_is_over_the_best_of_the_others() {
        // Less time is better: 8 against 10 and 12 is 20 % off the 10.
        assert_eq!(gain(8.0, &[12.0, 10.0], -1.0).map(f64::round), Some(20.0));
        // More throughput is better: 12 against 8 and 10.
        assert_eq!(gain(12.0, &[8.0, 10.0], 1.0).map(f64::round), Some(20.0));
        assert_eq!(gain(12.0, &[], 1.0), None);
        assert_eq!(gain(12.0, &[0.0], 1.0), None);
    }

    #[test]
    fn sizes_limits_and_directions() {
        let measured = |mean, half| Measured {
            mean,
            half,
            seeds: 5,
        };
        // "Little improvement" (parameter-aware-io, 4.2): a loss of 8.75 % is none.
        let little = Claimed::Within(5.0);
        assert_eq!(decide(little, measured(-8.75, 0.0), true), DoesNotHold);
        assert_eq!(decide(little, measured(-4.0, 0.5), true), Holds);
        assert_eq!(decide(little, measured(4.8, 0.5), true), CannotBeTold);
        assert_eq!(little.words(" %"), "at most 5 % up or down");
        let about = Claimed::About {
            value: 15.0,
            within: 5.0,
        };
        assert_eq!(decide(about, measured(12.0, 1.0), true), Holds);
        assert_eq!(decide(about, measured(11.0, 2.0), true), CannotBeTold);
        assert_eq!(decide(about, measured(40.0, 2.0), true), DirectionOnly);
        assert_eq!(decide(about, measured(0.5, 0.1), true), DoesNotHold);
        assert_eq!(decide(about, measured(-12.0, 1.0), true), DoesNotHold);
        // A value is right or wrong, and has no direction.
        assert_eq!(decide(about, measured(40.0, 2.0), false), DoesNotHold);
        assert_eq!(
            decide(Claimed::AtLeast(2.0), measured(3.0, 0.5), true),
            Holds
        );
        assert_eq!(
            decide(Claimed::AtMost(2.0), measured(2.2, 0.5), true),
            CannotBeTold
        );
    }

    #[test]
    fn the_interval_is_that_of_the_mean_over_seeds() {
        // By hand: mean 3, deviations -1, 0, 1, standard error 1 / sqrt(3), t of two degrees 4.3027.
        let measured = Measured::of(&[2.0, 3.0, 4.0]).unwrap();
        assert_eq!(measured.mean, 3.0);
        assert!((measured.half - 4.3027 / 3_f64.sqrt()).abs() < 1e-3);
        assert_eq!(Measured::of(&[2.0]).unwrap().half, 0.0);
    }
}
