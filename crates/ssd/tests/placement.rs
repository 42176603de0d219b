//! Placement handles: data with different lifetimes in different blocks.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::random::{SEPARATIONS, VICTIMS};
use crate::common::suite::{self, Effort};
use crate::common::{self, BUFFERS, SHAPES, base, run};
use fathom_base::{Bytes, Rng};
use fathom_block::conformance::{Options, check};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{Spec, Ssd};
use std::collections::BTreeSet;

/// Pages of 4 KiB in one group; 4 MiB with a quarter of spare blocks.
fn drive(handles: u32) -> Spec {
    let mut spec = base();
    spec.capacity = Bytes::mib(4);
    spec.mapping.over_provisioning_percent = 25.0;
    spec.mapping.log_blocks = 0;
    spec.mapping.placement_handles = handles;
    spec
}

const PAGE: u64 = 4096;

/// Two streams take turns, page by page. The first fills most of the drive once and is never written again; the second
/// goes round and round over the rest, so that its blocks become invalid in the order in which they were filled. Returns
/// the pages written and the pages moved.
fn two_streams(spec: &Spec, handles: [u16; 2]) -> (u64, u64) {
    let mut drive = Ssd::new(spec, 1).unwrap();
    let pages = spec.capacity.0 / PAGE;
    let cold = pages * 3 / 4;
    let write = |n: u64, page: u64, handle: u16| {
        let mut request = Request::new(n, Op::Write, page * PAGE, PAGE);
        request.tag.placement = handle;
        request
    };
    let mut requests = Vec::new();
    for n in 0..cold {
        requests.push(write(2 * n, n, handles[0]));
        requests.push(write(2 * n + 1, cold + n % (pages - cold), handles[1]));
    }
    for n in 0..40 * (pages - cold) {
        requests.push(write(
            2 * cold + n,
            cold + (n + cold) % (pages - cold),
            handles[1],
        ));
    }
    run(&mut drive, 1, requests);
    drive.check().unwrap();
    let counters = drive.counters();
    let moved = drive.merges().moved_units;
    assert!(counters.erases > 100, "{counters:?}");
    let units = counters.host_sectors_written / (PAGE / 512);
    (units, moved)
}

/// With a handle each, every block of the second stream is invalid as a whole when it is collected: nothing is moved.
/// Together, each block that was written first is half full of pages of the first stream, which are moved once: collection
/// then keeps them apart. A part of them is in blocks that need not be collected.
#[test]
fn streams_of_different_lifetimes_cost_nothing_with_a_handle_each() {
    let amplification = |(units, moved): (u64, u64)| (units + moved) as f64 / units as f64;
    let apart = two_streams(&drive(2), [0, 1]);
    assert!(amplification(apart) < 1.001, "{apart:?}");
    let cold = drive(2).capacity.0 / PAGE * 3 / 4;
    for alike in [
        two_streams(&drive(2), [0, 0]),
        two_streams(&drive(0), [0, 1]),
    ] {
        assert!((cold / 2..=cold).contains(&alike.1), "{alike:?}");
        assert!(amplification(alike) > 1.03, "{alike:?}");
    }
}

/// An unknown handle is no error (NVMe base specification 2.1, Flexible Data Placement): it counts as handle 0, and as an event.
#[test]
fn an_unknown_handle_counts_as_the_first() {
    let spec = drive(2);
    let known = two_streams(&spec, [0, 1]);
    assert_eq!(two_streams(&spec, [7, 1]), known);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let requests = [0, 1, 2, 500].map(|handle| {
        let mut request = Request::new(u64::from(handle), Op::Write, 0, PAGE);
        request.tag.placement = handle;
        request
    });
    run(&mut drive, 1, requests);
    assert_eq!(drive.misplaced_writes(), 2);
}

/// Writes with handles in no order, rewrites, trims, reads, flushes, power cuts and failing blocks, beside a shadow of every
/// sector: the suite of all mappings, on drives with handles. A failure names its seed.
#[test]
fn random_writes_with_handles_lose_nothing() {
    let mut handles = BTreeSet::new();
    for seed in 0..24 {
        let spec = drawn(seed);
        handles.insert(spec.mapping.placement_handles);
        if let Err(failure) = suite::check(&spec, Effort { seed, every: 11 }) {
            panic!("{failure}\n{spec:?}");
        }
    }
    assert!(handles.len() > 4, "{handles:?}");
}

/// Draws a drive with handles: a page mapping of some shape, with a buffer, a victim policy and a separation.
fn drawn(seed: u64) -> Spec {
    let mut rng = Rng::new(seed, 310);
    loop {
        let mut upto = |most: usize| rng.below(most as u64 + 1) as usize;
        let shape = SHAPES[upto(SHAPES.len() - 1)];
        let buffer = BUFFERS[upto(BUFFERS.len() - 1)];
        let mut spec = common::drive(MappingKind::Page, shape, buffer);
        spec.name = format!("{} with handles", spec.name);
        spec.mapping.placement_handles = 2 + upto(6) as u32;
        // Each handle has an open block in every group.
        spec.mapping.over_provisioning_percent = [100.0, 200.0, 400.0][upto(2)];
        spec.gc.victim = VICTIMS[upto(VICTIMS.len() - 1)];
        spec.gc.separate = SEPARATIONS[upto(SEPARATIONS.len() - 1)];
        spec.gc.choices = 2;
        if spec.check().is_ok() {
            return spec;
        }
    }
}

#[test]
fn drives_with_placement_handles_conform() {
    for buffer in [None, Some("fifo"), Some("lru")] {
        let mut spec = drive(8);
        spec.mapping.unit = Some(Bytes(1024));
        let of = |name| crate::common::drive(spec.mapping.kind, "whole", name).write_buffer;
        spec.write_buffer = buffer.and_then(of);
        let mut make = || Ssd::new(&spec, 7).unwrap().keep_data();
        assert_eq!(make().info().placement_handles, 8);
        let options = Options {
            region: 0..128 << 10,
            operations: 500,
            ..Options::default()
        };
        check(&mut make, &options).unwrap_or_else(|violation| panic!("{violation}"));
    }
    let mut spec = drive(2);
    spec.mapping.placement_handles = 9;
    assert!(spec.check().is_err());
}
