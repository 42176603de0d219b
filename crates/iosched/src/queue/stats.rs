//! What went through a queue: how requests were merged and split, what the drive was given, and how many there were at a
//! time.

use crate::Io;
use fathom_base::Time;
use fathom_block::{Given, Op, QueueWork};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests of one kind that the drive was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatched {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many began at a multiple of the alignment that the queue was told to count by.
    pub aligned: u64,
    /// How many had that many bytes.
    pub by_len: BTreeMap<u64, u64>,
}

/// LBA-bundles that a scheduler dispatched: writes of one logical block that went in a row, whatever reads went between.
/// One that has not come to its end is not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundled {
    /// How many.
    pub count: u64,
    /// Their writes, as the drive was given them: several that were merged are one.
    pub writes: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many had that many writes.
    pub by_writes: BTreeMap<u64, u64>,
    /// How many had that many bytes.
    pub by_bytes: BTreeMap<u64, u64>,
}

impl Bundled {
    /// A bundle of so many writes and bytes is done.
    pub(crate) fn add(&mut self, writes: u64, bytes: u64) {
        self.count += 1;
        self.writes += writes;
        self.bytes += bytes;
        *self.by_writes.entry(writes).or_default() += 1;
        *self.by_bytes.entry(bytes).or_default() += 1;
    }
}

/// Counters of a queue. What has no unit in its name is a number of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStats {
    /// Reads and writes that were submitted.
    pub submitted: u64,
    /// What they were split into.
    pub pieces: u64,
    /// Pieces that joined the end of another request.
    pub back_merges: u64,
    /// Pieces that joined the beginning of another request.
    pub front_merges: u64,
    /// Requests that became adjacent by a merge, and one.
    pub joined: u64,
    /// Requests that had to wait for an earlier one that they overlap.
    pub held_back: u64,
    /// Reads that the drive was given.
    pub reads: Dispatched,
    /// Writes that the drive was given.
    pub writes: Dispatched,
    /// The sum, over all requests that the drive was given, of how many it then had.
    pub depth_sum: u64,
    /// How long the queue has been there, in ns of the drive's clock.
    #[serde(default)]
    pub elapsed_ns: u64,
    /// As [`QueueWork::held_ns`].
    #[serde(default)]
    pub held_ns: u64,
    /// As [`QueueWork::in_flight_ns`].
    #[serde(default)]
    pub in_flight_ns: u64,
    /// The bundles of writes, where the scheduler makes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundles: Option<Bundled>,
}

impl QueueStats {
    /// Requests that the drive had, on average over those it was given.
    pub fn mean_depth(&self) -> f64 {
        let count = self.reads.count + self.writes.count;
        self.depth_sum as f64 / count.max(1) as f64
    }
}

/// Time has passed in which there were so many.
#[inline]
pub(super) fn elapse(work: &mut QueueWork, now: Time, held: usize, in_flight: u32) {
    let ns = now.since(work.at).0;
    work.at = work.at.max(now);
    let sum = |integral: u64, many: u64| integral.saturating_add(many.saturating_mul(ns));
    work.held_ns = sum(work.held_ns, held as u64);
    work.in_flight_ns = sum(work.in_flight_ns, u64::from(in_flight));
}

/// The drive was given a read or a write, and has so many with it.
#[inline]
pub(super) fn dispatch(work: &mut QueueWork, io: &Io, alignment: u64, in_flight: u32) {
    let side = match io.op {
        Op::Read => &mut work.reads,
        _ => &mut work.writes,
    };
    side.count += 1;
    side.bytes += io.len;
    side.aligned += u64::from(io.offset.is_multiple_of(alignment.max(1)));
    work.depth_sum += u64::from(in_flight);
}

/// How many requests had which length: a short list in order of length, for most have one of a few.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: Vec<(u64, u64)>,
    /// Where the last one was counted: the next one often has the same length.
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

    /// With the counters of these requests.
    pub(super) fn with(&self, given: Given) -> Dispatched {
        Dispatched {
            count: given.count,
            bytes: given.bytes,
            aligned: given.aligned,
            by_len: self.counts.iter().copied().collect(),
        }
    }
}
