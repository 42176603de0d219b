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
    /// The slot that was freed first of those that are free: nearly always the only one.
    first: Option<Time>,
    /// The times at which the other free slots became free, earliest completion first; empty if there is no first.
    free: VecDeque<Time>,
}

impl Slots {
    /// Makes `all` slots, free from `since` on.
    pub(super) fn new(all: u32, since: Time) -> Self {
        Self {
            unused: all,
            since,
            first: None,
            free: VecDeque::new(),
        }
    }

    /// Takes a free slot, and returns the time since which it was free.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Time> {
        match self.unused {
            0 => {
                // The queue is not asked where it is empty, as it nearly always is: a call takes longer than the question.
                let next = match self.free.is_empty() {
                    true => None,
                    false => self.free.pop_front(),
                };
                std::mem::replace(&mut self.first, next)
            }
            _ => {
                self.unused -= 1;
                Some(self.since)
            }
        }
    }

    /// Frees a slot at time `at`.
    #[inline]
    pub(super) fn give(&mut self, at: Time) {
        match self.first {
            None => self.first = Some(at),
            Some(_) => self.free.push_back(at),
        }
    }

    /// Returns true if no slot is free.
    pub(super) fn is_empty(&self) -> bool {
        self.unused == 0 && self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::{Dur, Rng};

    #[test]
    fn slots_are_taken_in_the_order_in_which_they_became_free() {
        let mut rng = Rng::new(1, 0);
        let (mut slots, mut free) = (Slots::new(3, Time(7)), VecDeque::from([Time(7); 3]));
        let mut now = Time(8);
        for _ in 0..1_000 {
            match rng.chance(0.5) {
                true => assert_eq!(slots.take(), free.pop_front()),
                false if free.len() < 3 => {
                    now += Dur(1);
                    slots.give(now);
                    free.push_back(now);
                }
                false => {}
            }
            assert_eq!(slots.is_empty(), free.is_empty());
        }
    }
}
