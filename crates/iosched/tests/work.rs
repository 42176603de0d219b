//! The counters of a queue: over time, by length, and by bundle.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::config;
use crate::common::queue::finish;
use fathom_base::{Dur, Time};
use fathom_block::devices::NullDevice;
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, Request};
use fathom_block::{Given, QueueWork};
use fathom_iosched::{BlockQueue, QueueConfig};
use std::cell::Cell;
use std::rc::Rc;

const KIB: u64 = 1024;

/// A queue above a drive that takes 100 ns for everything.
fn queue(config: QueueConfig) -> BlockQueue<NullDevice> {
    BlockQueue::new(NullDevice::new(common::info(), Dur(100)), config).unwrap()
}

fn write(id: u64, offset: u64, len: u64) -> Request {
    Request::new(id, Op::Write, offset, len)
}

fn read(id: u64, offset: u64, len: u64) -> Request {
    Request::new(id, Op::Read, offset, len)
}

fn sums(work: &QueueWork) -> (u64, u64, u64) {
    (work.at.0, work.held_ns, work.in_flight_ns)
}

#[test]
fn requests_held_and_in_flight_are_summed_over_time() {
    let mut queue = queue(QueueConfig {
        depth: Some(1),
        ..QueueConfig::default()
    });
    queue.wait(Time(50), &mut Vec::new());
    queue.submit(write(1, 0, KIB)).unwrap();
    queue.submit(read(2, 64 * KIB, KIB)).unwrap();
    queue.submit(read(3, 128 * KIB, KIB)).unwrap();
    let begin = queue.work();
    assert_eq!(sums(&begin), (50, 0, 0));
    // Three requests for 30 ns, one of them at the drive.
    queue.wait(Time(80), &mut Vec::new());
    assert_eq!(sums(&queue.work()), (80, 90, 30));
    finish(&mut queue, 1);
    let middle = queue.work();
    assert_eq!(sums(&middle), (150, 300, 100));
    // Two requests for 100 ns and one for another 100 ns; one is at the drive all the time.
    finish(&mut queue, 2);
    let end = queue.work();
    assert_eq!(sums(&end), (350, 600, 300));
    // No request is left.
    queue.wait(Time(1000), &mut Vec::new());
    let stats = queue.stats();
    assert_eq!(
        (stats.elapsed_ns, stats.held_ns, stats.in_flight_ns),
        (1000, 600, 300)
    );
    assert!((stats.mean_in_flight() - 0.3).abs() < 1e-12);
}

#[test]
fn what_is_merged_counts_as_submitted_above_and_as_given_below() {
    let mut queue = queue(QueueConfig::default());
    for i in 0..4 {
        queue.submit(write(i, (4 + i) * KIB, KIB)).unwrap();
    }
    queue.submit(read(5, 64 * KIB, 2 * KIB)).unwrap();
    queue.submit(Request::new(6, Op::Flush, 0, 0)).unwrap();
    finish(&mut queue, 6);
    let work = queue.work();
    assert_eq!(sums(&work), (100, 600, 300));
    assert_eq!(
        (work.submitted, work.pieces, work.back_merges, work.joined),
        (5, 5, 3, 0)
    );
    let given = |bytes| Given {
        count: 1,
        bytes,
        aligned: 1,
    };
    assert_eq!((work.writes, work.reads), (given(4 * KIB), given(2 * KIB)));
}

/// A drive whose clock advances by itself, and that completes nothing.
struct Clock {
    info: DeviceInfo,
    now: Rc<Cell<u64>>,
}

impl Device for Clock {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn now(&self) -> Time {
        Time(self.now.get())
    }
    fn submit(&mut self, _request: Request) -> Result<(), Busy> {
        Ok(())
    }
    fn wait(&mut self, _until: Time, _done: &mut Vec<Completion>) {}
}

#[test]
fn a_look_counts_the_time_up_to_now() {
    let now = Rc::new(Cell::new(7));
    let clock = Clock {
        info: common::info(),
        now: now.clone(),
    };
    let mut queue = BlockQueue::new(clock, QueueConfig::default()).unwrap();
    now.set(10);
    queue.submit(read(1, 0, KIB)).unwrap();
    now.set(30);
    queue.wait(Time::ZERO, &mut Vec::new());
    now.set(100);
    assert_eq!(sums(&queue.work()), (100, 90, 70));
    // Reading the counters changed nothing.
    queue.submit(read(2, 64 * KIB, KIB)).unwrap();
    now.set(110);
    assert_eq!(sums(&queue.work()), (110, 110, 80));
    assert_eq!(queue.stats().elapsed_ns, 103);
}

#[test]
fn lengths_are_counted_in_order_whatever_comes_first() {
    let mut queue = queue(QueueConfig {
        merge: false,
        ..QueueConfig::default()
    });
    for (i, blocks) in [4, 1, 4, 2, 1, 4, 9].into_iter().enumerate() {
        let request = write(i as u64, i as u64 * 64 * KIB, blocks * KIB);
        queue.submit(request).unwrap();
    }
    queue.submit(read(9, 32 * KIB, KIB)).unwrap();
    finish(&mut queue, 8);
    let stats = queue.stats();
    let lengths = [(KIB, 2), (2 * KIB, 1), (4 * KIB, 3), (9 * KIB, 1)];
    assert_eq!(stats.writes.by_len, lengths.into());
    assert_eq!(stats.reads.by_len, [(KIB, 1)].into());
}

#[test]
fn bundles_are_told_by_those_who_make_them() {
    for name in ["irbw-fifo", "irbw-fifo-rp"] {
        let mut queue = queue(QueueConfig {
            scheduler: config(name),
            depth: Some(1),
            ..QueueConfig::default()
        });
        // Bundles have 1 MiB. The first two writes are adjacent and are merged; the last two are in two bundles.
        for (i, at) in [0, 4, 64, 1020, 1024].into_iter().enumerate() {
            queue.submit(write(i as u64, at * KIB, 4 * KIB)).unwrap();
        }
        finish(&mut queue, 5);
        let bundles = queue.stats().bundles.unwrap();
        assert_eq!((bundles.count, bundles.writes), (2, 4), "{name}");
        assert_eq!(bundles.bytes, 20 * KIB);
        assert_eq!(bundles.by_writes, [(1, 1), (3, 1)].into());
        assert_eq!(bundles.by_bytes, [(4 * KIB, 1), (16 * KIB, 1)].into());
    }
    assert_eq!(queue(QueueConfig::default()).stats().bundles, None);
}
