//! Groups work independently: merges and waits of one group do not delay the others.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use fathom_base::Bytes;
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{MappingKind, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
const GROUPS: u64 = 16;

/// Sixteen dies of one group each, with logs for one block of each. The drive is full and has been written once more at
/// random, so every newly written block costs a merge.
fn spec(kind: MappingKind) -> Spec {
    let mut spec = common::base();
    spec.flash.channels = 16;
    spec.flash.page = Bytes(PAGE);
    spec.flash.clustered_page = Bytes(PAGE);
    spec.flash.pages_per_block = 32;
    spec.flash.clustered_block = Bytes(32 * PAGE);
    spec.capacity = Bytes(GROUPS * 16 * 32 * PAGE);
    (spec.mapping.kind, spec.mapping.log_blocks) = (kind, 16);
    spec
}

/// Returns the simulated time of writes that visit the groups in turn, each time a page of another block, with queue
/// depth `depth`.
fn time(kind: MappingKind, depth: usize) -> f64 {
    let (time, merged) = time_and_merges(&spec(kind), depth);
    assert!(merged > GROUPS * 20, "{kind:?}: {merged}");
    time
}

fn time_and_merges(spec: &Spec, depth: usize) -> (f64, u64) {
    let mut drive = Ssd::new(spec, 1).unwrap();
    assert_eq!(u64::from(drive.geometry().groups), GROUPS);
    let pages = spec.capacity.0 / PAGE;
    run(
        &mut drive,
        16,
        (0..pages).map(|p| Request::new(p, Op::Write, p * PAGE, PAGE)),
    );
    let start = drive.now();
    let before = drive.merges();
    let requests = (0..GROUPS * 60).map(|i| {
        // Block `i` of the drive, and a page of it that does not continue the previous one.
        let page = i % (GROUPS * 16) * 32 + 7 + i / (GROUPS * 16) * 3;
        Request::new(i, Op::Write, page * PAGE, PAGE)
    });
    run(&mut drive, depth, requests);
    let merges = drive.merges();
    let merged = merges.full + merges.partial - before.full - before.partial;
    (drive.now().since(start).0 as f64, merged)
}

/// Kim, Kim, Noh, Min and Cho, "A space-efficient flash translation layer for CompactFlash systems" (IEEE Trans. Consumer
/// Electronics 48(2), 2002), assign each log block to one data block; Ban's replacement blocks belong to one data block.
/// A merge touches these blocks and no others, so as many merges as there are dies can run in parallel.
#[test]
fn independent_blocks_merge_at_the_same_time() {
    for (kind, share) in [
        (MappingKind::Block, 0.9),
        (MappingKind::Replacement, 0.9),
        // The cost of a merge differs between groups, and the next write to a slow group occupies one of the sixteen
        // slots.
        (MappingKind::Superblock, 0.6),
    ] {
        let speedup = time(kind, 1) / time(kind, GROUPS as usize);
        assert!(speedup > share * GROUPS as f64, "{kind:?}: {speedup}");
    }
}

/// A cache that evicts whole blocks, or a page of each element, can evict more while one group merges. Its evictions take
/// about as long as the same writes without a cache at queue depth sixteen.
#[test]
fn a_cache_keeps_the_groups_at_work_whatever_it_chooses() {
    for kind in [MappingKind::Block, MappingKind::Replacement] {
        let alone = time(kind, GROUPS as usize);
        for policy in [
            WritePolicy::Lru,
            WritePolicy::Bplru,
            WritePolicy::Epo,
            WritePolicy::LbClock,
            WritePolicy::Streams,
        ] {
            let mut spec = spec(kind);
            spec.write_buffer = Some(WriteBuffer::new(policy, Bytes(128 * PAGE)));
            let speedup = alone / time_and_merges(&spec, GROUPS as usize).0;
            assert!(speedup > 1.0, "{kind:?} {policy:?}: {speedup}");
        }
    }
}
