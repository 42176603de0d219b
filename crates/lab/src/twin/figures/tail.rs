//! Slow reads while something writes, by how many are slower: below the slowest ones, of which a record has each.

use super::limits::Limits;
use super::what::{Samples, What};
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_probe::Parameter;
use std::collections::BTreeMap;

/// The shares of slower reads that become figures, in parts of the total.
pub(in crate::twin) const SHARES: [u64; 4] = [50, 100, 200, 400];
pub(super) const TOTAL: u64 = 10_000;
/// The share of slower reads up to which a record has slow reads (parameter `stalls`), and how many of them are picked.
const MOST: f64 = 0.05;
const PICKED: i32 = 400;
/// The writes of the windows, in bytes. Samples count the bytes that are due.
const WRITE: u64 = 64 << 10;
/// How far the rank of a read may be from the one asked for, as a factor.
const NEAR: f64 = 1.3;

/// Returns how many of `count` reads are slower than the one that `share` parts of the total exceed.
pub(in crate::twin) fn rank(share: u64, count: usize) -> usize {
    (share as f64 / TOTAL as f64 * count as f64).round() as usize
}

/// Returns ranks between those of the slowest reads, of which there are `kept`, and the fastest of the slow ones, evenly over
/// the logarithm, as those of a record.
pub(in crate::twin) fn picked(kept: usize, count: usize) -> Vec<usize> {
    let (from, to) = (kept.max(1) as f64, MOST * count as f64);
    if to <= from {
        return Vec::new();
    }
    let at = |i: i32| (from * (to / from).powf(f64::from(i) / f64::from(PICKED))) as usize;
    (0..PICKED).map(at).collect()
}

/// Adds the slow reads of the windows of a record: for each share one read of each window, and when they were due.
pub(super) fn add(seen: &Seen<'_>, limits: &Limits, all: &mut Samples) {
    let of = Parameter::Stalls;
    let counts = seen.series(of, series::TYPICAL_WRITING).iter();
    let counts: BTreeMap<u32, u32> = counts.map(|sample| (sample.step, sample.rep)).collect();
    let mut windows = BTreeMap::<u32, Vec<(u32, u64)>>::new();
    for sample in seen.series(of, series::TAIL_WRITING) {
        if limits.hold(What::Tail, sample) {
            continue;
        }
        let slow = windows.entry(sample.step).or_default();
        slow.push((sample.rep, sample.ns));
        let phase = (sample.x % WRITE) as f64 / WRITE as f64;
        all.entry((What::TailPhase, 0)).or_default().push(phase);
    }
    for (step, slow) in windows {
        let count = counts.get(&step).copied().unwrap_or(0) as usize;
        for share in SHARES {
            let wanted = rank(share, count) as f64;
            let far = |(rank, _): &&(u32, u64)| (f64::from(*rank) / wanted).ln().abs();
            let nearest = slow.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
            if let Some(near) = nearest.filter(|one| far(one) < NEAR.ln()) {
                let times = all.entry((What::Tail, share)).or_default();
                times.push(near.1.max(1) as f64);
            }
        }
    }
}
