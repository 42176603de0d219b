//! The end of a pass: the flush, the verification, and the next pass.

use super::{Phase, Process, WAIT};
use fathom_base::Time;
use fathom_block::Op;
use fathom_block::program::Next;

impl Process {
    /// Returns true if the process has ended and has nothing in flight at `now`.
    pub(in super::super) fn is_finished(&mut self, now: Time) -> bool {
        if let Phase::Running { since } = self.phase
            && self.is_enough(since, now)
        {
            self.end_pass(since, true);
        }
        if let Phase::Syncing { since } = self.phase
            && self.flushed
            && self.in_flight == 0
        {
            self.verify(since);
        }
        if let Phase::Checking {
            since, order, next, ..
        } = &self.phase
            && *next == order.len()
            && self.in_flight == 0
        {
            self.go_on(*since);
        }
        matches!(self.phase, Phase::Over) && self.in_flight == 0
    }

    /// Stops issuing accesses, except for a final flush, because another process ended and terminates this one.
    pub(in super::super) fn stop(&mut self) {
        self.last_pass = true;
        self.phase = match self.phase {
            Phase::Running { since } if self.is_to_flush() => Phase::Syncing { since },
            Phase::Syncing { since } => Phase::Syncing { since },
            _ => Phase::Over,
        };
        // As a terminated process, it verifies nothing.
        self.written.clear();
    }

    /// Returns true if the pass ends with a flush.
    fn is_to_flush(&self) -> bool {
        self.job.flushes.end_fsync && !self.flushed
    }

    pub(super) fn end_pass(&mut self, since: Time, last: bool) {
        self.last_pass = last;
        if self.is_to_flush() {
            self.phase = Phase::Syncing { since };
        } else {
            self.verify(since);
        }
    }

    /// Starts the verification if there is anything to verify; otherwise goes on to the next pass.
    fn verify(&mut self, since: Time) {
        if self.job.do_verify && !self.written.is_empty() {
            self.phase = Phase::Draining { since };
        } else {
            self.go_on(since);
        }
    }

    /// Starts the next pass, or ends after the last one.
    fn go_on(&mut self, since: Time) {
        self.written.clear();
        self.asked.pass_bytes = 0;
        self.places.reset();
        self.zones.begin_pass();
        self.phase = if self.last_pass {
            Phase::Over
        } else {
            Phase::Running { since }
        };
    }

    /// Returns the next action while the process waits to flush at the end of a pass.
    pub(super) fn sync(&mut self, since: Time, now: Time) -> Option<Next> {
        self.paused = true;
        if self.in_flight > 0 {
            return Some(WAIT);
        }
        if !self.flushed {
            return Some(self.flush(now));
        }
        self.verify(since);
        None
    }

    /// Returns true if `loops` passes have ended, each cut short by skipped bytes: those of `rw=read:N`, and what a zone
    /// does not hold. The skipped bytes are not made up for, unless `io_size` is set (fio 3.33, backend.c,
    /// `keep_running`).
    pub(super) fn is_cut_short(&self) -> bool {
        let job = &self.job;
        let more = job.ends.time_based || job.area.io_size.is_some();
        let skips = job.order.rw_skip > 0 || job.zones.zbd;
        !more && skips && self.asked.passes >= job.ends.loops
    }

    pub(super) fn drain(&mut self, since: Time) -> Option<Next> {
        self.paused = true;
        if self.in_flight > 0 {
            return Some(WAIT);
        }
        self.phase = Phase::Checking {
            since,
            order: self.written.order(),
            next: 0,
        };
        None
    }

    pub(super) fn read_back(&mut self, since: Time, now: Time) -> Option<Next> {
        let in_flight = self.in_flight;
        let Phase::Checking { order, next, .. } = &mut self.phase else {
            return None;
        };
        if let Some(&offset) = order.get(*next) {
            if self.slots.is_empty() {
                return Some(WAIT);
            }
            *next += 1;
            let len = self.written.at(offset).map_or(0, |block| block.len);
            return Some(self.ask(Op::Read, offset, len, now));
        }
        self.paused = true;
        if in_flight > 0 {
            return Some(WAIT);
        }
        self.go_on(since);
        None
    }
}
