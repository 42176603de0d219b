//! Computing of threads.

use super::host::Event;
use super::processors::{Place, Processors};
use super::task::Thread;
use crate::Host;
use fathom_base::{Dur, Time};

impl Host {
    /// Makes all threads compute on other processors, which others may share. Before the first of them computes.
    pub(super) fn compute_on(&mut self, processors: Processors) {
        self.system.processors = processors.count();
        self.files.mount.volume.runs_on(processors.count());
        self.processors = processors;
    }

    /// Makes a thread compute on the processor that becomes free first. Returns when it ends if nothing interrupts it.
    pub(super) fn compute(&mut self, thread: usize, takes: Dur, now: Time) -> Time {
        let booking = self.processors.book(Place::Any, takes, now);
        self.threads[thread].booking = booking;
        self.processors.ends(booking, now)
    }

    /// Whether a thread still computes. If an interrupt has delayed its end, it continues then.
    pub(super) fn is_computing(&mut self, thread: usize, now: Time) -> bool {
        let Thread {
            booking, computes, ..
        } = self.threads[thread];
        if now < computes {
            return true;
        }
        let ends = self.processors.ends(booking, now);
        if ends > now {
            self.threads[thread].computes = ends;
            self.events.push(ends, Event::Run(thread as u32));
        }
        ends > now
    }
}
