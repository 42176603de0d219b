//! What a paper says of its figures, as data: `papers/NAME/expected.toml` of the papers about schedulers.

use super::metric::Metric;
use crate::reproduce::Remark;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Runs of a study: for an axis, or for `workload`, the point that is meant.
pub type Selector = BTreeMap<String, String>;

/// A paper's figures and what it says of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statements {
    /// What the paper is called here.
    pub paper: String,
    /// What is to be known about its numbers.
    #[serde(default, rename = "remark")]
    pub remarks: Vec<Remark>,
    /// What a quick reproduction keeps of a study: of the axes that are named, these points.
    #[serde(default)]
    pub quick: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Its figures and tables, and the questions that go past it.
    #[serde(rename = "figure")]
    pub figures: Vec<Panel>,
}

/// A figure of the paper, with what the paper says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it shows, where a figure has several.
    #[serde(default)]
    pub title: String,
    /// Which study.
    pub study: String,
    /// The vertical axis.
    pub metric: Metric,
    /// The axis of the study, or `workload`, whose points stand side by side.
    pub x: String,
    /// The axis whose points are lines.
    pub lines: String,
    /// Points of the other axes.
    #[serde(default)]
    pub at: Selector,
}

/// What each process of a run got over time; of the first seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// A claim and its test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tested {
    /// What the paper says, or what is asked beyond it.
    pub text: String,
    /// Whether it is a statement of ours, and not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Which study.
    pub study: String,
    /// What is measured.
    pub metric: Metric,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Test {
    /// How much better `of` is than the best of `than`, in percent: over all points of an axis if one is named, the mean
    /// of them or the highest.
    Gain {
        /// Which runs.
        of: Selector,
        /// Than which.
        than: Vec<Selector>,
        /// Over which axis.
        #[serde(default)]
        over: Option<String>,
        /// Which of those.
        #[serde(default)]
        take: Take,
        /// What is claimed.
        claimed: Claimed,
    },
    /// `of` as a multiple of `than`.
    Ratio {
        /// Which runs.
        of: Selector,
        /// Of which.
        than: Selector,
        /// What is claimed.
        claimed: Claimed,
    },
    /// How far apart the points of an axis are, in percent of the least.
    Spread {
        /// Which axis.
        over: String,
        /// Which of its points; all where none is named.
        #[serde(default)]
        among: Vec<String>,
        /// What is claimed.
        claimed: Claimed,
    },
    /// The metric itself.
    Value {
        /// Which runs.
        of: Selector,
        /// What is claimed.
        claimed: Claimed,
    },
}

/// Of several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// On average.
    #[default]
    Mean,
    /// The highest: "up to".
    Highest,
    /// The lowest: "everywhere".
    Lowest,
}

/// A limit or a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claimed {
    /// That much, within so much.
    About {
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
}

impl Claimed {
    /// In words, with a unit.
    pub fn words(self, unit: &str) -> String {
        match self {
            Self::About { value, within } => format!("{value}{unit} (± {within})"),
            Self::AtLeast(least) => format!("at least {least}{unit}"),
            Self::AtMost(most) => format!("at most {most}{unit}"),
            Self::Within(most) => format!("at most {most}{unit} up or down"),
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
