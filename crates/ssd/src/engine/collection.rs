//! When blocks are collected in idle time (`gc.background_percent`): after the host has been idle for a while, and then
//! one after the other until it is not, or there is nothing to collect.

use crate::event::{Clock, Event};
use crate::spec::Gc;
use fathom_base::{Dur, Time};

#[derive(Clone, Debug)]
pub(super) struct Collection {
    /// How long the host must be idle; `None` for a drive that does not collect in idle time.
    delay: Option<Dur>,
    scheduled: bool,
    /// An erase will come after which there may be more to do.
    at_work: bool,
    last_activity: Time,
    /// Blocks collected.
    pub(super) collected: u64,
}

impl Collection {
    pub(super) fn new(gc: &Gc) -> Self {
        Self {
            delay: (gc.background_percent > 0.0).then_some(gc.background_delay),
            scheduled: false,
            at_work: false,
            last_activity: Time::ZERO,
            collected: 0,
        }
    }

    /// A request is complete.
    #[inline]
    pub(super) fn note_complete(&mut self, clock: &mut Clock) {
        let Some(delay) = self.delay else { return };
        self.last_activity = clock.now;
        if clock.is_idle() && !self.scheduled {
            self.scheduled = true;
            clock.after(delay, Event::Collect);
        }
    }

    /// [`Event::Collect`]: whether it is time for a step; `may` if the host is idle and the drive fit to do it.
    pub(super) fn is_due(&mut self, may: bool, clock: &mut Clock) -> bool {
        self.scheduled = false;
        let Some(delay) = self.delay.filter(|_| may && !self.at_work) else {
            return false;
        };
        let due = self.last_activity + delay;
        if due > clock.now {
            self.scheduled = true;
            clock.at(due, Event::Collect);
        }
        due <= clock.now
    }

    /// A step was taken; `erasing` if an erase is under way that may make room for another one.
    pub(super) fn stepped(&mut self, collected: bool, erasing: bool) {
        self.collected += u64::from(collected);
        self.at_work = collected || erasing;
    }

    /// An erase is done: goes on if the host is still idle.
    pub(super) fn go_on(&mut self, clock: &mut Clock) {
        if std::mem::take(&mut self.at_work) && !self.scheduled {
            self.scheduled = true;
            clock.at(clock.now, Event::Collect);
        }
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        (self.scheduled, self.at_work) = (false, false);
    }
}
