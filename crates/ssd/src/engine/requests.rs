//! The life of a request: from the controller over its stages to its completion, or why it is refused.

use super::Ssd;
use fathom_base::Time;
use fathom_block::{IoErrorKind, Op, Request};

impl Ssd {
    pub(super) fn command(&mut self, id: u32) {
        if let Some(op) = self.host.admit(id) {
            self.begin(id, op);
            if self.health.worn_out {
                self.begin_held();
            }
        }
    }

    fn begin(&mut self, id: u32, op: Op) {
        match op {
            Op::Write | Op::Trim if self.health.worn_out => self.refuse(id),
            Op::Read => self.begin_read(id),
            Op::Write => self.begin_write(id),
            Op::Flush => self.flush(id),
            Op::Trim => self.trim(id),
        }
    }

    /// Why a request is refused, if it is.
    #[inline]
    pub(super) fn refusal(&self, request: &Request) -> Option<IoErrorKind> {
        let &Request { op, len, .. } = request;
        let data = request.data.as_ref().filter(|_| op == Op::Write);
        let block = u64::from(self.info.logical_block_bytes);
        // What is right is told without a division; a block is a power of two where it can be.
        let right = matches!(op, Op::Read | Op::Write)
            && block.is_power_of_two()
            && (request.offset | len) & (block - 1) == 0
            && (1..=self.info.max_request_bytes).contains(&len)
            && request.end() <= self.info.capacity_bytes;
        let works = self.powered && !self.health.worn_out && self.clock.now < Time::END;
        if right && data.is_none() && works {
            return None;
        }
        match self.info.check(request) {
            _ if !self.powered => Some(IoErrorKind::Gone),
            Ok(()) if self.clock.now >= Time::END => Some(IoErrorKind::EndOfTime),
            Ok(()) if data.is_some_and(|data| data.len() as u64 != len) => {
                Some(IoErrorKind::Misaligned)
            }
            Ok(()) if self.health.worn_out && matches!(op, Op::Write | Op::Trim) => {
                Some(IoErrorKind::ReadOnly)
            }
            checked => checked.err().map(|error| error.kind),
        }
    }

    /// Begins what was held back by a request that has passed.
    pub(super) fn begin_held(&mut self) {
        while let Some((next, op)) = self.host.hazards.admit_held() {
            self.begin(next, op);
        }
    }

    /// Nothing more happens until then, or until the end of time, which fails what is in flight.
    pub(super) fn end_of_time(&mut self, until: Time) {
        let waits = !self.host.has_finished() && !self.host.is_idle();
        // Without an event the drive has stopped, and tells by completing nothing.
        if until > Time::END && waits && !self.clock.is_still() {
            self.clock.now = self.clock.now.max(Time::END);
            self.fail_all(IoErrorKind::EndOfTime);
            self.forget_motion();
        }
    }

    /// Fails every request in flight.
    pub(super) fn fail_all(&mut self, kind: IoErrorKind) {
        for id in self.host.ids() {
            self.complete(id, Err(kind));
        }
    }

    pub(super) fn complete(&mut self, id: u32, result: Result<(), IoErrorKind>) {
        if self.host.complete(id, self.clock.now, result) {
            let is_last = self.host.is_idle();
            self.collection.note_complete(is_last, &mut self.clock);
        }
    }
}
