//! Background garbage collection (`gc.background_percent`): starts after the host has been idle for a while and collects
//! one block after another until a request arrives or nothing is left to collect.

use crate::event::{Clock, Event};
use crate::spec::Gc;
use fathom_base::{Dur, Time};

#[derive(Clone, Debug)]
pub(super) struct Collection {
    /// Idle time of the host before collection starts; `None` if the drive does not collect in the background.
    delay: Option<Dur>,
    scheduled: bool,
    /// An erase is in progress that may allow another step.
    at_work: bool,
    last_activity: Time,
    /// Number of blocks collected.
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

    /// Notes that a request is complete.
    #[inline]
    pub(super) fn note_complete(&mut self, clock: &mut Clock) {
        let Some(delay) = self.delay else { return };
        self.last_activity = clock.now;
        if clock.is_idle() && !self.scheduled {
            self.scheduled = true;
            clock.after(delay, Event::Collect);
        }
    }

    /// Handles [`Event::Collect`]: returns true if a step is due. `may` is true if the host is idle and the drive is able
    /// to collect.
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

    /// Notes a step. `erasing` is true if an erase is in progress that may make room for another step.
    pub(super) fn stepped(&mut self, collected: bool, erasing: bool) {
        self.collected += u64::from(collected);
        self.at_work = collected || erasing;
    }

    /// Continues after an erase, if a step was waiting for it.
    pub(super) fn go_on(&mut self, clock: &mut Clock) {
        if std::mem::take(&mut self.at_work) && !self.scheduled {
            self.scheduled = true;
            clock.at(clock.now, Event::Collect);
        }
    }

    /// Forgets the work in progress.
    pub(super) fn clear(&mut self) {
        (self.scheduled, self.at_work) = (false, false);
    }
}
