//! When a process may ask: the rates it is held to, and the time it thinks.

use super::choices::{Each, Pace};
use super::job::Job;
use fathom_base::{Dur, Rng, Time};
use fathom_block::Op;

/// How much of an operation was asked for, and how fast it may be.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    bytes_per_second: u64,
    per_second: u64,
    /// The shortest access, in bytes.
    least: u64,
    bytes: u64,
    count: u64,
    /// Where it is random: when the next one is due.
    next: Dur,
}

/// `rate` and `rate_iops`: a plan that counts from the start of the process, so that what was missed is caught up.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    sides: Each<Side>,
    /// Of a random plan.
    rng: Option<Rng>,
}

impl Side {
    /// The time to the next access of a Poisson process, in nanoseconds: exponential, and of bytes as if every access were the
    /// shortest (fio 3.33, backend.c, `usec_for_io`, which rounds the mean to whole microseconds).
    fn gap_ns(&self, rng: &mut Rng) -> u64 {
        let per_second = match self.bytes_per_second {
            0 => self.per_second as f64,
            bytes => bytes as f64 / self.least.max(1) as f64,
        };
        if per_second <= 0.0 {
            return 0;
        }
        // In (0, 1]: the logarithm is finite.
        let drawn = 1.0 - rng.uniform();
        (-drawn.ln() * 1e9 / per_second) as u64
    }
}

impl Rates {
    /// `rng` is for a random plan alone.
    pub(super) fn new(job: &Job, rng: Rng) -> Self {
        let sides = Each::from_fn(|op| Side {
            bytes_per_second: *job.pace.rate.of(op),
            per_second: *job.pace.rate_iops.of(op),
            least: job.shortest(op),
            ..Side::default()
        });
        let random = job.pace.rate_process == Pace::Poisson;
        Self {
            sides,
            rng: random.then_some(rng),
        }
    }

    /// Counts an access that is asked for.
    pub(super) fn count(&mut self, op: Op, bytes: u64) {
        let side = self.sides.of_mut(op);
        side.bytes = side.bytes.saturating_add(bytes);
        side.count += 1;
        if let Some(rng) = &mut self.rng {
            side.next = Dur(side.next.0.saturating_add(side.gap_ns(rng)));
        }
    }

    /// When the next access of an operation is due, from the start of the process.
    pub(super) fn due(&self, op: Op) -> Dur {
        let side = self.sides.of(op);
        if self.rng.is_some() {
            return side.next;
        }
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
            time: job.pace.thinktime,
            blocks: job.pace.thinktime_blocks,
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
