//! What a paper says of its results, as data: `papers/NAME/expected.toml`.

use super::metric::Metric;
use super::statement::{Selector, Tested};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    /// The study that it is about, where what is drawn and stated does not name another one.
    #[serde(default)]
    pub study: String,
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

impl Panel {
    /// Its study is that of whatever names none.
    fn fill(&mut self) {
        let charts = self.charts.iter_mut().map(|chart| &mut chart.study);
        let timelines = self
            .timelines
            .iter_mut()
            .map(|timeline| &mut timeline.study);
        let sequences = self
            .sequences
            .iter_mut()
            .map(|sequence| &mut sequence.study);
        let claims = self.claims.iter_mut().map(|claim| &mut claim.study);
        let all = charts.chain(timelines).chain(sequences).chain(claims);
        all.filter(|study| study.is_empty())
            .for_each(|study| study.clone_from(&self.study));
    }
}

/// A chart: a value for each point of one axis, a line for each point of another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it shows, where a figure has several.
    #[serde(default)]
    pub title: String,
    /// Which study; that of the figure where it says nothing.
    #[serde(default)]
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
    /// Which study; that of the figure where it says nothing.
    #[serde(default)]
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
    /// Which study; that of the figure where it says nothing.
    #[serde(default)]
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

impl Statements {
    /// Reads the text of `expected.toml`.
    ///
    /// # Errors
    /// The line, counted from 1, and what is wrong there.
    pub fn from_toml(text: &str) -> Result<Self, (Option<usize>, String)> {
        let mut statements: Statements = crate::parse::from_toml(text)?;
        statements.figures.iter_mut().for_each(Panel::fill);
        Ok(statements)
    }
}
