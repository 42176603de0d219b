//! What went through a queue: how requests were merged and split, and what the drive was given.

use crate::Io;
use fathom_block::Op;
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
}

impl QueueStats {
    pub(super) fn dispatch(&mut self, io: &Io, alignment: u64, in_flight: u32) {
        let side = match io.op {
            Op::Read => &mut self.reads,
            _ => &mut self.writes,
        };
        side.count += 1;
        side.bytes += io.len;
        side.aligned += u64::from(io.offset.is_multiple_of(alignment.max(1)));
        *side.by_len.entry(io.len).or_default() += 1;
        self.depth_sum += u64::from(in_flight);
    }

    /// Requests that the drive had, on average over those it was given.
    pub fn mean_depth(&self) -> f64 {
        let count = self.reads.count + self.writes.count;
        self.depth_sum as f64 / count.max(1) as f64
    }
}
