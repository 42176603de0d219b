//! A queue is a device, with every scheduler, every splitter and every plug in it.
//!
//! All but one thing: it is busy for one direction while it has room for the other, and the suite knows one queue, which has
//! room for all or for nothing. So the suite sees a queue that takes as many of both together as it takes of either; how
//! pools fill is a matter of `queue.rs` beside this.

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
    };
    RamDevice::new(info, Dur::us(50))
}

/// A queue that takes so many requests, whatever they are.
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

/// Of a queue under the schedulers of 2.6 and under those of today, of which writes may have as little as 3 in 16 (`bfq`).
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
