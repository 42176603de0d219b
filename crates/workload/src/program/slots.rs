//! The free slots of a closed loop, and the times since which they are free.
//!
//! The response time of an access counts from the time its slot became free, even if the drive accepts the access
//! later. With `n` slots, `n` accesses are outstanding at any time, however many the drive accepts at once, so the mean
//! response time follows Little's law.

use fathom_base::Time;
use std::collections::VecDeque;

/// A fixed number of slots, each for one access at a time. Memory grows with the accesses in flight, not with the
/// number of slots.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// Number of slots that were never used.
    unused: u32,
    /// The time since which the unused slots are free.
    since: Time,
    /// The times at which the other free slots became free, earliest completion first.
    free: VecDeque<Time>,
}

impl Slots {
    /// Makes `all` slots, free from `since` on.
    pub(super) fn new(all: u32, since: Time) -> Self {
        Self {
            unused: all,
            since,
            free: VecDeque::new(),
        }
    }

    /// Takes a free slot, and returns the time since which it was free.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Time> {
        match self.unused {
            0 => self.free.pop_front(),
            _ => {
                self.unused -= 1;
                Some(self.since)
            }
        }
    }

    /// Frees a slot at time `at`.
    #[inline]
    pub(super) fn give(&mut self, at: Time) {
        self.free.push_back(at);
    }

    /// Returns true if no slot is free.
    pub(super) fn is_empty(&self) -> bool {
        self.unused == 0 && self.free.is_empty()
    }
}
