//! Tests of runs under a budget: the order, the part of the region that each parameter uses, and resuming with a larger
//! budget.

#![allow(clippy::unwrap_used)] // also in helpers outside of the test functions

use crate::fake::{Fake, MIB, Planted};
use fathom_probe::run::{answer, run, solve};
use fathom_probe::{Method, Parameter, Record, RunConfig, Unobserved, Verdict};

fn measure(device: &mut Fake, config: &RunConfig, previous: Option<Record>) -> Record {
    run(device, config, previous, &mut Unobserved).unwrap()
}

/// A drive that is larger than what the first parameters under a budget need.
fn large() -> Fake {
    let planted = Planted {
        page: 16 << 10,
        block: MIB,
        write_buffer: 128 << 10,
        ..Planted::default()
    };
    let mut device = Fake::new(512 * MIB, planted);
    device.info.modelled = false;
    device
}

fn robust(budget_bytes: Option<u64>) -> RunConfig {
    RunConfig {
        seed: 5,
        method: Method::Robust,
        budget_bytes,
        ..RunConfig::default()
    }
}

/// Returns the samples, without the time at which each was taken.
fn samples(record: &Record) -> Vec<(Parameter, u64, u64)> {
    let samples = record.samples.iter();
    samples.map(|s| (s.parameter, s.offset, s.ns)).collect()
}

#[test]
fn under_a_budget_nothing_beyond_what_was_prepared_is_touched() {
    let mut device = large();
    let record = measure(&mut device, &robust(Some(1 << 40)), None);
    assert!(record.meta.cheapest_first);
    let mut prepared = 0;
    for &(op, offset, len) in &device.log {
        if op == fathom_block::Op::Write && offset == prepared {
            prepared += len;
        }
        assert!(offset + len <= prepared, "{op} {offset} {len}");
    }
    let fills = record.steps.iter().filter(|step| step.name == "init");
    let fills: Vec<u64> = fills.map(|step| step.cost.bytes_written / MIB).collect();
    // The fake's write buffer has no policy that could be identified, so nothing is prepared for that parameter.
    assert_eq!(fills, [192, 64, 256]);
}

#[test]
fn a_raised_budget_goes_on_where_the_smaller_one_ended() {
    let whole = measure(&mut large(), &robust(Some(1 << 40)), None);
    for tight in [0, 192, 200, 240, 300, 400, 600] {
        let mut device = large();
        let cut = measure(&mut device, &robust(Some(tight * MIB)), None);
        let stopped = solve(&cut);
        device.restart();
        let resumed = measure(&mut device, &robust(Some(1 << 40)), Some(cut));
        assert_eq!(samples(&resumed), samples(&whole), "{tight} MiB");
        let written = solve(&resumed).cost.bytes_written;
        assert_eq!(written, device.bytes_written, "{tight} MiB");
        for (parameter, estimate) in stopped.parameters {
            if estimate.verdict != Verdict::Inconclusive {
                let again = answer(&resumed, parameter);
                assert_eq!(again.verdict, estimate.verdict, "{tight} MiB {parameter}");
            }
        }
    }
}

#[test]
fn what_was_measured_stays_when_a_spent_budget_is_resumed() {
    let mut device = large();
    let config = robust(Some(260 * MIB));
    let first = measure(&mut device, &config, None);
    let written = device.bytes_written;
    device.restart();
    let again = measure(&mut device, &config, Some(first.clone()));
    let verdicts = |record: &Record| -> Vec<Verdict> {
        let profile = solve(record);
        profile.parameters.values().map(|e| e.verdict).collect()
    };
    assert_eq!(verdicts(&again), verdicts(&first));
    assert!(verdicts(&first).contains(&Verdict::Absent));
    assert!(device.bytes_written <= 260 * MIB && device.bytes_written >= written);
}

#[test]
fn a_real_drive_is_resumed_in_the_order_in_which_it_began() {
    for (first, second) in [
        (None, Some(1 << 40)),
        (Some(240 * MIB), None),
        (Some(240 * MIB), Some(1 << 40)),
    ] {
        let mut device = large();
        let cut = measure(&mut device, &robust(first), None);
        device.restart();
        let resumed = measure(&mut device, &robust(second), Some(cut));
        assert_eq!(resumed.meta.cheapest_first, first.is_some());
        let whole = RunConfig {
            cheapest_first: Some(first.is_some()),
            ..robust(None)
        };
        let whole = measure(&mut large(), &whole, None);
        assert_eq!(samples(&resumed), samples(&whole));
    }
}
