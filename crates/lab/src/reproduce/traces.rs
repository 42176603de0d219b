//! The workloads that stand for a paper's traces: generators, and those of the traces that the user has.

use super::statement::ANY;
use crate::source::{self, Workload};
use crate::study::StudyError;
use fathom_report::reproduce::{Kind, Source};
use fathom_trace::Options;
use fathom_workload::step::{First, Step};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Suffixes that may follow the file name of a trace.
const ENDINGS: [&str; 4] = ["", ".zst", ".gz", ".xz"];

/// Returns true if the workload stands for this trace; always true for [`ANY`].
pub(super) fn stands_for(source: &Source, trace: &str) -> bool {
    trace == ANY || trace == source.of
}

/// Contents of `papers/NAME/traces.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// The studies that also run on traces.
    pub studies: Vec<String>,
    /// Workloads of the studies that stand in for a trace: name of the workload to trace.
    stand_ins: BTreeMap<String, String>,
    /// Steps for every trace before it is cut to its first writes.
    before: Vec<Step>,
    /// The last steps for every trace.
    after: Vec<Step>,
    #[serde(rename = "trace")]
    traces: Vec<KnownTrace>,
}

/// A trace to look for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTrace {
    files: Vec<String>,
    name: String,
    of: String,
    #[serde(default)]
    whole: bool,
    /// True if the trace is not one of the paper's.
    #[serde(default)]
    other: bool,
    /// Number of its writes that the paper used.
    writes: Option<u64>,
    /// Steps after the cut.
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    read: Options,
}

/// The traces that were found, and how they are read.
pub(super) type Traces = Vec<(Source, Workload)>;

impl Known {
    /// Returns the workloads that stand in for traces.
    pub(super) fn generators(&self) -> Vec<Source> {
        let source = |(name, of): (&String, &String)| Source {
            name: name.clone(),
            of: of.clone(),
            kind: Kind::Generator,
        };
        self.stand_ins.iter().map(source).collect()
    }

    /// Returns the traces that are in `dir`, and the names of those that are not. `most` is the maximum number of writes to
    /// take from each.
    ///
    /// # Errors
    /// [`StudyError::Read`] if `dir` cannot be read.
    pub(super) fn found(
        &self,
        dir: &Path,
        most: Option<u64>,
    ) -> Result<(Traces, Vec<String>), StudyError> {
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
        // A trace that is cut shorter than in the paper counts as a part.
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
