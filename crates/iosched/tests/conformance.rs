//! Device conformance of the queue, with every scheduler, every splitter and every plug.
//!
//! One property is hidden from the suite: a queue can be busy for one direction and have room for the other, while the
//! suite expects one queue with room for all or for nothing. So the suite gets a queue that takes as many requests of
//! both directions together as the real one takes of either. `queue.rs` beside this file tests how the pools fill.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{config, splits};
use fathom_base::{Dur, Time};
use fathom_block::conformance::{Options, check};
use fathom_block::devices::RamDevice;
use fathom_block::{Busy, Completion, Device, DeviceInfo, Request};
use fathom_iosched::{BlockQueue, Era, Plug, QueueConfig, SCHEDULERS};

fn drive() -> impl Device {
    let info = DeviceInfo {
        name: "ram".into(),
        capacity_bytes: 8 << 20,
        logical_block_bytes: 512,
        max_request_bytes: 1 << 20,
        queue_depth: 8,
        volatile_cache: true,
        trim: true,
        read_only: false,
        modelled: true,
        rotational: Some(false),
        ..DeviceInfo::default()
    };
    RamDevice::new(info, Dur::us(50))
}

/// A queue that takes a fixed number of requests of any kind.
struct OnePool<D> {
    queue: D,
    info: DeviceInfo,
    in_flight: usize,
}

impl<D: Device> OnePool<D> {
    fn new(queue: D, requests: u32) -> Self {
        let info = DeviceInfo {
            queue_depth: requests,
            ..queue.info().clone()
        };
        Self {
            queue,
            info,
            in_flight: 0,
        }
    }
}

impl<D: Device> Device for OnePool<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn now(&self) -> Time {
        self.queue.now()
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.in_flight == self.info.queue_depth as usize {
            return Err(Busy(request));
        }
        self.queue.submit(request)?;
        self.in_flight += 1;
        Ok(())
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let before = done.len();
        self.queue.wait(until, done);
        self.in_flight -= done.len() - before;
    }
}

/// Sizes for the schedulers of 2.6 and for current ones, which may limit writes to as little as 3 in 16 (`bfq`).
const REQUESTS: [u32; 2] = [32, 176];

#[test]
fn a_queue_with_every_scheduler_is_a_device() {
    let plugs = [
        Plug::Off,
        Plug::Batch,
        Plug::Timer {
            requests: 4,
            delay: Dur::ms(3),
        },
    ];
    for entry in SCHEDULERS {
        let built = config(entry.name).build().unwrap();
        let mq = built.era() == Era::Multi;
        for (split, plug) in splits().into_iter().zip(plugs) {
            for merge in [true, false] {
                let config = QueueConfig {
                    scheduler: config(entry.name),
                    split: split.clone(),
                    plug,
                    merge,
                    depth: Some(4),
                    requests: Some(REQUESTS[usize::from(mq)]),
                    ..QueueConfig::default()
                };
                let options = Options {
                    operations: 500,
                    region: 0..1 << 20,
                    ..Options::default()
                };
                let mut make = || {
                    let queue = BlockQueue::new(drive(), config.clone()).unwrap();
                    OnePool::new(queue, REQUESTS[0])
                };
                let report = check(&mut make, &options).unwrap_or_else(|violation| {
                    panic!("{}, {plug:?}, merge {merge}: {violation}", entry.name)
                });
                assert!(report.bytes_compared > 0);
            }
        }
    }
}
