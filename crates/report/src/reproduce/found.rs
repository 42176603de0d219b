//! The results of a reproduced paper as plain data: its charts, its statements and the verdicts.

use serde::Serialize;

/// A reproduced paper, with all that is shown of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduced<'a> {
    /// Short name of the paper.
    pub name: &'a str,
    /// Title, or a summary of what the paper compares.
    pub title: &'a str,
    /// Messages for the user: what was found, what is missing and what was left out.
    pub notes: &'a [String],
    /// Remarks on the numbers of the paper.
    pub remarks: Vec<&'a str>,
    /// Studies on which the statements about another study are judged again.
    pub again: Vec<&'a str>,
    /// The figures, in order.
    pub figures: Vec<Figure<'a>>,
    /// The workloads that stand for the traces of the paper.
    pub sources: &'a [Source],
}

/// A figure of a paper, with its results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure<'a> {
    /// Title of the figure.
    pub title: &'a str,
    /// The paper's statement.
    pub says: &'a str,
    /// The findings on the runs, and the reasons.
    pub finding: &'a str,
    /// The results.
    pub found: &'a PanelFound,
}

impl<'a> Reproduced<'a> {
    /// Returns all judged statements.
    pub(super) fn judged(&self) -> impl Iterator<Item = &'a Judged> {
        self.figures.iter().flat_map(|figure| &figure.found.judged)
    }

    /// Returns the study of a statement if it repeats the statements about another one.
    pub(super) fn again(&self, judged: &Judged) -> Option<&'a str> {
        let mut again = self.again.iter();
        again.find(|study| **study == judged.study).copied()
    }
}

/// Results of a reproduction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The workloads that stand for the paper's traces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// The figures, in order.
    pub panels: Vec<PanelFound>,
}

/// Results for one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelFound {
    /// Number of the figure.
    pub id: String,
    /// The charts.
    pub charts: Vec<ChartFound>,
    /// Plots of the throughput of processes over time.
    pub timelines: Vec<TimelineFound>,
    /// Response times over the sequence of accesses.
    pub sequences: Vec<SequenceFound>,
    /// The judged statements, in order. One about a trace is judged on each workload that stands for the trace.
    pub judged: Vec<Judged>,
}

/// A chart with its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartFound {
    /// Title of the chart.
    pub title: String,
    /// The workload, for a chart about a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The vertical axis, with its unit.
    pub metric: String,
    /// The horizontal axis.
    pub x: String,
    /// The points on the horizontal axis.
    pub points: Vec<String>,
    /// Position of each point; empty if the points are names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<f64>,
    /// The axis whose points are the lines.
    pub each: String,
    /// The lines.
    pub lines: Vec<LineFound>,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFound {
    /// Name of the line.
    pub name: String,
    /// One value per point; `None` if the run is missing or lacks this figure.
    pub values: Vec<Option<Measured>>,
    /// The paper's value at each point; empty if the paper prints none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paper: Vec<Option<f64>>,
}

/// Throughput of each process of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineFound {
    /// Title of the plot.
    pub title: String,
    /// The middle of each interval, in seconds since the start.
    pub at_s: Vec<f64>,
    /// MB/s in each interval, per process.
    pub processes: Vec<Vec<f64>>,
}

/// Response times over the sequence of accesses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceFound {
    /// Title of the plot.
    pub title: String,
    /// The lines.
    pub lines: Vec<SequenceLine>,
}

/// A line of the plot: the accesses of a run in order of completion, several per point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceLine {
    /// Name of the line.
    pub name: String,
    /// Number of accesses completed before the middle of each point's group.
    pub accesses: Vec<f64>,
    /// Mean response time of each group, in seconds.
    pub response_s: Vec<f64>,
}

impl ChartFound {
    /// Returns true if no line has a value: a quick reproduction leaves some runs out.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(LineFound::is_empty)
    }
}

impl LineFound {
    /// Returns true if the line has no value.
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }
}

/// Result of testing a statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judged {
    /// The statement.
    pub text: String,
    /// Label of its mark in a figure; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// True if the statement is ours and not the paper's.
    pub ours: bool,
    /// The study.
    pub study: String,
    /// The workload, for a statement about a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The claim, in words.
    pub claimed: String,
    /// The claimed size, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The measurement, in words; empty if there is none.
    pub measured: String,
    /// The measured number, if it is a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Measured>,
    /// Why it does not hold or cannot be told, if the number alone does not show it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The axes whose points are assumptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
    /// Results under each assumption; empty if the claim assumes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumed>,
}

/// Result of a claim under one assumption, or under one point of each of several axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumed {
    /// The points of the axes that the claim names, in its order.
    pub points: Vec<String>,
    /// The verdict there.
    pub verdict: Verdict,
    /// The measurement there, in words.
    pub measured: String,
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Holds in direction and, if one is given, in size.
    Holds,
    /// Holds under some of the assumptions that the paper leaves open, but not under others.
    HoldsInPart,
    /// The direction holds, the size does not.
    DirectionOnly,
    /// The measurement contradicts the claim.
    DoesNotHold,
    /// The measurements do not suffice to decide.
    #[default]
    CannotBeTold,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::HoldsInPart,
        Self::DirectionOnly,
        Self::DoesNotHold,
        Self::CannotBeTold,
    ];

    /// Returns the verdict in words, for one claim.
    pub fn words(self) -> &'static str {
        self.both().0
    }

    /// Returns the verdict in words, for several claims.
    pub(super) fn plural(self) -> &'static str {
        self.both().1
    }

    fn both(self) -> (&'static str, &'static str) {
        match self {
            Self::Holds => ("holds", "hold"),
            Self::HoldsInPart => ("holds in part", "hold under some assumptions"),
            Self::DirectionOnly => ("holds in direction only", "hold in direction only"),
            Self::DoesNotHold => ("does not hold", "do not hold"),
            Self::CannotBeTold => ("cannot be told", "cannot be told"),
        }
    }
}

/// A number with half the width of its 95 % interval: over seeds, or within the run if the study has one seed by design.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Mean over the seeds.
    pub mean: f64,
    /// Half the width of the interval; 0 if there is none.
    pub half: f64,
    /// Number of seeds.
    pub seeds: usize,
}

impl Measured {
    /// Formats the number with a unit.
    pub fn words(self, unit: &str) -> String {
        // Adding 0 turns -0 into 0. About three significant digits are kept.
        let mean = self.mean + 0.0;
        let digits = match mean.abs() {
            0.0 => 0,
            ..0.01 => 5,
            ..0.1 => 4,
            ..1.0 => 3,
            ..10.0 => 2,
            _ => 1,
        };
        match self.half >= 0.5 * 10_f64.powi(-digits) {
            true => format!(
                "{:.*}{unit} (± {:.*})",
                digits as usize, mean, digits as usize, self.half
            ),
            false => format!("{:.*}{unit}", digits as usize, mean),
        }
    }
}

/// Relation of a workload to the trace that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A generator that is like the trace in published figures, and in nothing else.
    Generator,
    /// A part of the trace.
    Part,
    /// The whole trace, as far as the paper used it.
    Whole,
    /// A trace that is not in the paper.
    Other,
}

impl Kind {
    /// Returns the kind in words, for one workload.
    pub fn words(self) -> &'static str {
        match self {
            Self::Generator => {
                "a generator that is like the trace in published figures and in nothing else"
            }
            Self::Part => "a part of the trace, from which nothing follows for the whole",
            Self::Whole => "the trace",
            Self::Other => "a trace that is not in the paper",
        }
    }

    /// Returns the kind in words, for several workloads.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Generator => "generators",
            Self::Part => "parts of traces",
            Self::Whole => "whole traces",
            Self::Other => "other traces than the paper's",
        }
    }
}

/// A workload and the trace that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Name of the workload.
    pub name: String,
    /// The trace named in the statements.
    pub of: String,
    /// Relation of the workload to the trace.
    pub kind: Kind,
}
