//! How far a budget reaches: whether the next part of a plan may begin.

use crate::session::Stop;

/// What a part writes together with its preparation, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// What is left of a budget when it begins, or it does not begin.
    pub(crate) least: u64,
    /// On a drive that gives answers.
    pub(crate) expected: u64,
}

impl Needed {
    /// What is needed beside `done` bytes that need not be written again.
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
    /// What the parts need that it did not reach, in bytes; `None` before there is one.
    missing_bytes: Option<u64>,
    /// How it ended, where that was by time.
    time: Option<Stop>,
}

impl Reach {
    /// Whether a part may begin that needs so much, after `spent` and with `left` of the budget, in bytes.
    ///
    /// # Errors
    /// [`Stop::BudgetTime`] and [`Stop::Unreached`].
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

    /// Whether it has reached all parts so far.
    pub(crate) fn reaches(&self) -> bool {
        self.missing_bytes.is_none() && self.time.is_none()
    }

    /// Takes note of why a part was stopped.
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
