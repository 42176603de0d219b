//! Random jobs of which some accesses are sequential or repeated: `percentage_random`, and `rw=randread:8` with
//! `rw_sequencer`.
//!
//! As in fio 3.33 (io_u.c, `get_next_offset`, `get_next_block`), one counter for all operations determines when a new
//! place is due. Depending on the percentage, a new place is drawn or lies directly after the last access of the
//! operation. In between, accesses also continue after the last one, or repeat its start. Only drawn places are marked
//! in the random map.

use super::choices::{Each, Sequencer};
use super::job::Job;
use fathom_base::Rng;
use fathom_block::Op;

/// The place of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A drawn place.
    Drawn,
    /// This offset, relative to the start of the region.
    At(u64),
}

/// Decides which accesses of a random job are drawn.
#[derive(Clone, Debug)]
pub(super) struct Steer {
    /// A new place is due every this many accesses.
    every: u64,
    /// Number of accesses since the last new place.
    since: u64,
    identical: bool,
    percent: Each<u32>,
    /// True if accesses past the end of the region continue at its start.
    wraps: bool,
    /// Start and end of the last access of each operation.
    last: Each<(u64, u64)>,
    rng: Rng,
}

impl Steer {
    pub(super) fn new(job: &Job, rng: Rng) -> Self {
        Self {
            every: job.order.rw_every.max(1),
            since: 0,
            identical: job.order.rw_sequencer == Sequencer::Identical,
            percent: job.order.percentage_random,
            wraps: job.ends.time_based,
            last: Each::default(),
            rng,
        }
    }

    /// Starts a new pass from the start of the region.
    pub(super) fn reset(&mut self) {
        self.last = Each::default();
    }

    /// Returns the place of the next access of an operation, in a region of `size` bytes.
    pub(super) fn next(&mut self, op: Op, size: u64) -> Turn {
        let fresh = self.since == 0;
        self.since = (self.since + 1) % self.every;
        let (start, end) = *self.last.of(op);
        let percent = *self.percent.of(op);
        if fresh {
            if percent >= 100 || self.rng.below(100) < u64::from(percent) {
                return Turn::Drawn;
            }
        } else if self.identical {
            return Turn::At(start);
        }
        match end {
            end if end < size => Turn::At(end),
            _ if self.wraps => Turn::At(0),
            _ => Turn::Drawn,
        }
    }

    /// Records where an access went.
    pub(super) fn went(&mut self, op: Op, start: u64, len: u64) {
        *self.last.of_mut(op) = (start, start + len);
    }
}
