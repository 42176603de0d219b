//! Batches of reads and writes: the next request within one, its end, and the number of writes in the next one.

use super::{ASYNC, Anticipatory, SYNC, Step};
use crate::sched::{Place, place};
use fathom_base::{Dur, Time};

impl Anticipatory {
    /// Returns the oldest request of a kind if it has expired. Checked at most once per expiry time: serving many
    /// expired requests would make the head jump.
    pub(super) fn expired(&mut self, side: usize, now: Time) -> Option<Place> {
        let expire = [self.tunables.write_expire, self.tunables.read_expire][side];
        if now.since(self.fifo_checked[side]) < expire {
            return None;
        }
        self.fifo_checked[side] = now;
        let oldest = self.queues[side].oldest(&self.pool)?;
        (now >= oldest.queued + expire).then(|| place(oldest))
    }

    pub(super) fn batch_is_over(&self, now: Time) -> bool {
        let is_open = self.is_changing || self.is_new;
        let used_up = self.side == ASYNC && self.writes_left == 0;
        !is_open && (now > self.batch_ends || used_up)
    }

    /// Chooses the next request of the batch, or says why there is none.
    pub(super) fn go_on(&mut self, now: Time) -> Step {
        let [writes, reads] = [ASYNC, SYNC].map(|side| !self.queues[side].is_empty());
        if reads && writes && self.batch_is_over(now) {
            return Step::Ended;
        }
        if let Some(at) = self.expired(self.side, now) {
            return Step::Give(at);
        }
        if self.side == SYNC && self.tunables.antic_expire > Dur::ZERO && self.anticipates(now) {
            self.begin_wait();
            return Step::Idle;
        }
        if reads && !writes && self.next[self.side].is_some() {
            self.batch_ends = now + self.tunables.read_batch_expire;
        }
        self.next[self.side].map_or(Step::Ended, Step::Give)
    }

    /// Begins a batch with the oldest request, of the other kind if any is held. Returns that request.
    pub(super) fn change_batch(&mut self, now: Time) -> Option<Place> {
        let [writes, reads] = [ASYNC, SYNC].map(|side| !self.queues[side].is_empty());
        let side = if reads && !(writes && self.side == SYNC) {
            SYNC
        } else {
            ASYNC
        };
        self.is_changing |= side != self.side;
        if side == ASYNC {
            self.is_new &= self.side == ASYNC;
            self.writes_left = self.write_count;
            self.writes_idled = false;
        }
        self.side = side;
        self.fifo_checked[side] = now;
        self.queues[side].oldest(&self.pool).map(place)
    }

    /// Opens the batch when no request of the other kind is in flight any more.
    pub(super) fn open_batch(&mut self, now: Time) {
        self.is_changing = false;
        match self.side {
            ASYNC => self.batch_ends = now + self.tunables.write_batch_expire,
            _ => self.is_new = true,
        }
    }

    /// Adjusts the number of writes in the next batch when all writes of a batch are complete; `update_write_batch`.
    pub(super) fn adjust_writes(&mut self, now: Time) {
        let goal = self.tunables.write_batch_expire;
        let took = (now + goal).since(self.batch_ends);
        if took > goal && !self.writes_idled {
            match took > goal * 3 {
                true => self.write_count /= 2,
                false => self.write_count -= 1,
            }
        } else if took < goal && self.writes_left == 0 {
            match goal > took * 3 {
                true => self.write_count = self.write_count.saturating_mul(2),
                false => self.write_count += 1,
            }
        }
        self.write_count = self.write_count.max(1);
    }
}
