//! When a process may issue accesses: rate limits and think times.

use super::choices::{Each, Pace};
use super::job::Job;
use fathom_base::{Dur, Rng, Time};
use fathom_block::Op;

/// The rate limit of an operation and the amount issued so far.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    bytes_per_second: u64,
    per_second: u64,
    /// The shortest access, in bytes.
    least: u64,
    bytes: u64,
    count: u64,
    /// With random intervals: when the next access is due.
    next: Dur,
}

/// `rate` and `rate_iops`: a schedule that starts with the process, so that delays are caught up.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    sides: Each<Side>,
    /// Set for random intervals.
    rng: Option<Rng>,
}

impl Side {
    /// Draws the time to the next access of a Poisson process, in nanoseconds: an exponential interval. With a byte
    /// rate, every access counts as one of the shortest length (fio 3.33, backend.c, `usec_for_io`, which rounds the
    /// mean to whole microseconds).
    fn gap_ns(&self, rng: &mut Rng) -> u64 {
        let per_second = match self.bytes_per_second {
            0 => self.per_second as f64,
            bytes => bytes as f64 / self.least.max(1) as f64,
        };
        if per_second <= 0.0 {
            return 0;
        }
        // `drawn` is in (0, 1], so the logarithm is finite.
        let drawn = 1.0 - rng.uniform();
        (-drawn.ln() * 1e9 / per_second) as u64
    }
}

impl Rates {
    /// Makes the rates of a job. `rng` is used only for random intervals.
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

    /// Counts an issued access.
    pub(super) fn count(&mut self, op: Op, bytes: u64) {
        let side = self.sides.of_mut(op);
        side.bytes = side.bytes.saturating_add(bytes);
        side.count += 1;
        if let Some(rng) = &mut self.rng {
            side.next = Dur(side.next.0.saturating_add(side.gap_ns(rng)));
        }
    }

    /// Returns when the next access of an operation is due, from the start of the process.
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

/// `thinktime`: after `blocks` accesses, all of them completed, the process issues nothing for a while.
#[derive(Clone, Debug)]
pub(super) struct Think {
    time: Dur,
    blocks: u64,
    /// Accesses issued since the last pause; `done` of them have completed.
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

    /// Returns the end of the pause: [`Time::MAX`] while accesses in flight are waited for, `None` if the process may
    /// go on.
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
