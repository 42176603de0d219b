//! The limits of a step. They are checked before every transfer, and the time before every request: no more is submitted
//! once what is in flight will take the rest of it.

use super::stop::Stop;
use fathom_base::{Dur, Time};
use fathom_block::{IoError, IoErrorKind, Op};
use std::ops::Range;

/// How far a loop of requests is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Along {
    /// When it began.
    pub(super) began: Time,
    pub(super) now: Time,
    /// The requests that are complete, and those in flight.
    pub(super) done: u64,
    pub(super) open: u64,
}

impl Along {
    /// Returns true if what is in flight will be complete by a time, at the pace of what is complete.
    pub(super) fn ends_by(&self, until: Time) -> bool {
        let pace = self.now.since(self.began).0 / self.done.max(1);
        let open = if self.done == 0 { 0 } else { self.open };
        self.now + Dur(pace.saturating_mul(open)) < until
    }
}

/// The limits of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The bytes left of the user's budget when the step begins.
    pub(super) budget_left: u64,
    /// The bytes that the parameter may still write when the step begins.
    pub(super) allowance_left: u64,
    /// The part of the budget of bytes, and the budget, if that sets what the parameter may write.
    pub(super) part_bytes: Option<(u64, u64)>,
    /// The time spent when the step begins, and the time allowed, in nanoseconds; `None` without a limit.
    pub(super) time_ns: Option<(u64, u64)>,
    /// The time that the parameter has spent, and its part of the budget, in nanoseconds; `None` without one.
    pub(super) part_ns: Option<(u64, u64)>,
    /// Whether writes are refused.
    pub(super) read_only: bool,
    /// The region that no transfer may leave, in bytes.
    pub(super) region: Range<u64>,
}

impl Limits {
    /// Checks that the transfers of `list` are allowed after this step has written `written` bytes. Returns their total
    /// length.
    pub(super) fn check(&self, op: Op, list: &[(u64, u64)], written: u64) -> Result<u64, Stop> {
        if op == Op::Flush {
            return Ok(0);
        }
        let mut bytes = 0u64;
        for &(offset, len) in list {
            if offset < self.region.start || offset.saturating_add(len) > self.region.end {
                let kind = IoErrorKind::OutOfRange;
                return Err(Stop::Io(IoError {
                    kind,
                    op,
                    offset,
                    len,
                }));
            }
            bytes = bytes.saturating_add(len);
        }
        if op != Op::Read && self.read_only {
            return Err(Stop::ReadOnly);
        }
        if op == Op::Write {
            self.check_bytes(bytes, written)?;
        }
        Ok(bytes)
    }

    /// Checks that `wanted` more bytes may be written after this step has written `written`.
    pub(super) fn check_bytes(&self, wanted: u64, written: u64) -> Result<(), Stop> {
        if self.read_only {
            return Err(Stop::ReadOnly);
        }
        let left = self.budget_left.saturating_sub(written);
        if wanted > left {
            return Err(Stop::BudgetBytes { wanted, left });
        }
        let left = self.allowance_left.saturating_sub(written);
        match self.part_bytes {
            _ if wanted <= left => Ok(()),
            Some((part, budget)) => Err(Stop::PartBytes { part, budget }),
            None => Err(Stop::Allowance { wanted, left }),
        }
    }

    /// Returns when the time of a step that began at `began` is over; `None` without a limit.
    pub(super) fn time_over(&self, began: Time) -> Option<Time> {
        let left = |(before, budget): (u64, u64)| began + Dur(budget.saturating_sub(before));
        let both = [self.time_ns, self.part_ns];
        both.into_iter().flatten().map(left).min()
    }

    /// Returns why a step stops that has spent `spent` and cannot end in time.
    pub(super) fn over(&self, spent: Dur) -> Stop {
        let left = |(before, budget): (u64, u64)| budget.saturating_sub(before);
        let (before, budget_ns) = self.time_ns.unwrap_or_default();
        if let Some(part) = self.part_ns
            && left(part) < budget_ns.saturating_sub(before)
        {
            return Stop::PartTime {
                part_ns: part.1,
                budget_ns,
            };
        }
        Stop::BudgetTime {
            spent_ns: before.saturating_add(spent.0),
            budget_ns,
        }
    }

    /// Checks that the step may go on for `pause` after it has spent `spent`.
    pub(super) fn check_time(&self, spent: Dur, pause: Dur) -> Result<(), Stop> {
        let over = |(before, budget): (u64, u64)| {
            before.saturating_add(spent.0).saturating_add(pause.0) >= budget
        };
        let both = [self.time_ns, self.part_ns];
        match both.into_iter().flatten().any(over) {
            true => Err(self.over(spent)),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_flight_takes_time_too() {
        let at = |ms: u64| Time::ZERO + Dur::ms(ms);
        let along = Along {
            began: at(100),
            now: at(200),
            done: 10,
            open: 30,
        };
        // 10 ms for each of 30.
        assert!(along.ends_by(at(501)) && !along.ends_by(at(500)));
        let first = Along { done: 0, ..along };
        assert!(first.ends_by(at(201)) && !first.ends_by(at(200)));
    }
}
