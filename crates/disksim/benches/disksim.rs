//! Simulated requests per second on one core: the drive `ms-ssd` of `epo` Table I, with 48 elements and 192 GiB.
//!
//! Each benchmark uses a drive of its own. Creating and preparing the drive are not measured, except in the benchmark of
//! creation.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]
#![allow(missing_docs, reason = "divan's macros expand to undocumented items")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_disksim::{MsSsd, Spec};

const PAGE: u64 = 4096;
const DEPTH: u64 = 32;
const REQUESTS: u64 = 1_000_000;
/// Number of writes after which the drive has been cleaning for a long time.
const PREPARE: u64 = 15_000_000;

fn main() {
    divan::main();
}

fn drive() -> MsSsd {
    MsSsd::new(&Spec::default()).unwrap()
}

/// Sends `n` random requests of one page with queue depth [`DEPTH`], and waits for all of them.
fn random(drive: &mut MsSsd, op: Op, n: u64, seed: u64) {
    let pages = drive.info().capacity_bytes / PAGE;
    let mut rng = Rng::new(seed, 0);
    let mut done = Vec::new();
    let (mut sent, mut finished) = (0, 0);
    while finished < n {
        while sent < n && sent - finished < DEPTH {
            drive
                .submit(Request::new(sent, op, rng.below(pages) * PAGE, PAGE))
                .unwrap();
            sent += 1;
        }
        done.clear();
        drive.wait(Time::MAX, &mut done);
        finished += done.len() as u64;
    }
}

#[divan::bench(sample_count = 5)]
fn set_up(bencher: Bencher) {
    bencher.bench_local(drive);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_reads(bencher: Bencher) {
    let mut drive = drive();
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .bench_local(|| random(&mut drive, Op::Read, REQUESTS, 1));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_writes_fresh(bencher: Bencher) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(drive)
        .bench_local_refs(|drive| random(drive, Op::Write, REQUESTS, 2));
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn random_writes_cleaning(bencher: Bencher) {
    let mut drive = drive();
    random(&mut drive, Op::Write, PREPARE, 3);
    let mut seed = 4;
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        seed += 1;
        random(&mut drive, Op::Write, REQUESTS, seed);
    });
}
