//! Merging: merged requests keep their bytes, and adjacent requests are found.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use fathom_base::{Dur, Time};
use fathom_block::devices::RamDevice;
use fathom_block::{Completion, Device, DeviceInfo, Op, Request};
use fathom_iosched::{BlockQueue, Plug, QueueConfig};

const SECTOR: u64 = 512;

fn queue(config: QueueConfig) -> BlockQueue<RamDevice> {
    let info = DeviceInfo {
        capacity_bytes: 1 << 20,
        ..common::info()
    };
    BlockQueue::new(RamDevice::new(info, Dur::us(100)), config).unwrap()
}

/// A write of one sector, filled with the sector's number.
fn write(sector: u64) -> Request {
    Request {
        data: Some(vec![sector as u8; SECTOR as usize].into()),
        ..Request::new(sector, Op::Write, sector * SECTOR, SECTOR)
    }
}

fn read(id: u64, sector: u64, sectors: u64) -> Request {
    Request::new(id, Op::Read, sector * SECTOR, sectors * SECTOR)
}

/// Submits all requests at once. Returns their completions in order of their numbers.
fn run(queue: &mut impl Device, requests: Vec<Request>) -> Vec<Completion> {
    let mut done = common::queue::run(queue, requests);
    done.sort_by_key(|completion| completion.id);
    done
}

/// The numbers with which the sectors of a read are filled.
fn numbers(completion: &Completion) -> Vec<u8> {
    let sectors = completion.data.as_ref().unwrap();
    let sectors = sectors.chunks(SECTOR as usize);
    let number = |sector: &[u8]| {
        assert!(sector.iter().all(|&byte| byte == sector[0]));
        sector[0]
    };
    sectors.map(number).collect()
}

#[test]
fn bytes_stay_in_their_place_however_requests_are_merged() {
    let mut queue = queue(QueueConfig::default());
    // One request that grows at both ends, another apart from it, and the one that joins the two.
    let order = [4, 5, 3, 2, 1, 6, 11, 10, 9, 12, 8, 7];
    run(&mut queue, order.map(write).into());
    let stats = queue.stats();
    assert_eq!((stats.writes.count, stats.joined), (1, 1));
    let order = [24, 23, 22, 29, 28, 27, 26, 25];
    run(&mut queue, order.map(write).into());
    let order = [32, 31, 36, 35, 34, 33, 37];
    run(&mut queue, order.map(write).into());
    let done = run(
        &mut queue,
        vec![read(1, 1, 12), read(2, 22, 8), read(3, 31, 7)],
    );
    assert_eq!(numbers(&done[0]), (1..13).collect::<Vec<u8>>());
    assert_eq!(numbers(&done[1]), (22..30).collect::<Vec<u8>>());
    assert_eq!(numbers(&done[2]), (31..38).collect::<Vec<u8>>());
    // Each of several merged reads gets its own bytes.
    let reads = [(4, 1), (5, 1), (2, 2), (1, 1), (9, 4), (6, 3)];
    let reads = (0..).zip(reads);
    let done = run(
        &mut queue,
        reads.map(|(id, (at, n))| read(id, at, n)).collect(),
    );
    let seen: Vec<Vec<u8>> = done.iter().map(numbers).collect();
    let expected: [&[u8]; 6] = [&[4], &[5], &[2, 3], &[1], &[9, 10, 11, 12], &[6, 7, 8]];
    assert_eq!(seen, expected);
}

#[test]
fn of_reads_that_lie_over_one_another_the_last_can_still_grow_when_the_first_is_gone() {
    let mut queue = queue(QueueConfig {
        plug: Plug::Off,
        depth: Some(1),
        ..QueueConfig::default()
    });
    queue.submit(read(1, 0, 8)).unwrap();
    queue.submit(read(2, 0, 8)).unwrap();
    // The drive has received the first request.
    queue.wait(Time(1), &mut Vec::new());
    run(&mut queue, vec![read(3, 8, 1)]);
    let stats = queue.stats();
    assert_eq!((stats.back_merges, stats.reads.count), (1, 2));
}
