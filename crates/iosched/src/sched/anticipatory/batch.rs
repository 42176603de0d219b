//! Batches of reads and of writes: what goes next within one, when it ends, how many writes the next one has.

use super::{ASYNC, Anticipatory, SYNC, Step};
use crate::sched::{Place, place};
use fathom_base::{Dur, Time};

impl Anticipatory {
    /// The oldest of a kind if it has expired. Asked in vain within an expiry of the last time: many that have expired
    /// would make the head jump.
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

    /// The next request of the batch, or why there is none.
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

    /// Begins a batch of the other kind if there is any of it, with the oldest.
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

    /// The drive has nothing of the other kind any more.
    pub(super) fn open_batch(&mut self, now: Time) {
        self.is_changing = false;
        match self.side {
            ASYNC => self.batch_ends = now + self.tunables.write_batch_expire,
            _ => self.is_new = true,
        }
    }

    /// A batch of writes is over, all of it done: the next one has more or fewer of them; `update_write_batch`.
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
