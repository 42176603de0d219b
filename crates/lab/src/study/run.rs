//! Runs a study in parallel. Each drive is prepared once, and each run is written when it ends.

use super::{Run, Study, StudyError};
use crate::replay::{RunError, Watch, prepared, run_model};
use crate::source::Workload;
use crate::store::{self, SetKind, Staging, StoreError};
use fathom_model::Drive;
use fathom_run::{Precondition, RunRecord};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Observer of a study. It is called from several threads.
pub trait Watcher: Sync {
    /// Called when a run has ended, or was stored already (`again` is then false).
    fn run_done(&self, _name: &str, _done: usize, _of: usize, _again: bool) {}

    /// Called with the stored runs that are repeated, each with the reason why it cannot be used.
    fn distrusted(&self, _runs: &[(String, String)]) {}
}

/// A run of a study with its record.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The run.
    pub run: Run,
    /// Its record.
    pub record: RunRecord,
}

/// Directory of the runs in the study's directory.
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

/// Executes the runs that `dir` does not hold yet, and returns every run with its record, in order. Runs use all cores.
///
/// # Errors
/// The error of the first run that fails, after the runs in flight have ended, or [`StudyError::Interrupted`]. Runs that
/// have ended stay stored in both cases.
pub fn run(
    study: &Study,
    runs: &[Run],
    dir: &Path,
    watcher: &dyn Watcher,
    stop: fn() -> bool,
) -> Result<Vec<Finished>, StudyError> {
    store::clear(dir);
    store::check_output(&dir.join(RUNS), SetKind::Study)?;
    let progress = Progress {
        watcher,
        done: 0.into(),
        of: runs.len(),
    };
    let mut records: BTreeMap<usize, RunRecord> = BTreeMap::new();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut distrusted = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match present(run, &dir.join(RUNS).join(&run.name)) {
            Present::Here(record) => {
                progress.step(&run.name, false);
                records.insert(index, *record);
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
    let done: Vec<Vec<(usize, RunRecord)>> = groups
        .par_iter()
        .map(of_group)
        .collect::<Result<_, StudyError>>()?;
    records.extend(done.into_iter().flatten());
    let finished = records.into_iter().map(|(index, record)| Finished {
        run: runs[index].clone(),
        record,
    });
    Ok(finished.collect())
}

/// Returns a run's initial state as text. Runs with equal states share the preconditioning.
///
/// The seed counts if the preparation draws from it, or the drive ever does: the copies of one drive have the generators of
/// one seed.
fn state_of(run: &Run) -> String {
    let (state, model) = (run.plan.precondition, &run.model);
    let draws = state.depends_on_seed() || model.depends_on_seed();
    let seed = draws.then_some(run.plan.seed);
    format!("{state:?} {seed:?} {}", model.to_toml())
}

/// The stored result of a run.
enum Present {
    /// The record of the same plan on the same drive.
    Here(Box<RunRecord>),
    /// A stored run that is damaged or has no checksum. It is repeated rather than trusted, because a modelled drive
    /// reproduces it.
    Distrusted(String),
    /// No stored run, or another one.
    Absent,
}

fn present(run: &Run, dir: &Path) -> Present {
    let loaded = match store::load_run_record(dir) {
        Ok(loaded) => loaded,
        Err(StoreError::Missing { .. }) => return Present::Absent,
        Err(error) => return Present::Distrusted(error.to_string()),
    };
    let record = loaded.value;
    let Ok(workload) = record.plan.workload.parse::<Workload>() else {
        return Present::Absent;
    };
    let asked = record.plan.with(Workload {
        // A first pass may have filled in step parameters that the study leaves open.
        steps: run.plan.workload.steps.clone(),
        ..workload
    });
    let same = asked == run.plan && record.drive.as_deref() == Some(&run.model.to_toml());
    match loaded.notes.into_iter().next() {
        _ if !same => Present::Absent,
        Some(note) => Present::Distrusted(note),
        None => Present::Here(Box::new(record)),
    }
}

fn run_group(
    study: &Study,
    runs: &[(usize, &Run)],
    dir: &Path,
    progress: &Progress<'_>,
    stop: fn() -> bool,
) -> Result<Vec<(usize, RunRecord)>, StudyError> {
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
            .map_err(|error| StudyError::Drive {
                run: run.name.clone(),
                detail: error.to_string(),
            })
    };
    let state = first.plan.precondition;
    // A fresh drive is mostly memory that was never touched: building it is cheaper than a copy.
    let forked = match state {
        Precondition::AsIs | Precondition::Fresh => None,
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
            let watch = Watch { stop, seen: None };
            let record = run_model(&run.model, drive, &run.plan, requests, watch)
                .map_err(|error| failed(run, error))?;
            if let Some(cut) = record.cut_short {
                return Err(failed(run, RunError::CutShort(cut)));
            }
            store::save_run_record(set, &record, None)?;
            progress.step(&run.name, true);
            Ok((index, record))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::collections::BTreeSet;

    const LOADS: &str = "[[workload]]\nname = 'a'\ngenerate = { generator = 'uniform', accesses = 9 }\n\
                         [[workload]]\nname = 'b'\ngenerate = { generator = 'zipf', accesses = 9 }\n";

    /// Returns the number of initial states of a study with eight seeds and two loads.
    fn states(head: &str, set: &str) -> usize {
        let text =
            format!("name = 's'\nseeds = [1, 2, 3, 4, 5, 6, 7, 8]\n{head}\n[set]\n{set}\n{LOADS}");
        let runs = super::super::plan(&Study::from_toml(&text).unwrap()).unwrap();
        assert_eq!(runs.len(), 16);
        runs.iter().map(state_of).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn a_state_is_shared_among_seeds_unless_something_is_drawn() {
        const NO_NOISE: &str = "'noise.command_percent' = 0.0\n'noise.flash_percent' = 0.0\n\
                                'noise.background_interval' = '0s'\n'noise.background_duration' = '0s'\n";
        let ssd = "drive = 'model:ssd-a'\n";
        for kind in ["fast", "block", "page"] {
            let quiet = format!("'mapping.kind' = '{kind}'\n{NO_NOISE}");
            let filled = states(&format!("{ssd}precondition = 'filled'"), &quiet);
            assert_eq!(filled, 1, "{kind}");
            let random = "precondition = { random = { times = 1.0, bytes = '4KiB' } }";
            assert_eq!(states(&format!("{ssd}{random}"), &quiet), 8, "{kind}");
        }
        let filled = format!("{ssd}precondition = 'filled'");
        assert_eq!(states(&filled, ""), 8, "noise");
        let retries = format!("{NO_NOISE}'faults.read_retry' = 0.1\n'faults.read_retries_max' = 2");
        assert_eq!(states(&filled, &retries), 8, "repeated reads");
        let disk = "drive = 'model:hitachi-7k160'\nprecondition = 'filled'";
        assert_eq!(states(disk, ""), 8, "the angle of a disk");
    }
}
