//! Programs: their duration, and the overlap of consecutive programs on a die (`flash.program_mode`).
//!
//! *Page*: the data crosses the bus, the array is programmed, then the next program starts. *Cache* (cache program in
//! data sheets, ONFI 4 "Page Cache Program"): the data of the next waiting program crosses the bus while the array works,
//! so that the die is limited by the slower of the two. *Multi-plane* (ONFI 4, "Multi-plane Program"): programs for other
//! planes of the die with the same page number in their blocks are programmed in step, if they arrive before the data is
//! in the registers.
//!
//! Not modelled: cache and multi-plane programs combined, and copies in either mode.

use super::Nand;
use super::job::{Ended, Job, Plain, Work};
use super::station::{EMPTY, NONE, Op};
use crate::event::{Clock, End, Event};
use crate::spec::ProgramMode;
use fathom_base::{Dur, Time};

impl Nand {
    /// Draws the time that the array takes for a page; the pages of a word line have different times (`program_steps`),
    /// unless its cells hold one bit each (`fast`).
    #[inline]
    fn program_time(&mut self, number: u32, fast: bool) -> Dur {
        let nominal = match self.flash.program_steps.len() {
            _ if fast => self.fast.program,
            0 => self.flash.program,
            n => self.flash.program_steps[number as usize % n],
        };
        self.vary(nominal)
    }

    /// Returns true if a read ends at a time that is known when it starts.
    #[inline]
    pub(crate) fn reads_alone(&self) -> bool {
        self.reads_alone
    }

    /// Returns true if a program ends at a time that is known when it starts, and nothing else of this array depends on it.
    pub(crate) fn allows_plain(&self) -> bool {
        let overlaps = self.flash.program_mode != ProgramMode::Page;
        !(overlaps || self.can_suspend() || self.heat.is_on() || self.age.matters())
    }

    /// Returns true if a copy within the planes of a lane does not use the bus.
    #[inline]
    pub(crate) fn copies_back(&self) -> bool {
        self.flash.copy_back
    }

    /// Returns true if operations other than plain ones wait for a station.
    #[inline]
    pub(crate) fn has_queue(&self, station: u32) -> bool {
        self.stations[station as usize].queue.head != NONE
    }

    /// Hands a plain operation to a station that no other operation waits for.
    #[inline]
    pub(crate) fn submit_plain(&mut self, station: u32, plain: Plain, clock: &mut Clock) {
        let line = &mut self.plain[station as usize];
        if self.stations[station as usize].busy {
            line.waiting.push_back(plain);
        } else {
            line.at_work = plain;
            self.start_plain(station, clock);
        }
    }

    /// Starts the next plain operation of a station. Its end is known now.
    #[inline]
    pub(super) fn start_plain(&mut self, station: u32, clock: &mut Clock) {
        let at = &mut self.stations[station as usize];
        (at.busy, at.current) = (true, NONE);
        let plain = &self.plain[station as usize].at_work;
        let (end, place, page) = (plain.end, plain.place, plain.page);
        let done = match end {
            End::Copy => return self.go_on_copying(station, page, clock),
            End::Read => {
                let sensed = clock.now + self.flash.read;
                self.channels.transfer(station, place, sensed)
            }
            _ => {
                let arrived = self.channels.transfer(station, place, clock.now);
                arrived + self.program_time(page, false)
            }
        };
        clock.at(done, Event::Plain(end, station));
    }

    /// Ends the plain read at work on a station, and starts the next operation there. Returns the read.
    #[inline]
    pub(crate) fn plain_read_done(&mut self, station: u32, clock: &mut Clock) -> Plain {
        let read = self.plain[station as usize].at_work;
        self.go_on(station, clock);
        read
    }

    /// Starts the next copy of a run on its station.
    #[inline]
    fn go_on_copying(&mut self, station: u32, page: u32, clock: &mut Clock) {
        let time = match self.every_copy {
            Some(time) => time,
            None => self.vary(self.flash.read) + self.program_time(page, false),
        };
        clock.after(time, Event::Plain(End::Copy, station));
    }

    /// Ends the plain program or copy at work on a station, and starts the next operation there. Returns what has ended.
    #[inline]
    pub(crate) fn plain_done(&mut self, station: u32, clock: &mut Clock) -> Ended {
        let line = &mut self.plain[station as usize];
        let plain = &mut line.at_work;
        plain.left -= 1;
        plain.page += 1;
        let (page, sectors) = (plain.page, plain.place.sectors);
        let operation = (plain.left == 0).then_some(*plain);
        if operation.is_some() {
            self.go_on(station, clock);
        } else if self.stations[station as usize].reads.head == NONE {
            self.go_on_copying(station, page, clock);
        } else {
            // The rest of the run comes after the reads that have priority.
            line.waiting.push_front(*plain);
            self.go_on(station, clock);
        }
        Ended { sectors, operation }
    }

    pub(super) fn start_program(&mut self, id: u32, clock: &mut Clock) {
        let op = self.ops[id as usize].job;
        let arrived = self.channels.transfer(op.station, op.place, clock.now);
        if self.flash.program_mode == ProgramMode::MultiPlane {
            let last = self.gather_planes(op.station, arrived, clock.now);
            return clock.at(last.unwrap_or(arrived), Event::Loaded(op.station));
        }
        self.enter_array(id, arrived, clock);
    }

    /// Starts a program in the array; its data is in the page register at `at`.
    #[inline]
    fn enter_array(&mut self, id: u32, at: Time, clock: &mut Clock) {
        let job = self.ops[id as usize].job;
        let end = at + self.program_time(job.number, job.fast);
        self.ops[id as usize].array = (at, end);
        clock.at(end, Event::OpDone(End::Program, id));
        if self.flash.program_mode == ProgramMode::Cache {
            clock.at(at, Event::Loaded(job.station));
        }
    }

    /// Adds the waiting programs that can join the current one, and books the transfers of their data. Returns the time
    /// at which the last of it arrives, or `None` if no program joined. The array starts when the data of all planes is
    /// in the registers.
    fn gather_planes(&mut self, station: u32, arrived: Time, now: Time) -> Option<Time> {
        let at = &self.stations[station as usize];
        let (first, mut joined) = (self.ops[at.current as usize].job, at.joined);
        let mut planes = 1u64 << (first.plane % 64);
        let mut id = joined.head;
        while let Some(op) = self.ops.get(id as usize) {
            planes |= 1 << (op.job.plane % 64);
            id = op.next;
        }
        let mut last = None;
        while let Some(next) = self.joins(station, first, planes) {
            self.stations[station as usize].queue.pop(&self.ops);
            let job = self.ops[next as usize].job;
            planes |= 1 << (job.plane % 64);
            let loaded = self.channels.transfer(station, job.place, now);
            last = Some(loaded.max(last.unwrap_or(arrived)));
            self.ops[next as usize].next = NONE;
            joined.push(&mut self.ops, next);
        }
        self.stations[station as usize].joined = joined;
        last
    }

    /// The data of all planes has arrived: starts the array, unless more programs have joined in the meantime.
    fn start_planes(&mut self, station: u32, clock: &mut Clock) {
        if let Some(arrived) = self.gather_planes(station, clock.now, clock.now) {
            return clock.at(arrived, Event::Loaded(station));
        }
        let at = &mut self.stations[station as usize];
        let (first, mut joined) = (at.current, std::mem::replace(&mut at.joined, EMPTY));
        let job = self.ops[first as usize].job;
        let end = clock.now + self.program_time(job.number, job.fast);
        // The end of the first program is scheduled before the others: it starts the next operation on the die.
        self.ops[first as usize].array = (clock.now, end);
        clock.at(end, Event::OpDone(End::Program, first));
        while let Some(next) = joined.pop(&self.ops) {
            let op = &mut self.ops[next as usize];
            (op.array, op.joined) = ((clock.now, end), true);
            clock.at(end, Event::OpDone(End::Program, next));
        }
    }

    /// Returns the next waiting program if it can join the program `first`, which takes `planes`.
    fn joins(&self, station: u32, first: Job, planes: u64) -> Option<u32> {
        let next = self.stations[station as usize].queue.head;
        let Op { job, .. } = self.ops.get(next as usize)?;
        let other = planes >> (job.plane % 64) & 1 == 0;
        let alike = job.number == first.number && job.fast == first.fast;
        let fits = job.work == Work::Program && other && alike;
        fits.then_some(next)
    }

    /// Starts the program of a copy, whose data is in the page register at `begin`.
    pub(super) fn program_copy(&mut self, id: u32, begin: Time, clock: &mut Clock) {
        let job = self.ops[id as usize].job;
        let end = begin + self.program_time(job.number, false);
        self.ops[id as usize].array = (begin, end);
        clock.at(end, Event::OpDone(End::Copy, id));
        if self.can_suspend() && self.stations[job.station as usize].reads.head != NONE {
            self.suspend(job.station, clock);
        }
    }

    /// The data of a program is in the page register.
    pub(crate) fn loaded(&mut self, station: u32, clock: &mut Clock) {
        match self.flash.program_mode {
            ProgramMode::MultiPlane => self.start_planes(station, clock),
            ProgramMode::Cache | ProgramMode::Page => self.preload(station, clock.now),
        }
    }

    /// Sends the data of the next waiting program over the bus while the array programs. Does nothing if a read is
    /// waiting, because the loaded data would have to be programmed before the read.
    pub(super) fn preload(&mut self, station: u32, now: Time) {
        let at = &mut self.stations[station as usize];
        let taken = at.suspended != NONE || at.preloaded != NONE || at.reads.head != NONE;
        if !at.busy || taken {
            return;
        }
        let current = &self.ops[at.current as usize];
        let works = current.job.work == Work::Program && current.array.0 <= now;
        let next = self.ops.get(at.queue.head as usize).map(|op| op.job);
        let Some(job) = next.filter(|job| works && job.work == Work::Program) else {
            return;
        };
        if let Some(next) = at.queue.pop(&self.ops) {
            at.preloaded = next;
            let arrived = self.channels.transfer(station, job.place, now);
            self.ops[next as usize].array.0 = arrived;
        }
    }

    /// Starts the preloaded program after the current one has ended; its data has arrived or is on its way.
    pub(super) fn start_preloaded(&mut self, id: u32, clock: &mut Clock) {
        let arrived = self.ops[id as usize].array.0;
        self.enter_array(id, arrived.max(clock.now), clock);
    }
}
