//! Simulated requests per second on one core: `hitachi-7k160`, 4-KiB requests.
//!
//! Each benchmark runs on a fork of a disk; forking is not measured.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]
#![allow(missing_docs, reason = "divan's macros expand to undocumented items")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_hdd::{Hdd, Spec, presets};

const BLOCK: u64 = 4096;
const REQUESTS: u64 = 50_000;

fn main() {
    divan::main();
}

fn disk() -> Hdd {
    let preset = presets::find("hitachi-7k160").unwrap();
    Hdd::new(&Spec::from_toml(preset.text).unwrap(), 1).unwrap()
}

/// Sends [`REQUESTS`] requests with queue depth `depth`, and waits for all of them.
fn run(mut disk: Hdd, depth: u64, mut request: impl FnMut(u64) -> Request) -> Hdd {
    let mut done = Vec::new();
    let (mut sent, mut finished) = (0, 0);
    while finished < REQUESTS {
        while sent < REQUESTS && sent - finished < depth {
            disk.submit(request(sent)).unwrap();
            sent += 1;
        }
        done.clear();
        disk.wait(Time::MAX, &mut done);
        finished += done.len() as u64;
    }
    disk
}

fn random(disk: Hdd, op: Op, depth: u64) -> Hdd {
    let blocks = disk.info().capacity_bytes / BLOCK;
    let mut rng = Rng::new(1, 0);
    run(disk, depth, |i| {
        Request::new(i, op, rng.below(blocks) * BLOCK, BLOCK)
    })
}

fn measure(bencher: Bencher<'_, '_>, f: impl Fn(Hdd) -> Hdd + Sync) {
    let prepared = disk();
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| prepared.clone())
        .bench_values(f);
}

#[divan::bench(sample_count = 10)]
fn random_read(bencher: Bencher<'_, '_>) {
    measure(bencher, |disk| random(disk, Op::Read, 1));
}

#[divan::bench(sample_count = 10)]
fn random_read_sptf_32(bencher: Bencher<'_, '_>) {
    measure(bencher, |disk| random(disk, Op::Read, 32));
}

#[divan::bench(sample_count = 10)]
fn random_write(bencher: Bencher<'_, '_>) {
    measure(bencher, |disk| random(disk, Op::Write, 1));
}

#[divan::bench(sample_count = 10)]
fn sequential_read(bencher: Bencher<'_, '_>) {
    measure(bencher, |disk| {
        run(disk, 1, |i| Request::new(i, Op::Read, i * BLOCK, BLOCK))
    });
}
