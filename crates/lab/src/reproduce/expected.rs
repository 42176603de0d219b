//! Figures and statements of a paper, as data: `papers/NAME/expected.toml`.

use super::metric::Metric;
use super::statement::{Selector, Tested};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The figures of a paper and its statements about them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statements {
    /// Short name of the paper.
    pub paper: String,
    /// Remarks on its numbers.
    #[serde(default, rename = "remark")]
    pub remarks: Vec<Remark>,
    /// The settings of a quick reproduction.
    #[serde(default)]
    pub quick: Quick,
    /// Named selections of an axis's points.
    #[serde(default, rename = "row")]
    pub rows: Vec<Row>,
    /// Studies on which the statements about another study are judged again, with another model of the drive for example.
    /// The key is the name of that other study.
    #[serde(default)]
    pub again: BTreeMap<String, Vec<String>>,
    /// The figures and tables of the paper, and questions that go beyond it.
    #[serde(rename = "figure")]
    pub figures: Vec<Panel>,
}

/// A remark on a paper's numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remark {
    /// The text.
    pub text: String,
}

/// Settings of a quick reproduction: one seed, and a part of the accesses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quick {
    /// Number of writes to keep at the start of each workload; without it, a quarter of what generators make.
    pub writes: Option<u64>,
    /// The studies to run; all if none is named.
    #[serde(default)]
    pub studies: Vec<String>,
    /// Points to keep: by study, then by axis. Axes that are not named keep all.
    #[serde(default)]
    pub keep: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Points of an axis in an order of their own, for example those of one figure where several figures share an axis. The
/// name of a row can be used in place of an axis's name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// Name of the row.
    pub name: String,
    /// The axis, or `workload`.
    pub axis: String,
    /// Title of a chart's horizontal axis, with its unit.
    pub title: String,
    /// Position of each point; the lowest comes first.
    pub points: BTreeMap<String, f64>,
}

impl Row {
    /// Returns the points from left to right, with their positions.
    pub(super) fn in_order(&self) -> Vec<(&str, f64)> {
        let mut points: Vec<(&str, f64)> = (self.points.iter())
            .map(|(point, place)| (point.as_str(), *place))
            .collect();
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        points
    }
}

/// A figure of the paper, with the paper's statements about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Panel {
    /// Number of the figure, or a name if the paper has none.
    pub id: String,
    /// Title of the figure.
    pub title: String,
    /// The study of all drawings and claims that name no other.
    #[serde(default)]
    pub study: String,
    /// The paper's statement, in our words.
    pub says: String,
    /// The findings on the runs in the paper's README, and the reasons.
    pub found: String,
    /// The charts to draw.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Drawing>,
    /// Plots of the throughput of each process over time.
    #[serde(default, rename = "timeline")]
    pub timelines: Vec<Timeline>,
    /// Plots of response times over the sequence of accesses.
    #[serde(default, rename = "sequence")]
    pub sequences: Vec<Sequence>,
    /// The tests of the paper's statements.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Tested>,
}

impl Panel {
    /// Sets the study of all drawings and claims that name none.
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

/// A chart: a value for each point of one axis, and a line for each point of another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drawing {
    /// Title, if a figure has several charts.
    #[serde(default)]
    pub title: String,
    /// The study; that of the figure if empty.
    #[serde(default)]
    pub study: String,
    /// The vertical axis.
    pub metric: Metric,
    /// The trace: there is one chart for each workload that stands for it, or for every trace with `any`.
    pub trace: Option<String>,
    /// The horizontal axis: an axis of the study, a row, or `workload`.
    pub x: String,
    /// The axis whose points are lines.
    pub lines: String,
    /// The points of the other axes.
    #[serde(default)]
    pub at: Selector,
    /// Values that the paper prints.
    #[serde(default)]
    pub paper: Vec<Printed>,
}

/// A value of a figure as printed in the paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Printed {
    /// The trace, if the chart is about several.
    pub trace: Option<String>,
    /// The line.
    pub line: String,
    /// The point.
    pub at: String,
    /// The value, in the unit of the metric.
    pub value: f64,
}

/// Throughput of each process of a run over time, for the first seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timeline {
    /// Title of the plot.
    pub title: String,
    /// The study; that of the figure if empty.
    #[serde(default)]
    pub study: String,
    /// The points that select the run.
    pub at: Selector,
}

/// Response times over the sequence of accesses, with a line for each point of an axis, for the first seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sequence {
    /// Title of the plot.
    pub title: String,
    /// The study; that of the figure if empty.
    #[serde(default)]
    pub study: String,
    /// The axis whose points are lines.
    pub lines: String,
    /// The points to draw; all if none is named.
    #[serde(default)]
    pub among: Vec<String>,
    /// The points of the other axes.
    #[serde(default)]
    pub at: Selector,
}

impl Statements {
    /// Parses the text of `expected.toml`.
    ///
    /// # Errors
    /// The line, counted from 1 (where known), and a message that says what is wrong there.
    pub(super) fn from_toml(text: &str) -> Result<Self, (Option<usize>, String)> {
        let mut statements: Statements = crate::parse::from_toml(text)?;
        statements.figures.iter_mut().for_each(Panel::fill);
        Ok(statements)
    }
}
