//! The cost of a request in the queue, above a drive that costs next to nothing.
//!
//! `bare` plays the same load on the drive alone; the difference is the cost of the queue.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::{Dur, Rng, Time};
use fathom_block::devices::NullDevice;
use fathom_block::{Busy, Device, DeviceInfo, Op, Request};
use fathom_iosched::{BlockQueue, QueueConfig};

/// Number of requests in each of the ten samples.
const REQUESTS: usize = 100_000;
/// Maximum number of requests in flight at the drive.
const DEPTH: u32 = 32;
/// Number of outstanding requests of the submitter, so that a scheduler has a choice.
const OUTSTANDING: usize = 128;

fn main() {
    divan::main();
}

fn drive() -> NullDevice {
    let info = DeviceInfo {
        name: "null".into(),
        capacity_bytes: 64 << 30,
        logical_block_bytes: 512,
        max_request_bytes: 1 << 20,
        queue_depth: OUTSTANDING as u32,
        volatile_cache: false,
        trim: false,
        read_only: false,
        modelled: true,
        rotational: Some(false),
        ..DeviceInfo::default()
    };
    NullDevice::new(info, Dur::us(10))
}

fn queue(scheduler: &str) -> BlockQueue<NullDevice> {
    let config = QueueConfig {
        scheduler: scheduler.parse().unwrap(),
        depth: Some(DEPTH),
        ..QueueConfig::default()
    };
    BlockQueue::new(drive(), config).unwrap()
}

/// Reads and writes of 4 KiB at random offsets: hardly any two are adjacent.
fn random() -> Vec<Request> {
    let mut rng = Rng::new(1, 0);
    let one = |id| {
        let op = [Op::Read, Op::Write][rng.below(2) as usize];
        Request::new(id, op, rng.below(16 << 20) * 4096, 4096)
    };
    (0..REQUESTS as u64).map(one).collect()
}

/// Sequential reads of 4 KiB, which are merged to long requests.
fn sequential() -> Vec<Request> {
    let one = |id| Request::new(id, Op::Read, id * 4096, 4096);
    (0..REQUESTS as u64).map(one).collect()
}

/// Keeps a fixed number of requests outstanding until all are complete.
fn play(device: &mut dyn Device, requests: Vec<Request>) {
    let (mut done, mut outstanding) = (Vec::new(), 0);
    for mut request in requests {
        while outstanding >= OUTSTANDING {
            device.wait(Time::MAX, &mut done);
            outstanding -= done.drain(..).count();
        }
        while let Err(Busy(back)) = device.submit(request) {
            request = back;
            device.wait(Time::MAX, &mut done);
            outstanding -= done.drain(..).count();
        }
        outstanding += 1;
    }
    while outstanding > 0 {
        device.wait(Time::MAX, &mut done);
        outstanding -= done.drain(..).count();
    }
}

#[divan::bench(args = ["noop", "mq-deadline"], sample_count = 10, sample_size = 1)]
fn random_through(bencher: Bencher<'_, '_>, scheduler: &str) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| (queue(scheduler), random()))
        .bench_local_values(|(mut queue, requests)| play(&mut queue, requests));
}

#[divan::bench(args = ["noop", "mq-deadline"], sample_count = 10, sample_size = 1)]
fn sequential_through(bencher: Bencher<'_, '_>, scheduler: &str) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| (queue(scheduler), sequential()))
        .bench_local_values(|(mut queue, requests)| play(&mut queue, requests));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn bare(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| (drive(), random()))
        .bench_local_values(|(mut drive, requests)| play(&mut drive, requests));
}
