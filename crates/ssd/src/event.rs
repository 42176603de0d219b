//! What can happen in a drive, and its clock: the time, and the events that are to come.
//!
//! An event exists only where something is contended or ends: a command is through the controller, a piece of a
//! write has crossed the link, a page register holds its data, an operation is done, a request is complete.
//! Everything else is arithmetic. Equal times are served in order of insertion.

use fathom_base::{Dur, EventQueue, Time};

/// What can happen. Numbers are indices of requests or of operations at the flash array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The controller is through with a command.
    Command(u32),
    /// A piece of a write has crossed the link.
    Arrived(u32),
    /// A page register holds its data.
    Sensed(u32),
    /// A flash operation is done.
    OpDone(u32),
    /// A request is complete.
    Complete(u32),
    /// Perhaps no write has come for a while.
    Idle,
    /// Background work begins.
    Background,
    /// The data of a program is in the page registers of a station: the array begins, or its cache register is free.
    Loaded(u32),
    /// The data of a program is in the page register of a station, where a read waits to interrupt it.
    Suspend(u32),
    /// The host may have been idle long enough to collect blocks.
    Collect,
    /// Perhaps a write waits for an erased block that never comes.
    Exhausted,
}

/// Lanes of the event queue: what the controller, the link and the array's sensing end comes in order of time.
pub(crate) mod lane {
    pub(crate) const COMMAND: usize = 0;
    pub(crate) const IN: usize = 1;
    pub(crate) const OUT: usize = 2;
    pub(crate) const SENSE: usize = 3;
    /// Operations of one kind take equally long, so that their ends come in order where no bus makes them wait.
    pub(crate) const READ: usize = 4;
    pub(crate) const PROGRAM: usize = 5;
    pub(crate) const COPY: usize = 6;
    pub(crate) const ERASE: usize = 7;
}

/// The time, and what is to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    events: EventQueue<Event>,
    /// Events that have happened.
    pub(crate) happened: u64,
}

impl Clock {
    /// Something happens at a time.
    #[inline]
    pub(crate) fn at(&mut self, time: Time, event: Event) {
        self.events.push(time, event);
    }

    /// Something happens after a while.
    #[inline]
    pub(crate) fn after(&mut self, wait: Dur, event: Event) {
        self.at(self.now + wait, event);
    }

    /// Something happens at a time, no earlier than what was put into this lane before.
    #[inline]
    pub(crate) fn in_order(&mut self, lane: usize, time: Time, event: Event) {
        self.events.push_in_order(lane, time, event);
    }

    /// Goes on to the next event, if it comes no later than `limit`.
    #[inline]
    pub(crate) fn next(&mut self, limit: Time) -> Option<Event> {
        let (at, event) = self.events.pop_until(limit)?;
        self.now = self.now.max(at);
        self.happened += 1;
        Some(event)
    }

    /// Whether anything happens now.
    #[inline]
    pub(crate) fn happens_now(&self) -> bool {
        self.events.next_at().is_some_and(|next| next <= self.now)
    }

    /// Whether nothing is to come.
    pub(crate) fn is_still(&self) -> bool {
        self.events.is_empty()
    }

    /// Forgets what is to come.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
    }
}
