//! Requests that come one at a time: a request passes through an empty scheduler at once, unless something holds it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::queue::{Recorder, finish, given, queue, run, write};
use fathom_base::{Dur, Time};
use fathom_block::Device;
use fathom_block::devices::NullDevice;
use fathom_iosched::{BlockQueue, Pick, QueueConfig};

const KIB: u64 = 1024;

/// The requests that reach the drive if 4 KiB are written at these places, in KiB. The submitter waits for a nanosecond
/// after each write.
fn one_by_one(mut queue: BlockQueue<Recorder>, places: &[u64]) -> Vec<(u64, u64)> {
    let mut done = Vec::new();
    for &place in places {
        let request = write(place, place * KIB, 4 * KIB);
        queue.submit(request).unwrap();
        let until: Time = queue.now() + Dur(1);
        queue.wait(until, &mut done);
    }
    finish(&mut queue, places.len() - done.len());
    given(&queue)
}

/// A queue with one request in flight.
fn narrow(scheduler: &str) -> BlockQueue<Recorder> {
    queue(QueueConfig {
        scheduler: scheduler.parse().unwrap(),
        depth: Some(1),
        ..QueueConfig::default()
    })
}

#[test]
fn a_request_stays_with_the_scheduler_while_the_drive_has_no_room() {
    let given = one_by_one(narrow("deadline"), &[0, 8, 12]);
    assert_eq!(given, [(0, 4), (8, 8)]);
}

#[test]
fn one_request_is_taken_ahead_today_and_the_next_ones_stay() {
    let given = one_by_one(narrow("mq-deadline"), &[0, 8, 12, 16]);
    assert_eq!(given, [(0, 4), (8, 4), (12, 8)]);
}

#[test]
fn a_request_that_the_scheduler_keeps_can_be_merged_with() {
    let long = Pick::new(|_, held| held.iter().find(|io| io.len >= 8 * KIB).copied());
    let drive = Recorder::new(NullDevice::new(common::info(), Dur::us(100)));
    let queue = BlockQueue::with_scheduler(drive, QueueConfig::default(), Box::new(long));
    assert_eq!(one_by_one(queue.unwrap(), &[0, 4]), [(0, 8)]);
}

#[test]
fn the_only_requests_of_two_tasks_both_go() {
    let requests = [0, 1].map(|process| {
        let mut request = write(process, process * 64 * KIB, 4 * KIB);
        request.tag.process = process as u32;
        request
    });
    let mut queue = narrow("mq-deadline");
    run(&mut queue, requests.to_vec());
    assert_eq!(given(&queue), [(0, 4), (64, 4)]);
}
