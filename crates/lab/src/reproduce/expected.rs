//! What a paper says of its results, as data: `papers/NAME/expected.toml`.

use super::metric::Metric;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Runs of a study: for an axis, or for `workload`, the point that is meant.
pub(super) type Selector = BTreeMap<String, String>;

/// The trace of what is about every trace of the paper.
pub(super) const ANY: &str = "any";

/// A paper's figures and what it says of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statements {
    /// What the paper is called here.
    pub paper: String,
    /// What is to be known about its numbers.
    #[serde(default, rename = "remark")]
    pub remarks: Vec<Remark>,
    /// What a quick reproduction is.
    #[serde(default)]
    pub quick: Quick,
    /// Parts of axes, under names of their own.
    #[serde(default, rename = "row")]
    pub rows: Vec<Row>,
    /// Studies that answer the paper's statements about another one, by the name of that one: another model of the drive, say.
    #[serde(default)]
    pub again: BTreeMap<String, Vec<String>>,
    /// Its figures and tables, and the questions that go past it.
    #[serde(rename = "figure")]
    pub figures: Vec<Panel>,
}

/// Something to be known about a paper's numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// What.
    pub text: String,
}

/// What a quick reproduction is: one seed, and a part of the accesses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// The first so many writes of each workload; without it a quarter of what generators make.
    pub writes: Option<u64>,
    /// The studies that run; all where none is named.
    #[serde(default)]
    pub studies: Vec<String>,
    /// Of a study, of the axes that are named, these points.
    #[serde(default)]
    pub keep: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Points of an axis in an order of their own, such as those of one figure where several share an axis. It is named like
/// an axis wherever points are walked through.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// The axis, or `workload`.
    pub axis: String,
    /// What the horizontal axis of a chart is, with its unit.
    pub title: String,
    /// Where each point stands; the first one is the lowest.
    pub points: BTreeMap<String, f64>,
}

impl Row {
    /// Its points from left to right, with their places.
    pub(super) fn in_order(&self) -> Vec<(&str, f64)> {
        let mut points: Vec<(&str, f64)> = (self.points.iter())
            .map(|(point, place)| (point.as_str(), *place))
            .collect();
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        points
    }
}

/// A figure of the paper, with what the paper says of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Its number, or a name where the paper has none.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What the paper says of it, in our words.
    pub says: String,
    /// What was found on the runs in the paper's README, and why.
    pub found: String,
    /// What is drawn.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Drawing>,
    /// What each process got over time.
    #[serde(default, rename = "timeline")]
    pub timelines: Vec<Timeline>,
    /// Response times over the sequence of accesses.
    #[serde(default, rename = "sequence")]
    pub sequences: Vec<Sequence>,
    /// How what it says is tested.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Tested>,
}

/// A chart: a value for each point of one axis, a line for each point of another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it shows, where a figure has several.
    #[serde(default)]
    pub title: String,
    /// Which study.
    pub study: String,
    /// The vertical axis.
    pub metric: Metric,
    /// The trace; there is a chart for each workload that stands for it, and for every trace with `any`.
    pub trace: Option<String>,
    /// The axis of the study, a row, or `workload`, whose points stand side by side.
    pub x: String,
    /// The axis whose points are lines.
    pub lines: String,
    /// Points of the other axes.
    #[serde(default)]
    pub at: Selector,
    /// What the paper prints of it.
    #[serde(default)]
    pub paper: Vec<Printed>,
}

/// A point of a figure as the paper prints it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// The trace, where the chart is about several.
    pub trace: Option<String>,
    /// The line.
    pub line: String,
    /// The point.
    pub at: String,
    /// In the unit of the metric.
    pub value: f64,
}

/// What each process of a run got over time; of the first seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// What it shows.
    pub title: String,
    /// Which study.
    pub study: String,
    /// Which run of it.
    pub at: Selector,
}

/// Response times over the sequence of accesses, a line for each point of an axis; of the first seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// What it shows.
    pub title: String,
    /// Which study.
    pub study: String,
    /// The axis whose points are lines.
    pub lines: String,
    /// Which of its points; all where none is named.
    #[serde(default)]
    pub among: Vec<String>,
    /// Points of the other axes.
    #[serde(default)]
    pub at: Selector,
}

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
    /// Which study.
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

impl Statements {
    /// Reads the text of `expected.toml`.
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong there.
    pub fn from_toml(text: &str) -> Result<Self, (Option<usize>, String)> {
        crate::parse::from_toml(text)
    }
}
