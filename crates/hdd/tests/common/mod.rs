//! A small disk, and requests one after another.
#![allow(dead_code, reason = "every test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Dur, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_hdd::{Hdd, Spec, presets};
use std::collections::VecDeque;

/// Two heads, two zones (64 and 40 sectors per track), 7500 rpm (8 ms per turn), no caches.
const SMALL: &str = r#"
name = "small"
capacity = "1000KiB"
zones = [
    { cylinders = 10, sectors_per_track = 64 },
    { cylinders = 10, sectors_per_track = 40 },
]
[host]
link = "sata"
bandwidth = "100MB/s"
command_overhead = "50us"
queue_depth = 32
scheduling = "sptf"
max_request = "256KiB"
[mechanics]
rpm = 7500
heads = 2
seek_single = "1ms"
seek_average = "2ms"
seek_full = "3ms"
head_switch = "500us"
write_settle = "400us"
"#;

/// Duration of a turn of [`small`], in nanoseconds.
pub(crate) const TURN_NS: u64 = 8_000_000;

pub(crate) fn small() -> Spec {
    Spec::from_toml(SMALL).unwrap()
}

pub(crate) fn preset(name: &str) -> Spec {
    Spec::from_toml(presets::find(name).unwrap().text).unwrap()
}

/// Returns the duration of a transfer over the link, in nanoseconds.
pub(crate) fn link(spec: &Spec, sectors: u64) -> u64 {
    (sectors * 512 * 1_000_000_000).div_ceil(spec.host.bandwidth.bytes_per_second())
}

/// Returns the disk without caches, with queue depth 1.
pub(crate) fn bare(mut spec: Spec) -> Spec {
    (spec.read_cache, spec.write_cache) = (None, None);
    spec.host.queue_depth = 1;
    spec
}

/// Sends one request and waits for it.
pub(crate) fn one(disk: &mut Hdd, op: Op, first_sector: u64, sectors: u64) -> Completion {
    let request = Request::new(0, op, first_sector * 512, sectors * 512);
    disk.submit(request).unwrap();
    let mut done = Vec::new();
    disk.wait(Time::MAX, &mut done);
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].result, Ok(()));
    done.remove(0)
}

pub(crate) fn flush(disk: &mut Hdd) -> Completion {
    one(disk, Op::Flush, 0, 0)
}

/// Waits for a duration.
pub(crate) fn idle(disk: &mut Hdd, time: Dur) {
    let until = disk.now() + time;
    disk.wait(until, &mut Vec::new());
}

/// Sends all of `requests` at the queue depth of the disk. Returns the completions in order.
pub(crate) fn run(disk: &mut Hdd, requests: Vec<Request>) -> Vec<Completion> {
    let (mut done, all) = (Vec::new(), requests.len());
    let mut waiting: VecDeque<Request> = requests.into();
    while done.len() < all {
        while let Some(request) = waiting.pop_front() {
            if let Err(busy) = disk.submit(request) {
                waiting.push_front(busy.0);
                break;
            }
        }
        disk.wait(Time::MAX, &mut done);
    }
    done
}
