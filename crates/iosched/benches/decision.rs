//! The cost of a decision: `dispatch` with a thousand or more held requests, and `insert`.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

#[path = "../tests/common/mod.rs"]
mod common;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fathom_base::{Dur, Rng, Time};
use fathom_block::Op;
use fathom_iosched::{Io, IoKey, SCHEDULERS, Scheduler};

/// Number of held requests at the end; twice that number at the beginning.
const HELD: u32 = 1000;

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    SCHEDULERS.iter().map(|entry| entry.name)
}

/// Random reads and writes of eight processes, a quarter of them badly split.
fn requests(count: u32) -> Vec<Io> {
    let mut rng = Rng::new(1, 0);
    let random = |key| {
        let op = if rng.below(2) == 0 {
            Op::Read
        } else {
            Op::Write
        };
        Io {
            key: IoKey(key),
            op,
            offset: rng.below(1 << 20) * 16384 + 4096 * (rng.below(4) / 3),
            len: 16384,
            process: rng.below(8) as u32,
            class: fathom_iosched::Class::default(),
            priority: 4,
            sync: op == Op::Read,
            fua: false,
            placement: 0,
            queued: Time(u64::from(key) * 1000),
        }
    };
    (0..count).map(random).collect()
}

fn filled(name: &str) -> Box<dyn Scheduler> {
    let mut scheduler = common::config(name).build().unwrap();
    for io in requests(2 * HELD) {
        scheduler.insert(io.queued, io);
    }
    scheduler
}

/// Makes a thousand decisions. The time advances at once to the timer that a scheduler waits for.
#[divan::bench(args = names(), sample_count = 200)]
fn dispatch(bencher: Bencher<'_, '_>, name: &str) {
    bencher
        .counter(ItemsCount::new(HELD))
        .with_inputs(|| filled(name))
        .bench_local_refs(|scheduler| {
            let mut now = Time(10_000_000);
            let mut given = 0;
            while given < HELD {
                now += Dur::us(10);
                match scheduler.dispatch(now) {
                    Some(io) => {
                        given += 1;
                        scheduler.completed(now, black_box(&io));
                    }
                    None => now = scheduler.next_timer().map_or(now, |at| at.max(now)),
                }
            }
        });
}

/// Inserts a thousand requests into a scheduler that holds a thousand.
#[divan::bench(args = names(), sample_count = 200)]
fn insert(bencher: Bencher<'_, '_>, name: &str) {
    let requests = requests(2 * HELD);
    let (held, new) = requests.split_at(HELD as usize);
    let with = || {
        let mut scheduler = common::config(name).build().unwrap();
        held.iter().for_each(|&io| scheduler.insert(io.queued, io));
        scheduler
    };
    bencher
        .counter(ItemsCount::new(HELD))
        .with_inputs(with)
        .bench_local_refs(|scheduler| new.iter().for_each(|&io| scheduler.insert(io.queued, io)));
}
