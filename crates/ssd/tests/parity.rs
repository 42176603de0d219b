//! Parity over dies: what it costs in programs and space, and that a lost page is rebuilt from the others.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{WriteBuffer, WritePolicy};
use fathom_ssd::{Geometry, Spec, Ssd};

const PAGE: u64 = 2048;

/// A drive of eight dies with pages of 2 KiB, and stripes of this many pages.
fn striped(parity_stripe: u32) -> Spec {
    let mut spec = base();
    (spec.flash.channels, spec.flash.parity_stripe) = (8, parity_stripe);
    (spec.flash.clustered_page, spec.flash.clustered_block) = (Bytes(PAGE), Bytes::kib(16));
    spec.capacity = Bytes::mib(4);
    spec.mapping.over_provisioning_percent = 100.0;
    spec
}

fn write(page: u64) -> Request {
    Request::new(page, Op::Write, page * PAGE, PAGE)
}

fn settle(drive: &mut Ssd) {
    let later = Time(drive.now().0 + 1_000_000_000);
    drive.wait(later, &mut Vec::new());
}

#[test]
fn parity_amplifies_writes_by_n_of_n_less_one() {
    // 1680 pages are whole stripes of 1, 2, 4 and 7 pages of data.
    for stripe in [0, 2, 3, 5, 8] {
        let mut drive = Ssd::new(&striped(stripe), 1).unwrap();
        run(&mut drive, 16, (0..1680).map(write));
        settle(&mut drive);
        let counters = drive.counters();
        let (n, written) = (u64::from(stripe), counters.host_sectors_written);
        let wanted = if n == 0 {
            written
        } else {
            written * n / (n - 1)
        };
        assert_eq!(counters.flash_sectors_programmed, wanted, "{stripe}");
        assert_eq!(counters.erases, 0);
    }
}

#[test]
fn a_drive_that_is_filled_in_no_time_counts_the_same_parity() {
    let mut spec = striped(8);
    spec.capacity = Bytes::mib(128);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let pages = drive.fill() / PAGE;
    assert!(pages > 10_000);
    assert_eq!(drive.counters().parity_programs, pages / 7);
    let sectors = (pages + pages / 7) * PAGE / 512;
    assert_eq!(drive.counters().flash_sectors_programmed, sectors);
}

#[test]
fn a_flush_ends_a_stripe_early() {
    let mut spec = striped(8);
    spec.write_buffer = Some(WriteBuffer::new(WritePolicy::Fifo, Bytes::kib(64)));
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let flush = || Request::new(0, Op::Flush, 0, 0);
    for (pages, parity) in [(3, 1), (7, 1), (8, 2), (0, 0)] {
        let before = drive.counters().parity_programs;
        run(&mut drive, 1, (0..pages).map(write));
        run(&mut drive, 1, [flush()]);
        settle(&mut drive);
        let programs = drive.counters().parity_programs - before;
        assert_eq!(programs, parity, "{pages}");
    }
}

#[test]
fn parity_takes_one_block_of_n_from_over_provisioning() {
    let blocks = |spec: &Spec| Geometry::new(spec).cblocks_per_group;
    // With stripes of 2 nothing of it would be left, and each group has a spare block nevertheless.
    for stripe in [4, 8] {
        let (plain, protected) = (striped(0), striped(stripe));
        // 32 blocks of capacity and as many of over-provisioning in each group.
        assert_eq!(blocks(&plain) - blocks(&protected), 64 / stripe, "{stripe}");
    }
}

#[test]
fn a_page_that_cannot_be_read_is_rebuilt_from_the_others() {
    let mut spec = striped(4);
    (spec.faults.read_retry, spec.faults.read_retries_max) = (0.5, 1);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let pages = spec.capacity.0 / PAGE;
    run(&mut drive, 16, (0..pages).map(write));
    settle(&mut drive);
    let (mut slow, mut others) = (0u32, Vec::new());
    for page in 0..pages {
        let before = drive.counters().rebuilds;
        let read = Request::new(0, Op::Read, page * PAGE, PAGE);
        let done = &run(&mut drive, 1, [read])[0];
        let took = done.completed.0 - done.submitted.0;
        // Command, latency, link, then one or two reads of 25 us and the bus: 5.12 us.
        let once = 1_000 + 2_000 + 2_048 + 5_120 + 25_000;
        match drive.counters().rebuilds - before {
            0 => assert!(took == once || took == once + 25_000, "{took}"),
            n => {
                assert_eq!(n, 1);
                slow += 1;
                others.push(took - once - 25_000);
            }
        }
    }
    // It fails twice with probability 1/4.
    let share = f64::from(slow) / pages as f64;
    assert!((share - 0.25).abs() < 0.03, "{share}");
    // The slowest of three reads at once is repeated with probability 7/8.
    let (short, long) = (25_000 + 5_120, 50_000 + 5_120);
    assert!(others.iter().all(|&ns| ns == short || ns == long));
    let repeated = others.iter().filter(|&&ns| ns == long).count() as f64;
    assert!((repeated / others.len() as f64 - 0.875).abs() < 0.05);
}

#[test]
fn a_failed_program_reads_the_others_first() {
    let mut spec = striped(4);
    spec.faults.program_fail = 0.02;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 16, (0..2000).map(write));
    settle(&mut drive);
    let counters = drive.counters();
    assert!(counters.program_fails > 10);
    assert_eq!(counters.rebuilds, counters.program_fails);
    drive.check().unwrap();
}
