//! Throughput of one process that sends requests of one size, one after another: `irbw` Figure 7.
//!
//! Sequential requests run at places spread evenly over the disk, random ones go to multiples of their size anywhere on
//! it, so that both see every zone alike. Writes count until they are on the medium.

#![allow(clippy::unwrap_used, reason = "shared by a test and an example")]

use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_hdd::{Hdd, Spec};

/// Places at which a sequential run starts.
const PLACES: u64 = 16;
/// Bytes of a sequential run at one place, if that makes 8 to 4096 requests.
const RUN_BYTES: u64 = 64 << 20;

/// Megabytes (10^6) a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Bytes of a request.
    pub(crate) size: u64,
    pub(crate) sequential_read: f64,
    pub(crate) sequential_write: f64,
    pub(crate) random_read: f64,
    pub(crate) random_write: f64,
}

impl Row {
    /// How many times faster sequential reads are.
    pub(crate) fn read_ratio(&self) -> f64 {
        self.sequential_read / self.random_read
    }
}

/// One size on fresh disks.
pub(crate) fn row(spec: &Spec, size: u64, seed: u64) -> Row {
    let disk = || Hdd::new(spec, seed).unwrap();
    Row {
        size,
        sequential_read: sequential(disk(), Op::Read, size),
        sequential_write: sequential(disk(), Op::Write, size),
        random_read: random(disk(), Op::Read, size, seed),
        random_write: random(disk(), Op::Write, size, seed),
    }
}

fn one(disk: &mut Hdd, op: Op, offset: u64, len: u64) {
    disk.submit(Request::new(0, op, offset, len)).unwrap();
    disk.wait(Time::MAX, &mut Vec::new());
}

fn sequential(mut disk: Hdd, op: Op, size: u64) -> f64 {
    let requests = (RUN_BYTES / size).clamp(8, 4096);
    let step = disk.info().capacity_bytes / PLACES;
    // In the middle of equal parts: at their beginnings the outer, faster zones would count for more.
    let first = (step - requests * size) / 2;
    let (mut bytes, mut seconds) = (0, 0.0);
    for place in 0..PLACES {
        let start = (first + step * place) / size * size;
        // The way there is no part of the run.
        one(&mut disk, op, start, 512);
        one(&mut disk, Op::Flush, 0, 0);
        let begin = disk.now();
        for i in 0..requests {
            one(&mut disk, op, start + i * size, size);
        }
        one(&mut disk, Op::Flush, 0, 0);
        bytes += requests * size;
        seconds += disk.now().since(begin).as_secs_f64();
    }
    bytes as f64 / seconds / 1e6
}

fn random(mut disk: Hdd, op: Op, size: u64, seed: u64) -> f64 {
    let places = disk.info().capacity_bytes / size;
    let requests = ((64 << 20) / size).clamp(200, 8000);
    let mut rng = Rng::new(seed, 7);
    // One somewhere in each equal part of the disk, the parts in random order: the zones get their share.
    let mut parts: Vec<u64> = (0..requests).collect();
    rng.shuffle(&mut parts);
    for part in parts {
        let (from, to) = (places * part / requests, places * (part + 1) / requests);
        one(&mut disk, op, (from + rng.below(to - from)) * size, size);
    }
    one(&mut disk, Op::Flush, 0, 0);
    (requests * size) as f64 / disk.now().since(Time::ZERO).as_secs_f64() / 1e6
}

/// The request size at which sequential reads are `times` times faster than random ones, in bytes: where the line
/// between two rows, both axes logarithmic, crosses it.
pub(crate) fn size_of_ratio(rows: &[Row], times: f64) -> Option<f64> {
    let crossing = rows
        .windows(2)
        .find(|pair| pair[0].read_ratio() >= times && pair[1].read_ratio() < times)?;
    let (a, b) = (crossing[0], crossing[1]);
    let share = (a.read_ratio() / times).ln() / (a.read_ratio() / b.read_ratio()).ln();
    Some(((a.size as f64).ln() + share * (b.size as f64 / a.size as f64).ln()).exp())
}
