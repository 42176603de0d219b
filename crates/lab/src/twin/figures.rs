//! The figures that a twin is fitted to: quantiles of latencies, and rates, of a record or of a bench.

mod limits;
mod sources;
mod what;

use super::seen::Seen;
use super::series;
use fathom_probe::{Parameter, Sample, Value};
use fathom_report::twin::{Figure, Of};
use fathom_stats::location::quantile;
use limits::Limits;
use sources::SOURCES;

pub(super) use what::{Samples, What};

/// One figure to be met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) what: What,
    x: u64,
    percent: u8,
    pub(super) value: f64,
    weight: f64,
}

/// The writes of the windows with reads and writes, in bytes. Their samples count the bytes that are due.
const WRITE: u64 = 64 << 10;
/// Reads faster than this share of the slower ones are answered by memory or by a fast cache.
const NATIVE: f64 = 0.75;
/// The share of fast reads from which figures that mix both kinds say nothing about either.
const MIXED: f64 = 0.03;

/// Returns the samples of a record. Of single reads only the native ones count; if there are others, loops and pairs, which
/// mix both, are left out.
pub(super) fn samples(seen: &Seen<'_>) -> Samples {
    let mut all = Samples::new();
    let limits = Limits::of(seen);
    let knee = seen.series(Parameter::QueueKnee, series::AT_KNEE);
    let knee = knee.last().map(|sample| sample.x);
    let cache = seen.value(Parameter::FastCache).and_then(Value::bytes);
    for source in SOURCES {
        for sample in seen.series(source.parameter, source.series) {
            let other = source.what == What::Knee && Some(sample.x) != knee;
            if other || limits.hold(source.what, sample) || !part(source.what, sample, cache) {
                continue;
            }
            let ns = sample.ns.max(1) as f64;
            let x = match source.what {
                What::Closed | What::Dirty => sample.x,
                _ => 0,
            };
            let value = match source.what.is_rate() {
                true => sample.bytes as f64 / ns * 1e9,
                false => ns,
            };
            all.entry((source.what, x)).or_default().push(value);
            if source.what == What::Slowest {
                let phase = (sample.x % WRITE) as f64 / WRITE as f64;
                all.entry((What::Phase, 0)).or_default().push(phase);
            }
        }
    }
    let mut fast = 0.0;
    let mapped = seen.value(Parameter::MapReach).is_some();
    let small = if mapped { What::Two } else { What::Small };
    for what in [What::One, What::Two, small] {
        if let Some(times) = all.get_mut(&(what, 0)) {
            let least = NATIVE * quantile(times, 0.8).unwrap_or(0.0);
            let count = times.len() as f64;
            times.retain(|ns| *ns >= least);
            fast = f64::max(fast, 1.0 - times.len() as f64 / count);
        }
    }
    if cache.is_some() {
        all.remove(&(What::Piece, 0));
    }
    if fast > MIXED {
        let mixed = [What::Pair, What::Closed, What::Knee, What::Piece];
        all.retain(|(what, _), _| !mixed.contains(what));
    }
    all
}

/// Returns true if a sample of a fill belongs to the part in the fast cache, or to that behind it.
fn part(what: What, sample: &Sample, cache: Option<u64>) -> bool {
    let cache = cache.unwrap_or(0) as f64;
    match what {
        What::Fill => sample.x as f64 > 1.1 * cache,
        What::FastFill => (sample.x as f64) < 0.9 * cache,
        _ => true,
    }
}

/// Returns the figures of samples that are to be met, each kind with its weight.
pub(super) fn goals(samples: &Samples) -> Vec<Goal> {
    let mut goals = Vec::new();
    for source in SOURCES {
        let of = samples.iter().filter(|((what, _), _)| *what == source.what);
        let of: Vec<_> = of.collect();
        let count = (of.len() * source.percents.len()).max(1) as f64;
        for (&(what, x), values) in of {
            for &percent in source.percents {
                let value = quantile(values, f64::from(percent) / 100.0);
                goals.extend(value.filter(|value| *value > 0.0).map(|value| Goal {
                    what,
                    x,
                    percent,
                    value,
                    weight: source.weight / count,
                }));
            }
        }
    }
    goals
}

impl Goal {
    /// Returns the same figure of other samples.
    pub(super) fn met_by(&self, samples: &Samples) -> Option<f64> {
        let values = samples.get(&(self.what, self.x))?;
        quantile(values, f64::from(self.percent) / 100.0)
    }

    /// Returns the figure for a reader.
    pub(super) fn shown(&self, samples: &Samples) -> Figure {
        let words = self.what.words();
        let mut name = match self.what {
            What::Closed | What::Dirty => format!("{words} {}", self.x),
            _ => words.to_owned(),
        };
        if !self.what.is_rate() {
            name.push_str(&format!(", p{}", self.percent));
        }
        Figure {
            name,
            of: match self.what.is_rate() {
                true => Of::Rate,
                false => Of::Time,
            },
            record: self.value,
            twin: self.met_by(samples),
        }
    }
}

/// The relative error from which on an error counts linearly and no longer by its square: outliers do not decide a fit.
const LARGE: f64 = 0.05;

/// Returns the distance of samples from the goals of some kinds: weighted, robust, zero if all are met.
pub(super) fn distance(goals: &[Goal], samples: &Samples, of: impl Fn(What) -> bool) -> f64 {
    let goals = goals.iter().filter(|goal| of(goal.what));
    let of = |goal: &Goal| {
        let ratio = goal.met_by(samples).map_or(10.0, |met| met / goal.value);
        let error = ratio.max(1e-6).ln() / LARGE;
        goal.weight * ((1.0 + error * error).sqrt() - 1.0)
    };
    goals.map(of).sum()
}

/// How different two distributions of phases are that an error of `LARGE` is worth as much, and the weight of it.
const DIFFERENT: f64 = 0.1;
const PHASE_WEIGHT: f64 = 2.0;

/// Returns the distance of the phases of slow reads: Kuiper's statistic, which does not depend on where a period begins.
pub(super) fn apart(recorded: &Samples, samples: &Samples) -> f64 {
    let of = |samples: &Samples| {
        let mut phases = samples.get(&(What::Phase, 0)).cloned().unwrap_or_default();
        phases.sort_by(f64::total_cmp);
        phases
    };
    let (goal, met) = (of(recorded), of(samples));
    if goal.is_empty() || met.is_empty() {
        return 0.0;
    }
    let below = |all: &[f64], at: f64| all.partition_point(|x| *x <= at) as f64 / all.len() as f64;
    let ends = goal
        .iter()
        .chain(&met)
        .map(|at| below(&goal, *at) - below(&met, *at));
    let (low, high) = ends.fold((0.0, 0.0), |(low, high), d| {
        (f64::min(low, d), f64::max(high, d))
    });
    let error = (high - low) / DIFFERENT;
    PHASE_WEIGHT * ((1.0 + error * error).sqrt() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_compared_around_the_period() {
        let at = |phases: &[f64]| Samples::from([((What::Phase, 0), phases.to_vec())]);
        let early = at(&[0.1, 0.11, 0.12, 0.13]);
        assert_eq!(apart(&early, &early), 0.0);
        assert_eq!(apart(&Samples::new(), &early), 0.0);
        // None in common: the statistic is 1, ten times what counts.
        let late = apart(&early, &at(&[0.6, 0.61, 0.62]));
        let whole = PHASE_WEIGHT * (101.0_f64.sqrt() - 1.0);
        assert!((late - whole).abs() < 1e-9);
        // Half of them in common.
        assert!(apart(&early, &at(&[0.1, 0.11, 0.6, 0.61])) < 0.6 * whole);
    }
}
