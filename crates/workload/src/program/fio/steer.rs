//! Random jobs that are not random throughout: `percentage_random`, and `rw=randread:8` with `rw_sequencer`.
//!
//! As fio 3.33 has it (io_u.c, `get_next_offset`, `get_next_block`): one counter for all operations says when a new place
//! is due; a new place is drawn or, as the percentage says, behind the last access of its operation; in between, accesses
//! go on there too, or come again to where the last one began. Only what is drawn is marked in the random map.

use super::choices::{Each, Sequencer};
use super::job::Job;
use fathom_base::Rng;
use fathom_block::Op;

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// To a place that is drawn.
    Drawn,
    /// There, from the start of the region.
    At(u64),
}

/// What the places of a random job follow.
#[derive(Clone, Debug)]
pub(super) struct Steer {
    /// A new place is due every so many accesses.
    every: u64,
    /// How many there were since the last one.
    since: u64,
    identical: bool,
    percent: Each<u32>,
    /// Whether accesses behind the end of the region go on at its start.
    wraps: bool,
    /// Where the last access of each operation began and ended.
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

    /// A pass begins from the start of the region.
    pub(super) fn reset(&mut self) {
        self.last = Each::default();
    }

    /// Where the next access of an operation goes, in a region of that size.
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

    /// Where an access went.
    pub(super) fn went(&mut self, op: Op, start: u64, len: u64) {
        *self.last.of_mut(op) = (start, start + len);
    }
}
