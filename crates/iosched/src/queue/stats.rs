//! Counters of a queue: merges, splits, dispatched requests and the number of requests over time.

use fathom_base::Time;
use fathom_block::{Given, Op, QueueWork};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Dispatched requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatched {
    /// Number of requests.
    pub count: u64,
    /// Total length, in bytes.
    pub bytes: u64,
    /// Number of requests whose start is a multiple of [`QueueConfig::alignment`](super::QueueConfig::alignment).
    pub aligned: u64,
    /// Number of requests by length in bytes.
    pub by_len: BTreeMap<u64, u64>,
}

/// LBA-bundles that a scheduler dispatched. A bundle is a run of writes to one logical block, with reads allowed in
/// between. Unfinished bundles are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundled {
    /// Number of bundles.
    pub count: u64,
    /// Number of writes in them as dispatched: merged writes count as one.
    pub writes: u64,
    /// Total length, in bytes.
    pub bytes: u64,
    /// Number of bundles by number of writes.
    pub by_writes: BTreeMap<u64, u64>,
    /// Number of bundles by length in bytes.
    pub by_bytes: BTreeMap<u64, u64>,
}

impl Bundled {
    /// Counts a finished bundle.
    pub(crate) fn add(&mut self, writes: u64, bytes: u64) {
        self.count += 1;
        self.writes += writes;
        self.bytes += bytes;
        *self.by_writes.entry(writes).or_default() += 1;
        *self.by_bytes.entry(bytes).or_default() += 1;
    }
}

/// Counters of a queue. Fields without a unit in the name are numbers of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStats {
    /// Submitted reads and writes.
    pub submitted: u64,
    /// Pieces that they were split into.
    pub pieces: u64,
    /// Pieces merged at the end of another request.
    pub back_merges: u64,
    /// Pieces merged at the beginning of another request.
    pub front_merges: u64,
    /// Joins of two requests that became adjacent by a merge.
    pub joined: u64,
    /// Requests that had to wait for an earlier, overlapping one.
    pub held_back: u64,
    /// Dispatched reads.
    pub reads: Dispatched,
    /// Dispatched writes.
    pub writes: Dispatched,
    /// Sum of the number of requests in flight, taken at each dispatch of a read or write.
    pub depth_sum: u64,
    /// Age of the queue, in ns of the drive's clock.
    #[serde(default)]
    pub elapsed_ns: u64,
    /// As [`QueueWork::held_ns`].
    #[serde(default)]
    pub held_ns: u64,
    /// As [`QueueWork::in_flight_ns`].
    #[serde(default)]
    pub in_flight_ns: u64,
    /// The bundles of writes, if the scheduler makes bundles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundles: Option<Bundled>,
}

impl QueueStats {
    /// Mean number of requests in flight at a dispatch.
    fn mean_depth(&self) -> f64 {
        let count = self.reads.count + self.writes.count;
        self.depth_sum as f64 / count.max(1) as f64
    }

    /// Mean number of requests at the drive over time; that at a dispatch for a record without times.
    pub fn mean_in_flight(&self) -> f64 {
        match self.elapsed_ns {
            0 => self.mean_depth(),
            elapsed => self.in_flight_ns as f64 / elapsed as f64,
        }
    }
}

/// Adds the time since the last call to the integrals, with the numbers of held and in-flight requests during it.
#[inline]
pub(super) fn elapse(work: &mut QueueWork, now: Time, held: usize, in_flight: u32) {
    let ns = now.since(work.at).0;
    if ns == 0 {
        // The queue mostly acts several times at one time.
        return;
    }
    work.at = work.at.max(now);
    let sum = |integral: u64, many: u64| integral.saturating_add(many.saturating_mul(ns));
    work.held_ns = sum(work.held_ns, held as u64);
    work.in_flight_ns = sum(work.in_flight_ns, u64::from(in_flight));
}

/// Counts a dispatched read or write; `in_flight` includes it.
#[inline]
pub(super) fn dispatch(work: &mut QueueWork, op: Op, len: u64, aligned: bool, in_flight: u32) {
    let side = match op {
        Op::Read => &mut work.reads,
        _ => &mut work.writes,
    };
    side.count += 1;
    side.bytes += len;
    side.aligned += u64::from(aligned);
    work.depth_sum += u64::from(in_flight);
}

/// Returns how far a number is above a multiple of a unit. The unit is mostly a power of two, and a division takes longer
/// than all else at a dispatch.
#[inline]
pub(super) fn above_multiple(number: u64, unit: u64) -> u64 {
    match unit.is_power_of_two() {
        true => number & (unit - 1),
        false => number % unit,
    }
}

/// A histogram of request lengths: a short sorted list, since most requests have one of a few lengths.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: Vec<(u64, u64)>,
    /// The index counted last: the next request often has the same length.
    last: usize,
}

impl Lengths {
    #[inline]
    pub(super) fn add(&mut self, len: u64) {
        match self.counts.get_mut(self.last) {
            Some((same, count)) if *same == len => *count += 1,
            _ => self.add_elsewhere(len),
        }
    }

    fn add_elsewhere(&mut self, len: u64) {
        match self.counts.binary_search_by_key(&len, |&(len, _)| len) {
            Ok(index) => {
                self.counts[index].1 += 1;
                self.last = index;
            }
            Err(index) => {
                self.counts.insert(index, (len, 1));
                self.last = index;
            }
        }
    }

    /// Combines the lengths with these counters.
    pub(super) fn with(&self, given: Given) -> Dispatched {
        Dispatched {
            count: given.count,
            bytes: given.bytes,
            aligned: given.aligned,
            by_len: self.counts.iter().copied().collect(),
        }
    }
}
