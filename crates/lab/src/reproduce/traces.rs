//! Which workloads stand for a paper's traces: generators, and what of the traces a user has.

use super::statement::ANY;
use crate::source::{self, Workload};
use crate::study::StudyError;
use fathom_trace::Options;
use fathom_workload::step::{First, Step};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What may stand behind a trace's name.
const ENDINGS: [&str; 4] = ["", ".zst", ".gz", ".xz"];

/// What a workload is, beside the trace that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Made to be like it in published figures, and in nothing else.
    Generator,
    /// A part of it.
    Part,
    /// The trace itself, as far as the paper used it.
    Whole,
    /// A trace that the paper does not have.
    Other,
}

impl Kind {
    /// In words, of one.
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

    /// In words, of several.
    pub fn plural(self) -> &'static str {
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
    /// The workload's name.
    pub name: String,
    /// The trace of the statements.
    pub of: String,
    /// What it is.
    pub kind: Kind,
}

impl Source {
    /// Whether it stands for a trace, or for one of all.
    pub(super) fn stands_for(&self, trace: &str) -> bool {
        trace == ANY || trace == self.of
    }
}

/// `papers/NAME/traces.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// The studies that run on traces as well.
    pub studies: Vec<String>,
    /// Workloads of the studies that stand in for a trace, by name.
    stand_ins: BTreeMap<String, String>,
    /// What every trace goes through before it is cut to its first writes.
    before: Vec<Step>,
    /// What every trace goes through in the end.
    after: Vec<Step>,
    #[serde(rename = "trace")]
    traces: Vec<KnownTrace>,
}

/// A trace that is looked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTrace {
    files: Vec<String>,
    name: String,
    of: String,
    #[serde(default)]
    whole: bool,
    /// Whether it is none of the paper's.
    #[serde(default)]
    other: bool,
    /// How many of its writes the paper used.
    writes: Option<u64>,
    /// What it goes through after the cut.
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    read: Options,
}

/// Traces that are there, and how they are read.
pub(super) type Found = Vec<(Source, Workload)>;

impl Known {
    /// What stands in for traces.
    pub(super) fn generators(&self) -> Vec<Source> {
        let source = |(name, of): (&String, &String)| Source {
            name: name.clone(),
            of: of.clone(),
            kind: Kind::Generator,
        };
        self.stand_ins.iter().map(source).collect()
    }

    /// Those of the traces that are in `dir`, and the names of those that are not. `most` is the most writes that are
    /// taken of each.
    ///
    /// # Errors
    /// [`StudyError::Read`] where `dir` cannot be read.
    pub(super) fn found(
        &self,
        dir: &Path,
        most: Option<u64>,
    ) -> Result<(Found, Vec<String>), StudyError> {
        std::fs::read_dir(dir).map_err(|source| StudyError::Read {
            path: dir.to_owned(),
            source,
        })?;
        let (mut here, mut absent) = (Vec::new(), Vec::new());
        for trace in &self.traces {
            match path(dir, &trace.files) {
                Some(path) => here.push(self.workload(trace, path, most)),
                None => absent.push(trace.name.clone()),
            }
        }
        Ok((here, absent))
    }

    fn workload(&self, trace: &KnownTrace, path: PathBuf, most: Option<u64>) -> (Source, Workload) {
        let writes = trace.writes.into_iter().chain(most).min();
        let cut = writes.map(|accesses| Step::First(First { accesses }));
        let cut: Vec<Step> = cut.into_iter().collect();
        // A trace that was cut shorter than in the paper is a part of it.
        let whole = trace.whole && writes == trace.writes;
        let kind = match (trace.other, whole) {
            (true, _) => Kind::Other,
            (false, true) => Kind::Whole,
            (false, false) => Kind::Part,
        };
        let name = match (trace.whole, writes) {
            (true, Some(writes)) => format!("first {writes} writes of {}", trace.name),
            _ => trace.name.clone(),
        };
        let source = Source {
            name: name.clone(),
            of: trace.of.clone(),
            kind,
        };
        let kind = source::Kind::Trace {
            path,
            read: trace.read.clone(),
        };
        let cut = [&self.before[..], &cut, &trace.steps, &self.after];
        let workload = Workload {
            steps: cut.concat(),
            ..Workload::new(name, kind)
        };
        (source, workload)
    }
}

fn path(dir: &Path, names: &[String]) -> Option<PathBuf> {
    let candidates = names
        .iter()
        .flat_map(|name| ENDINGS.map(|ending| dir.join(format!("{name}{ending}"))));
    candidates.into_iter().find(|path| path.is_file())
}
