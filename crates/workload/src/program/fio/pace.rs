//! When a process may ask: the rates it is held to, and the time it thinks.

use super::job::{Each, Job};
use fathom_base::{Dur, Time};
use fathom_block::Op;

/// How much of an operation was asked for, and how fast it may be.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    bytes_per_second: u64,
    per_second: u64,
    bytes: u64,
    count: u64,
}

/// `rate` and `rate_iops`: a plan that counts from the start of the process, so that what was missed is caught up.
#[derive(Clone, Debug)]
pub(super) struct Rates(Each<Side>);

impl Rates {
    pub(super) fn new(job: &Job) -> Self {
        Self(Each::from_fn(|op| Side {
            bytes_per_second: *job.rate.of(op),
            per_second: *job.rate_iops.of(op),
            ..Side::default()
        }))
    }

    /// Counts an access that is asked for.
    pub(super) fn count(&mut self, op: Op, bytes: u64) {
        let side = self.0.of_mut(op);
        side.bytes = side.bytes.saturating_add(bytes);
        side.count += 1;
    }

    /// When the next access of an operation is due, from the start of the process.
    pub(super) fn due(&self, op: Op) -> Dur {
        let side = self.0.of(op);
        let (done, per_second) = match (side.bytes_per_second, side.per_second) {
            (0, 0) => return Dur::ZERO,
            (0, per_second) => (side.count, per_second),
            (bytes_per_second, _) => (side.bytes, bytes_per_second),
        };
        let ns = (u128::from(done) * 1_000_000_000).div_ceil(u128::from(per_second));
        Dur(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// `thinktime`: after so many accesses, all of which are done, the process asks for nothing for a while.
#[derive(Clone, Debug)]
pub(super) struct Think {
    time: Dur,
    blocks: u64,
    /// Since it last thought.
    asked: u64,
    done: u64,
    last_done: Time,
}

impl Think {
    pub(super) fn new(job: &Job) -> Self {
        Self {
            time: job.thinktime,
            blocks: job.thinktime_blocks,
            asked: 0,
            done: 0,
            last_done: Time::ZERO,
        }
    }

    pub(super) fn asked(&mut self) {
        self.asked += 1;
    }

    pub(super) fn done(&mut self, at: Time) {
        self.done += 1;
        self.last_done = self.last_done.max(at);
    }

    /// Until when it thinks: [`Time::MAX`] while it waits for what is in flight, `None` where it may ask.
    pub(super) fn until(&mut self, now: Time) -> Option<Time> {
        if self.time == Dur::ZERO || self.asked < self.blocks {
            return None;
        }
        if self.done < self.asked {
            return Some(Time::MAX);
        }
        let until = self.last_done + self.time;
        if now < until {
            return Some(until);
        }
        (self.asked, self.done) = (0, 0);
        None
    }
}
