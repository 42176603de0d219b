//! Who of an asker's fixed number is free to ask, and since when.
//!
//! An access counts from when its asker was free, also where the drive takes it later: with `n` of them, `n` are waited for
//! at any time, however many the drive takes at once. So the mean time of an access follows Little's law.

use fathom_base::Time;
use std::collections::VecDeque;

/// Those that ask for one access at a time each. Memory grows with what is in flight, not with how many they are.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// Have not asked for anything yet.
    unused: u32,
    /// Since when those are free.
    since: Time,
    /// When the others became free, the first one first.
    free: VecDeque<Time>,
}

impl Slots {
    /// So many, all of them free from a time on.
    pub(super) fn new(all: u32, since: Time) -> Self {
        Self {
            unused: all,
            since,
            free: VecDeque::new(),
        }
    }

    /// Since when the next one is free, if any is; it is not from now on.
    pub(super) fn take(&mut self) -> Option<Time> {
        match self.unused {
            0 => self.free.pop_front(),
            _ => {
                self.unused -= 1;
                Some(self.since)
            }
        }
    }

    /// One of them is free from a time on.
    pub(super) fn give(&mut self, at: Time) {
        self.free.push_back(at);
    }

    /// Whether none is free.
    pub(super) fn is_empty(&self) -> bool {
        self.unused == 0 && self.free.is_empty()
    }
}
