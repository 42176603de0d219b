//! Throughput of one process that sends requests of one size, one after another: `irbw` Figure 7.
//!
//! Sequential requests run at places spread evenly over the disk, random ones go to any multiple of their size, so that
//! both use all zones equally. The time of writes includes a flush to the medium.

#![allow(clippy::unwrap_used, reason = "shared by a test and an example")]

use fathom_base::{Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_hdd::{Hdd, Spec};

/// Number of places at which a sequential run starts.
const PLACES: u64 = 16;
/// Bytes of a sequential run at one place, if that makes 8 to 4096 requests.
const RUN_BYTES: u64 = 64 << 20;

/// Throughput in megabytes (10^6 bytes) per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Size of a request in bytes.
    pub(crate) size: u64,
    pub(crate) sequential_read: f64,
    pub(crate) sequential_write: f64,
    pub(crate) random_read: f64,
    pub(crate) random_write: f64,
}

impl Row {
    /// Returns the ratio of sequential to random read throughput.
    pub(crate) fn read_ratio(&self) -> f64 {
        self.sequential_read / self.random_read
    }
}

/// Measures one size, on new disks.
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
    // In the middle of equal parts: starts at their beginnings would favour the faster outer zones.
    let first = (step - requests * size) / 2;
    let (mut bytes, mut seconds) = (0, 0.0);
    for place in 0..PLACES {
        let start = (first + step * place) / size * size;
        // The seek to the start is not part of the run.
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
    // One request at a random position in each equal part of the disk, in random order of the parts, so that all zones
    // are covered evenly.
    let mut parts: Vec<u64> = (0..requests).collect();
    rng.shuffle(&mut parts);
    for part in parts {
        let (from, to) = (places * part / requests, places * (part + 1) / requests);
        one(&mut disk, op, (from + rng.below(to - from)) * size, size);
    }
    one(&mut disk, Op::Flush, 0, 0);
    (requests * size) as f64 / disk.now().since(Time::ZERO).as_secs_f64() / 1e6
}

/// Returns the request size in bytes at which sequential reads are `times` times faster than random ones, by logarithmic
/// interpolation between two rows.
pub(crate) fn size_of_ratio(rows: &[Row], times: f64) -> Option<f64> {
    let crossing = rows
        .windows(2)
        .find(|pair| pair[0].read_ratio() >= times && pair[1].read_ratio() < times)?;
    let (a, b) = (crossing[0], crossing[1]);
    let share = (a.read_ratio() / times).ln() / (a.read_ratio() / b.read_ratio()).ln();
    Some(((a.size as f64).ln() + share * (b.size as f64 / a.size as f64).ln()).exp())
}
