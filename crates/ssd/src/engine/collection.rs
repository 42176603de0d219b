//! Work in idle time: garbage collection (`gc.background_percent`) and folding of the fast cache (`fast_cache.fold`). It
//! starts after the host has been idle for a while and goes on step by step until a request arrives or nothing is left.
//! A step of collection is a block, a step of folding a page of every lane.

use crate::event::{Clock, Event};
use crate::spec::{FastCache, Fold, Gc};
use fathom_base::{Dur, Time};

#[derive(Clone, Debug)]
pub(super) struct Collection {
    /// Idle time of the host before the work starts; `None` if the drive does not do it in idle time.
    delay: Option<Dur>,
    /// The event of the next step.
    event: Event,
    scheduled: bool,
    /// A step is in progress, or an erase that may allow another step.
    at_work: bool,
    last_activity: Time,
    /// Number of steps that did something: blocks collected.
    pub(super) collected: u64,
}

impl Collection {
    /// Creates the state of garbage collection.
    pub(super) fn new(gc: &Gc) -> Self {
        let delay = (gc.background_percent > 0.0).then_some(gc.background_delay);
        Self::with(delay, Event::Collect)
    }

    /// Creates the state of folding.
    pub(super) fn folding(cache: Option<&FastCache>) -> Self {
        let idle = cache.filter(|cache| cache.fold == Fold::Idle);
        Self::with(idle.map(|cache| cache.idle_delay), Event::Fold)
    }

    fn with(delay: Option<Dur>, event: Event) -> Self {
        Self {
            delay,
            event,
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
            clock.after(delay, self.event);
        }
    }

    /// Handles the event: returns true if a step is due. `may` is true if the host is idle and the drive is able
    /// to work.
    pub(super) fn is_due(&mut self, may: bool, clock: &mut Clock) -> bool {
        self.scheduled = false;
        let Some(delay) = self.delay.filter(|_| may && !self.at_work) else {
            return false;
        };
        let due = self.last_activity + delay;
        if due > clock.now {
            self.scheduled = true;
            clock.at(due, self.event);
        }
        due <= clock.now
    }

    /// Notes a step. `erasing` is true if an erase is in progress that may make room for another step.
    pub(super) fn stepped(&mut self, collected: bool, erasing: bool) {
        self.collected += u64::from(collected);
        self.at_work = collected || erasing;
    }

    /// Continues after an erase or the last program of a step, if the next step was waiting for it.
    pub(super) fn go_on(&mut self, clock: &mut Clock) {
        if std::mem::take(&mut self.at_work) && !self.scheduled {
            self.scheduled = true;
            clock.at(clock.now, self.event);
        }
    }

    /// Forgets the work in progress.
    pub(super) fn clear(&mut self) {
        (self.scheduled, self.at_work) = (false, false);
    }
}
