//! Tracks how far a budget reaches: decides whether the next part of a plan may begin.

use crate::session::Stop;

/// The bytes that a part writes, including its preparation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// The bytes of budget that must be left for it to begin.
    pub(crate) least: u64,
    /// The expected bytes on a drive that gives an answer.
    pub(crate) expected: u64,
}

impl Needed {
    /// Subtracts `done` bytes that need not be written again.
    pub(crate) fn beside(self, done: u64) -> Self {
        Self {
            least: self.least.saturating_sub(done),
            expected: self.expected.saturating_sub(done),
        }
    }
}

/// How far a budget has reached.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The bytes needed by the parts that it did not cover, summed; `None` while it has covered all.
    missing_bytes: Option<u64>,
    /// The stop that ended it, if that was the budget of time.
    time: Option<Stop>,
}

impl Reach {
    /// Checks that a part that needs these bytes may begin, after `spent` bytes and with `left` bytes of the budget.
    ///
    /// # Errors
    /// [`Stop::BudgetTime`] or [`Stop::Unreached`] if it may not.
    pub(crate) fn begin(&mut self, needs: Needed, spent: u64, left: u64) -> Result<(), Stop> {
        if let Some(stop) = &self.time {
            return Err(stop.clone());
        }
        if self.missing_bytes.is_none() && needs.least <= left {
            return Ok(());
        }
        let missing = self.missing_bytes.unwrap_or_default();
        let all = missing.saturating_add(needs.expected);
        self.missing_bytes = Some(all);
        Err(Stop::Unreached {
            needs_bytes: needs.expected,
            left_bytes: left.saturating_sub(missing),
            allow_bytes: spent.saturating_add(all),
        })
    }

    /// Returns true if the budget has covered all parts so far.
    pub(crate) fn reaches(&self) -> bool {
        self.missing_bytes.is_none() && self.time.is_none()
    }

    /// Notes why a part was stopped.
    pub(crate) fn stopped(&mut self, stop: &Stop) {
        match stop {
            Stop::BudgetBytes { wanted, .. } => self.missing_bytes = Some(*wanted),
            Stop::BudgetTime { .. } => self.time = Some(stop.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Needed, Reach};
    use crate::session::Stop;

    #[test]
    fn nothing_begins_after_the_first_that_is_not_reached() {
        let needs = |least, expected| Needed { least, expected };
        let mut reach = Reach::default();
        assert_eq!(reach.begin(needs(100, 192), 0, 192), Ok(()));
        let unreached = |needs_bytes, left_bytes, allow_bytes| {
            Err(Stop::Unreached {
                needs_bytes,
                left_bytes,
                allow_bytes,
            })
        };
        assert_eq!(
            reach.begin(needs(64, 80), 192, 8),
            unreached(80, 8, 192 + 80)
        );
        let nothing = Needed::default();
        assert_eq!(reach.begin(nothing, 192, 8), unreached(0, 0, 192 + 80));
        let mut reach = Reach::default();
        let stop = Stop::BudgetTime {
            spent_ns: 1,
            budget_ns: 1,
        };
        reach.stopped(&stop);
        assert_eq!(reach.begin(nothing, 0, u64::MAX), Err(stop));
    }
}
