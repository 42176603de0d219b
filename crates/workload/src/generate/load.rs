//! The parameters of a generator, and their validation.

use super::Sizes;
use fathom_base::registry::Table;
use fathom_base::{About, BadValue, Bytes, Dur, want};
use serde::{Deserialize, Serialize};

/// Parameters of the reads, or of the writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Side {
    /// Their lengths.
    pub sizes: Sizes,
    /// Percentage that starts where a recent access of the same side ended.
    #[serde(default)]
    pub sequential_percent: f64,
    /// Percentage that starts where a recent access of either side started.
    #[serde(default)]
    pub repeat_percent: f64,
}

impl Side {
    /// Makes a side with these lengths, where every access goes to an offset drawn from the pattern.
    pub fn of(sizes: Sizes) -> Self {
        Self {
            sizes,
            sequential_percent: 0.0,
            repeat_percent: 0.0,
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        self.sizes.check()?;
        let (sequential, repeat) = (self.sequential_percent, self.repeat_percent);
        let percent = |p: f64| (0.0..=100.0).contains(&p);
        if percent(sequential) && percent(repeat) && sequential + repeat <= 100.0 {
            Ok(())
        } else {
            Err(
                "`sequential-percent` and `repeat-percent` must be in 0..=100 and together at most 100",
            )
        }
    }
}

/// The address range of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Offset of its first byte; a multiple of `align`.
    #[serde(default)]
    pub start: Bytes,
    /// Its length, at least that of the longest access.
    pub len: Bytes,
}

impl Range {
    /// Makes the range from the first byte on.
    pub(crate) fn from_zero(len: Bytes) -> Self {
        let start = Bytes(0);
        Self { start, len }
    }
}

/// The distribution of offsets.
///
/// A place is a multiple of `align` in the range at which the longest access fits. The skewed patterns assign each place a
/// rank, and rank 1 is the most used. With `scatter` a bijection derived from the seed spreads the ranks over the range, so
/// that frequent places are not adjacent. Without it the first place in the range has rank 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// All places are equally likely.
    Uniform,
    /// Directly after the previous access, whatever its operation; wraps to the start of the range at its end.
    Sequential,
    /// Zipf's law: the place of rank `k` has a probability proportional to `k^-theta`.
    Zipf {
        /// The exponent, at least 0 (uniform). 0.99 is common; values above 1 are allowed.
        theta: f64,
        /// Spread the ranks over the range.
        #[serde(default = "yes")]
        scatter: bool,
    },
    /// A hot part and a cold rest, each uniform.
    #[serde(rename_all = "kebab-case")]
    HotCold {
        /// Percentage of the accesses that go to the hot part.
        accesses_percent: f64,
        /// Size of the hot part in percent of the range; above 0.
        space_percent: f64,
        /// Spread the hot places over the range.
        #[serde(default = "yes")]
        scatter: bool,
    },
    /// Self-similar: a share `h` of the range receives `1 - h` of the accesses, and recursively within that share (Gray et
    /// al., "Quickly generating billion-record synthetic databases", SIGMOD 1994; fio calls it `pareto:h`).
    #[serde(rename_all = "kebab-case")]
    Pareto {
        /// `h` in percent, above 0 and below 50; 20 is the 80/20 rule.
        space_percent: f64,
        /// Spread the ranks over the range.
        #[serde(default = "yes")]
        scatter: bool,
    },
}

fn yes() -> bool {
    true
}

impl Pattern {
    fn check(self) -> Result<(), &'static str> {
        match self {
            Pattern::Zipf { theta, .. } if !(theta.is_finite() && theta >= 0.0) => {
                Err("`theta` must be finite and at least 0")
            }
            Pattern::HotCold {
                accesses_percent,
                space_percent,
                ..
            } if !((0.0..=100.0).contains(&accesses_percent)
                && space_percent > 0.0
                && space_percent <= 100.0) =>
            {
                Err(
                    "`accesses-percent` must be in 0..=100, and `space-percent` above 0 and at most 100",
                )
            }
            Pattern::Pareto { space_percent, .. }
                if !(space_percent > 0.0 && space_percent < 50.0) =>
            {
                Err("`space-percent` must be above 0 and below 50")
            }
            _ => Ok(()),
        }
    }
}

/// The times of the accesses. The first access is always at time zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pacing {
    /// All at time zero, for runs with a fixed queue depth.
    Closed,
    /// At equal intervals.
    #[serde(rename_all = "kebab-case")]
    Fixed {
        /// Accesses per second, above 0.
        per_second: f64,
    },
    /// A Poisson process: arrivals are independent.
    #[serde(rename_all = "kebab-case")]
    Poisson {
        /// Accesses per second on average, above 0.
        per_second: f64,
    },
    /// An interrupted Poisson process: on and off periods alternate, with exponential durations. The mean rate is
    /// `per_second * on / (on + off)`.
    #[serde(rename_all = "kebab-case")]
    Bursts {
        /// Accesses per second during an on period; at least 0.001 accesses per period on average.
        per_second: f64,
        /// Mean duration of an on period; above 0.
        on: Dur,
        /// Mean duration of an off period.
        off: Dur,
    },
}

impl Pacing {
    fn check(self) -> Result<(), &'static str> {
        let usable = |rate: f64| rate.is_finite() && rate >= 1e-6;
        match self {
            Pacing::Closed => Ok(()),
            Pacing::Fixed { per_second } | Pacing::Poisson { per_second } if usable(per_second) => {
                Ok(())
            }
            Pacing::Bursts { per_second, on, .. }
                if usable(per_second) && per_second * on.as_secs_f64() >= 1e-3 =>
            {
                Ok(())
            }
            Pacing::Bursts { .. } => Err(
                "`per-second` must be finite and above 0, and at least one access in a thousand bursts",
            ),
            _ => Err("`per-second` must be finite and at least 0.000001"),
        }
    }
}

/// All parameters of a generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// Number of accesses.
    pub accesses: u64,
    /// Percentage of reads; all other accesses are writes.
    pub read_percent: f64,
    /// The reads.
    pub reads: Side,
    /// The writes.
    pub writes: Side,
    /// The address range of all accesses.
    pub range: Range,
    /// Offsets are multiples of it.
    pub align: Bytes,
    /// Distribution of the offsets of accesses that neither repeat nor continue a recent one.
    pub pattern: Pattern,
    /// Number of recent accesses of the same side that an access may continue, in 1..=4096. Each is continued at most
    /// once.
    pub run_depth: u32,
    /// Number of recent accesses of either side whose start may be repeated, in 1..=2097152. Distances are log-uniform.
    pub repeat_depth: u32,
    /// The times of the accesses.
    pub pacing: Pacing,
}

/// Makes the list entry of a generator with these parameters.
pub(super) const fn generator(
    summary: &'static str,
    numbers: fn() -> Table,
    text: &'static str,
) -> About {
    About::new(summary).text(text).settings(numbers)
}

/// Maximum number of starts kept: 16 MiB.
const REPEAT_DEPTH_MAX: u32 = 1 << 21;
/// Maximum number of ends kept. They are searched linearly.
const RUN_DEPTH_MAX: u32 = 1 << 12;
/// Maximum number of places: the largest integers that an `f64` represents exactly.
const PLACES_MAX: u64 = 1 << 53;

impl Load {
    /// Returns the length of the longest access, in bytes.
    pub(super) fn longest(&self) -> u64 {
        self.reads.sizes.longest().max(self.writes.sizes.longest())
    }

    /// Returns the number of places in the range, for a valid load.
    pub(super) fn places(&self) -> u64 {
        self.range.len.0.saturating_sub(self.longest()) / self.align.0.max(1) + 1
    }

    /// Validates the parameters.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        let bad = |key| move |what: &str| BadValue::new(key, "", what);
        let (percent, run, repeat) = (self.read_percent, self.run_depth, self.repeat_depth);
        want(
            (0.0..=100.0).contains(&percent),
            "read-percent",
            percent,
            || "must be in 0..=100".into(),
        )?;
        self.reads.check().map_err(bad("reads"))?;
        self.writes.check().map_err(bad("writes"))?;
        self.pattern.check().map_err(bad("pattern"))?;
        self.pacing.check().map_err(bad("pacing"))?;
        for (key, depth, most) in [
            ("run-depth", run, RUN_DEPTH_MAX),
            ("repeat-depth", repeat, REPEAT_DEPTH_MAX),
        ] {
            want((1..=most).contains(&depth), key, depth, || {
                format!("must be in 1..={most}")
            })?;
        }
        self.check_range().map_err(bad("range"))
    }

    fn check_range(&self) -> Result<(), &'static str> {
        let Range { start, len } = self.range;
        if self.align.0 == 0 {
            return Err("`align` is zero: give the multiple that starts are, such as 4KiB");
        }
        if !start.0.is_multiple_of(self.align.0) {
            return Err("its start must be a multiple of `align`");
        }
        if start.0.checked_add(len.0).is_none() {
            return Err("it ends behind 2^64 bytes");
        }
        if len.0 < self.longest() {
            return Err("it is shorter than the longest access");
        }
        if self.places() > PLACES_MAX {
            return Err("it has more than 2^53 places: use a larger `align`");
        }
        Ok(())
    }
}
