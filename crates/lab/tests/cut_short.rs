//! Runs on a drive that fails: accesses that completed before are reported, and nothing else is claimed.

use fathom_base::Bytes;
use fathom_block::layers::{Fault, Faulty, Stage, When};
use fathom_block::{Device, IoErrorKind, Op};
use fathom_iosched::QueueConfig;
use fathom_lab::replay::{Plan, RunError, Watch, run};
use fathom_lab::source::Workload;
use fathom_lab::store::{Staging, load_run, save_run_record};
use fathom_lab::target::{OpenOptions, TargetName};
use fathom_run::{Precondition, RunRecord};
use fathom_workload::generate::{Config, Name, Range};
use fathom_workload::step::Arrival;

fn plan(queue: Option<QueueConfig>) -> Plan {
    let config = Config {
        accesses: Some(500),
        read_percent: Some(0.0),
        range: Some(Range {
            start: Bytes(0),
            len: Bytes::mib(64),
        }),
        ..Config::of(Name::Uniform)
    };
    Plan {
        target: "model:ssd-a".into(),
        workload: Workload::of_generator(config),
        arrival: Arrival::Closed {
            outstanding: 4.try_into().unwrap(),
        },
        precondition: Precondition::Fresh,
        seed: 3,
        queue,
        depth: None,
        platform: None,
    }
}

/// Returns a drive that fails with this error from its n-th write on.
fn failing(nth: u64, kind: IoErrorKind) -> Box<dyn Device> {
    let name = TargetName::parse("model:ssd-a").unwrap();
    let opened = name.open("model:ssd-a", &OpenOptions::default()).unwrap();
    let fault = |n| Fault {
        ops: vec![Op::Write],
        when: When::Nth(n),
        stage: Stage::Before,
        kind,
    };
    Box::new(Faulty::new(
        opened.device,
        (nth..nth + 64).map(fault).collect(),
        0,
    ))
}

fn cut(kind: IoErrorKind, queue: Option<QueueConfig>) -> (RunRecord, usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut set = Staging::new(dir.path()).unwrap();
    let mut device = failing(300, kind);
    let record = run(
        &mut device,
        &plan(queue),
        Some(&mut set),
        Watch {
            stop: || false,
            seen: None,
        },
    )
    .unwrap();
    save_run_record(set, &record, None).unwrap();
    let (kept, accesses) = load_run(dir.path()).unwrap().value;
    assert_eq!(kept, record);
    (record, accesses.unwrap().len())
}

#[test]
fn what_completed_before_the_drive_went_away_is_reported() {
    let queue = QueueConfig::default();
    for queue in [None, Some(queue)] {
        for kind in [IoErrorKind::Gone, IoErrorKind::NoSpace, IoErrorKind::Medium] {
            let (record, rows) = cut(kind, queue.clone());
            let cut = record.cut_short.unwrap();
            let done = record.totals.writes.unwrap().count;
            // 299 writes reach the drive; of the four in flight at the failure some may have completed.
            assert!((296..=299).contains(&done), "{kind:?}: {done}");
            assert_eq!(rows as u64, done);
            assert!(cut.lost < 4 && cut.number >= 296, "{cut:?}");
            assert!(cut.error.contains(&kind.to_string()), "{cut:?}");
        }
    }
}

#[test]
fn a_wrong_access_is_the_users_and_no_failure_of_the_drive() {
    let mut device = failing(300, IoErrorKind::OutOfRange);
    let failed = run(
        &mut device,
        &plan(None),
        None,
        Watch {
            stop: || false,
            seen: None,
        },
    );
    assert!(matches!(failed, Err(RunError::Device { .. })), "{failed:?}");
}
