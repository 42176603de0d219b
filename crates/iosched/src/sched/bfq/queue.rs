//! A queue of BFQ: whose it is, and what budget it is to have.

use super::super::Line;
use crate::Io;

/// A budget is at least this part of the largest (`bfq_min_budget`).
pub(super) const MIN_BUDGET_PART: u64 = 32;
/// Whose a queue is: that of a process, or of a priority where nobody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Process(u32),
    Async(u8),
}

pub(super) fn owner(io: &Io) -> Owner {
    match io.sync {
        true => Owner::Process(io.process),
        false => Owner::Async(io.priority.min(7)),
    }
}

/// `bfq_ioprio_to_weight`.
pub(super) fn weight(io: &Io) -> u64 {
    10 * (8 - u64::from(io.priority.min(7)))
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) line: Line,
    pub(super) sync: bool,
    /// From its last request that came; in force from its next turn.
    pub(super) weight: u64,
    /// The budget that it is to have next, that it has, and what it has used, in sectors.
    pub(super) next_budget: u64,
    pub(super) budget: u64,
    pub(super) service: u64,
    pub(super) in_flight: u32,
    /// Where its last request that went began, in bytes.
    pub(super) last: Option<u64>,
    /// Whether a request went in this turn.
    pub(super) fifo_checked: bool,
}

/// Why a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    BudgetExhausted,
    BudgetTimeout,
    NoMoreRequests,
    TooIdle,
}

impl Queue {
    /// A queue for the owner of a request, without the request.
    pub(super) fn new(io: &Io, max_budget: u64) -> Self {
        Self {
            line: Line::default(),
            sync: io.sync,
            weight: weight(io),
            next_budget: match io.sync {
                true => 2 * max_budget / 3,
                false => max_budget,
            },
            budget: 0,
            service: 0,
            in_flight: 0,
            last: None,
            fifo_checked: false,
        }
    }

    /// The budget that it is to have after a turn that ended for that reason: `__bfq_bfqq_recalc_budget`, in sectors.
    pub(super) fn budget_after(&self, reason: Reason, max_budget: u64) -> u64 {
        let least = max_budget / MIN_BUDGET_PART;
        let last = self.next_budget;
        if !self.sync {
            return max_budget;
        }
        let next = match reason {
            Reason::BudgetExhausted => 4 * last,
            Reason::BudgetTimeout => 2 * last,
            Reason::TooIdle if last > 5 * least => last - 4 * least,
            Reason::TooIdle => least,
            Reason::NoMoreRequests => self.service.max(least),
        };
        next.min(max_budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hand::{read, write};

    #[test]
    fn the_budget_follows_the_use_of_the_last_one() {
        const MAX: u64 = 3200;
        let mut queue = Queue::new(&read(0, 0), MAX);
        assert_eq!(queue.next_budget, 2133);
        assert_eq!(queue.budget_after(Reason::BudgetExhausted, MAX), MAX);
        for (last, reason, next) in [
            (500, Reason::BudgetExhausted, 2000),
            (500, Reason::BudgetTimeout, 1000),
            // The least budget is 100: four of them less, or the least.
            (501, Reason::TooIdle, 101),
            (500, Reason::TooIdle, 100),
            (500, Reason::NoMoreRequests, 170),
        ] {
            (queue.next_budget, queue.service) = (last, 170);
            assert_eq!(queue.budget_after(reason, MAX), next, "{reason:?}");
        }
        queue.service = 7;
        assert_eq!(queue.budget_after(Reason::NoMoreRequests, MAX), 100);
        let queue = Queue::new(&write(0, 0), MAX);
        assert_eq!(queue.budget_after(Reason::TooIdle, MAX), MAX);
    }
}
