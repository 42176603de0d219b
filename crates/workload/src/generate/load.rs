//! What a generator needs to know, and what is wrong with it, if anything.

use super::Sizes;
use fathom_base::registry::Table;
use fathom_base::{About, BadValue, Bytes, Dur, want};
use serde::{Deserialize, Serialize};

/// Reads, or writes: how long they are and how they follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Side {
    /// Their lengths.
    pub sizes: Sizes,
    /// How many of a hundred start where a recent one of the same side ended.
    #[serde(default)]
    pub sequential_percent: f64,
    /// How many of a hundred start where a recent access of either side started.
    #[serde(default)]
    pub repeat_percent: f64,
}

impl Side {
    /// Lengths alone, every access to a place of the pattern.
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

/// Where accesses may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Its first byte; a multiple of `align`.
    #[serde(default)]
    pub start: Bytes,
    /// Its length, at least the longest access.
    pub len: Bytes,
}

/// Which places accesses go to.
///
/// A place is a multiple of `align` in the range at which the longest access fits. The skewed patterns rank
/// places; `scatter` deals the ranks over the range by a bijection made from the seed, so that places that are
/// often used do not lie side by side. Without it the first place is the most used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// Every place as likely.
    Uniform,
    /// Behind the access before it, whichever its operation; from the start again at the end.
    Sequential,
    /// The place of rank `k` in proportion to `k^-theta`.
    Zipf {
        /// At least 0 (uniform); 0.99 is customary, and above 1 is allowed.
        theta: f64,
        /// Whether ranks are dealt over the range.
        #[serde(default = "yes")]
        scatter: bool,
    },
    /// A hot part and a cold rest, uniform within each.
    #[serde(rename_all = "kebab-case")]
    HotCold {
        /// How many of a hundred accesses go to the hot part.
        accesses_percent: f64,
        /// How much of the range is hot, in percent; above 0.
        space_percent: f64,
        /// Whether the hot places are dealt over the range.
        #[serde(default = "yes")]
        scatter: bool,
    },
    /// Self-similar: a share `h` of the range takes `1 - h` of the accesses, and so on within that share (Gray et
    /// al., "Quickly generating billion-record synthetic databases", SIGMOD 1994; fio calls it `pareto:h`).
    #[serde(rename_all = "kebab-case")]
    Pareto {
        /// `h` in percent, above 0 and below 50; 20 is the rule of 80 and 20.
        space_percent: f64,
        /// Whether ranks are dealt over the range.
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

/// When accesses are asked for. The first one always at the start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pacing {
    /// All at the start: for a run that keeps a number of accesses outstanding.
    Closed,
    /// One after the other, evenly.
    #[serde(rename_all = "kebab-case")]
    Fixed {
        /// Accesses per second, above 0.
        per_second: f64,
    },
    /// Independent of each other.
    #[serde(rename_all = "kebab-case")]
    Poisson {
        /// Accesses per second on average, above 0.
        per_second: f64,
    },
    /// A Poisson process that is interrupted: on and off in turn, each for an exponential time. The mean rate is
    /// `per_second * on / (on + off)`.
    #[serde(rename_all = "kebab-case")]
    Bursts {
        /// Accesses per second while it is on; at least one in a thousand of the times that it is on.
        per_second: f64,
        /// How long it is on, on average; above 0.
        on: Dur,
        /// How long it is off, on average.
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

/// Everything that a generator needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// How many accesses.
    pub accesses: u64,
    /// How many of a hundred are reads; the others are writes.
    pub read_percent: f64,
    /// The reads.
    pub reads: Side,
    /// The writes.
    pub writes: Side,
    /// Where they may lie.
    pub range: Range,
    /// Starts are multiples of it.
    pub align: Bytes,
    /// Places of accesses that neither repeat nor go on.
    pub pattern: Pattern,
    /// How far back, in accesses of the same side, the one may lie behind which an access goes on; in 1..=4096. Each
    /// is gone on from once.
    pub run_depth: u32,
    /// How far back, in accesses of either side, a repeated start may lie; in 1..=2097152. Distances are log-uniform.
    pub repeat_depth: u32,
    /// When.
    pub pacing: Pacing,
}

/// What the list says of a generator with these numbers.
pub(super) const fn generator(
    summary: &'static str,
    numbers: fn() -> Table,
    text: &'static str,
) -> About {
    About::new(summary).text(text).settings(numbers)
}

/// Starts kept at most: 16 MiB of them.
const REPEAT_DEPTH_MAX: u32 = 1 << 21;
/// Ends kept at most: one is looked for among them, one by one.
const RUN_DEPTH_MAX: u32 = 1 << 12;
/// Places that a double counts exactly.
const PLACES_MAX: u64 = 1 << 53;

impl Load {
    /// The longest access, in bytes.
    pub(super) fn longest(&self) -> u64 {
        self.reads.sizes.longest().max(self.writes.sizes.longest())
    }

    /// Places in the range, for a load that is right.
    pub(super) fn places(&self) -> u64 {
        self.range.len.0.saturating_sub(self.longest()) / self.align.0.max(1) + 1
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// The first key whose value cannot be.
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
