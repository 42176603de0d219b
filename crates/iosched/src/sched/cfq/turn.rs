//! Turns: the order of queues, their slices, and the end of a slice.

use super::{Active, Cfq, FRONT, IDLE_GRACE, PRIORITIES, Queue, SEEKY_IDLE, signed};
use crate::sched::{Place, place};
use crate::{Class, Io};
use fathom_base::{Dur, Time};

impl Cfq {
    /// The length of a queue's slice; `cfq_prio_slice`.
    pub(super) fn slice(&self, sync: bool, priority: u8) -> Dur {
        let base = match sync {
            true => self.tunables.slice_sync,
            false => self.tunables.slice_async,
        };
        // base + base / 5 * (4 - priority), without a negative intermediate value.
        let fifths = u64::from(PRIORITIES + 1 - priority);
        Dur(base.0 % 5) + Dur(base.0 / 5) * fifths
    }

    /// Puts a queue into the order of turns. Its turn comes later the shorter its slice is and the more queues wait.
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

    /// Ends the turn of the active queue. The rest of its slice is recorded if `keep_residue`.
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

    /// The time until which the idle class has to wait, if no other class waits; `cfq_get_next_queue`.
    pub(super) fn grace(&self) -> Option<Time> {
        let (class, ..) = self.turns.first()?;
        (*class == Class::Idle).then(|| self.answered + IDLE_GRACE)
    }

    /// Starts the slice of the queue whose turn is next.
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

    /// Selects the queue to serve: the active one while it may continue, else the next; `cfq_select_queue`.
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

    /// Maximum number of requests of a queue in a round.
    pub(super) fn quantum(&self, queue: usize) -> u32 {
        match self.queues[queue].class {
            Class::Idle => 1,
            _ => self.tunables.quantum,
        }
    }

    /// Returns whether a queue may dispatch another request now.
    pub(super) fn may_dispatch(&self, active: Active) -> bool {
        let this = &self.queues[active.queue];
        let quantum = self.quantum(active.queue);
        let full = this.dispatched >= quantum
            && (self.turns.len() > 1 || this.dispatched >= quantum.saturating_mul(4));
        // Async requests are not dispatched while sync ones are in flight.
        (active.round > 0 || !full) && (this.sync || self.sync_in_flight == 0)
    }

    /// Chooses the request of a queue: the oldest if it has expired and this is the first of the slice, else the
    /// nearest.
    pub(super) fn pick(&mut self, queue: usize, now: Time) -> Option<Place> {
        let expired = self.waits_too_long(&self.queues[queue], now);
        let this = &mut self.queues[queue];
        this.fifo_checked = true;
        match expired {
            true => this.sorted.oldest(&self.pool).map(place),
            false => this.next,
        }
    }

    /// Returns whether a queue gives way to others after a round: an async queue that had its share, or any queue of
    /// the idle class.
    pub(super) fn ends_early(&self, queue: usize, round: u32) -> bool {
        let this = &self.queues[queue];
        let spare = u32::from(PRIORITIES - this.priority);
        let share = self.tunables.slice_async_rq.saturating_mul(2 * spare);
        let had = this.class == Class::Idle || (!this.sync && round >= share);
        self.turns.len() > 1 && had
    }

    /// Returns whether a queue's oldest request has expired. False once the queue has dispatched a request in its
    /// slice.
    pub(super) fn waits_too_long(&self, this: &Queue, now: Time) -> bool {
        let expire = match this.sync {
            true => self.tunables.fifo_expire_sync,
            false => self.tunables.fifo_expire_async,
        };
        let oldest = this.sorted.oldest(&self.pool);
        !this.fifo_checked && oldest.is_some_and(|io| now >= io.queued + expire)
    }

    /// Returns whether a new request of another queue ends the active queue's turn; `cfq_should_preempt`.
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
        // While the drive is idle for a process, a request of another one is as good if it is within the usual seek
        // distance.
        let usual = this.habit.seek.trusted();
        active.idle_until.is_some()
            && usual.is_some_and(|mean| self.head.distance(io.offset) <= mean)
    }

    /// Decides whether to keep the drive idle for a queue that has run dry within its slice. Returns the end of the
    /// wait.
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
