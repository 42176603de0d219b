//! Groups work by themselves: what one of them must move, and what it waits for, is no other's business.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use fathom_base::Bytes;
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{MappingKind, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
const GROUPS: u64 = 16;

/// Sixteen dies of one group each, with logs for one block of each, full and written once more at random, so that each
/// new block that is written costs a merge.
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

/// Simulated time of writes that go round the groups, a page into another block each time, of which `depth` are under
/// way.
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
        // The block `i` of the drive, and a page of it that is not the next one.
        let page = i % (GROUPS * 16) * 32 + 7 + i / (GROUPS * 16) * 3;
        Request::new(i, Op::Write, page * PAGE, PAGE)
    });
    run(&mut drive, depth, requests);
    let merges = drive.merges();
    let merged = merges.full + merges.partial - before.full - before.partial;
    (drive.now().since(start).0 as f64, merged)
}

/// Kim, Kim, Noh, Min and Cho, "A space-efficient flash translation layer for CompactFlash systems" (IEEE Trans. Consumer
/// Electronics 48(2), 2002), give each log block to one data block; Ban's replacement blocks belong to one data block:
/// a merge touches these blocks and no others, so that as many as there are dies go on at the same time.
#[test]
fn independent_blocks_merge_at_the_same_time() {
    for (kind, share) in [
        (MappingKind::Block, 0.9),
        (MappingKind::Replacement, 0.9),
        // What a merge costs differs from group to group, and the next write to a slow one holds one of the sixteen.
        (MappingKind::Superblock, 0.6),
    ] {
        let speedup = time(kind, 1) / time(kind, GROUPS as usize);
        assert!(speedup > share * GROUPS as f64, "{kind:?}: {speedup}");
    }
}

/// A cache that chooses whole blocks, or a page of each element, has more to let go while one group merges: what it lets go is
/// done about as fast as the same writes without a cache, sixteen of which are under way.
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
