//! A statement of a paper as data: its subject, its test and its claim.

use super::metric::Metric;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Selects runs of a study: the wanted point for each axis, or for `workload`.
pub(super) type Selector = BTreeMap<String, String>;

/// Value of `trace` for a statement about every trace of the paper.
pub(super) const ANY: &str = "any";

/// A statement and its test.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tested {
    /// The paper's statement, or our question beyond it.
    pub text: String,
    /// Label of its mark in the figure that compares claimed and measured differences; without a label it is not drawn
    /// there.
    pub label: Option<String>,
    /// True if the statement is ours and not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// The study; that of the figure if empty.
    #[serde(default)]
    pub study: String,
    /// The metric.
    pub metric: Metric,
    /// The trace that it is about. It is tested on each workload that stands for the trace; `any` stands for every trace.
    pub trace: Option<String>,
    /// Points of axes that apply to all its runs.
    #[serde(default)]
    pub at: Selector,
    /// Axes whose points are assumptions that the paper leaves open. The claim is judged at each combination of them.
    #[serde(default)]
    pub assuming: Vec<String>,
    /// The test.
    pub test: Test,
}

/// The computation on the runs of one seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Test {
    /// How much better `of` is than the best of `than`, in percent of the latter.
    Gain(Compared),
    /// How much larger `of` is than the best of `than`, in percent of the latter.
    Change(Compared),
    /// `of` divided by the best of `than`.
    Ratio(Compared),
    /// Difference of each point of an axis from the first, in percent of the first, for each of `of`. The claim must hold
    /// for all.
    Drift(Walk),
    /// Difference between the largest and the smallest point of an axis, in percent of the smallest.
    Spread(Apart),
    /// The metric itself, for each of `of`. The claim must hold for all.
    Value(One),
}

/// Runs compared with other runs, over all points of an axis if one is named.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compared {
    /// The runs.
    pub of: Selector,
    /// The runs to compare with.
    #[serde(deserialize_with = "one_or_more")]
    pub than: Vec<Selector>,
    /// The axis or row to go over.
    pub over: Option<String>,
    /// How the numbers of several points are combined.
    #[serde(default)]
    pub take: Take,
    /// The claim.
    pub claimed: Claimed,
}

/// Runs along an axis, compared with the first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Walk {
    /// The runs.
    #[serde(deserialize_with = "one_or_more")]
    pub of: Vec<Selector>,
    /// The axis or row.
    pub over: String,
    /// The claim.
    pub claimed: Claimed,
}

/// Points of an axis compared with one another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Apart {
    /// The axis.
    pub over: String,
    /// The points to compare; all if none is named.
    #[serde(default)]
    pub among: Vec<String>,
    /// The claim.
    pub claimed: Claimed,
}

/// Runs by themselves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct One {
    /// The runs.
    #[serde(deserialize_with = "one_or_more")]
    pub of: Vec<Selector>,
    /// The claim.
    pub claimed: Claimed,
}

impl Test {
    /// Returns the claim and its unit.
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

/// Combination of several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Take {
    /// The mean.
    #[default]
    Mean,
    /// The highest: "up to".
    Highest,
    /// The lowest: "everywhere".
    Lowest,
    /// Each value by itself, against each of the others. The claim must hold for all.
    Each,
}

/// A limit or a size.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Claimed {
    /// This size, with the whole interval within the tolerance.
    About {
        /// The paper's value.
        value: f64,
        /// The tolerance, which is ours.
        within: f64,
    },
    /// About this size: the direction differs significantly from no difference, and the mean lies within the tolerance. The
    /// tolerance is at most half of `value`.
    Near {
        /// The paper's value.
        value: f64,
        /// The tolerance, which is ours.
        within: f64,
    },
    /// A lower limit.
    AtLeast(f64),
    /// An upper limit.
    AtMost(f64),
    /// An upper limit on the magnitude: "little", "no change".
    Within(f64),
    /// Significantly more than no difference.
    Better,
    /// Significantly less than no difference.
    Worse,
}

impl Claimed {
    /// Formats the claim with a unit.
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

    /// Returns the size, if the claim has one.
    pub(super) fn size(self) -> Option<f64> {
        match self {
            Self::About { value, .. } | Self::Near { value, .. } => Some(value),
            _ => None,
        }
    }
}
