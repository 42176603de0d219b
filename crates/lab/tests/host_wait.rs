//! Closed-form checks of the host's wait for room in a buffer in front of the simulator's drive, and of the drive's busy
//! time.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Bytes;
use fathom_lab::replay::{Plan, Watch, run_model};
use fathom_lab::source::{Reshape, Workload};
use fathom_model::{Model, find};
use fathom_run::{Precondition, RunRecord};
use fathom_ssd::spec::WritePolicy;
use fathom_workload::step::Arrival;
use std::fmt::Write as _;

/// Time of one page on an idle drive (`epo` Table I): 8 sectors of 238.4 ns on the channel, 4,224 bytes of 25 ns over the
/// pins, 200 us.
const ALONE_NS: f64 = 1_907.2 + 105_600.0 + 200_000.0;
const CHANNEL_NS: f64 = 1_907.2;
/// Number of writes of one page each, a second apart: more than twice the capacity of the buffer.
const WRITES: u64 = 97;

/// Returns the record of the writes through a buffer of 48 pages, with a driver that delays nothing.
fn record(policy: WritePolicy, arrival: Arrival) -> RunRecord {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pages.trace");
    let mut text = String::new();
    for page in 0..WRITES {
        writeln!(text, "{}.000000 0 {} 8 0", page * 1000, page * 8).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let mut model = Model::from_toml(find("ms-ssd").unwrap().text).unwrap();
    let Model::Disksim(spec) = &mut model else {
        panic!("another kind of drive");
    };
    spec.driver.queue_length = 48;
    let plan = Plan {
        target: "model:ms-ssd".into(),
        workload: Workload {
            reshape: Some(Reshape {
                policy,
                capacity: Bytes::kib(192),
                ..Reshape::default()
            }),
            ..Workload::of_trace(&path)
        },
        arrival,
        precondition: Precondition::Fresh,
        seed: 1,
        queue: None,
        depth: None,
        platform: None,
    };
    let drive = model.build(1).unwrap();
    run_model(
        &model,
        drive,
        &plan,
        None,
        Watch {
            stop: || false,
            seen: None,
        },
    )
    .unwrap()
}

fn near(found: u64, expected_ns: f64) {
    // Each time is rounded to whole nanoseconds.
    assert!(
        (found as f64 - expected_ns).abs() <= 2.0 * WRITES as f64,
        "{found} and not {expected_ns}"
    );
}

/// The first 48 writes find room. Then LRU makes room for every write, and EPO for every 48th: a batch of 48 pages, one on
/// each element, the first of which completes after the time of a single page.
#[test]
fn a_write_that_needs_room_waits_for_the_first_page_that_is_done() {
    let of = |policy| {
        let record = record(policy, Arrival::Open);
        let host = record.reshaped.unwrap().host.unwrap();
        (
            host.waited,
            host.total_ns,
            host.max_ns,
            record.totals.busy.0,
        )
    };
    for (policy, waited, busy) in [
        (WritePolicy::NoCache, 97, 97.0 * ALONE_NS),
        (WritePolicy::Lru, 49, 49.0 * ALONE_NS),
        (WritePolicy::Epo, 2, 2.0 * (ALONE_NS + 47.0 * CHANNEL_NS)),
    ] {
        let found = of(policy);
        assert_eq!(found.0, waited, "{}", policy.name());
        near(found.1, waited as f64 * ALONE_NS);
        near(found.2, ALONE_NS);
        near(found.3, busy);
    }
}

/// Writes without arrival times of their own do not wait for room.
#[test]
fn nothing_is_said_of_a_closed_loop() {
    let outstanding = 4.try_into().unwrap();
    let record = record(WritePolicy::Lru, Arrival::Closed { outstanding });
    assert_eq!(record.reshaped.unwrap().host, None);
}
