//! Read retries of old data and of worn blocks.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::Faults;
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
const DAY_NS: u64 = 86_400 * 1_000_000_000;
const MAX: u32 = 5;

/// A drive with so few pages left to requests that `fill` fills most of it.
fn aged(faults: Faults) -> Spec {
    let mut spec = base();
    spec.capacity = Bytes::mib(128);
    spec.faults = Faults {
        read_retries_max: MAX,
        ..faults
    };
    spec
}

/// Reads pages in order from the beginning. Returns the mean number of repetitions of a read.
fn repetitions(drive: &mut Ssd, reads: u64) -> f64 {
    let before = drive.counters().read_retries;
    let requests = (0..reads).map(|page| Request::new(page, Op::Read, page * PAGE, PAGE));
    run(drive, 4, requests);
    (drive.counters().read_retries - before) as f64 / reads as f64
}

/// The mean number of repetitions if each follows with probability `p`, at most [`MAX`] of them.
fn expected(p: f64) -> f64 {
    (1..=MAX).map(|k| p.powi(k as i32)).sum()
}

fn close(found: f64, p: f64) {
    let wanted = expected(p);
    // 8000 reads: three standard deviations of a geometric distribution, at most 0.05 here.
    assert!((found - wanted).abs() < 0.05, "{found} for {wanted}");
}

fn pass_days(drive: &mut Ssd, days: u64) {
    let later = Time(drive.now().0 + days * DAY_NS);
    drive.wait(later, &mut Vec::new());
}

#[test]
fn reads_are_repeated_more_often_as_data_ages() {
    let spec = aged(Faults {
        read_retry: 0.05,
        read_retry_per_day: 0.002,
        age_days: 50.0,
        ..Faults::default()
    });
    let mut drive = Ssd::new(&spec, 1).unwrap();
    assert!(drive.fill() > 8000 * PAGE);
    close(repetitions(&mut drive, 8000), 0.05 + 0.1);
    pass_days(&mut drive, 100);
    close(repetitions(&mut drive, 8000), 0.05 + 0.3);
    // The probability is at most 1: each read is then repeated as often as is allowed.
    pass_days(&mut drive, 400);
    assert_eq!(repetitions(&mut drive, 8000), f64::from(MAX));
}

#[test]
fn data_that_is_written_again_is_new() {
    let spec = aged(Faults {
        read_retry_per_day: 0.4,
        ..Faults::default()
    });
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let write = |page| Request::new(page, Op::Write, page * PAGE, PAGE);
    run(&mut drive, 1, (0..4000).map(write));
    pass_days(&mut drive, 1);
    let old = repetitions(&mut drive, 4000);
    assert!((old - expected(0.4)).abs() < 0.08, "{old}");
    // The first block is open still, and has its age.
    run(&mut drive, 1, (0..4000).map(write));
    let new = repetitions(&mut drive, 4000);
    assert!(new < 0.01, "{new}");
}

#[test]
fn reads_are_repeated_more_often_as_blocks_wear() {
    for cycles in [0, 1000, 5000] {
        let spec = aged(Faults {
            read_retry: 0.02,
            read_retry_per_1000_cycles: 0.08,
            age_cycles: cycles,
            ..Faults::default()
        });
        let mut drive = Ssd::new(&spec, 1).unwrap();
        assert!(drive.fill() > 8000 * PAGE);
        close(
            repetitions(&mut drive, 8000),
            0.02 + 0.08 * f64::from(cycles) / 1000.0,
        );
    }
}

#[test]
fn erases_of_the_drive_itself_count() {
    let mut spec = aged(Faults {
        read_retry_per_1000_cycles: 0.5,
        ..Faults::default()
    });
    spec.capacity = Bytes::kib(256);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let writes = (0..100 * 64).map(|n| Request::new(n, Op::Write, n % 64 * PAGE, PAGE));
    run(&mut drive, 1, writes);
    // Blocks of the reserve that are never filled are never erased, and hold nothing.
    let most = drive.erase_counts().iter().max().copied().unwrap();
    let used = drive.erase_counts().iter().filter(|&&n| n > most / 2);
    let used: Vec<f64> = used.map(|&n| f64::from(n)).collect();
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    assert!(mean > 20.0);
    let before = drive.counters().read_retries;
    let reads = (0..200 * 64).map(|n| Request::new(n, Op::Read, n % 64 * PAGE, PAGE));
    run(&mut drive, 1, reads);
    let found = (drive.counters().read_retries - before) as f64 / (200.0 * 64.0);
    let wanted = expected(0.5 * mean / 1000.0);
    assert!((found / wanted - 1.0).abs() < 0.2, "{found} for {wanted}");
}

#[test]
fn each_repetition_takes_another_read_of_the_array() {
    let spec = aged(Faults {
        read_retry_per_day: 0.5,
        age_days: 2.0,
        ..Faults::default()
    });
    let mut drive = Ssd::new(&spec, 1).unwrap();
    drive.fill();
    let read = run(&mut drive, 1, [Request::new(0, Op::Read, 0, PAGE)]);
    // Command, sensing 25 us and five times again, the pages over two channels at 400 MB/s, latency and the link.
    let wanted = 1_000 + 6 * 25_000 + 5_120 + 2_000 + 4_096;
    assert_eq!(read[0].completed.0 - read[0].submitted.0, wanted);
}
