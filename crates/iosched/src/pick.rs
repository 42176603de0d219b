//! A scheduler made from one function, which picks the next of the held requests.

use crate::{Io, Scheduler};
use fathom_base::Time;
use std::fmt;

/// Holds requests in order of arrival and dispatches the one that a function picks.
///
/// The function gets the time and the held requests, oldest first. If it picks none, it is called again after the next
/// arrival or completion. Every call sees all held requests, so a policy for more than some hundred requests should
/// implement [`Scheduler`] instead.
pub struct Pick<F> {
    held: Vec<Io>,
    pick: F,
}

impl<F: FnMut(Time, &[Io]) -> Option<Io>> Pick<F> {
    /// Creates an empty scheduler with this function.
    pub fn new(pick: F) -> Self {
        let held = Vec::new();
        Self { held, pick }
    }
}

impl<F: FnMut(Time, &[Io]) -> Option<Io>> Scheduler for Pick<F> {
    fn insert(&mut self, _now: Time, io: Io) {
        self.held.push(io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        for held in self.held.iter_mut().filter(|held| held.key == before.key) {
            *held = io;
        }
    }

    fn remove(&mut self, io: &Io) {
        self.held.retain(|held| held.key != io.key);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        let picked = (self.pick)(now, &self.held)?;
        let at = self.held.iter().position(|held| held.key == picked.key)?;
        Some(self.held.remove(at))
    }

    fn len(&self) -> usize {
        self.held.len()
    }
}

impl<F> fmt::Debug for Pick<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pick")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}
