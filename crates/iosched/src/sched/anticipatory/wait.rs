//! Anticipation: whether the drive is kept idle for the next read of a process, and when the wait ends.

use super::{Anticipatory, NEAR, THINK_MAX, TICK, Wait};
use crate::Io;
use fathom_base::{Dur, Time};

impl Anticipatory {
    /// Returns whether a read of another process is near enough to serve instead of waiting; `as_close_req`.
    fn is_near(&self, process: usize, now: Time, io: &Io) -> bool {
        let waited = match self.answered_at {
            Some(at) if self.wait != Wait::Off => now.since(at),
            _ => Dur::ZERO,
        };
        if waited > THINK_MAX || waited > self.tunables.antic_expire {
            return true;
        }
        let reach = NEAR << (waited.0 / TICK.0);
        let head = &self.heads[self.side];
        if head.at <= io.offset.saturating_add(reach / 2) && io.offset <= head.at + reach {
            return true;
        }
        let usual = self.processes[process].habit.seek.get();
        let usual = usual.or(self.newcomers.seek.get()).unwrap_or(0);
        usual > head.distance(io.offset)
    }

    /// Returns whether there is no reason, or no longer one, to wait for a process, given the request that would go
    /// next or has just arrived; `as_can_break_anticipation`.
    pub(super) fn ends_wait(&mut self, process: usize, now: Time, io: Option<Io>) -> bool {
        let expire = self.tunables.antic_expire;
        let too_long = self.answered_at.is_some_and(|at| now.since(at) >= expire);
        // A request that the process itself has just made is already counted here.
        if too_long || self.processes[process].queued > 0 {
            return true;
        }
        if let Some(io) = io.filter(|io| io.sync)
            && self.is_near(process, now, &io)
        {
            self.learn(process, now, &io);
            return true;
        }
        match self.processes[process].habit.think.get() {
            Some(mean) => mean > expire.0,
            None => {
                self.newcomers.think.get().unwrap_or(0) > expire.0
                    || self.newcomers.exit_share > 128
            }
        }
    }

    /// Returns whether the drive should stay idle instead of serving the next request.
    pub(super) fn anticipates(&mut self, now: Time) -> bool {
        let Some(process) = self.awaited.filter(|_| self.wait != Wait::Over) else {
            return false;
        };
        let next = self.next[self.side].and_then(|at| self.pool.get(at.1).copied());
        !self.ends_wait(process, now, next)
    }

    pub(super) fn begin_wait(&mut self) {
        self.wait = match self.answered_at {
            Some(at) => Wait::Until(at + self.tunables.antic_expire),
            None => Wait::ForEnd,
        };
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.wait, Wait::ForEnd | Wait::Until(_))
    }

    /// Ends a wait that has timed out.
    pub(super) fn time_out(&mut self, now: Time) {
        let Wait::Until(until) = self.wait else {
            return;
        };
        if now < until {
            return;
        }
        self.wait = Wait::Over;
        let unknown = |process: usize| self.processes[process].habit.think.get().is_none();
        if self.awaited.is_some_and(unknown) {
            self.newcomers.exit_share = (7 * self.newcomers.exit_share + 256) / 8;
        }
    }
}
