//! Programs and erases that a read interrupts (`arbitration = "suspend"`).
//!
//! What can be interrupted is the time in the array: of a program or a copy from when the data is in the page register,
//! of an erase all of it. A host read pays the latency of the suspend command, and what was interrupted the overhead of
//! going on; both stand in the data sheets of flash that has the command. What would be done before the latency is over
//! is not interrupted. The source of the idea is Wu and He, "Reducing SSD read latency via NAND flash program and erase
//! suspension" (FAST 2012). Not modelled: limits to how often an operation may be interrupted, and the steps of a program
//! between which some flash must wait.

use super::Nand;
use super::job::Work;
use super::station::NONE;
use crate::event::{Clock, End, Event};
use crate::spec::ProgramMode;
use fathom_base::Time;

impl Nand {
    /// Interrupts what a station does for the reads that wait for it; what has not reached the array yet is interrupted
    /// when it has.
    pub(super) fn suspend(&mut self, station: u32, clock: &mut Clock) {
        let at = &mut self.stations[station as usize];
        let current = self.ops[at.current as usize];
        let can = matches!(current.job.work, Work::Program | Work::Copy | Work::Erase);
        let (begins, ends) = current.array;
        if !can || at.suspended != NONE || begins == Time::MAX {
            return;
        }
        if clock.now < begins {
            return clock.at(begins, Event::Suspend(station));
        }
        let left = ends.since(clock.now);
        if left <= self.flash.suspend_latency {
            return;
        }
        // Kept as if it began at zero: it is moved to its new beginning when it goes on.
        self.ops[at.current as usize].array = (Time::ZERO, Time::ZERO + left);
        at.suspended = at.current;
        self.suspends += 1;
        if let Some(read) = at.reads.pop(&self.ops) {
            at.current = read;
            self.start_read(read, clock.now + self.flash.suspend_latency, clock);
        }
    }

    /// The data of a program has reached the page register: reads that wait may interrupt it.
    pub(crate) fn suspend_due(&mut self, station: u32, clock: &mut Clock) {
        let at = &self.stations[station as usize];
        if at.busy && at.reads.head != NONE {
            self.suspend(station, clock);
        }
    }

    /// Whether an operation that was to be done now was interrupted meanwhile and is not.
    #[inline]
    pub(super) fn was_interrupted(&self, id: u32, now: Time) -> bool {
        let op = &self.ops[id as usize];
        let can_be_late =
            self.can_suspend() && matches!(op.job.work, Work::Program | Work::Copy | Work::Erase);
        let station = &self.stations[op.job.station as usize];
        can_be_late && (station.suspended == id || op.array.1 != now)
    }

    /// No read waits any more: what was interrupted goes on.
    pub(super) fn resume(&mut self, station: u32, clock: &mut Clock) {
        let at = &mut self.stations[station as usize];
        at.current = std::mem::replace(&mut at.suspended, NONE);
        let array = &mut self.ops[at.current as usize].array;
        let begin = clock.now + self.flash.suspend_overhead;
        *array = (begin, begin + array.1.since(Time::ZERO));
        clock.at(array.1, Event::OpDone(End::Other, at.current));
        if self.flash.program_mode == ProgramMode::Cache {
            // What came meanwhile may cross the bus now.
            clock.at(begin, Event::Loaded(station));
        }
    }
}
