//! Programs: how long they take, and how they follow one another on a die (`flash.program_mode`).
//!
//! *Page*: the data crosses the bus, then the array is programmed, then the next one begins. *Cache* (cache program in
//! data sheets, ONFI 4 "Page Cache Program"): the data of the program that waits next crosses the bus while the array
//! works, so that a die is as fast as the slower of the two. *Multi-plane* (ONFI 4, "Multi-plane Program"): programs that
//! wait for other planes of the die and have the same page number in their blocks are programmed in step.
//!
//! Not modelled: cache and multi-plane programs at once, and copies in either way.

use super::{EMPTY, NONE, Nand, Op, Work};
use crate::engine::{Event, lane};
use crate::spec::ProgramMode;
use fathom_base::{Dur, EventQueue, Time};

impl Nand {
    /// How long the array takes for the page of a number: those of a word line take turns.
    #[inline]
    fn program_time(&mut self, number: u32) -> Dur {
        let nominal = match self.steps.len() {
            0 => self.program,
            n => self.steps[number as usize % n],
        };
        self.vary(nominal)
    }

    pub(super) fn start_program(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let op = self.ops[id as usize].job;
        let arrived = self.transfer(op.station, op.place, now);
        if self.program_mode == ProgramMode::MultiPlane {
            return self.start_planes(id, arrived, now, events);
        }
        self.enter_array(id, arrived, events);
    }

    /// The data of a program is in the page register at `at`.
    #[inline]
    fn enter_array(&mut self, id: u32, at: Time, events: &mut EventQueue<Event>) {
        let job = self.ops[id as usize].job;
        let end = at + self.program_time(job.number);
        self.ops[id as usize].array = (at, end);
        events.push_in_order(lane::PROGRAM, end, Event::OpDone(id));
        if self.program_mode == ProgramMode::Cache {
            events.push(at, Event::Loaded(job.station));
        }
    }

    /// Takes the programs that follow for other planes along: the array begins when the data of all has arrived.
    fn start_planes(&mut self, id: u32, arrived: Time, now: Time, events: &mut EventQueue<Event>) {
        let first = self.ops[id as usize].job;
        let (mut planes, mut arrived) = (1u64 << (first.plane % 64), arrived);
        let mut joined = EMPTY;
        while let Some(next) = self.joins(first.station, first.number, planes) {
            self.stations[first.station as usize].queue.pop(&self.ops);
            let job = self.ops[next as usize].job;
            planes |= 1 << (job.plane % 64);
            arrived = arrived.max(self.transfer(job.station, job.place, now));
            self.ops[next as usize].next = NONE;
            joined.push(&mut self.ops, next);
        }
        let end = arrived + self.program_time(first.number);
        // The first one's end goes before the others': it starts what follows on the die.
        self.ops[id as usize].array = (arrived, end);
        events.push_in_order(lane::PROGRAM, end, Event::OpDone(id));
        while let Some(next) = joined.pop(&self.ops) {
            let op = &mut self.ops[next as usize];
            (op.array, op.joined) = ((arrived, end), true);
            events.push_in_order(lane::PROGRAM, end, Event::OpDone(next));
        }
    }

    /// The program that waits next, if it can join one of this page number into these planes.
    fn joins(&self, station: u32, number: u32, planes: u64) -> Option<u32> {
        let next = self.stations[station as usize].queue.head;
        let Op { job, .. } = self.ops.get(next as usize)?;
        let other = planes >> (job.plane % 64) & 1 == 0;
        let fits = job.work == Work::Program && other && job.number == number;
        fits.then_some(next)
    }

    /// The data of a copy is in the page register at `begin`: it is programmed.
    pub(super) fn program_copy(
        &mut self,
        id: u32,
        begin: Time,
        now: Time,
        events: &mut EventQueue<Event>,
    ) {
        let job = self.ops[id as usize].job;
        let end = begin + self.program_time(job.number);
        self.ops[id as usize].array = (begin, end);
        events.push_in_order(lane::COPY, end, Event::OpDone(id));
        if self.can_suspend && self.stations[job.station as usize].reads.head != NONE {
            self.suspend(job.station, now, events);
        }
    }

    /// The array works on a program: the data of the one that waits next may cross the bus.
    pub(crate) fn preload(&mut self, station: u32, now: Time) {
        let at = &mut self.stations[station as usize];
        if !at.busy || at.suspended != NONE || at.preloaded != NONE {
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
            let arrived = self.transfer(station, job.place, now);
            self.ops[next as usize].array.0 = arrived;
        }
    }

    /// A program is done, and the data of the next one has come or is on its way: its turn.
    pub(super) fn start_preloaded(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let arrived = self.ops[id as usize].array.0;
        self.enter_array(id, arrived.max(now), events);
    }
}
