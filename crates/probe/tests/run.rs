//! Tests of whole runs over a fake drive: resuming, budgets, read-only mode, failures, and that the answers from the record
//! agree with those of the run.

#![allow(clippy::unwrap_used)] // also in helpers outside of the test functions

use crate::fake::{Fake, MIB, Planted, Watch};
use fathom_base::Dur;
use fathom_block::IoErrorKind;
use fathom_probe::run::{announce, answer, run, solve};
use fathom_probe::{Estimate, Method, Parameter, Record, RunConfig, RunError, Unobserved, Verdict};

fn drive() -> Fake {
    let planted = Planted {
        page: 16 << 10,
        block: MIB,
        write_buffer: 128 << 10,
        ..Planted::default()
    };
    Fake::new(8 * MIB, planted)
}

/// A run that is short enough to be interrupted at every possible place.
fn config() -> RunConfig {
    RunConfig {
        seed: 11,
        method: Method::Paper,
        parameters: vec![Parameter::ReadBuffer, Parameter::ClusteredPage],
        thin: 256,
        ..RunConfig::default()
    }
}

fn config_with(change: impl FnOnce(&mut RunConfig)) -> RunConfig {
    let mut config = config();
    change(&mut config);
    config
}

fn measure(device: &mut Fake, config: &RunConfig, previous: Option<Record>) -> Record {
    run(device, config, previous, &mut Unobserved).unwrap()
}

#[test]
fn cut_short_anywhere_and_resumed_a_modelled_run_is_the_same() {
    let mut watch = Watch::default();
    let whole = run(&mut drive(), &config(), None, &mut watch).unwrap();
    assert!(whole.meta.complete && !whole.samples.is_empty());
    assert_eq!(
        whole.meta.parameters,
        [Parameter::ClusteredPage, Parameter::ReadBuffer]
    );
    let questions = watch.asked.get();
    assert!(questions > 30, "{questions}");
    for at in 0..questions {
        let mut watch = Watch::interrupting_at(at);
        let cut = run(&mut drive(), &config(), None, &mut watch).unwrap();
        assert!(!cut.meta.complete, "at {at}");
        assert!(cut.samples.len() <= whole.samples.len());
        let resumed = measure(&mut drive(), &config(), Some(cut));
        assert_eq!(resumed, whole, "at {at}");
        assert_eq!(solve(&resumed), solve(&whole));
    }
}

#[test]
fn cut_short_anywhere_and_resumed_a_real_run_is_whole_and_counts_everything() {
    let real = || {
        let mut device = drive();
        device.info.modelled = false;
        device
    };
    let mut watch = Watch::default();
    let whole = run(&mut real(), &config(), None, &mut watch).unwrap();
    let names = |record: &Record| -> Vec<String> {
        let steps = record.steps.iter().map(|s| s.name.clone());
        steps
            .filter(|name| !name.starts_with("abandoned"))
            .collect()
    };
    for at in 0..watch.asked.get() {
        let mut device = real();
        let cut = run(
            &mut device,
            &config(),
            None,
            &mut Watch::interrupting_at(at),
        )
        .unwrap();
        device.restart();
        let resumed = measure(&mut device, &config(), Some(cut));
        assert!(resumed.meta.complete);
        assert_eq!(names(&resumed), names(&whole), "at {at}");
        assert_eq!(resumed.samples.len(), whole.samples.len(), "at {at}");
        assert_eq!(
            solve(&resumed).cost.bytes_written,
            device.bytes_written,
            "at {at}"
        );
    }
}

#[test]
fn the_budget_of_bytes_is_never_exceeded() {
    let unbounded = measure(&mut drive(), &config(), None);
    let all = solve(&unbounded).cost.bytes_written;
    let bound = announce(&config(), &drive().info).bound_bytes;
    assert!(all <= bound, "{all} of {bound}");
    for budget in [
        0,
        511,
        512,
        8 * MIB - 1,
        8 * MIB,
        9 * MIB,
        17 * MIB + 512,
        all - 1,
        all,
    ] {
        let config = config_with(|c| c.budget_bytes = Some(budget));
        let mut device = drive();
        let record = measure(&mut device, &config, None);
        assert!(
            device.bytes_written <= budget,
            "{} of {budget}",
            device.bytes_written
        );
        assert!(record.meta.complete);
        let profile = solve(&record);
        assert_eq!(profile.cost.bytes_written, device.bytes_written);
        let stopped = profile.parameters.values().filter(|e| {
            e.verdict == Verdict::Inconclusive && e.evidence.reason.contains("budget of bytes")
        });
        assert_eq!(stopped.count() > 0, budget < all, "{budget}");
    }
}

#[test]
fn what_a_stopped_step_wrote_is_counted() {
    // Each step makes four flushed writes of 32 KiB; the budget covers the preparation and two of them.
    let config = config_with(|c| {
        c.thin = 16;
        c.budget_bytes = Some(8 * MIB + 2 * (32 << 10));
        c.cheapest_first = Some(false);
    });
    let mut device = drive();
    let record = measure(&mut device, &config, None);
    assert_eq!(device.bytes_written, 8 * MIB + 2 * (32 << 10));
    assert!(record.samples.is_empty());
    let profile = solve(&record);
    assert_eq!(profile.cost.bytes_written, device.bytes_written);
    let page = &profile.parameters[&Parameter::ClusteredPage];
    assert_eq!(page.cost.bytes_written, device.bytes_written);
}

#[test]
fn a_spent_budget_can_be_raised_on_a_real_drive() {
    let mut device = drive();
    device.info.modelled = false;
    let page = config_with(|c| c.parameters = vec![Parameter::ClusteredPage]);
    let tight = config_with(|c| c.budget_bytes = Some(announce(&page, &device.info).bound_bytes));
    let record = measure(&mut device, &tight, None);
    let first = device.bytes_written;
    let reads = |r: &Record| answer(r, Parameter::ReadBuffer).verdict;
    assert_eq!(reads(&record), Verdict::Inconclusive);
    let more = config_with(|c| c.budget_bytes = Some(1 << 40));
    let record = measure(&mut device, &more, Some(record));
    assert_eq!(reads(&record), Verdict::Absent);
    assert_eq!(solve(&record).cost.bytes_written, device.bytes_written);
    assert!(first > 0 && device.bytes_written > first);
}

#[test]
fn a_read_only_run_writes_nothing_and_measures_what_it_can() {
    let config = config_with(|c| {
        c.read_only = true;
        c.parameters = Parameter::PAPERS.to_vec();
    });
    let mut device = drive();
    let record = measure(&mut device, &config, None);
    assert_eq!(device.bytes_written, 0);
    assert_eq!(announce(&config, &device.info).bound_bytes, 0);
    let profile = solve(&record);
    for (parameter, estimate) in &profile.parameters {
        let reads = matches!(parameter, Parameter::ReadBuffer | Parameter::Prefetch);
        let refused = estimate.evidence.reason.contains("needs writing");
        assert_eq!(refused, !reads, "{parameter}: {estimate:?}");
    }
}

/// The read places are checked once, and the answers from the record alone are those of the run.
#[test]
fn a_read_only_run_answers_where_the_place_takes_part_in_the_time_or_the_drive_tells() {
    use fathom_block::Contents::{Blank, Data, Hole, Untold};
    let cases = [
        // No flash: all places take equally long.
        (0, false, [Untold; 2], false),
        (0, false, [Blank; 2], false),
        // Memory that keeps all that was read: that of a drive, or the page cache over holes.
        (0, true, [Untold; 2], true),
        (0, true, [Blank; 2], false),
        // Pages that are read as a whole.
        (16 << 10, false, [Untold; 2], true),
        (16 << 10, false, [Blank; 2], true),
        (0, false, [Data; 2], true),
        (0, false, [Data, Blank], false),
        (16 << 10, false, [Hole; 2], false),
        (16 << 10, false, [Data, Hole], false),
    ];
    for method in [Method::Paper, Method::Robust] {
        for (page, keeps, told, answered) in cases {
            let planted = Planted {
                read_page: page,
                keeps,
                ..Planted::default()
            };
            let mut device = Fake::new(64 * MIB, planted);
            device.told = told;
            let config = config_with(|c| {
                c.method = method;
                c.read_only = true;
                c.parameters = vec![Parameter::Prefetch];
            });
            let record = measure(&mut device, &config, None);
            let steps = record.steps.iter().filter(|step| step.name == "written");
            assert_eq!(steps.count(), 1, "{told:?}");
            for (parameter, estimate) in solve(&record).parameters {
                let refused = estimate.verdict == Verdict::Inconclusive
                    && estimate.evidence.reason.contains("data was found in only");
                assert_eq!(
                    refused, !answered,
                    "{method:?} {page} {told:?} {parameter}: {estimate:?}"
                );
                assert_eq!(
                    estimate,
                    Estimate {
                        cost: estimate.cost,
                        ..answer(&record, parameter)
                    }
                );
            }
        }
    }
}

#[test]
fn a_budget_of_time_leaves_the_rest_inconclusive() {
    let config = config_with(|c| c.budget_time = Some(Dur::ms(100)));
    let profile = solve(&measure(&mut drive(), &config, None));
    for estimate in profile.parameters.values() {
        assert!(
            estimate.evidence.reason.contains("budget of time"),
            "{estimate:?}"
        );
    }
}

#[test]
fn a_full_drive_ends_the_run_with_its_record_and_a_medium_error_ends_the_parameter() {
    let requests = measure_log();
    let last = requests - 1;
    let failing = |kind| {
        let mut device = drive();
        device.fail_at = Some((last, kind));
        run(&mut device, &config(), None, &mut Unobserved)
    };
    for kind in [IoErrorKind::NoSpace, IoErrorKind::Gone, IoErrorKind::Os(5)] {
        let Err(RunError::Failed {
            parameter, record, ..
        }) = failing(kind)
        else {
            panic!("{kind:?} did not end the run");
        };
        assert_eq!(parameter, Parameter::ReadBuffer);
        assert!(!record.meta.complete && !record.samples.is_empty());
        let page = answer(&record, Parameter::ClusteredPage);
        assert_ne!(
            page.evidence.reason,
            answer(&record, parameter).evidence.reason
        );
        assert!(
            answer(&record, parameter)
                .evidence
                .reason
                .contains("resume")
        );
    }
    let record = failing(IoErrorKind::Medium).unwrap();
    assert!(record.meta.complete);
    let reason = answer(&record, Parameter::ReadBuffer).evidence.reason;
    assert!(reason.contains("the medium failed"), "{reason}");
}

fn measure_log() -> usize {
    let mut device = drive();
    measure(&mut device, &config(), None);
    device.log.len()
}

#[test]
fn a_drive_of_long_logical_blocks_is_asked_for_whole_ones() {
    let mut device = drive();
    let block = 16 * 1024;
    device.info.logical_block_bytes = block;
    let config = config_with(|c| {
        c.method = Method::Robust;
        c.parameters = Parameter::PAPERS.to_vec();
    });
    let record = measure(&mut device, &config, None);
    assert!(record.meta.complete);
    let block = u64::from(block);
    for &(op, offset, len) in &device.log {
        let whole = offset.is_multiple_of(block) && len.is_multiple_of(block);
        assert!(whole, "{op} {offset} {len}");
    }
}

#[test]
fn a_region_that_is_none_is_refused_and_one_that_is_is_kept() {
    for region in [0..0, 100..8 * MIB, 0..9 * MIB, 0..512] {
        let config = config_with(|c| c.region = Some(region));
        let refused = run(&mut drive(), &config, None, &mut Unobserved);
        assert!(
            matches!(refused, Err(RunError::Region { .. })),
            "{refused:?}"
        );
    }
    let small = config_with(|c| {
        c.region = Some(0..4 * MIB - 512);
        c.method = Method::Robust;
    });
    let mut untouched = drive();
    let refused = run(&mut untouched, &small, None, &mut Unobserved);
    assert!(
        matches!(refused, Err(RunError::Small { .. })),
        "{refused:?}"
    );
    assert!(untouched.log.is_empty());
    let region = 2 * MIB..6 * MIB;
    let config = config_with(|c| {
        c.region = Some(region.clone());
        c.parameters = Parameter::PAPERS.to_vec();
    });
    let mut device = drive();
    let record = measure(&mut device, &config, None);
    assert!(record.meta.complete);
    for &(op, offset, len) in device.log.iter().filter(|(_, _, len)| *len > 0) {
        let inside = region.contains(&offset) && offset + len <= region.end;
        assert!(inside, "{op} {offset} {len}");
    }
    assert!(device.bytes_written <= announce(&config, &device.info).bound_bytes);
}
