//! The threads of programs with asynchronous I/O: they submit what they have, collect what is done, and sleep only if
//! there is neither.

use crate::processors::Booking;
use fathom_base::Time;
use std::collections::VecDeque;

/// What a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// It sleeps, or spins if it polls.
    #[default]
    Nothing,
    /// It computes until the booking ends, and then looks for completions.
    Running(Booking),
    /// It collects this number of completions.
    Collecting(Booking, usize),
}

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) doing: Doing,
    /// Completions that it has not collected.
    pub(super) pending: VecDeque<u32>,
    /// When it last submitted; I/Os of one instant share a system call.
    pub(super) submitted: Option<Time>,
    /// Whether an event at the end of what it does is under way.
    pub(super) awaited: bool,
    /// Since when it has done nothing.
    pub(super) idle_since: Time,
}

impl Thread {
    /// The end of what it does.
    pub(super) fn booking(&self) -> Option<Booking> {
        match self.doing {
            Doing::Nothing => None,
            Doing::Running(booking) | Doing::Collecting(booking, _) => Some(booking),
        }
    }
}
