//! Turns: the end of a turn, the budget of the next one, and whether the drive is kept idle.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_select_queue`, `bfq_bfqq_expire`, `__bfq_bfqq_recalc_budget`,
//! `bfq_bfqq_is_slow`, `bfq_better_to_idle`; `block/bfq-wf2q.c`: `bfq_bfqq_charge_time`.

use super::rate::SHORT_PAUSE;
use super::{Bfq, DEFAULT_BUDGET, KNOWN_BUDGETS};
use crate::Class;
use fathom_base::{Dur, SECTOR_BYTES, Time};

/// The reason for the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    BudgetExhausted,
    BudgetTimeout,
    NoMoreRequests,
    TooIdle,
    Preempted,
}

impl Bfq {
    /// Selects the queue to serve, which has a request. `None` if the drive is kept idle instead.
    pub(super) fn select(&mut self, now: Time) -> Option<u32> {
        let mut id = match self.serving {
            Some(id) if self.is_over(id, now) && !self.must_idle(id) => {
                self.expire(id, false, Reason::BudgetTimeout, now);
                self.begin(now)?
            }
            Some(id) => id,
            None => self.begin(now)?,
        };
        loop {
            let reason = match self.next_charge(id) {
                Some(charge) if charge <= self.queues[id as usize].budget_left() => {
                    self.wait.waits = false;
                    self.wait.until = None;
                    return Some(id);
                }
                Some(_) => Reason::BudgetExhausted,
                None if self.wait.waits
                    || (self.queues[id as usize].in_flight > 0 && self.is_better_to_idle(id)) =>
                {
                    return self.instead_of(id);
                }
                None => Reason::NoMoreRequests,
            };
            self.expire(id, false, reason, now);
            id = self.begin(now)?;
        }
    }

    /// Begins the turn of the next queue.
    fn begin(&mut self, now: Time) -> Option<u32> {
        let id = self.time.serve()?;
        self.budgets = (self.budgets * 7 + 256) / 8;
        let queue = &mut self.queues[id as usize];
        queue.fifo_checked = false;
        if queue.raise.by > 1
            && queue.raise.is_soft()
            && queue.raise.since < now
            && let Some(timeout) = queue.timeout.filter(|&at| at < now)
        {
            queue.raise.since = match timeout > queue.raise.since {
                true => queue.raise.since + now.since(timeout),
                false => now,
            };
        }
        let longer = match queue.raise.is_soft() {
            true => 1,
            false => self.time.weight_of(id) / queue.weight.max(1),
        };
        queue.timeout = Some(now + self.tunables.timeout_sync * longer.max(1));
        self.turn_began = now;
        self.serving = Some(id);
        Some(id)
    }

    /// The charge of the next request of a queue, in sectors.
    pub(super) fn next_charge(&self, id: u32) -> Option<u64> {
        let next = self.queues[id as usize].next?;
        Some(self.charge(id, self.pool.get(next.1)?))
    }

    /// Returns whether the time of the turn is over. While the drive waits for the queue, only if much of the budget is
    /// left.
    pub(super) fn is_over(&self, id: u32, now: Time) -> bool {
        let queue = &self.queues[id as usize];
        let late = queue.timeout.is_none_or(|at| at <= now);
        late && (!self.wait.waits || queue.budget_left() >= queue.budget / 3)
    }

    fn must_idle(&self, id: u32) -> bool {
        self.queues[id as usize].sorted.is_empty() && self.is_better_to_idle(id)
    }

    /// Returns whether keeping the drive idle for a queue costs no throughput. It does on a drive without a head that
    /// queues.
    pub(super) fn idling_pays(&self, id: u32) -> bool {
        let queue = &self.queues[id as usize];
        let rotational = self.tunables.is_rotational();
        let sequential = !queue.is_seeky() && queue.habit.io_bound && queue.habit.short_think;
        let pays = (rotational && !self.depth.queues)
            || ((rotational || !self.depth.queues) && sequential);
        pays && self.busy.raised == 0
    }

    /// Returns whether shares depend on keeping the drive idle for a queue: `idling_needed_for_service_guarantees`.
    fn idling_is_fair(&self, id: u32) -> bool {
        let queue = &self.queues[id as usize];
        let raised = queue.raise.by > 1
            && (self.busy.raised < self.busy.all || self.in_flight >= queue.in_flight + 4);
        raised || self.is_asymmetric(id) || self.busy.all == 1
    }

    pub(super) fn is_better_to_idle(&self, id: u32) -> bool {
        let queue = &self.queues[id as usize];
        queue.sync
            && queue.class != Class::Idle
            && self.tunables.slice_idle > Dur::ZERO
            && (self.idling_pays(id) || self.idling_is_fair(id))
    }

    /// Ends a turn. With `compensate`, the time since the drive began to idle does not count.
    pub(super) fn expire(&mut self, id: u32, compensate: bool, reason: Reason, now: Time) {
        let (slow, elapsed) = self.is_slow(id, compensate, now);
        let queue = &self.queues[id as usize];
        let unused = queue.budget_left() >= queue.budget / 3;
        let late = reason == Reason::BudgetTimeout && unused;
        if queue.raise.by == 1 && (slow || late) {
            self.charge_time(id, elapsed);
        }
        self.note_end_of_turn(id, now);
        self.wait.injected = false;
        self.wait.on_dispatch = false;
        self.wait.request = None;
        self.rebudget_after(id, reason);
        let keeps = reason == Reason::Preempted && self.idling_is_fair(id);
        let queue = &mut self.queues[id as usize];
        if queue.sorted.is_empty() && !keeps {
            if queue.in_flight == 0 {
                queue.timeout = Some(now);
            }
            self.rest(id, true);
        } else {
            let weight = self.settle_weight(id);
            let queue = &self.queues[id as usize];
            self.time.requeue(id, queue.service, weight, queue.budget);
        }
        self.serving = None;
        self.wait.waits = false;
        self.wait.until = None;
        let used_up = matches!(reason, Reason::BudgetTimeout | Reason::BudgetExhausted);
        let queue = &mut self.queues[id as usize];
        if !queue.busy && !used_up {
            queue.ran_dry = true;
        } else {
            queue.service = 0;
        }
    }

    /// Returns whether a queue makes little use of its time, and the length of that time.
    fn is_slow(&self, id: u32, compensate: bool, now: Time) -> (bool, Dur) {
        let queue = &self.queues[id as usize];
        if !queue.sync {
            return (false, Dur::ZERO);
        }
        let end = if compensate { self.wait.since } else { now };
        let elapsed = end.since(self.turn_began);
        if elapsed < Dur::ms(1) {
            // Too short to tell: a seeky queue is charged for the minimum time.
            let least = match self.tunables.is_rotational() {
                true => self.tunables.slice_idle,
                false => SHORT_PAUSE,
            };
            return (queue.is_seeky(), least);
        }
        let slow = match elapsed > Dur::ms(20) {
            true => queue.service < self.max_budget / 2,
            false => queue.is_seeky(),
        };
        (slow, elapsed)
    }

    /// Charges a queue for its time as if it had used the drive at its peak rate.
    fn charge_time(&mut self, id: u32, elapsed: Dur) {
        let whole = self.tunables.timeout_sync;
        let part = u128::from(elapsed.min(whole).0) * u128::from(self.max_budget);
        let for_time = (part / u128::from(whole.0)) as u64;
        let queue = &mut self.queues[id as usize];
        let total = for_time.max(queue.service);
        queue.budget = queue.budget.max(total);
        let more = total - queue.service;
        self.serve(id, more);
    }

    /// Sets the budget of a queue after a turn that ended for this reason.
    fn rebudget_after(&mut self, id: u32, reason: Reason) {
        let (least, most) = (self.least_budget(), self.max_budget);
        let queue = &mut self.queues[id as usize];
        let last = queue.max_budget;
        let next = if !queue.sync {
            most
        } else if queue.raise.by > 1 {
            2 * least
        } else {
            match reason {
                Reason::TooIdle if queue.in_flight > 0 => (2 * last).min(most),
                Reason::TooIdle if last > 5 * least => last - 4 * least,
                Reason::TooIdle => least,
                Reason::BudgetTimeout => (2 * last).min(most),
                Reason::BudgetExhausted => (4 * last).min(most),
                Reason::NoMoreRequests => queue.service.max(least),
                Reason::Preempted => return,
            }
        };
        let known = self.budgets >= KNOWN_BUDGETS && self.tunables.max_budget.0 == 0;
        queue.max_budget = if known { next.min(most) } else { next };
        if let Some(charge) = self.next_charge(id) {
            let queue = &mut self.queues[id as usize];
            queue.budget = queue.max_budget.max(charge);
        }
    }

    /// The maximum budget as far as it is known, in sectors: `bfq_max_budget`.
    pub(super) fn budget_limit(&self) -> u64 {
        match self.budgets < KNOWN_BUDGETS && self.tunables.max_budget.0 == 0 {
            true => DEFAULT_BUDGET.0 / SECTOR_BYTES,
            false => self.max_budget,
        }
    }
}
