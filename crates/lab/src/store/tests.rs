//! Tests of commits under faults: each change to the file system is made to fail, or ends the process. A reader must then
//! find either the old set or the new one, and nothing must be in the way of the next writer.

use super::disk::fault::{self, Fault};
use super::settle::NEXT;
use super::sums::{Sum, Sums};
use super::*;
use crate::replay::{Plan, Watch, prepared, run_model};
use crate::source::Workload;
use fathom_probe::record::Target;
use fathom_probe::{Cost, Method, Parameter, RecordMeta, Sample, Series, Step};
use fathom_run::{Precondition, RunRecord};
use fathom_workload::generate::{Config, Name};
use fathom_workload::step::Arrival;
use std::collections::BTreeMap;
use std::fs;

fn record(seed: u64) -> Record {
    let step = Step {
        parameter: Parameter::Prefetch,
        name: "sweep".into(),
        cost: Cost::default(),
        logs: Vec::new(),
        marks: Default::default(),
    };
    let sample = |i: u64| Sample {
        step: 0,
        parameter: Parameter::Prefetch,
        series: Series::SWEEP,
        x: i << 12,
        rep: 0,
        timed: fathom_probe::record::Timed::Read,
        offset: i * seed,
        bytes: 4096,
        ns: i * 1000 + seed,
        at_ns: i,
    };
    Record {
        meta: RecordMeta {
            fathom: "0.1.0".into(),
            seed,
            method: Method::Robust,
            parameters: vec![Parameter::Prefetch],
            read_only: false,
            budget_bytes: None,
            budget_ns: None,
            cheapest_first: false,
            region: None,
            level: fathom_probe::Level::Full,
            fitting: false,
            look: None,
            log: None,
            references: Vec::new(),
            thin: 1,
            target: Target {
                name: "model:x".into(),
                modelled: true,
                ..Target::default()
            },
            complete: true,
        },
        steps: vec![step],
        samples: (0..20).map(sample).collect(),
    }
}

fn profile(seed: u64) -> Profile {
    Profile {
        fathom: "0.1.0".into(),
        seed,
        method: Method::Robust,
        target: Target::default(),
        cost: Cost::default(),
        skipped: Default::default(),
        marked: Default::default(),
        parameters: BTreeMap::new(),
    }
}

fn measured(dir: &Path, seed: u64) -> Result<(), StoreError> {
    save_run(dir, &record(seed), &profile(seed), &format!("page {seed}"))
}

fn interrupted(dir: &Path, seed: u64) -> Result<(), StoreError> {
    save_record(dir, &record(seed))
}

/// Writes a short workload run with all of its accesses.
fn played(dir: &Path, seed: u64) -> Result<(), StoreError> {
    let model = fathom_model::find("null-write-buffer").unwrap();
    let model = fathom_model::Model::from_toml(model.text).unwrap();
    let config = Config {
        accesses: Some(20),
        ..Config::of(Name::Uniform)
    };
    let plan = Plan {
        target: "model:null-write-buffer".into(),
        workload: Workload::of_generator(config),
        arrival: Arrival::Open,
        precondition: Precondition::Fresh,
        seed,
        queue: None,
        depth: None,
        platform: None,
    };
    let mut set = Staging::new(dir)?;
    let drive = prepared(model.build(seed).unwrap(), plan.precondition, seed).unwrap();
    let record = match run_model(
        &model,
        drive,
        &plan,
        Some(&mut set),
        Watch {
            stop: || false,
            seen: None,
        },
    ) {
        Err(crate::replay::RunError::Requests(error)) => return Err(error),
        record => record.unwrap(),
    };
    save_run_record(set, &record, Some(&format!("page {seed}")))
}

/// The contents of a directory as a reader sees them: those of one set, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
struct Read {
    record: Option<Record>,
    profile: Option<Profile>,
    run: Option<(RunRecord, usize)>,
    page: Option<String>,
}

fn present<T>(loaded: Result<Loaded<T>, StoreError>) -> Option<T> {
    match loaded {
        Err(StoreError::Missing { .. }) => None,
        loaded => {
            let loaded = loaded.unwrap();
            assert_eq!(loaded.notes, [""; 0]);
            Some(loaded.value)
        }
    }
}

fn read(dir: &Path) -> Read {
    let page = Kept::with(dir, |kept| kept.read(REPORT_FILE));
    let (record, profile) = present(load_measurement(dir)).unzip();
    Read {
        record,
        profile: profile.flatten(),
        run: present(load_run(dir)).map(|(record, all)| (record, all.unwrap().len())),
        page: match page {
            Err(StoreError::Missing { .. }) => None,
            page => Some(String::from_utf8(page.unwrap().0).unwrap()),
        },
    }
}

/// Returns every path below a directory whose name is that of a staging directory.
fn leftovers(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            let below = leftovers(&entry.path());
            let own = entry.file_name().to_str().unwrap().starts_with(".fathom");
            let path = entry.path().display().to_string();
            own.then_some(path).into_iter().chain(below)
        })
        .collect()
}

/// Returns true if every file of the set is under its own name.
fn is_in_place(dir: &Path) -> bool {
    let sums = Sums::read(dir).unwrap().unwrap_or_default();
    sums.files.iter().all(|(name, sum)| {
        let file = fs::File::open(dir.join(name));
        file.is_ok_and(|mut file| Sum::of(&mut file).unwrap() == *sum)
    })
}

type Change = fn(&Path, u64) -> Result<(), StoreError>;

/// Tries every fault at every change of `second`, over the set that `first` has written. `place` is the path of the
/// directory below an existing one.
fn falls(first: Option<Change>, second: Change, place: &str) {
    let prepare = || {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join(place);
        if let Some(first) = first {
            first(&run, 1).unwrap();
        }
        (dir, run)
    };
    let (_dir, run) = prepare();
    let old = read(&run);
    let (done, steps) = fault::at(u64::MAX, Fault::Fails, || second(&run, 2));
    done.unwrap();
    let new = read(&run);
    assert!(old != new && steps > 5 && is_in_place(&run), "{steps}");
    let (mut olds, mut news) = (0, 0);
    for fault in [Fault::Fails, Fault::Killed] {
        for n in 0..steps {
            let (dir, run) = prepare();
            let (done, _) = fault::at(n, fault, || second(&run, 2));
            let now = read(&run);
            assert!(now == old || now == new, "{fault:?} at {n}: {now:?}");
            assert!(done.is_err() || now == new, "{fault:?} at {n}");
            assert!(
                first.is_some() || now == new || !run.exists(),
                "{fault:?} at {n}"
            );
            // A failed commit clears up after itself, unless only the moves to the final names remained.
            if fault == Fault::Fails && now == old {
                assert_eq!(leftovers(dir.path()), [""; 0], "at {n}");
            }
            olds += u32::from(now == old);
            news += u32::from(now == new);
            // The next process that starts.
            clear(&run);
            assert_eq!(leftovers(dir.path()), [""; 0], "{fault:?} at {n}");
            assert!(is_in_place(&run), "{fault:?} at {n}");
            assert_eq!(read(&run), now, "{fault:?} at {n}");
            second(&run, 2).unwrap();
            assert_eq!(read(&run), new, "{fault:?} at {n}");
        }
    }
    assert!(olds > 0 && news > 0, "{olds} old and {news} new");
}

#[test]
fn a_measurement_replaces_another_as_one() {
    falls(Some(measured), measured, "run");
}

#[test]
fn an_interrupted_run_replaces_a_measurement_as_one() {
    falls(Some(measured), interrupted, "run");
}

#[test]
fn a_measurement_replaces_an_interrupted_run_as_one() {
    falls(Some(interrupted), measured, "run");
}

#[test]
fn a_run_with_its_accesses_replaces_another_as_one() {
    falls(Some(played), played, "run");
}

#[test]
fn a_run_that_is_new_appears_as_one_or_leaves_no_directory() {
    falls(None, measured, "run");
    falls(None, played, "some/where/below/run");
}

#[test]
fn a_trace_is_there_whole_or_not_at_all() {
    let accesses = || {
        Workload::of_generator(Config {
            accesses: Some(20),
            ..Config::of(Name::Uniform)
        })
    };
    let save = |path: &Path| {
        let mut accesses = accesses().open(0).unwrap();
        crate::source::save_stream(&mut accesses, path, crate::source::SavedAs::Parquet, || {
            false
        })
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let (done, steps) = fault::at(u64::MAX, Fault::Fails, || save(&path));
    done.unwrap();
    let whole = fs::read(&path).unwrap();
    for fault in [Fault::Fails, Fault::Killed] {
        for n in 0..steps {
            fs::write(&path, "old").unwrap();
            let (done, _) = fault::at(n, fault, || save(&path));
            let now = fs::read(&path).unwrap();
            assert!(
                now == whole || (now == b"old" && done.is_err()),
                "{fault:?} at {n}"
            );
            staging::clear(dir.path());
            assert_eq!(leftovers(dir.path()), [""; 0], "{fault:?} at {n}");
        }
    }
}

/// Covers the directory of a running process and those of other programs.
#[test]
fn what_is_not_a_leftover_of_ours_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let running = Staging::new(&dir.path().join("run")).unwrap();
    let home = running.home.clone();
    let theirs = [
        ".fathom-0123456789abcdef.tmp/notes.txt",
        ".fathom-0123456789abcde.tmp/run.json",
        ".fathom-0123456789abcdef.tmp.d/run.json",
        ".fathom/run.json",
        ".fathom-next/notes.txt",
    ]
    .map(|name| dir.path().join(name));
    for path in &theirs {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    let file = dir.path().join(".fathom-fedcba9876543210.tmp");
    fs::write(&file, "mine").unwrap();
    let linked = dir.path().join(".fathom-aaaaaaaaaaaaaaaa.tmp");
    std::os::unix::fs::symlink(dir.path().join(".fathom"), &linked).unwrap();
    // A leftover of a killed process.
    let left = dir.path().join(".fathom-bbbbbbbbbbbbbbbb.tmp");
    fs::create_dir_all(left.join("below")).unwrap();
    fs::write(left.join("below/run.json"), "{").unwrap();
    staging::clear(dir.path());
    assert!(home.is_dir() && file.is_file() && linked.is_symlink());
    assert!(theirs.iter().all(|path| path.is_file()));
    assert!(!left.exists());
    drop(running);
    assert!(!home.exists());
}

/// Several processes write sets to one directory while others read there.
#[test]
fn sets_that_are_written_at_the_same_time_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("deep/run");
    std::thread::scope(|scope| {
        for first in [1, 2, 3] {
            let run = &run;
            scope.spawn(move || {
                for round in 0..30 {
                    let change = [measured, interrupted][usize::from(round % 3 == 2)];
                    change(run, 10 * round + first).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..300 {
                let now = read(&run);
                let seed = now.record.as_ref().map(|record| record.meta.seed);
                if let Some(profile) = &now.profile {
                    assert_eq!(Some(profile.seed), seed);
                }
            }
        });
    });
    assert_eq!(leftovers(dir.path()), [""; 0]);
    assert!(is_in_place(&run) && read(&run).record.is_some());
}

#[test]
fn a_directory_that_is_in_the_way_of_a_file_keeps_the_old_set() {
    let dir = tempfile::tempdir().unwrap();
    measured(dir.path(), 1).unwrap();
    fs::remove_file(dir.path().join(REPORT_FILE)).unwrap();
    fs::create_dir(dir.path().join(REPORT_FILE)).unwrap();
    let early = check_output(dir.path(), SetKind::Measurement);
    assert!(matches!(early, Err(StoreError::NotAFile { .. })));
    assert!(measured(dir.path(), 2).is_err());
    assert_eq!(load_record(dir.path()).unwrap().value, record(1));
    assert_eq!(load_profile(dir.path()).unwrap().value, profile(1));
    assert_eq!(leftovers(dir.path()), [""; 0]);
}

/// Damaged sums do not prevent another run, unless a measurement of a real drive may be in the directory.
#[test]
fn damaged_sums_are_replaced_where_no_measurement_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let spoil = || fs::write(dir.path().join(SUMS_FILE), "no sums").unwrap();
    played(dir.path(), 1).unwrap();
    spoil();
    assert!(matches!(
        load_run_record(dir.path()),
        Err(StoreError::Damaged { .. })
    ));
    check_output(dir.path(), SetKind::Run).unwrap();
    played(dir.path(), 2).unwrap();
    assert_eq!(load_run_record(dir.path()).unwrap().value.plan.seed, 2);
    interrupted(dir.path(), 3).unwrap();
    spoil();
    let refused = check_output(dir.path(), SetKind::Run);
    assert!(matches!(refused, Err(StoreError::Unreadable { .. })));
}

/// A file of that name which is no record is not called a measurement, and is not replaced either.
#[test]
fn a_record_that_cannot_be_read_may_be_a_measurement() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(RECORD_FILE), "no record").unwrap();
    let error = check_output(dir.path(), SetKind::Measurement).unwrap_err();
    let StoreError::Unreadable { source, .. } = &error else {
        panic!("{error}");
    };
    assert!(matches!(**source, StoreError::Foreign { .. }), "{source}");
    assert!(error.to_string().contains("may be"), "{error}");
    assert!(error.help().contains("another directory"), "{error}");
}

/// A directory of that name with other contents is left alone, and the error names it.
#[test]
fn a_next_set_that_is_not_ours_is_told() {
    let dir = tempfile::tempdir().unwrap();
    measured(dir.path(), 1).unwrap();
    fs::create_dir(dir.path().join(NEXT)).unwrap();
    fs::write(dir.path().join(NEXT).join("notes.txt"), "mine").unwrap();
    let error = measured(dir.path(), 2).unwrap_err();
    assert!(error.help().contains(NEXT), "{error}");
    assert_eq!(load_record(dir.path()).unwrap().value, record(1));
    assert!(dir.path().join(NEXT).join("notes.txt").exists());
}
