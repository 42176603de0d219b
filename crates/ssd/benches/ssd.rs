//! Simulated requests per second on one core: a page-mapped NVMe drive of 8 GiB with 16 channels and 384 planes, 18 %
//! over-provisioning, queue depth 64.
//!
//! Each benchmark runs on a fork of a prepared drive; preparing and forking are not measured. `measured` is a separate
//! function, so that instructions can be counted in it alone (docs/performance.md).

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]
#![allow(missing_docs, reason = "divan's macros expand to undocumented items")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::{Spec, Ssd};

const DRIVE: &str = r#"
name = "bench"
capacity = "8GiB"
[host]
protocol = "nvme"
bandwidth = "8GB/s"
command_overhead = "100ns"
latency = "2us"
queue_depth = 256
[flash]
channels = 16
packages_per_channel = 3
dies_per_package = 1
planes_per_die = 8
pages_per_block = 64
page = "4KiB"
bus = "400MT/s"
read = "25us"
program = "200us"
erase = "1500us"
clustered_page = "4KiB"
clustered_block = "256KiB"
[mapping]
kind = "page"
over_provisioning_percent = 18.0
"#;

const PAGE: u64 = 4096;
const PAGES: u64 = (8 << 30) / PAGE;
const DEPTH: u64 = 64;
const REQUESTS: u64 = 500_000;

fn main() {
    divan::main();
}

fn drive() -> Ssd {
    let spec = Spec::from_toml(DRIVE).unwrap();
    Ssd::new(&spec, 1).unwrap()
}

/// Sends `n` requests with queue depth [`DEPTH`], and waits for all of them.
#[inline(always)]
fn run(drive: &mut Ssd, n: u64, mut request: impl FnMut(u64) -> Request) {
    let mut done = Vec::new();
    let (mut sent, mut finished) = (0, 0);
    while finished < n {
        while sent < n && sent - finished < DEPTH {
            drive.submit(request(sent)).unwrap();
            sent += 1;
        }
        done.clear();
        drive.wait(Time::MAX, &mut done);
        finished += done.len() as u64;
    }
}

fn random(drive: &mut Ssd, op: Op, n: u64, seed: u64) {
    let mut rng = Rng::new(seed, 0);
    run(drive, n, |i| {
        Request::new(i, op, rng.below(PAGES) * PAGE, PAGE)
    });
}

fn sequential(drive: &mut Ssd, op: Op, n: u64, len: u64) {
    run(drive, n, |i| {
        Request::new(i, op, i * len % (PAGES * PAGE), len)
    });
}

#[derive(Clone, Copy)]
enum Load {
    Random(Op),
    Sequential(Op, u64),
}

#[inline(never)]
fn measured(drive: &mut Ssd, load: Load) {
    match load {
        Load::Random(op) => random(drive, op, REQUESTS, 2),
        Load::Sequential(op, len) => sequential(drive, op, REQUESTS, len),
    }
}

fn bench(bencher: Bencher<'_, '_>, prepared: &Ssd, load: Load) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| prepared.clone())
        .bench_local_refs(|drive| measured(drive, load));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_reads_4k(bencher: Bencher<'_, '_>) {
    let mut prepared = drive();
    sequential(&mut prepared, Op::Write, PAGES, PAGE);
    bench(bencher, &prepared, Load::Random(Op::Read));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_writes_4k_fresh(bencher: Bencher<'_, '_>) {
    bench(bencher, &drive(), Load::Random(Op::Write));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_writes_4k_steady(bencher: Bencher<'_, '_>) {
    let mut prepared = drive();
    sequential(&mut prepared, Op::Write, PAGES, PAGE);
    random(&mut prepared, Op::Write, PAGES * 2, 1);
    bench(bencher, &prepared, Load::Random(Op::Write));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn sequential_writes_4k(bencher: Bencher<'_, '_>) {
    bench(bencher, &drive(), Load::Sequential(Op::Write, PAGE));
}
