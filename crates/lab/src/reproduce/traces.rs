//! Which workloads there are for a paper: its generators, and what of its traces a user has.

use super::claim::Expected;
use crate::source::{self, Workload};
use crate::study::StudyError;
use fathom_base::Bytes;
use fathom_trace::Options;
use fathom_workload::step::{Concatenate, First, Shrink, Step, WritesOnly};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The space that every trace is shrunk into: the smallest drive of the paper holds it.
const SPACE: Bytes = Bytes::gib(50);
/// Starts become multiples of it: the smallest page of the paper, so that every point sees the same requests.
const PAGE: Bytes = Bytes::kib(1);
/// What may stand behind a trace's name.
const ENDINGS: [&str; 4] = ["", ".zst", ".gz", ".xz"];

/// What a workload is, beside the trace that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// In words.
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
}

/// A workload and the trace that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The workload's name.
    pub name: String,
    /// The trace of the claims.
    pub of: String,
    /// What it is.
    pub kind: Kind,
}

/// `papers/NAME/traces.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
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
    #[serde(default)]
    writes: Option<u64>,
    /// Whether its units are laid one after another.
    #[serde(default)]
    concatenate: bool,
    #[serde(default)]
    read: Options,
}

/// The generators of a study as sources: `NAME-like` stands for `NAME`.
pub(super) fn generators(workloads: &[Workload]) -> Vec<Source> {
    let source = |workload: &Workload| Source {
        name: workload.name.clone(),
        of: workload.name.trim_end_matches("-like").to_owned(),
        kind: Kind::Generator,
    };
    workloads.iter().map(source).collect()
}

/// Traces that are there, and how they are read.
pub(super) type Found = Vec<(Source, Workload)>;

/// Those of the known traces that are in `dir`, and the names of those that are not. `writes` is the most that is
/// taken of each.
///
/// # Errors
/// [`StudyError::Read`] where `dir` cannot be read, [`StudyError::Syntax`] for a list of traces that is none.
pub(super) fn found(
    (list, place): (&str, &str),
    dir: &Path,
    writes: Option<u64>,
) -> Result<(Found, Vec<String>), StudyError> {
    std::fs::read_dir(dir).map_err(|source| StudyError::Read {
        path: dir.to_owned(),
        source,
    })?;
    let known: Known = toml::from_str(list).map_err(|error| StudyError::Syntax {
        path: place.into(),
        line: None,
        detail: error.message().to_owned(),
    })?;
    let (mut here, mut absent) = (Vec::new(), Vec::new());
    for trace in known.traces {
        match path(dir, &trace.files) {
            Some(path) => here.push(workload(trace, path, writes)),
            None => absent.push(trace.name),
        }
    }
    Ok((here, absent))
}

fn path(dir: &Path, names: &[String]) -> Option<PathBuf> {
    let candidates = names
        .iter()
        .flat_map(|name| ENDINGS.map(|ending| dir.join(format!("{name}{ending}"))));
    candidates.into_iter().find(|path| path.is_file())
}

/// The pre-processing of `epo` IV.A, but for the rounding, which the write buffer does.
fn workload(trace: KnownTrace, path: PathBuf, most: Option<u64>) -> (Source, Workload) {
    let writes = trace.writes.into_iter().chain(most).min();
    let mut steps = vec![Step::WritesOnly(WritesOnly {})];
    steps.extend(writes.map(|accesses| Step::First(First { accesses })));
    if trace.concatenate {
        steps.push(Step::Concatenate(Concatenate {
            disks: None,
            page: PAGE,
        }));
    }
    steps.push(Step::Shrink(Shrink {
        capacity: SPACE,
        span: None,
        page: PAGE,
    }));
    // A trace that was cut shorter than in the paper is a part of it.
    let whole = trace.whole && writes == trace.writes;
    let kind = match (trace.other, whole) {
        (true, _) => Kind::Other,
        (false, true) => Kind::Whole,
        (false, false) => Kind::Part,
    };
    let name = match (trace.whole, writes) {
        (true, Some(writes)) => format!("first {writes} writes of {}", trace.name),
        _ => trace.name,
    };
    let source = Source {
        name: name.clone(),
        of: trace.of,
        kind,
    };
    let workload = Workload {
        steps,
        ..Workload::new(
            name,
            source::Kind::Trace {
                path,
                read: trace.read,
            },
        )
    };
    (source, workload)
}

/// Whether every claim is about a trace that some source stands for, or about all.
pub(super) fn covers(expected: &Expected, sources: &[Source]) -> bool {
    let has = |of: &String| sources.iter().any(|source| source.of == *of);
    expected
        .claims
        .iter()
        .all(|claim| claim.trace.as_ref().is_none_or(has))
}
