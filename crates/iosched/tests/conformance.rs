//! A queue is a device, with every scheduler, every splitter and every plug in it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{config, splits};
use fathom_base::Dur;
use fathom_block::conformance::{Options, check};
use fathom_block::devices::RamDevice;
use fathom_block::{Device, DeviceInfo};
use fathom_iosched::{BlockQueue, Plug, QueueConfig, SCHEDULERS};

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
    };
    RamDevice::new(info, Dur::us(50))
}

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
        for (split, plug) in splits().into_iter().zip(plugs) {
            for merge in [true, false] {
                let config = QueueConfig {
                    scheduler: config(entry.name),
                    split: split.clone(),
                    plug,
                    merge,
                    depth: 4,
                    requests: 32,
                    ..QueueConfig::default()
                };
                let options = Options {
                    operations: 500,
                    region: 0..1 << 20,
                    ..Options::default()
                };
                let mut make = || BlockQueue::new(drive(), config.clone()).unwrap();
                let report = check(&mut make, &options).unwrap_or_else(|violation| {
                    panic!("{}, {plug:?}, merge {merge}: {violation}", entry.name)
                });
                assert!(report.bytes_compared > 0);
            }
        }
    }
}
