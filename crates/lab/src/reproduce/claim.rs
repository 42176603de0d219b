//! What a paper says of its own results, as data: `papers/NAME/expected.toml`.

use serde::{Deserialize, Serialize};

/// The claims of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What the paper is called here.
    pub paper: String,
    /// What is to be known about its numbers.
    #[serde(default, rename = "remark")]
    pub remarks: Vec<Remark>,
    /// Its figures.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
    /// Its claims.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// Something to be known about a paper's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// What.
    pub text: String,
}

/// A figure: a row of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number.
    pub id: String,
    /// Number and what is varied.
    pub title: String,
    /// What the horizontal axis is, with its unit.
    pub x: String,
    /// From left to right.
    pub points: Vec<FigurePoint>,
}

/// A setting of the study and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePoint {
    /// A point of the study's axis `setting`.
    pub setting: String,
    /// Its place.
    pub x: f64,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it is called here.
    pub id: String,
    /// Section and figure.
    pub place: String,
    /// What the paper says.
    pub text: String,
    /// The trace that it is about; every one where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The figure whose settings it is about.
    pub figure: String,
    /// How it is tested.
    pub test: Test,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Mean response time of what reaches the drive; less is better.
    MeanResponse,
    /// Bytes of the workload a second; more is better.
    Throughput,
    /// 1 / mean response time; more is better.
    Reciprocal,
}

/// How a claim is tested. Schemes and settings are points of the study's axes of these names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Test {
    /// A scheme is better than another, by so many percent on average over the figure.
    Gain {
        /// What is compared.
        metric: Metric,
        /// Which scheme.
        scheme: String,
        /// Than which.
        than: String,
        /// By how much; left out where only the direction is claimed.
        #[serde(default)]
        percent: Option<f64>,
        /// Percentage points that a size may be off.
        #[serde(default)]
        tolerance: f64,
    },
    /// A scheme changes from one setting to another by so many percent of the first. Without a tolerance by so many
    /// or more in that direction.
    Change {
        /// What is compared.
        metric: Metric,
        /// Which scheme.
        scheme: String,
        /// The setting that is the whole.
        from: String,
        /// The other one.
        to: String,
        /// By how much; its sign is the direction.
        percent: f64,
        /// Percentage points that the size may be off.
        #[serde(default)]
        tolerance: Option<f64>,
    },
    /// A scheme gets better from one setting to another by at most so many percent; it may get worse.
    NotBetter {
        /// What is compared.
        metric: Metric,
        /// Which scheme.
        scheme: String,
        /// The setting that is the whole.
        from: String,
        /// The other one.
        to: String,
        /// The most.
        percent: f64,
    },
    /// Over the whole figure no scheme differs from its first point by more than so many percent.
    Flat {
        /// What is compared.
        metric: Metric,
        /// Which schemes.
        schemes: Vec<String>,
        /// The most.
        percent: f64,
    },
    /// A scheme is better than others at every point of the figure.
    Best {
        /// What is compared.
        metric: Metric,
        /// Which scheme.
        scheme: String,
        /// Than which.
        among: Vec<String>,
    },
    /// A scheme is worse than others at every point of the figure.
    Worst {
        /// What is compared.
        metric: Metric,
        /// Which scheme.
        scheme: String,
        /// Than which.
        among: Vec<String>,
    },
    /// A scheme's mean response time at a setting.
    Value {
        /// Which scheme.
        scheme: String,
        /// Where.
        setting: String,
        /// In milliseconds.
        ms: f64,
        /// Percent that it may be off.
        tolerance: f64,
    },
    /// Mean response times of schemes at a setting are at least so long.
    AtLeast {
        /// Which schemes.
        schemes: Vec<String>,
        /// Where.
        setting: String,
        /// In milliseconds.
        ms: f64,
    },
}

impl Expected {
    /// Reads the text of `expected.toml`.
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong there.
    pub fn from_toml(text: &str) -> Result<Expected, (Option<usize>, String)> {
        crate::parse::from_toml(text)
    }

    /// The figure of that number.
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id)
    }
}
