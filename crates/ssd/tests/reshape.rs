//! Streams of writes through a buffer: the output, its times, and that it contains the newest version of every page.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Time;
use fathom_block::Op;
use fathom_ssd::reshape::{PageWrite, Reshape, Reshaped};
use fathom_ssd::spec::WritePolicy;
use fathom_ssd::{BufferAge, PageBufferSetup};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

fn setup(policy: WritePolicy, capacity_pages: u32, elements: u32) -> PageBufferSetup {
    PageBufferSetup {
        policy,
        capacity_pages,
        elements,
        block_pages: 4,
        drive_pages: 42,
        ..PageBufferSetup::default()
    }
}

/// Creates writes from (first page, pages), one per microsecond.
fn writes(writes: &[(u32, u32)]) -> Vec<PageWrite> {
    let write = |(&(page, pages), at): (&(u32, u32), u64)| PageWrite {
        at: Time(at * 1000),
        page,
        pages,
    };
    writes.iter().zip(0u64..).map(write).collect()
}

/// Returns the output as (microsecond, W or R, first page, pages, batch).
fn reshaped(
    setup: &PageBufferSetup,
    input: &[(u32, u32)],
    drain: bool,
) -> Vec<(u64, char, u32, u32, u64)> {
    let stream = Reshape::new(writes(input).into_iter(), setup, drain).unwrap();
    let short = |r: Reshaped| {
        let op = if r.op == Op::Read { 'R' } else { 'W' };
        (r.at.0 / 1000, op, r.page, r.pages, r.batch)
    };
    stream.map(short).collect()
}

#[test]
fn without_a_buffer_requests_go_on_whole() {
    let out = reshaped(
        &setup(WritePolicy::NoCache, 1, 1),
        &[(3, 5), (7, 0), (3, 5)],
        true,
    );
    assert_eq!(out, [(0, 'W', 3, 5, 0), (2, 'W', 3, 5, 1)]);
}

/// `epo` Figure 3: single pages, one of every queue, at the time of the page that needed the room.
#[test]
fn epo_sends_batches_of_single_pages() {
    let input = [(0, 4), (0, 1), (4, 2), (8, 1)];
    let out = reshaped(&setup(WritePolicy::Epo, 5, 4), &input, false);
    // Page 4 is the fifth; page 5 finds no room. Queue 0 holds 0 and 4.
    let batch = [
        (2, 'W', 0, 1, 0),
        (2, 'W', 1, 1, 0),
        (2, 'W', 2, 1, 0),
        (2, 'W', 3, 1, 0),
    ];
    assert_eq!(out, batch);
    let drained = reshaped(&setup(WritePolicy::Epo, 5, 4), &input, true);
    assert_eq!(drained[..4], batch);
    assert_eq!(
        drained[4..],
        [(3, 'W', 4, 1, 1), (3, 'W', 5, 1, 1), (3, 'W', 8, 1, 2)]
    );
}

/// The request is evicted without the page that a later one wrote, as two runs.
#[test]
fn lru_sends_requests() {
    let out = reshaped(
        &setup(WritePolicy::Lru, 6, 4),
        &[(0, 5), (2, 1), (20, 2)],
        false,
    );
    assert_eq!(out, [(2, 'W', 0, 2, 0), (2, 'W', 3, 2, 0)]);
}

/// By hand: page 2 is written again and is the newest except for 20; 21 finds no room, and page 0 is the oldest. With the
/// age of requests, all remaining pages of the first request are evicted.
#[test]
fn lru_by_the_age_of_pages_sends_single_pages() {
    let input = [(0, 5), (2, 1), (20, 2), (30, 2)];
    let by = |policy, age| {
        let setup = PageBufferSetup {
            age,
            ..setup(policy, 6, 4)
        };
        reshaped(&setup, &input, false)
    };
    assert_eq!(
        by(WritePolicy::Lru, BufferAge::Page),
        [(2, 'W', 0, 1, 0), (3, 'W', 1, 1, 1), (3, 'W', 3, 1, 2)]
    );
    assert_eq!(
        by(WritePolicy::Lru, BufferAge::Request),
        [(2, 'W', 0, 2, 0), (2, 'W', 3, 2, 0)]
    );
    // Page 2 is stored twice, and 20 is the first that finds no room.
    assert_eq!(
        by(WritePolicy::Fifo, BufferAge::Page)[..2],
        [(2, 'W', 0, 1, 0), (2, 'W', 1, 1, 1)]
    );
    for policy in [
        WritePolicy::Bplru,
        WritePolicy::Epo,
        WritePolicy::LbClock,
        WritePolicy::Streams,
    ] {
        assert_eq!(by(policy, BufferAge::Page), by(policy, BufferAge::Request));
    }
}

/// By hand: five pages fit; the sixth needs room and causes a batch of four, the seventh uses one of the three places
/// left.
#[test]
fn what_takes_room_and_what_frees_it() {
    let input = writes(&[(0, 4), (0, 1), (4, 2), (8, 1)]);
    let mut epo = Reshape::new(input.into_iter(), &setup(WritePolicy::Epo, 5, 4), false).unwrap();
    epo.note_taken();
    let frees: Vec<u32> = epo.by_ref().map(|out| out.frees).collect();
    assert_eq!(frees, [1, 1, 1, 1]);
    let taken: Vec<(u64, u64)> = epo.taken().map(|t| (t.write, t.at.0 / 1000)).collect();
    // The second write replaces page 0.
    let first = [(1, 0), (1, 0), (1, 0), (1, 0)];
    assert_eq!(taken[..4], first);
    assert_eq!(taken[4..], [(3, 2), (3, 2), (4, 3)]);
    assert_eq!(epo.taken().count(), 0);
    // A padded block frees the pages that were in the buffer; its reads free nothing.
    let input = writes(&[(1, 1), (3, 1), (12, 1)]);
    let bplru = Reshape::new(input.into_iter(), &setup(WritePolicy::Bplru, 2, 4), false).unwrap();
    assert_eq!(bplru.map(|out| out.frees).collect::<Vec<_>>(), [0, 0, 2]);
}

#[test]
fn fifo_sends_requests_as_they_came() {
    let out = reshaped(
        &setup(WritePolicy::Fifo, 6, 4),
        &[(0, 4), (2, 1), (20, 2)],
        true,
    );
    assert_eq!(
        out,
        [(2, 'W', 0, 4, 0), (2, 'W', 2, 1, 1), (2, 'W', 20, 2, 2)]
    );
}

/// A block of four, and the last of the drive's 42 pages in a block of two.
#[test]
fn bplru_reads_what_it_pads() {
    let out = reshaped(
        &setup(WritePolicy::Bplru, 2, 4),
        &[(1, 1), (3, 1), (41, 1)],
        true,
    );
    let first = [(2, 'R', 0, 1, 0), (2, 'R', 2, 1, 0), (2, 'W', 0, 4, 0)];
    assert_eq!(out[..3], first);
    assert_eq!(out[3..], [(2, 'R', 40, 1, 1), (2, 'W', 40, 2, 1)]);
}

#[test]
fn lb_clock_and_streams_send_runs() {
    let input = [(4, 1), (7, 1), (6, 1), (0, 1), (20, 1)];
    let out = reshaped(&setup(WritePolicy::LbClock, 4, 4), &input, false);
    assert_eq!(out, [(4, 'W', 4, 1, 0), (4, 'W', 6, 2, 0)]);
    let input = [(9, 1), (4, 4), (12, 1)];
    let out = reshaped(&setup(WritePolicy::Streams, 5, 4), &input, false);
    assert_eq!(out, [(2, 'W', 4, 4, 0)]);
}

#[test]
fn counters_count_what_went_through() {
    let input = writes(&[(0, 4), (0, 1), (4, 2), (8, 1)]);
    let mut epo = Reshape::new(input.into_iter(), &setup(WritePolicy::Epo, 5, 4), false).unwrap();
    assert_eq!(epo.by_ref().count(), 4);
    let c = epo.counters();
    assert_eq!((c.requests, c.pages, c.hits, c.batches), (4, 8, 1, 1));
    assert_eq!((c.evicted_pages, c.pages_written, c.pages_read), (4, 4, 0));
    assert_eq!(c.batch_pages, BTreeMap::from([(4, 1)]));
    assert_eq!(epo.buffer().len(), 3);
    let input = writes(&[(1, 1), (3, 1), (12, 1)]);
    let mut bplru =
        Reshape::new(input.into_iter(), &setup(WritePolicy::Bplru, 2, 4), false).unwrap();
    assert_eq!(bplru.by_ref().count(), 3);
    let c = bplru.counters();
    assert_eq!((c.evicted_pages, c.pages_written, c.pages_read), (2, 4, 2));
}

#[test]
fn the_last_page_numbers_are_taken_and_what_lies_beyond_is_left_out() {
    for policy in WritePolicy::ALL {
        let setup = PageBufferSetup {
            drive_pages: u32::MAX,
            ..setup(policy, 3, 4)
        };
        let input = [(u32::MAX - 2, 9), (u32::MAX, 3), (0, 1)];
        let out = reshaped(&setup, &input, true);
        let written: u32 = out.iter().filter(|r| r.1 == 'W').map(|r| r.3).sum();
        let padded = if policy == WritePolicy::Bplru { 4 } else { 0 };
        assert_eq!(written, 3 + padded, "{}", policy.name());
    }
}

/// A drive behind the buffer: the contents of its flash by page, and the dirty pages in the buffer.
#[derive(Default)]
struct Behind {
    flash: BTreeMap<u32, u64>,
    dirty: BTreeMap<u32, u64>,
    read: Vec<u32>,
}

impl Behind {
    fn take(&mut self, policy: WritePolicy, out: Reshaped) {
        let pages = out.page..out.page + out.pages;
        if out.op == Op::Read {
            assert_eq!(policy, WritePolicy::Bplru);
            self.read.extend(pages);
            return;
        }
        for page in pages {
            match self.dirty.remove(&page) {
                Some(version) => assert!(self.flash.insert(page, version) < Some(version)),
                // Padding: it was read before, so the same content is written again.
                None => assert!(self.read.contains(&page), "{page} is written from nowhere"),
            }
        }
        self.read.clear();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// One page at a time, so that the version of each evicted page is known.
    #[test]
    fn every_page_ends_as_its_newest_version(
        policy in proptest::sample::select(WritePolicy::ALL.to_vec()),
        capacity in 1u32..16,
        elements in 1u32..6,
        pages in proptest::collection::vec(0u32..40, 1..200),
    ) {
        // A buffer that stores a page twice holds two versions of it.
        prop_assume!(policy != WritePolicy::Fifo);
        let queue = RefCell::new(VecDeque::new());
        let source = std::iter::from_fn(|| queue.borrow_mut().pop_front());
        let mut stream = Reshape::new(source, &setup(policy, capacity, elements), false).unwrap();
        let (mut behind, mut newest) = (Behind::default(), BTreeMap::new());
        for (&page, version) in pages.iter().zip(1u64..) {
            queue.borrow_mut().push_back(PageWrite { at: Time(version), page, pages: 1 });
            if policy == WritePolicy::NoCache {
                behind.dirty.insert(page, version);
            }
            for out in stream.by_ref() {
                prop_assert_eq!(out.at, Time(version));
                behind.take(policy, out);
            }
            newest.insert(page, version);
            if policy != WritePolicy::NoCache {
                behind.dirty.insert(page, version);
            }
            prop_assert_eq!(stream.buffer().len(), behind.dirty.len());
        }
        behind.flash.extend(behind.dirty);
        prop_assert_eq!(behind.flash, newest);
    }

    /// For whole requests: nothing is lost, batches and times do not decrease, and equal writes give equal streams.
    #[test]
    fn nothing_is_lost_on_the_way(
        policy in proptest::sample::select(WritePolicy::ALL.to_vec()),
        capacity in 1u32..16,
        elements in 1u32..6,
        input in proptest::collection::vec((0u32..34, 0u32..9), 1..100),
    ) {
        let setup = setup(policy, capacity, elements);
        let mut stream = Reshape::new(writes(&input).into_iter(), &setup, true).unwrap();
        let out: Vec<Reshaped> = stream.by_ref().collect();
        prop_assert!(out.is_sorted_by_key(|r| (r.at, r.batch)));
        let c = stream.counters().clone();
        prop_assert_eq!(c.evicted_pages, c.pages - c.hits);
        let sum = |op| out.iter().filter(|r| r.op == op).map(|r| u64::from(r.pages)).sum::<u64>();
        prop_assert_eq!((sum(Op::Write), sum(Op::Read)), (c.pages_written, c.pages_read));
        prop_assert_eq!(c.pages_written, c.evicted_pages + c.pages_read);
        prop_assert_eq!(c.batch_pages.values().sum::<u64>(), c.batches);
        // Every written page is evicted at the time of its write or later.
        let mut last = BTreeMap::new();
        for write in writes(&input) {
            last.extend((write.page..write.page + write.pages).map(|page| (page, write.at)));
        }
        for (page, at) in last {
            let leaves = |r: &&Reshaped| r.op == Op::Write && (r.page..r.page + r.pages).contains(&page);
            prop_assert!(out.iter().rfind(leaves).is_some_and(|r| r.at >= at));
        }
        let again = Reshape::new(writes(&input).into_iter(), &setup, true).unwrap();
        prop_assert_eq!(out, again.collect::<Vec<_>>());
    }
}
