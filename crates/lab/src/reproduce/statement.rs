//! A statement of a paper as data: what it is about, how it is tested, and what is claimed.

use super::metric::Metric;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Runs of a study: for an axis, or for `workload`, the point that is meant.
pub(super) type Selector = BTreeMap<String, String>;

/// The trace of what is about every trace of the paper.
pub(super) const ANY: &str = "any";

/// A statement and its test.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// What the paper says, or what is asked beyond it.
    pub text: String,
    /// What its mark is called in the figure that draws claimed differences beside ours; without it, it is not drawn there.
    pub label: Option<String>,
    /// Whether it is a statement of ours, and not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Which study; that of the figure where it says nothing.
    #[serde(default)]
    pub study: String,
    /// What is measured.
    pub metric: Metric,
    /// The trace that it is about: it is tested on each workload that stands for it, and on those of every trace with `any`.
    pub trace: Option<String>,
    /// Points of axes that hold throughout.
    #[serde(default)]
    pub at: Selector,
    /// Axes whose points are assumptions that the paper leaves open: the claim is judged at each combination of them.
    #[serde(default)]
    pub assuming: Vec<String>,
    /// How.
    pub test: Test,
}

/// What is computed from the runs of one seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Test {
    /// How much better `of` is than the best of `than`, in percent of that.
    Gain(Compared),
    /// How much more `of` is than the best of `than`, in percent of that.
    Change(Compared),
    /// `of` as a multiple of the best of `than`.
    Ratio(Compared),
    /// How far each point of an axis is from the first, in percent of that, for each of `of`; each has to be as is claimed.
    Drift(Walk),
    /// How far apart the points of an axis are, in percent of the least.
    Spread(Apart),
    /// The metric itself, of each of `of`; each has to be as is claimed.
    Value(One),
}

/// Runs against others: over all points of an axis if one is named.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Which runs.
    pub of: Selector,
    /// Than which.
    #[serde(deserialize_with = "one_or_more")]
    pub than: Vec<Selector>,
    /// Over which axis, or row.
    pub over: Option<String>,
    /// What of those is taken.
    #[serde(default)]
    pub take: Take,
    /// What is claimed.
    pub claimed: Claimed,
}

/// Runs along an axis, against the first of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// Which runs.
    #[serde(deserialize_with = "one_or_more")]
    pub of: Vec<Selector>,
    /// Over which axis, or row.
    pub over: String,
    /// What is claimed.
    pub claimed: Claimed,
}

/// The points of an axis against one another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// Which axis.
    pub over: String,
    /// Which of its points; all where none is named.
    #[serde(default)]
    pub among: Vec<String>,
    /// What is claimed.
    pub claimed: Claimed,
}

/// Runs by themselves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct One {
    /// Which runs.
    #[serde(deserialize_with = "one_or_more")]
    pub of: Vec<Selector>,
    /// What is claimed.
    pub claimed: Claimed,
}

impl Test {
    /// What is claimed, and its unit.
    pub(super) fn claimed(&self) -> (Claimed, &'static str) {
        match self {
            Self::Gain(test) | Self::Change(test) => (test.claimed, " %"),
            Self::Ratio(test) => (test.claimed, " times"),
            Self::Drift(test) => (test.claimed, " %"),
            Self::Spread(test) => (test.claimed, " %"),
            Self::Value(test) => (test.claimed, ""),
        }
    }
}

fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Selector>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Selectors {
        One(Selector),
        More(Vec<Selector>),
    }
    Ok(match Selectors::deserialize(from)? {
        Selectors::One(selector) => vec![selector],
        Selectors::More(selectors) => selectors,
    })
}

/// Of several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// On average.
    #[default]
    Mean,
    /// The highest: "up to".
    Highest,
    /// The lowest: "everywhere".
    Lowest,
    /// Every one, against each of the others by itself: the claim holds where it holds everywhere.
    Each,
}

/// A limit or a size.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claimed {
    /// That much, within so much: the whole interval lies there.
    About {
        /// What the paper says.
        value: f64,
        /// Ours: by how much it may be off.
        within: f64,
    },
    /// That much: the direction is told from no difference, and the mean lies within so much, which is at most half of
    /// `value`.
    Near {
        /// What the paper says.
        value: f64,
        /// Ours: by how much it may be off.
        within: f64,
    },
    /// At least.
    AtLeast(f64),
    /// At most.
    AtMost(f64),
    /// At most, up or down: "little", "no change".
    Within(f64),
    /// More than no difference.
    Better,
    /// Less than no difference.
    Worse,
}

impl Claimed {
    /// In words, with a unit.
    pub(super) fn words(self, unit: &str) -> String {
        match self {
            Self::About { value, within } | Self::Near { value, within } => {
                format!("{value}{unit} (± {within})")
            }
            Self::AtLeast(least) => format!("at least {least}{unit}"),
            Self::AtMost(most) => format!("at most {most}{unit}"),
            Self::Within(most) => format!("at most {most}{unit} up or down"),
            Self::Better => "better".into(),
            Self::Worse => "worse".into(),
        }
    }

    /// The size, where there is one.
    pub(super) fn size(self) -> Option<f64> {
        match self {
            Self::About { value, .. } | Self::Near { value, .. } => Some(value),
            _ => None,
        }
    }
}
