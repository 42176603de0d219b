//! Making a twin: from the answers to a draft, from the draft to the fitted drive.

use super::bench::Bench;
use super::error::TwinError;
use super::fit::{Fitting, Shared, fit};
use super::seen::Seen;
use super::watch::Watcher;
use super::{draft, figures};
use fathom_base::Bytes;
use fathom_probe::{Level, Method, Parameter, Profile, Record};
use fathom_report::twin::{Assumed, Figure};
use fathom_ssd::Spec;
use serde::Serialize;

/// A twin, and how well it fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Twin {
    /// The drive.
    #[serde(skip)]
    pub spec: Spec,
    /// The figures of the record and of the twin.
    pub figures: Vec<Figure>,
    /// What the record does not tell.
    pub assumed: Vec<Assumed>,
    /// The candidates that were measured.
    pub evaluations: u64,
    /// The work of simulating them: requests, and pages of 16 KiB that were programmed.
    pub operations: u64,
    /// The search reached its limit of work, and ended before it was done.
    pub ended_early: bool,
    /// The record is of the quick level, which leaves much open.
    #[serde(skip)]
    pub quick: bool,
}

/// The limit of a search, in the work of simulating candidates. No clock counts, so that a search repeats.
const OPERATIONS_MAX: u64 = 800_000_000;

/// Makes the twin of a complete record. `watcher` is told of the search, and may end it.
///
/// # Errors
/// [`TwinError`]: the record is not complete, of another method or version, or says too little.
pub fn twin(record: &Record, profile: &Profile, watcher: &dyn Watcher) -> Result<Twin, TwinError> {
    within(record, profile, watcher, OPERATIONS_MAX)
}

/// As [`twin`], with another limit of work.
fn within(
    record: &Record,
    profile: &Profile,
    watcher: &dyn Watcher,
    operations_max: u64,
) -> Result<Twin, TwinError> {
    check(record)?;
    let seen = Seen::new(record, profile);
    let recorded = figures::samples(&seen);
    let goals = figures::goals(&recorded);
    let reads = [figures::What::One, figures::What::Small];
    if !goals.iter().any(|goal| reads.contains(&goal.what)) {
        return Err(little());
    }
    let mut drafts = draft::drafts(&seen)?;
    let bench = Bench::of(&seen);
    let shared = Shared::default();
    let fitting = Fitting {
        bench: bench.sparse(),
        goals: &goals,
        recorded: &recorded,
        link: draft::wire(&seen).is_some(),
        block: draft::knows_block(&seen),
        dies: seen.value(Parameter::Parallelism).is_some(),
        watcher,
        shared: &shared,
        allowed: operations_max,
    };
    let specs: Vec<Spec> = drafts.iter().map(|draft| draft.spec.clone()).collect();
    let fitted = fit(&fitting, &specs);
    let operations = fitting.bench.work.operations();
    let (Some((number, spec)), false) = (fitted, watcher.interrupted()) else {
        return Err(TwinError::Interrupted);
    };
    let mut samples = bench.reads(&spec)?;
    samples.extend(bench.writes(&spec)?);
    samples.extend(bench.mixed(&spec)?);
    samples.extend(bench.load(&spec)?);
    if goals.iter().any(|goal| goal.what.merges()) {
        samples.extend(bench.merges(&spec)?);
    }
    let mut assumed = drafts.swap_remove(number).assumed;
    now(&mut assumed, &spec);
    let whole = record.meta.target.capacity_bytes;
    if spec.capacity.0 != whole && !assumed.iter().any(|one| one.key == "capacity") {
        assumed.push(Assumed {
            key: "capacity".to_owned(),
            value: spec.capacity.to_string(),
            why: format!("rounded up from {} to whole blocks", Bytes(whole)),
        });
    }
    Ok(Twin {
        figures: goals.iter().map(|goal| goal.shown(&samples)).collect(),
        spec,
        assumed,
        evaluations: shared.evaluations.into_inner(),
        operations,
        ended_early: shared.early.into_inner(),
        quick: record.meta.level == Level::Quick,
    })
}

fn little() -> TwinError {
    TwinError::Little {
        lacks: format!(
            "single reads (parameters `{}` and `{}`)",
            Parameter::Parallelism,
            Parameter::Stalls
        ),
    }
}

/// Checks that a record can be the target of a fit.
fn check(record: &Record) -> Result<(), TwinError> {
    let here = env!("CARGO_PKG_VERSION");
    match () {
        () if record.meta.method == Method::Paper => Err(TwinError::Paper),
        () if record.meta.fathom != here => Err(TwinError::Version {
            found: record.meta.fathom.clone(),
            here: here.to_owned(),
        }),
        () if rotates(record) => Err(TwinError::Rotating),
        () if !record.meta.complete => Err(TwinError::Unfinished {
            run: record.meta.target.name.clone().into(),
        }),
        () => Ok(()),
    }
}

fn rotates(record: &Record) -> bool {
    let look = record.meta.look.as_ref();
    look.is_some_and(|look| look.rotational == Some(true))
}

/// Puts the values of the fitted drive in the place of those that were assumed first.
fn now(assumed: &mut [Assumed], spec: &Spec) {
    let Ok(root) = spec.to_toml().parse::<toml::Table>() else {
        return;
    };
    for one in assumed {
        let mut parts = one.key.split('.');
        let first = parts.next().and_then(|part| root.get(part));
        let value = parts.fold(first, |value, part| value?.as_table()?.get(part));
        match value {
            Some(toml::Value::String(text)) => one.value.clone_from(text),
            Some(toml::Value::Table(_)) | None => {}
            Some(value) => one.value = value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::watch::Far;
    use fathom_model::Model;
    use fathom_probe::Unobserved;
    use fathom_probe::run::{self, RunConfig};
    use std::sync::Mutex;

    /// Keeps what it is told.
    #[derive(Default)]
    struct Told(Mutex<Vec<Far>>);

    impl Watcher for Told {
        fn fitting(&self, far: Far) {
            self.0.lock().unwrap().push(far);
        }
    }

    fn record() -> Record {
        let nvme = fathom_model::find("nvme").unwrap();
        let mut drive = Model::from_toml(nvme.text).unwrap().build(1).unwrap();
        let config = RunConfig {
            level: Level::Quick,
            parameters: vec![
                Parameter::Parallelism,
                Parameter::QueueKnee,
                Parameter::Flush,
            ],
            ..RunConfig::default()
        };
        run::run(&mut drive, &config, None, &mut Unobserved).unwrap()
    }

    #[test]
    fn a_search_ends_at_its_limit_of_work_and_repeats_on_any_number_of_threads() {
        let record = record();
        let profile = run::solve(&record);
        let made = |operations_max| {
            let told = Told::default();
            let made = within(&record, &profile, &told, operations_max).unwrap();
            (made, told.0.into_inner().unwrap())
        };
        let (whole, told) = made(OPERATIONS_MAX);
        assert!(!whole.ended_early);
        assert_eq!(told.len() as u64, whole.evaluations);
        assert!(told.iter().all(|far| far.number <= far.of));
        let (early, _) = made(whole.operations / 4);
        assert!(early.ended_early);
        assert!(early.evaluations < whole.evaluations);
        assert!(early.operations < whole.operations / 2);
        early.spec.check().unwrap();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let (again, _) = alone.unwrap().install(|| made(whole.operations / 4));
        assert_eq!(again, early);
    }

    /// A search trades the time of a program against fills; one flush tells it.
    #[test]
    fn a_flush_of_one_page_takes_as_long_as_in_the_record() {
        let record = record();
        let made = twin(&record, &run::solve(&record), &Told::default()).unwrap();
        let flush = made
            .figures
            .iter()
            .find(|figure| figure.name.starts_with("flush after bytes: 4096,"));
        let flush = flush.unwrap();
        let ratio = flush.twin.unwrap() / flush.record;
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn parts_that_were_not_measured_are_assumed_to_be_absent() {
        let record = record();
        let made = within(&record, &run::solve(&record), &Told::default(), 1).unwrap();
        let none = made.assumed.iter().filter(|one| one.value == "none");
        let none: Vec<&str> = none.map(|one| one.key.as_str()).collect();
        let unmeasured = [
            "read_buffer",
            "read_buffer.prefetch",
            "fast_cache",
            "mapping.map_cache",
            "limit.operations_per_second",
            "limit.bandwidth",
            "compression",
        ];
        assert_eq!(none, unmeasured);
    }

    /// A workload that fits the measured drive fits its twin, also where no block divides the capacity.
    #[test]
    fn a_twin_is_not_smaller_than_the_drive() {
        let mut record = record();
        let whole = 4096 * 262_147;
        record.meta.target.capacity_bytes = whole;
        let made = within(&record, &run::solve(&record), &Told::default(), 1).unwrap();
        let capacity = made.spec.capacity.0;
        assert!(
            (whole..whole + whole / 50).contains(&capacity),
            "{capacity}"
        );
        assert!(made.assumed.iter().any(|one| one.key == "capacity"));
    }
}
