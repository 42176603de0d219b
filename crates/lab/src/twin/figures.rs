//! The figures that a twin is fitted to: quantiles of latencies, and rates, of a record or of a bench.

mod after;
mod exact;
mod limits;
mod load;
mod sources;
mod tail;
mod what;

use super::seen::{Seen, keep_native};
use super::series;
use exact::{figure, unsure};
use fathom_probe::{Parameter, Sample, Value};
use fathom_report::twin::{Figure, Of};
use fathom_stats::location::quantile;
use limits::Limits;
use sources::SOURCES;

pub(super) use after::{Rounds, programmed};
pub(super) use load::{Loaded, figures as loaded_figures};
pub(super) use tail::{SHARES, picked, rank};
pub(super) use what::{OVERWRITES, Samples, What};

/// One figure to be met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) what: What,
    pub(super) x: u64,
    percent: u8,
    pub(super) value: f64,
    /// How exactly the record tells the value: its relative standard error.
    unsure: f64,
    weight: f64,
}

/// The writes of the windows with reads and writes, in bytes. Their samples count the bytes that are due.
const WRITE: u64 = 64 << 10;
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
    tail::add(seen, &limits, &mut all);
    after::add(seen, &limits, &mut all);
    load::add(seen, &limits, &mut all);
    let apart = [What::Tail, What::After, What::AfterCount];
    let sources = SOURCES
        .iter()
        .filter(|source| !apart.contains(&source.what) && !source.what.load());
    for source in sources {
        for sample in seen.series(source.parameter, source.series) {
            let other = source.what == What::Knee && Some(sample.x) != knee;
            let turns = [What::Random, What::Ordered].contains(&source.what);
            let late = turns && sample.rep >= OVERWRITES;
            let limited = limits.hold(source.what, sample);
            if other || late || limited || !part(source.what, sample, cache) {
                continue;
            }
            let ns = sample.ns.max(1) as f64;
            let x = match source.what {
                What::Closed | What::Dirty | What::Near => sample.x,
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
    if !seen.may_merge() {
        all.retain(|(what, _), _| !what.merges());
    }
    let mapped = seen.value(Parameter::MapReach).is_some();
    let small = if mapped { What::Two } else { What::Small };
    for what in [What::One, What::Two, small] {
        if let Some(times) = all.get_mut(&(what, 0)) {
            let count = times.len() as f64;
            keep_native(times);
            fast = f64::max(fast, 1.0 - times.len() as f64 / count);
        }
    }
    if cache.is_some() {
        all.remove(&(What::Piece, 0));
    } else if scattered(seen, &all) {
        all.remove(&(What::Long, 0));
    }
    if fast > MIXED {
        let mixed = [What::Pair, What::Closed, What::Knee, What::Piece];
        all.retain(|(what, _), _| !mixed.contains(what));
    }
    all
}

/// Returns true if long reads in flight are slower than single ones of a drive that was filled in order: what they read had been
/// overwritten in small parts, and lay on other dies than what a candidate reads.
fn scattered(seen: &Seen<'_>, all: &Samples) -> bool {
    let samples = seen.series(Parameter::FastCache, series::READ_COOL).iter();
    let alone: Vec<f64> = samples
        .map(|one| one.bytes as f64 / one.ns.max(1) as f64 * 1e9)
        .collect();
    let many = all.get(&(What::Long, 0));
    many.is_some_and(|many| slower(many, &alone))
}

fn slower(many: &[f64], alone: &[f64]) -> bool {
    let middle = |rates| quantile(rates, 0.5);
    let both = middle(many).zip(middle(alone));
    both.is_some_and(|(many, alone)| many < alone)
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

/// The part of the weight of the slowest reads that is left beside other slow ones: those also meet what the bench does not
/// have, such as erases.
const BESIDE: f64 = 0.2;

/// How much more a flush after the shortest write weighs than after longer ones: it waits for one program, and the longer ones
/// for the order in which dies share them.
const ONE_PROGRAM: f64 = 5.0;

/// Returns the figures of samples that are to be met, each kind with its weight.
pub(super) fn goals(samples: &Samples) -> Vec<Goal> {
    let mut goals = Vec::new();
    let tails = samples.contains_key(&(What::TailPhase, 0));
    for source in SOURCES {
        let of = samples.iter().filter(|((what, _), _)| *what == source.what);
        let of: Vec<_> = of.collect();
        let count = (of.len() * source.percents.len()).max(1) as f64;
        let shortest = of.iter().map(|((_, x), _)| *x).min();
        let factor = |what, x| match what {
            What::Slowest if tails => BESIDE,
            What::Dirty if Some(x) == shortest => ONE_PROGRAM,
            _ => 1.0,
        };
        for (&(what, x), values) in of {
            for &percent in source.percents {
                let share = f64::from(percent) / 100.0;
                let value = figure(what, values, share);
                goals.extend(value.filter(|value| *value > 0.0).map(|value| Goal {
                    what,
                    x,
                    percent,
                    value,
                    unsure: unsure(samples, what, x, share),
                    weight: source.weight * factor(what, x) / count,
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
        figure(self.what, values, f64::from(self.percent) / 100.0)
    }

    /// Returns the figure for a reader.
    pub(super) fn shown(&self, samples: &Samples) -> Figure {
        let words = self.what.words();
        let mut name = match self.what {
            What::Closed
            | What::Dirty
            | What::Near
            | What::Load
            | What::LoadRead
            | What::LoadWrite => format!("{words} {}", self.x),
            What::Tail => format!("{words} {}", tail::TOTAL / self.x.max(1)),
            _ => words.to_owned(),
        };
        let of = match self.what {
            What::AfterCount => Of::Count,
            what if what.is_rate() => Of::Rate,
            _ => Of::Time,
        };
        if of == Of::Time {
            name.push_str(&format!(", p{}", self.percent));
        }
        let more = if of == Of::Count { after::MORE } else { 0.0 };
        Figure {
            name,
            of,
            record: self.value - more,
            twin: self.met_by(samples).map(|met| met - more),
        }
    }
}

/// The relative error from which on an error counts linearly and no longer by its square: outliers do not decide a fit. It is larger
/// for a figure that the record does not tell so exactly.
const LARGE: f64 = 0.05;

/// Returns the distance of samples from the goals of some kinds: weighted, robust, zero if all are met.
pub(super) fn distance(goals: &[Goal], samples: &Samples, of: impl Fn(What) -> bool) -> f64 {
    let goals = goals.iter().filter(|goal| of(goal.what));
    let of = |goal: &Goal| {
        let ratio = goal.met_by(samples).map_or(10.0, |met| met / goal.value);
        let error = ratio.max(1e-6).ln() / LARGE.hypot(goal.unsure);
        goal.weight * ((1.0 + error * error).sqrt() - 1.0)
    };
    goals.map(of).sum()
}

/// How different two distributions of phases are that an error of `LARGE` is worth as much, and the weight of it.
const DIFFERENT: f64 = 0.1;
const PHASE_WEIGHT: f64 = 3.0;

/// Returns the distance of the phases of slow reads: Kuiper's statistic of their peaks, which does not depend on where a period
/// begins.
pub(super) fn apart(recorded: &Samples, samples: &Samples) -> f64 {
    [What::Phase, What::TailPhase]
        .map(|what| phases_apart(recorded, samples, what))
        .iter()
        .sum()
}

fn phases_apart(recorded: &Samples, samples: &Samples, what: What) -> f64 {
    let of = |samples: &Samples| samples.get(&(what, 0)).and_then(|phases| peaks(phases));
    let Some(goal) = of(recorded) else {
        return 0.0;
    };
    let met = of(samples).unwrap_or([1.0 / PARTS as f64; PARTS]);
    let (mut sum, mut low, mut high) = (0.0, 0.0, 0.0);
    for (goal, met) in goal.iter().zip(met) {
        sum += goal - met;
        (low, high) = (f64::min(low, sum), f64::max(high, sum));
    }
    let error = (high - low) / DIFFERENT;
    PHASE_WEIGHT * ((1.0 + error * error).sqrt() - 1.0)
}

/// The parts of a period, and the share of the phases that must lie above the even part for peaks to show.
const PARTS: usize = 24;
const SHOWS: f64 = 0.25;

/// Returns the distribution of phases over the parts of a period, without what comes at any time, such as erases and background
/// work: that is as frequent in the parts that are not peaks. `None` if there are no peaks.
fn peaks(phases: &[f64]) -> Option<[f64; PARTS]> {
    let mut parts = [0.0; PARTS];
    for phase in phases {
        parts[((phase * PARTS as f64) as usize).min(PARTS - 1)] += 1.0;
    }
    let even = quantile(&parts, 0.5)?;
    let above = parts.map(|part| f64::max(part - even, 0.0));
    let sum: f64 = above.iter().sum();
    (sum > SHOWS * phases.len() as f64).then(|| above.map(|part| part / sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_flight_are_not_slower_than_single_ones() {
        assert!(slower(&[1.3e9, 1.4e9, 1.5e9], &[2.9e9]));
        assert!(!slower(&[4.2e9], &[2.9e9, 3.0e9]));
        assert!(!slower(&[4.2e9], &[]));
    }

    #[test]
    fn phases_are_compared_around_the_period() {
        let at = |phases: &[f64]| Samples::from([((What::Phase, 0), phases.to_vec())]);
        let early = at(&[0.11; 40]);
        assert_eq!(apart(&early, &early), 0.0);
        assert_eq!(apart(&Samples::new(), &early), 0.0);
        // None in common: the statistic is 1, ten times what counts.
        let late = apart(&early, &at(&[0.6; 40]));
        let whole = PHASE_WEIGHT * (101.0_f64.sqrt() - 1.0);
        assert!((late - whole).abs() < 1e-9);
        // Half of them in common.
        let both = [[0.11; 20], [0.6; 20]].concat();
        assert!(apart(&early, &at(&both)) < 0.6 * whole);
    }

    /// What comes at any time says nothing of the delay.
    #[test]
    fn an_even_part_of_the_phases_does_not_count() {
        let at = |phases: &[f64]| Samples::from([((What::Phase, 0), phases.to_vec())]);
        let even = (0..PARTS).map(|part| (part as f64 + 0.5) / PARTS as f64);
        let with: Vec<f64> = even.chain([0.11; 40]).collect();
        assert!(apart(&at(&[0.11; 40]), &at(&with)) < 1e-9);
        assert!(apart(&at(&[0.6; 40]), &at(&with)) > 10.0);
    }
}
