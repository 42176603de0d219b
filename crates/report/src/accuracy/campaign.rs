//! A campaign as plain data: its plan, its targets and its answers.

use fathom_probe::{Estimate, Method, Parameter};
use serde::Serialize;

/// The distribution that targets are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Drives with every feature that the model has.
    Wide,
    /// The first family, kept so that figures stay comparable: two mappings, clustered blocks of 1, 3 or 5 times a power of
    /// two, little noise.
    Narrow,
    /// No drive, only noise.
    Noise,
    /// Drives of the classes in use today.
    Modern,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Wide, Self::Narrow, Self::Noise, Self::Modern];

    /// Returns the value of the command line option.
    pub fn name(self) -> &'static str {
        match self {
            Family::Wide => "wide",
            Family::Narrow => "narrow",
            Family::Noise => "noise",
            Family::Modern => "modern",
        }
    }

    /// Returns the parameters that a campaign of this family measures unless others are asked for: those of the papers, and
    /// the others on drives of today.
    pub fn parameters(self) -> Vec<Parameter> {
        let of_papers = |parameter: &Parameter| Parameter::PAPERS.contains(parameter);
        match self {
            Family::Modern => Parameter::ALL
                .into_iter()
                .filter(|p| !of_papers(p))
                .collect(),
            _ => Parameter::PAPERS.to_vec(),
        }
    }
}

/// The targets of a campaign and how they are probed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Family that the targets are drawn from.
    pub family: Family,
    /// Seed of the targets and of everything random in them.
    pub seed: u64,
    /// Index of the first target.
    pub skip: u64,
    /// Number of targets.
    pub drives: u64,
    /// Methods. Each probes the same targets in the same initial state.
    pub methods: Vec<Method>,
    /// Divisor of the number of points in the papers' grids; 1 is the grid as printed.
    pub thin: u32,
    /// Parameters to determine.
    pub parameters: Vec<Parameter>,
}

/// Result of the comparison of an answer with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Identified, and correct.
    Found,
    /// Identified and correct, though not required: the parameter is faint or hidden, or the value is right by another
    /// definition.
    Extra,
    /// *Absent* or *not identifiable*, and nothing had to be found.
    Rejected,
    /// Identified, and incorrect: another value, an interval that is too wide or misses the truth, or a value of something
    /// that does not exist.
    Wrong,
    /// *Absent* or *not identifiable*, though the parameter is identifiable.
    Denied,
    /// *Inconclusive*, or no answer.
    Open,
}

/// A target, with its ground truth in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Family that it is drawn from.
    pub family: Family,
    /// Seed of the campaign.
    pub seed: u64,
    /// Index of the target.
    pub index: u64,
    /// The device under probe.
    pub target: Target,
    /// Ground truth for each parameter.
    pub truth: Vec<(Parameter, String)>,
}

/// The device under probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A modelled drive.
    Drive {
        /// The drive file.
        file: String,
        /// Seed of its noise and of the choices of the probe.
        run_seed: u64,
        /// The size that is completed where it is partly written.
        mapping_unit: String,
        /// The size that is read and programmed at once.
        read_unit: String,
    },
    /// A description of noise.
    Noise(String),
}

/// An answer, compared with the ground truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<'a> {
    /// Index of the target.
    pub drive: u64,
    /// Method of measurement.
    pub method: Method,
    /// Parameter in question.
    pub parameter: Parameter,
    /// Ground truth.
    pub truth: String,
    /// True if a probe must find the parameter.
    pub identifiable: bool,
    /// Comparison of the answer with the truth.
    pub outcome: Outcome,
    /// The answer.
    pub estimate: &'a Estimate,
}
