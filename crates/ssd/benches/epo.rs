//! Simulated requests per second on one core: `model:epo` in the general engine, with 48 elements, 192 GiB, pages of 4
//! KiB and queue depth 32.
//!
//! Creating and preparing the drive are not measured, except in the benchmark of creation. The example `performance` runs
//! the same loads and reports CPU time and memory.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]
#![allow(missing_docs, reason = "divan's macros expand to undocumented items")]

#[allow(dead_code, reason = "the example runs more drives")]
mod cases;

use cases::{blocks, epo, epo_tight, fill, measured, steady};
use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_block::Op;
use fathom_ssd::Ssd;

const REQUESTS: u64 = 1_000_000;

fn main() {
    divan::main();
}

fn drive() -> Ssd {
    Ssd::new(&epo(), 1).unwrap()
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn set_up(bencher: Bencher<'_, '_>) {
    bencher.bench_local(drive);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_reads(bencher: Bencher<'_, '_>) {
    let mut drive = drive();
    fill(&mut drive);
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .bench_local(|| measured(&mut drive, Op::Read, REQUESTS, 1));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_writes_fresh(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(drive)
        .bench_local_refs(|drive| measured(drive, Op::Write, REQUESTS, 2));
}

/// An eighth of the size, because preparing the whole drive takes minutes.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn random_writes_steady_an_eighth(bencher: Bencher<'_, '_>) {
    let mut drive = steady(&epo_tight(blocks(8)));
    let mut seed = 2;
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        seed += 1;
        measured(&mut drive, Op::Write, REQUESTS, seed);
    });
}
