//! Whose turn it is: the order of queues, their slices, and what ends one.

use super::{Active, Cfq, FRONT, IDLE_GRACE, PRIORITIES, Queue, SEEKY_IDLE, signed};
use crate::sched::{Place, place};
use crate::{Class, Io};
use fathom_base::{Dur, Time};

impl Cfq {
    /// The slice of a queue; `cfq_prio_slice`.
    pub(super) fn slice(&self, sync: bool, priority: u8) -> Dur {
        let base = match sync {
            true => self.tunables.slice_sync,
            false => self.tunables.slice_async,
        };
        // base + base / 5 * (4 - priority), without a negative number in between.
        let fifths = u64::from(PRIORITIES + 1 - priority);
        Dur(base.0 % 5) + Dur(base.0 / 5) * fifths
    }

    /// When a queue has its turn: now, and later the shorter its slice is and the more queues there are.
    pub(super) fn enter_turns(&mut self, queue: usize, now: Time, in_front: bool) {
        self.leave_turns(queue);
        let busy = self.turns.len() as i64;
        let (sync, priority) = (self.queues[queue].sync, self.queues[queue].priority);
        let longest = signed(self.slice(true, 0).0);
        let shorter = longest.saturating_sub(signed(self.slice(sync, priority).0));
        let this = &mut self.queues[queue];
        let at = if in_front {
            FRONT
        } else {
            let residue = std::mem::take(&mut this.residue);
            let later = busy.saturating_mul(shorter).saturating_add(residue);
            signed(now.0).saturating_add(later)
        };
        let turn = (this.class, at, self.sequence, queue as u32);
        self.sequence += 1;
        this.turn = Some(turn);
        self.turns.insert(turn);
    }

    pub(super) fn leave_turns(&mut self, queue: usize) {
        if let Some(turn) = self.queues[queue].turn.take() {
            self.turns.remove(&turn);
        }
    }

    /// The active queue's turn is over. What it has left is remembered if it did not come to its end by itself.
    pub(super) fn end_slice(&mut self, now: Time, keep_residue: bool) {
        let Some(active) = self.active.take() else {
            return;
        };
        let this = &mut self.queues[active.queue];
        if let Some(end) = this.slice_end
            && keep_residue
        {
            this.residue = signed(end.0).saturating_sub(signed(now.0));
        }
        if !this.sorted.is_empty() {
            self.enter_turns(active.queue, now, false);
        }
    }

    /// Until when the idle class stays back, where nothing else wants the drive; `cfq_get_next_queue`.
    pub(super) fn grace(&self) -> Option<Time> {
        let (class, ..) = self.turns.first()?;
        (*class == Class::Idle).then(|| self.answered + IDLE_GRACE)
    }

    /// The queue whose turn it is now has it.
    pub(super) fn begin_slice(&mut self, now: Time) -> Option<Active> {
        if self.grace().is_some_and(|until| now < until) {
            return None;
        }
        let queue = self.turns.first()?.3 as usize;
        let this = &mut self.queues[queue];
        this.slice_end = None;
        this.fifo_checked = false;
        self.active = Some(Active {
            queue,
            round: 0,
            idle_until: None,
        });
        self.active
    }

    /// The queue to serve: the active one while it may go on, else the next; `cfq_select_queue`.
    pub(super) fn select(&mut self, now: Time) -> Option<Active> {
        if let Some(active) = self.active {
            let this = &self.queues[active.queue];
            if !this.has_used_slice(now) {
                if !this.sorted.is_empty() {
                    return Some(active);
                }
                let waits = match active.idle_until {
                    Some(until) => now < until,
                    None => this.dispatched > 0 && this.idle_window,
                };
                if waits {
                    return None;
                }
            }
            self.end_slice(now, false);
        }
        self.begin_slice(now)
    }

    /// Requests of a queue in a round.
    pub(super) fn quantum(&self, queue: usize) -> u32 {
        match self.queues[queue].class {
            Class::Idle => 1,
            _ => self.tunables.quantum,
        }
    }

    /// Whether a queue may have another request now.
    pub(super) fn may_dispatch(&self, active: Active) -> bool {
        let this = &self.queues[active.queue];
        let quantum = self.quantum(active.queue);
        let full = this.dispatched >= quantum
            && (self.turns.len() > 1 || this.dispatched >= quantum.saturating_mul(4));
        // What nobody waits for stays out of the way of what somebody does.
        (active.round > 0 || !full) && (this.sync || self.sync_in_flight == 0)
    }

    /// The request that a queue gives: the oldest if it has expired and this is the slice's first, else the nearest.
    pub(super) fn pick(&mut self, queue: usize, now: Time) -> Option<Place> {
        let expired = self.waits_too_long(&self.queues[queue], now);
        let this = &mut self.queues[queue];
        this.fifo_checked = true;
        match expired {
            true => this.sorted.oldest(&self.pool).map(place),
            false => this.next,
        }
    }

    /// A round has ended: an async queue that had its share gives way to others, and one of the idle class at once.
    pub(super) fn ends_early(&self, queue: usize, round: u32) -> bool {
        let this = &self.queues[queue];
        let spare = u32::from(PRIORITIES - this.priority);
        let share = self.tunables.slice_async_rq.saturating_mul(2 * spare);
        let had = this.class == Class::Idle || (!this.sync && round >= share);
        self.turns.len() > 1 && had
    }

    /// Whether a queue's oldest request has expired; only until the queue has given one in its slice.
    pub(super) fn waits_too_long(&self, this: &Queue, now: Time) -> bool {
        let expire = match this.sync {
            true => self.tunables.fifo_expire_sync,
            false => self.tunables.fifo_expire_async,
        };
        let oldest = this.sorted.oldest(&self.pool);
        !this.fifo_checked && oldest.is_some_and(|io| now >= io.queued + expire)
    }

    /// Whether a new request of another queue ends the active queue's turn; `cfq_should_preempt`.
    pub(super) fn preempts(&self, now: Time, io: &Io) -> bool {
        let Some(active) = self.active else {
            return false;
        };
        let this = &self.queues[active.queue];
        if this.has_used_slice(now) {
            return true;
        }
        if io.class == Class::Idle || this.class == Class::Idle {
            return io.class != Class::Idle;
        }
        if io.sync && !this.sync {
            return !self.waits_too_long(this, now);
        }
        // While the drive is idle for a process, a request as near as its own usually are is as good.
        let usual = this.habit.seek.trusted();
        active.idle_until.is_some()
            && usual.is_some_and(|mean| self.head.distance(io.offset) <= mean)
    }

    /// The queue has run dry within its slice: the drive is kept idle for its process, or not.
    pub(super) fn wait_for(&self, queue: usize, now: Time) -> Option<Time> {
        let this = &self.queues[queue];
        if self.tunables.slice_idle == Dur::ZERO || !this.idle_window {
            return None;
        }
        let seeks = this.habit.seek.trusted().is_some() && this.seeks();
        let idle = match seeks {
            true => self.tunables.slice_idle.min(SEEKY_IDLE),
            false => self.tunables.slice_idle,
        };
        Some(now + idle)
    }
}
