//! Runs a study: in parallel, each drive prepared once, each run written when it ends.

use super::{Run, Study, StudyError};
use crate::replay::{Outcome, RunError, prepared, run_model};
use crate::store::{self, Staging, StoreError};
use fathom_model::Drive;
use fathom_run::Precondition;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Watches a study.
pub trait Watcher: Sync {
    /// A run has come to its end, or was there already (`again` is false then).
    fn run_done(&self, _name: &str, _done: usize, _of: usize, _again: bool) {}

    /// Runs that are there already are run again: each with the reason why it cannot be taken.
    fn distrusted(&self, _runs: &[(String, String)]) {}
}

/// A run with what came of it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which run.
    pub run: Run,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Where the runs of a study lie in its directory.
const RUNS: &str = "runs";

struct Progress<'a> {
    watcher: &'a dyn Watcher,
    done: std::sync::atomic::AtomicUsize,
    of: usize,
}

impl Progress<'_> {
    fn step(&self, name: &str, again: bool) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.watcher.run_done(name, done, self.of, again);
    }
}

/// Runs what is not there yet in `dir`, and gives every run with its outcome, in order. Runs fill all cores.
///
/// # Errors
/// The first run that fails, after those that were in flight have ended; what has ended is kept. With
/// [`StudyError::Interrupted`] as well.
pub fn run(
    study: &Study,
    runs: &[Run],
    dir: &Path,
    watcher: &dyn Watcher,
    stop: fn() -> bool,
) -> Result<Vec<Finished>, StudyError> {
    store::clear(dir);
    store::check_output(&dir.join(RUNS))?;
    let progress = Progress {
        watcher,
        done: 0.into(),
        of: runs.len(),
    };
    let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut distrusted = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match present(run, &dir.join(RUNS).join(&run.name)) {
            Present::Here(outcome) => {
                progress.step(&run.name, false);
                outcomes.insert(index, *outcome);
                continue;
            }
            Present::Distrusted(why) => distrusted.push((run.name.clone(), why)),
            Present::Absent => {}
        }
        groups.entry(state_of(run)).or_default().push(index);
    }
    if !distrusted.is_empty() {
        watcher.distrusted(&distrusted);
    }
    let groups: Vec<Vec<usize>> = groups.into_values().collect();
    let of_group = |indices: &Vec<usize>| {
        let all: Vec<(usize, &Run)> = indices.iter().map(|&i| (i, &runs[i])).collect();
        run_group(study, &all, dir, &progress, stop)
    };
    let done: Vec<Vec<(usize, Outcome)>> = groups
        .par_iter()
        .map(of_group)
        .collect::<Result<_, StudyError>>()?;
    outcomes.extend(done.into_iter().flatten());
    let finished = outcomes.into_iter().map(|(index, outcome)| Finished {
        run: runs[index].clone(),
        outcome,
    });
    Ok(finished.collect())
}

/// What a run starts from, as text: runs of one state share its preparation.
fn state_of(run: &Run) -> String {
    format!(
        "{:?} {} {}",
        run.plan.precondition,
        run.plan.seed,
        run.model.to_toml()
    )
}

/// What is there of a run.
enum Present {
    /// Its outcome, of the same plan on the same drive.
    Here(Box<Outcome>),
    /// Something that is damaged, or has no checksum: a run of a modelled drive is had again more surely than believed.
    Distrusted(String),
    /// Nothing, or another run.
    Absent,
}

fn present(run: &Run, dir: &Path) -> Present {
    let loaded = match store::load_outcome(dir) {
        Ok(loaded) => loaded,
        Err(StoreError::Missing { .. }) => return Present::Absent,
        Err(error) => return Present::Distrusted(error.to_string()),
    };
    let outcome = loaded.value;
    let mut asked = outcome.plan.clone();
    // A first pass may have filled in what the study leaves open.
    asked.workload.steps.clone_from(&run.plan.workload.steps);
    let same = asked == run.plan && outcome.drive.as_deref() == Some(&run.model.to_toml());
    match loaded.notes.into_iter().next() {
        _ if !same => Present::Absent,
        Some(note) => Present::Distrusted(note),
        None => Present::Here(Box::new(outcome)),
    }
}

fn run_group(
    study: &Study,
    runs: &[(usize, &Run)],
    dir: &Path,
    progress: &Progress<'_>,
    stop: fn() -> bool,
) -> Result<Vec<(usize, Outcome)>, StudyError> {
    let Some(&(_, first)) = runs.first() else {
        return Ok(Vec::new());
    };
    if stop() {
        return Err(StudyError::Interrupted);
    }
    let failed = |run: &Run, error: RunError| match error {
        RunError::Interrupted => StudyError::Interrupted,
        error => StudyError::Run {
            run: run.name.clone(),
            error: Box::new(error),
        },
    };
    let build = |run: &Run| {
        run.model
            .build(run.plan.seed)
            .map_err(|error| StudyError::Value {
                study: study.name.clone(),
                place: format!("run {}", run.name),
                detail: error.to_string(),
            })
    };
    let state = first.plan.precondition;
    // A drive as it was made is mostly memory that was never touched: building it costs less than a copy.
    let forked = match state {
        Precondition::Fresh => None,
        _ => Some(
            prepared(build(first)?, state, first.plan.seed)
                .map_err(|error| failed(first, error))?,
        ),
    };
    runs.par_iter()
        .map(|&(index, run)| {
            if stop() {
                return Err(StudyError::Interrupted);
            }
            let dir = dir.join(RUNS).join(&run.name);
            store::check_free(&dir)?;
            let mut set = Staging::new(&dir)?;
            let drive: Drive = match &forked {
                Some(drive) => drive.clone(),
                None => build(run)?,
            };
            let requests = study.requests.then_some(&mut set);
            let outcome = run_model(&run.model, drive, &run.plan, requests, stop)
                .map_err(|error| failed(run, error))?;
            if let Some(cut) = outcome.cut_short {
                return Err(failed(run, RunError::CutShort(cut)));
            }
            store::save_outcome(set, &outcome, None)?;
            progress.step(&run.name, true);
            Ok((index, outcome))
        })
        .collect()
}
