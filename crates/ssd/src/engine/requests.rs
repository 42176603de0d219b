//! The life cycle of requests: command, start, refusal and completion.

use super::Ssd;
use fathom_block::{IoErrorKind, Op};

impl Ssd {
    #[inline(always)]
    pub(super) fn command(&mut self, id: u32) {
        if let Some(op) = self.host.admit(id) {
            self.begin(id, op);
            if self.health.worn_out {
                self.begin_held();
            }
        }
    }

    #[inline(always)]
    fn begin(&mut self, id: u32, op: Op) {
        match op {
            Op::Read => self.begin_read(id),
            Op::Flush => self.flush(id),
            _ if self.health.worn_out => self.refuse(id),
            Op::Write | Op::Append => self.begin_write(id),
            Op::Trim => self.trim(id),
            Op::Zone(action) => self.act_on_zone(id, action),
        }
    }

    /// Returns the reason for refusing a request, if any. `refused` is the reason that applies to every drive of this
    /// size.
    #[inline]
    pub(super) fn refusal(&self, op: Op, refused: Option<IoErrorKind>) -> Option<IoErrorKind> {
        match refused {
            _ if !self.powered => Some(IoErrorKind::Gone),
            None if self.health.worn_out && matches!(op, Op::Write | Op::Trim) => {
                Some(IoErrorKind::ReadOnly)
            }
            refused => refused,
        }
    }

    /// Starts held requests that no earlier request blocks any more.
    #[inline]
    pub(super) fn begin_held(&mut self) {
        while let Some((next, op)) = self.host.hazards.admit_held() {
            self.begin(next, op);
        }
    }

    /// Fails every request in flight.
    pub(super) fn fail_all(&mut self, kind: IoErrorKind) {
        for id in self.host.ids() {
            self.complete(id, Err(kind));
        }
    }

    #[inline]
    pub(super) fn complete(&mut self, id: u32, result: Result<(), IoErrorKind>) {
        let finishes = self.info.zoned.is_some() && self.host.finishes(id).is_some();
        if self.host.complete(id, result, &mut self.clock) {
            self.collection.note_complete(&mut self.clock);
            self.folding.note_complete(&mut self.clock);
        }
        if finishes && result.is_ok() {
            self.host.hazards.received(id);
            self.begin_held();
        }
    }
}
