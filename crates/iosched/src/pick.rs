//! A scheduler that is one function: which of the requests that are held goes next.

use crate::{Io, Scheduler};
use fathom_base::Time;
use std::fmt;

/// Holds requests in the order in which they came, and dispatches the one that a function picks.
///
/// The function is told the time and what is held, the oldest first. Where it picks none, it is asked again once something
/// completes or comes. It looks at all that is held each time: a policy for more than some hundred requests implements
/// [`Scheduler`].
pub struct Pick<F> {
    held: Vec<Io>,
    pick: F,
}

impl<F: FnMut(Time, &[Io]) -> Option<Io>> Pick<F> {
    /// Nothing held.
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
