//! The path out: a request is dispatched and completes; the drive may be kept idle then.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_dispatch_rq_from_bfqq`, `bfq_remove_request`, `bfq_completed_request`,
//! `bfq_arm_slice_timer`, `bfq_idle_slice_timer_body`.

use super::rate::{FEW, SHORT_PAUSE};
use super::turn::Reason;
use super::{Bfq, MIN_BUDGET_PART, Place, head, place};
use crate::Io;
use fathom_base::{Bytes, Dur, Time};

impl Bfq {
    /// Adapts the budget of a queue to a new next request, which may need more: `bfq_updated_next_req`.
    pub(super) fn rebudget(&mut self, id: u32) {
        if self.serving == Some(id) || !self.queues[id as usize].busy {
            return;
        }
        let Some(charge) = self.next_charge(id) else {
            return;
        };
        let queue = &mut self.queues[id as usize];
        let budget = queue.max_budget.max(charge).max(queue.service);
        if queue.budget != budget {
            queue.budget = budget;
            let weight = self.settle_weight(id);
            self.time.rebudget(id, weight, budget);
        }
    }

    /// Takes a request out of its queue. The next one is the nearest to it, or an expired one: `bfq_find_next_rq`.
    pub(super) fn take(&mut self, id: u32, at: Place, now: Time) -> Option<Io> {
        self.pool.get(at.1)?;
        if self.queues[id as usize].next == Some(at) {
            let next = self.after(id, at, now);
            self.queues[id as usize].next = next;
            self.rebudget(id);
        }
        let queue = &mut self.queues[id as usize];
        let io = queue.sorted.remove(&mut self.pool, at)?;
        self.held -= 1;
        if queue.sorted.is_empty() {
            queue.next = None;
            if queue.busy && self.serving != Some(id) {
                self.rest(id, false);
                let queue = &mut self.queues[id as usize];
                (queue.budget, queue.service) = (0, 0);
            }
        }
        Some(io)
    }

    pub(super) fn after(&mut self, id: u32, at: Place, now: Time) -> Option<Place> {
        let queue = &mut self.queues[id as usize];
        if !std::mem::replace(&mut queue.fifo_checked, true) {
            let expire = match queue.sync {
                true => self.tunables.fifo_expire_sync,
                false => self.tunables.fifo_expire_async,
            };
            let oldest = queue.sorted.oldest(&self.pool);
            if let Some(oldest) = oldest.filter(|io| io.queued + expire <= now)
                && place(oldest) != at
            {
                return Some(place(oldest));
            }
        }
        head(&self.tunables, at.0).next(&self.pool, &queue.sorted, at)
    }

    /// Accounts service given to a queue, in sectors.
    pub(super) fn serve(&mut self, id: u32, sectors: u64) {
        self.note_service(id, sectors);
        self.queues[id as usize].service += sectors;
        self.time.served(id, sectors);
    }

    /// Dispatches the next request of a queue: `bfq_dispatch_rq_from_bfqq`.
    pub(super) fn go(&mut self, id: u32, now: Time) -> Option<Io> {
        let at = self.queues[id as usize].next?;
        let charge = self.next_charge(id)?;
        self.serve(id, charge);
        if self.serving == Some(id) && std::mem::take(&mut self.wait.on_dispatch) {
            self.wait.request = Some(at.1);
        }
        self.queues[id as usize].in_flight += 1;
        let io = *self.pool.get(at.1)?;
        if self.rate.dispatched(now, &io, self.in_flight) {
            self.update_budget();
        }
        self.take(id, at, now);
        self.in_flight += 1;
        if self.serving == Some(id) {
            self.update_raise(id, now);
        }
        Some(io)
    }

    /// Adapts the maximum budget to a new peak rate: `update_thr_responsiveness_params`.
    pub(super) fn update_budget(&mut self) {
        if self.tunables.max_budget == Bytes(0) {
            let sectors = self.rate.sectors_in(self.tunables.timeout_sync);
            self.max_budget = sectors.max(MIN_BUDGET_PART);
        }
    }

    /// Ends the turn of a queue that made no request while the drive was kept idle for it: `bfq_idle_slice_timer_body`.
    pub(super) fn tick(&mut self, now: Time) {
        self.time.tick(now);
        let (Some(at), Some(id)) = (self.wait.until.filter(|&at| at <= now), self.serving) else {
            return;
        };
        self.wait.waits = false;
        self.wait.until = None;
        let queue = &self.queues[id as usize];
        let reason = match queue.timeout.is_none_or(|timeout| timeout <= at) {
            true => Reason::BudgetTimeout,
            false if queue.sorted.is_empty() => Reason::TooIdle,
            false => return,
        };
        self.expire(id, true, reason, at);
    }

    /// Handles the completion of a request of a queue: `bfq_completed_request`.
    pub(super) fn settle(&mut self, id: u32, now: Time) {
        let few = self.serving.is_some_and(|serving| {
            let queue = &self.queues[serving as usize];
            queue.habit.short_think && queue.in_flight as usize + queue.sorted.len() < FEW
        });
        self.depth.sample(self.in_flight, self.held, few);
        self.in_flight = self.in_flight.saturating_sub(1);
        let queue = &mut self.queues[id as usize];
        queue.in_flight = queue.in_flight.saturating_sub(1);
        queue.habit.ended = now;
        if queue.in_flight == 0 && !queue.busy {
            queue.timeout = Some(now);
            self.discount(id);
        }
        if self.rate.completed(now) {
            self.update_budget();
        }
        let queue = &self.queues[id as usize];
        self.last_completed = (queue.process.is_some() || !queue.sync).then_some(id);
        self.note_done(id, now);
        if self.serving == Some(id) {
            self.settle_turn(id, now);
        }
    }

    /// Handles a completion in the queue being served.
    pub(super) fn settle_turn(&mut self, id: u32, now: Time) {
        let queue = &self.queues[id as usize];
        let (dry, in_flight) = (queue.sorted.is_empty(), queue.in_flight);
        let idles = self.is_better_to_idle(id);
        if dry && idles {
            if in_flight == 0 {
                self.wait_for(id, now);
            }
        } else if self.is_over(id, now) {
            self.expire(id, false, Reason::BudgetTimeout, now);
        } else if dry && (in_flight == 0 || !idles) {
            self.expire(id, false, Reason::NoMoreRequests, now);
        }
    }

    /// Keeps the drive idle for a queue: `bfq_arm_slice_timer`.
    pub(super) fn wait_for(&mut self, id: u32, now: Time) {
        let queue = &self.queues[id as usize];
        let whole = self.tunables.slice_idle;
        let wait = if queue.is_seeky() && queue.raise.by == 1 && !self.is_asymmetric(id) {
            whole.min(SHORT_PAUSE)
        } else if queue.raise.by > 1 {
            whole.max(Dur::ms(20))
        } else {
            whole
        };
        self.wait.waits = true;
        self.wait.since = now;
        self.wait.until = Some(now + wait);
    }
}
