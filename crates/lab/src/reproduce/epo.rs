//! The `epo` paper: its studies, and what comes of its claims.

use super::cell::Cell;
use super::claim::Expected;
use super::judge::{Judgement, judge};
use super::traces::{self, Source};
use super::why::{Why, why};
use crate::study::{self, Run, Study, StudyError, Watcher};
use fathom_workload::step::Step;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Figures 4 to 6 on the simulator's drive.
const STUDY: (&str, &str) = (
    include_str!("../../../../papers/epo/study.toml"),
    "papers/epo/study.toml",
);
/// The same on the general engine.
const GENERAL: (&str, &str) = (
    include_str!("../../../../papers/epo/general.toml"),
    "papers/epo/general.toml",
);
/// The driver's queue and the arrival.
const QUEUE: (&str, &str) = (
    include_str!("../../../../papers/epo/queue.toml"),
    "papers/epo/queue.toml",
);
/// Rising load.
const LOAD: (&str, &str) = (
    include_str!("../../../../papers/epo/load.toml"),
    "papers/epo/load.toml",
);
/// Buffers inside the drive, over several translation layers.
const INSIDE: (&str, &str) = (
    include_str!("../../../../papers/epo/inside.toml"),
    "papers/epo/inside.toml",
);
/// What the paper leaves open, one choice at a time.
const CHOICES: (&str, &str) = (
    include_str!("../../../../papers/epo/choices.toml"),
    "papers/epo/choices.toml",
);
const EXPECTED: (&str, &str) = (
    include_str!("../../../../papers/epo/expected.toml"),
    "papers/epo/expected.toml",
);
const TRACES: (&str, &str) = (
    include_str!("../../../../papers/epo/traces.toml"),
    "papers/epo/traces.toml",
);

/// Studies that run on the user's traces, too: Figures 4 to 6, and what the paper leaves open. The others run on generators
/// alone.
const ON_TRACES: [&str; 3] = ["epo", "epo-general", "epo-choices"];
/// The schemes that the paper has.
const SCHEMES: [&str; 4] = ["no-cache", "lru", "bplru", "epo"];
/// Writes of each workload in a quick reproduction; they fill the largest buffer of the paper twice.
const QUICK_WRITES: u64 = 20_000;

/// What to reproduce.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Fewer writes, the paper's schemes and the simulator's drive only.
    pub quick: bool,
    /// The most writes of a workload, whatever else is said.
    pub writes: Option<u64>,
    /// Where the user keeps traces.
    pub traces: Option<PathBuf>,
}

/// A reproduction that is ready to run.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// What the paper says.
    pub expected: Expected,
    /// The workloads, and what they stand for.
    pub sources: Vec<Source>,
    /// What was found, what is missing and what was left out, in sentences.
    pub notes: Vec<String>,
    /// The studies: Figures 4 to 6 first, then, unless it is quick, the others in the order of [`Results`].
    studies: Vec<(Study, Vec<Run>)>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// The workloads.
    pub sources: Vec<Source>,
    /// Figures 4 to 6.
    pub figures: Vec<Cell>,
    /// The same on the general engine; none in a quick reproduction.
    pub general: Vec<Cell>,
    /// The driver's queue and the arrival; none in a quick reproduction.
    pub queue: Vec<Cell>,
    /// Rising load; none in a quick reproduction.
    pub load: Vec<Cell>,
    /// Buffers inside the drive over several translation layers; none in a quick reproduction.
    pub inside: Vec<Cell>,
    /// What the paper leaves open, one choice at a time; none in a quick reproduction.
    pub choices: Vec<Cell>,
    /// What EPO's batches cost by arithmetic, for each workload whose buffer was full.
    pub why: Vec<Why>,
    /// Every claim on every workload that it is about.
    pub judgements: Vec<Judgement>,
    /// The same on the general engine.
    pub judgements_general: Vec<Judgement>,
}

pub(super) fn parsed<T>(
    (text, place): (&str, &str),
    parse: impl Fn(&str) -> Result<T, (Option<usize>, String)>,
) -> Result<T, StudyError> {
    parse(text).map_err(|(line, detail)| StudyError::Syntax {
        path: place.into(),
        line,
        detail,
    })
}

/// Resolves everything before the first run.
///
/// # Errors
/// [`StudyError`]: a directory of traces that cannot be read, a trace that cannot be.
pub fn prepare(options: &Options) -> Result<Reproduction, StudyError> {
    let expected = parsed(EXPECTED, Expected::from_toml)?;
    let mut figures = parsed(STUDY, Study::from_toml)?;
    let mut sources = traces::generators(&figures.workloads);
    let mut notes = Vec::new();
    let quick = options.quick.then_some(QUICK_WRITES);
    let writes = quick.into_iter().chain(options.writes).min();
    let found = match &options.traces {
        Some(dir) => {
            let (found, absent) = traces::found(TRACES, dir, writes)?;
            if !absent.is_empty() {
                notes.push(format!("Not in {}: {}.", dir.display(), absent.join("; ")));
            }
            found
        }
        None => {
            notes.push(
                "No directory of traces was given (--traces): only generators ran, which are like the paper's \
                 traces in published figures and in nothing else."
                    .into(),
            );
            Vec::new()
        }
    };
    let mut studies = vec![];
    if let Some(writes) = writes {
        notes.push(format!("At most {writes} writes of each workload."));
    }
    if options.quick {
        notes.push(
            "Left out: LB-CLOCK and streams, Fathom's own engine, the driver's queue, rising load, what the \
             paper leaves open, buffers inside the drive (run it without --quick)."
                .into(),
        );
        keep_schemes(&mut figures);
    } else {
        for file in [GENERAL, QUEUE, LOAD, INSIDE, CHOICES] {
            studies.push(parsed(file, Study::from_toml)?);
        }
    }
    studies.insert(0, figures);
    let (found_sources, workloads): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    sources.extend(found_sources);
    if !traces::covers(&expected, &sources) {
        notes.push("Some claims are about a trace that nothing stands for.".into());
    }
    let planned = studies.into_iter().map(|mut study| {
        if ON_TRACES.contains(&study.name.as_str()) {
            study.workloads.extend(workloads.iter().cloned());
        }
        if let Some(writes) = writes {
            shorten(&mut study, writes);
        }
        let runs = study::plan(&study)?;
        Ok((study, runs))
    });
    let studies = planned.collect::<Result<_, StudyError>>()?;
    Ok(Reproduction {
        expected,
        sources,
        notes,
        studies,
    })
}

/// Leaves the schemes that the paper has.
fn keep_schemes(study: &mut Study) {
    for axis in &mut study.axes {
        if axis.name == "scheme" {
            axis.points.retain(|p| SCHEMES.contains(&p.name.as_str()));
        }
    }
}

/// Takes at most so many writes of each workload.
fn shorten(study: &mut Study, writes: u64) {
    let steps = study.workloads.iter_mut().flat_map(|w| &mut w.steps);
    for step in steps {
        if let Step::First(first) = step {
            first.accesses = first.accesses.min(writes);
        }
    }
}

impl Reproduction {
    /// How many runs it has.
    pub fn runs(&self) -> usize {
        self.studies.iter().map(|(_, runs)| runs.len()).sum()
    }
}

/// Runs what is not there yet in `dir`, and judges every claim.
///
/// # Errors
/// As [`study::run`].
pub fn run(
    reproduction: &Reproduction,
    dir: &Path,
    watcher: &dyn Watcher,
    stop: fn() -> bool,
) -> Result<Results, StudyError> {
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    let mut reasons = Vec::new();
    for (study, runs) in &reproduction.studies {
        let finished = study::run(study, runs, &dir.join(&study.name), watcher, stop)?;
        reasons.extend(finished.iter().filter_map(why));
        cells.push(finished.iter().map(Cell::of).collect());
    }
    let mut cells = cells.into_iter();
    let mut next = || cells.next().unwrap_or_default();
    let (figures, general) = (next(), next());
    let judged = |cells: &[Cell]| match cells.is_empty() {
        true => Vec::new(),
        false => judge(&reproduction.expected, &reproduction.sources, cells),
    };
    Ok(Results {
        sources: reproduction.sources.clone(),
        judgements: judged(&figures),
        judgements_general: judged(&general),
        figures,
        general,
        queue: next(),
        load: next(),
        inside: next(),
        choices: next(),
        why: reasons,
    })
}
