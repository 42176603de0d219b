//! The figures that a twin is fitted to: quantiles of latencies, and rates, of a record or of a bench.

use super::seen::Seen;
use super::series;
use fathom_probe::{Parameter, Sample, Series, Value};
use fathom_report::twin::{Figure, Of};
use fathom_stats::location::quantile;
use std::collections::BTreeMap;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A read of one logical block, alone.
    One,
    /// A read of two logical blocks, alone.
    Two,
    /// A small read and a very long one, alone.
    Small,
    Piece,
    /// A read of a place that holds nothing, and two of them at once.
    Nothing,
    NothingPair,
    /// Two reads at once.
    Pair,
    /// Small reads with `x` in flight, as a rate.
    Closed,
    /// Small reads with as many in flight as the knee.
    Knee,
    /// Long reads, as a rate.
    Long,
    /// A small write into memory, one with forced unit access, and a flush of nothing.
    Write,
    Fua,
    Clean,
    /// A flush after a write of `x` bytes.
    Dirty,
    /// Long writes in order with a flush after each piece, as a rate: into native blocks, and into the fast cache.
    Fill,
    FastFill,
    /// Reads while something writes: the typical one, and the slowest ones.
    Typical,
    Slowest,
}

/// Times in nanoseconds, or rates in bytes per second, by what was timed and its `x`.
pub(super) type Samples = BTreeMap<(What, u64), Vec<f64>>;

/// How the samples of a record become figures.
struct Source {
    what: What,
    parameter: Parameter,
    series: Series,
    percents: &'static [u8],
    /// The weight of all figures of this kind together.
    weight: f64,
}

const SPREAD: &[u8] = &[10, 50, 90];
const MIDDLE: &[u8] = &[50];

const fn of(
    what: What,
    parameter: Parameter,
    series: Series,
    percents: &'static [u8],
    weight: f64,
) -> Source {
    Source {
        what,
        parameter,
        series,
        percents,
        weight,
    }
}

const SOURCES: &[Source] = &[
    of(What::One, Parameter::Parallelism, series::SOLO, SPREAD, 2.0),
    of(
        What::Two,
        Parameter::Parallelism,
        series::SOLO_OF_TWO,
        MIDDLE,
        2.0,
    ),
    of(
        What::Nothing,
        Parameter::Parallelism,
        series::NOTHING,
        SPREAD,
        1.0,
    ),
    of(
        What::NothingPair,
        Parameter::Parallelism,
        series::NOTHING_PAIR,
        MIDDLE,
        1.0,
    ),
    of(
        What::Pair,
        Parameter::Parallelism,
        series::PAIR,
        &[50, 90],
        1.0,
    ),
    of(
        What::Closed,
        Parameter::QueueKnee,
        series::CLOSED,
        MIDDLE,
        3.0,
    ),
    of(
        What::Knee,
        Parameter::QueueKnee,
        series::AT_KNEE,
        &[50, 90, 99],
        1.0,
    ),
    of(
        What::Long,
        Parameter::BandwidthLimit,
        series::BATCH,
        MIDDLE,
        1.0,
    ),
    of(What::Write, Parameter::Flush, series::PLAIN, SPREAD, 2.0),
    of(What::Clean, Parameter::Flush, series::CLEAN, MIDDLE, 0.5),
    of(What::Fua, Parameter::Flush, series::FUA, MIDDLE, 1.0),
    of(What::Dirty, Parameter::Flush, series::DIRTY, MIDDLE, 2.0),
    of(What::Small, Parameter::Stalls, series::ALONE, MIDDLE, 2.0),
    of(
        What::Piece,
        Parameter::FastCache,
        series::READ_COOL,
        MIDDLE,
        1.0,
    ),
    of(What::Fill, Parameter::FastCache, series::EMPTY, MIDDLE, 2.0),
    of(
        What::FastFill,
        Parameter::FastCache,
        series::EMPTY,
        MIDDLE,
        1.0,
    ),
    of(
        What::Typical,
        Parameter::Stalls,
        series::TYPICAL_WRITING,
        MIDDLE,
        1.0,
    ),
    of(
        What::Slowest,
        Parameter::Stalls,
        series::SLOWEST_WRITING,
        &[10],
        2.0,
    ),
];

impl What {
    /// Returns true for a rate in bytes per second.
    pub(super) const fn is_rate(self) -> bool {
        matches!(
            self,
            What::Closed | What::Long | What::Fill | What::FastFill
        )
    }

    /// Returns true for what is measured on a drive that nothing writes to.
    pub(super) const fn reads(self) -> bool {
        !self.writes() && !self.mixed()
    }

    /// Returns true for what is measured with writes alone.
    pub(super) const fn writes(self) -> bool {
        matches!(
            self,
            What::Write | What::Fua | What::Clean | What::Dirty | What::Fill | What::FastFill
        )
    }

    /// Returns true for what is measured with reads and writes together.
    pub(super) const fn mixed(self) -> bool {
        matches!(self, What::Typical | What::Slowest)
    }

    const fn words(self) -> &'static str {
        match self {
            What::One => "read of a block",
            What::Two => "read of two blocks",
            What::Small => "small read",
            What::Piece => "read of 1 MiB",
            What::Nothing => "read of nothing",
            What::NothingPair => "two reads of nothing",
            What::Pair => "two reads at once",
            What::Closed => "small reads in flight:",
            What::Knee => "small reads at the knee",
            What::Long => "long reads",
            What::Write => "small write",
            What::Fua => "write with FUA",
            What::Clean => "flush of nothing",
            What::Dirty => "flush after bytes:",
            What::Fill => "fill in order",
            What::FastFill => "fill of the fast cache",
            What::Typical => "read during writes",
            What::Slowest => "slowest during writes",
        }
    }
}

/// One figure to be met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) what: What,
    x: u64,
    percent: u8,
    pub(super) value: f64,
    weight: f64,
}

/// The lengths of small and of long reads in loops.
const SMALL: u64 = 4096;
const LONG: f64 = 262_144.0;
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

/// The limits of a volume. What they slow down says nothing about the drive.
struct Limits {
    per_second: Option<f64>,
    bytes: Option<f64>,
}

/// The share of a limit from which on a loop may be held back, and how often the limit a rate must be to be free of it.
const HELD: f64 = 0.95;
const FREE: f64 = 1.5;
/// Reads during writes that take longer than this are those of an overloaded drive: their times grow with the window.
const OVERLOADED_NS: u64 = 100_000_000;

impl Limits {
    fn of(seen: &Seen<'_>) -> Self {
        Self {
            per_second: seen.number(Parameter::RateLimit),
            bytes: seen.number(Parameter::BandwidthLimit),
        }
    }

    /// Returns true if a limit or an overload shows in a sample.
    fn hold(&self, what: What, sample: &Sample) -> bool {
        let rate = sample.bytes as f64 / sample.ns.max(1) as f64 * 1e9;
        let of = |limit: Option<f64>, rate: f64, most: f64| {
            limit.is_some_and(|limit| rate > HELD * limit && rate < most * limit)
        };
        let any = self.per_second.is_some() || self.bytes.is_some();
        match what {
            What::Closed => {
                let reads = rate / SMALL as f64;
                of(self.per_second, reads, f64::MAX) || of(self.bytes, rate, f64::MAX)
            }
            What::Knee => any,
            What::Long | What::Fill | What::FastFill => {
                of(self.bytes, rate, FREE) || of(self.per_second, rate / LONG, FREE)
            }
            What::Typical | What::Slowest => any || sample.ns > OVERLOADED_NS,
            _ => false,
        }
    }
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
