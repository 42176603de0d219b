//! Programs, copies and erases suspended by a read (`arbitration = "suspend"`).
//!
//! Only the time in the array can be interrupted: for a program or a copy from when the data is in the page register on,
//! for an erase all of it. The host read pays the latency of the suspend command, the suspended operation the overhead of
//! resuming; data sheets of flash with this command state both. An operation that would end within the suspend latency is
//! not suspended. The source of the idea is Wu and He, "Reducing SSD read latency via NAND flash program and erase
//! suspension" (FAST 2012). Not modelled: limits on the number of suspensions of an operation, and the program steps at
//! which some flash must wait before it can suspend.

use super::Nand;
use super::job::Work;
use super::station::NONE;
use crate::event::{Clock, End, Event};
use crate::spec::ProgramMode;
use fathom_base::Time;

impl Nand {
    /// Suspends the current operation of a station for the reads that wait. An operation that has not reached the array
    /// yet is suspended when it does.
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
        // Stored as if it started at zero; it is moved to its new start when it resumes.
        self.ops[at.current as usize].array = (Time::ZERO, Time::ZERO + left);
        at.suspended = at.current;
        self.suspends += 1;
        if let Some(read) = at.reads.pop(&self.ops) {
            at.current = read;
            self.start_read(read, clock.now + self.flash.suspend_latency, clock);
        }
    }

    /// The data of a program has reached the page register: reads that wait may suspend the program.
    pub(crate) fn suspend_due(&mut self, station: u32, clock: &mut Clock) {
        let at = &self.stations[station as usize];
        if at.busy && at.reads.head != NONE {
            self.suspend(station, clock);
        }
    }

    /// Returns true if an operation that was due to end now was suspended in the meantime and has not ended.
    #[inline]
    pub(super) fn was_interrupted(&self, id: u32, now: Time) -> bool {
        let op = &self.ops[id as usize];
        let can_be_late =
            self.can_suspend() && matches!(op.job.work, Work::Program | Work::Copy | Work::Erase);
        let station = &self.stations[op.job.station as usize];
        can_be_late && (station.suspended == id || op.array.1 != now)
    }

    /// No read is waiting any more: resumes the suspended operation.
    pub(super) fn resume(&mut self, station: u32, clock: &mut Clock) {
        let at = &mut self.stations[station as usize];
        at.current = std::mem::replace(&mut at.suspended, NONE);
        let array = &mut self.ops[at.current as usize].array;
        let begin = clock.now + self.flash.suspend_overhead;
        *array = (begin, begin + array.1.since(Time::ZERO));
        clock.at(array.1, Event::OpDone(End::Other, at.current));
        if self.flash.program_mode == ProgramMode::Cache {
            // Programs that arrived in the meantime may cross the bus now.
            clock.at(begin, Event::Loaded(station));
        }
    }
}
