//! How requests end that were split or merged: when, and with which error.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::queue::{read, run, write};
use fathom_base::{Dur, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Request};
use fathom_iosched::{BlockQueue, QueueConfig};

const KIB: u64 = 1024;

/// A drive on which a request takes the longer the lower it begins, and some requests fail.
struct Broken {
    info: DeviceInfo,
    now: Time,
    /// The requests in flight, with their end.
    running: Vec<(Time, Request)>,
}

/// The time that a request takes which begins at this offset.
fn time(offset: u64) -> Dur {
    Dur::us(1000 - offset / KIB)
}

/// The error of a request that begins at this offset.
fn error(offset: u64) -> Option<IoErrorKind> {
    match offset / KIB {
        64 => Some(IoErrorKind::Medium),
        192 | 512 => Some(IoErrorKind::Gone),
        _ => None,
    }
}

impl Device for Broken {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn now(&self) -> Time {
        self.now
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let end = self.now + time(request.offset);
        self.running.push((end, request));
        Ok(())
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.running.sort_by_key(|&(end, _)| end);
        match self.running.first() {
            Some(&(end, _)) if end <= until => {
                let (end, request) = self.running.remove(0);
                let failed = error(request.offset).map(|kind| request.error(kind));
                let result = failed.map_or(Ok(()), Err);
                done.push(Completion::of(&request, self.now..end, result, None));
                self.now = end;
            }
            Some(_) => self.now = until,
            None => {}
        }
    }
}

fn queue() -> BlockQueue<Broken> {
    let drive = Broken {
        info: common::info(),
        now: Time::ZERO,
        running: Vec::new(),
    };
    let config = QueueConfig {
        scheduler: "mq-deadline".parse().unwrap(),
        split: "nopas,limit=64KiB".parse().unwrap(),
        ..QueueConfig::default()
    };
    BlockQueue::new(drive, config).unwrap()
}

/// The number, the end and the error of a request.
type Ended = (u64, Time, Option<(IoErrorKind, u64, u64)>);

/// Plays requests to the end. An error has the place and the length, in KiB, of the request that it is an error of.
fn ended(requests: Vec<Request>) -> Vec<Ended> {
    let done = run(&mut queue(), requests);
    let said = done.iter().map(|completion| {
        let error = completion.result.err();
        let error = error.map(|error| (error.kind, error.offset / KIB, error.len / KIB));
        (completion.id.0, completion.completed, error)
    });
    said.collect()
}

fn after(offset_kib: u64) -> Time {
    Time::ZERO + time(offset_kib * KIB)
}

#[test]
fn a_split_request_ends_with_its_last_piece_and_fails_as_the_first_that_failed() {
    let requests = vec![
        read(1, 0, 256 * KIB),
        read(2, 256 * KIB, 128 * KIB),
        read(3, 512 * KIB, 4 * KIB),
    ];
    let gone = IoErrorKind::Gone;
    let expected = [
        (3, after(512), Some((gone, 512, 4))),
        (2, after(256), None),
        (1, after(0), Some((gone, 0, 256))),
    ];
    assert_eq!(ended(requests), expected);
}

#[test]
fn all_parts_of_a_merged_request_end_as_it_does() {
    let requests = vec![
        write(1, 512 * KIB, 4 * KIB),
        write(2, 516 * KIB, 8 * KIB),
        write(3, 640 * KIB, 4 * KIB),
    ];
    let gone = IoErrorKind::Gone;
    let expected = [
        (3, after(640), None),
        (1, after(512), Some((gone, 512, 4))),
        (2, after(512), Some((gone, 516, 8))),
    ];
    assert_eq!(ended(requests), expected);
}

#[test]
fn a_refused_request_ends_at_once_and_before_those_that_the_drive_has_done() {
    let mut queue = queue();
    // The drive returns one of them at a time.
    queue.submit(read(1, 4 * KIB, 4 * KIB)).unwrap();
    queue.submit(read(2, 4 * KIB, 4 * KIB)).unwrap();
    let mut done = Vec::new();
    queue.wait(Time::MAX, &mut done);
    queue.submit(write(3, 8 * KIB, 100)).unwrap();
    queue.wait(Time::MAX, &mut done);
    let ids: Vec<u64> = done.iter().map(|completion| completion.id.0).collect();
    assert_eq!(ids, [1, 3, 2]);
    assert_eq!((done[1].submitted, done[1].completed), (after(4), after(4)));
}
