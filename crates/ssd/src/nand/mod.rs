//! The flash array in time: stations that work on one operation at a time, channels that carry one transfer at
//! a time.
//!
//! A channel is booked when an operation arrives at it, never earlier: booking at submission would be fast and
//! wrong. It knows places (clustered pages and sectors in them), not what they mean. Channel time is kept in
//! picoseconds so that back-to-back transfers keep their exact rate; an operation's end is rounded up once.

pub(crate) mod store;

use crate::engine::{Event, lane};
use crate::geometry::Geometry;
use crate::spec::{Arbitration, Flash};
use fathom_base::{Dur, EventQueue, Rate, Rng, SECTOR_BYTES, Time};

/// No operation.
pub(crate) const NONE: u32 = u32::MAX;

/// What a station is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Array to controller.
    Read,
    /// Controller to array.
    Program,
    /// Array to controller and back into the array, on one station.
    Copy,
    /// A clustered block's share of one station.
    Erase,
    /// Background work of a given length, in nanoseconds.
    Busy(u32),
}

/// Sectors of one clustered page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Clustered page, over all clustered blocks.
    pub(crate) cpage: u32,
    /// First sector in it.
    pub(crate) first: u32,
    /// Sectors.
    pub(crate) sectors: u32,
}

/// An operation for a station. `ticket` is whose it is; the engine knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) station: u32,
    pub(crate) place: Place,
    pub(crate) ticket: u32,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    job: Job,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Station {
    busy: bool,
    head: u32,
    tail: u32,
}

/// Stations, channels and the operations that wait for them.
#[derive(Clone, Debug)]
pub(crate) struct Nand {
    read: Dur,
    program: Dur,
    erase: Dur,
    bus: Rate,
    arbitration: Arbitration,
    jitter: f64,
    sectors_per_page: u32,
    whole_page_ps: u64,
    /// When each channel is free, in picoseconds.
    channel_free_ps: Vec<u64>,
    stations: Vec<Station>,
    /// Channel of each plane of each station, `width` a station.
    planes: Vec<u32>,
    width: usize,
    ops: Vec<Op>,
    free_ops: Vec<u32>,
    rng: Rng,
}

impl Nand {
    pub(crate) fn new(flash: &Flash, geometry: &Geometry, flash_percent: f64, rng: Rng) -> Self {
        let planes: Vec<u32> = (0..geometry.stations)
            .flat_map(|s| geometry.planes_of_station(s))
            .collect();
        let page_bytes = u64::from(geometry.sectors_per_page) * SECTOR_BYTES;
        Self {
            read: flash.read,
            program: flash.program,
            erase: flash.erase,
            bus: flash.bus,
            arbitration: flash.arbitration,
            jitter: flash_percent / 100.0,
            sectors_per_page: geometry.sectors_per_page,
            whole_page_ps: flash.bus.transfer_ps(page_bytes),
            channel_free_ps: vec![0; geometry.channels as usize],
            stations: vec![
                Station {
                    busy: false,
                    head: NONE,
                    tail: NONE
                };
                geometry.stations as usize
            ],
            width: planes.len() / geometry.stations as usize,
            planes,
            ops: Vec::new(),
            free_ops: Vec::new(),
            rng,
        }
    }

    /// Hands an operation to its station; it starts now or when those before it are done.
    #[inline]
    pub(crate) fn submit(&mut self, job: Job, now: Time, events: &mut EventQueue<Event>) {
        let op = Op { job, next: NONE };
        let id = match self.free_ops.pop() {
            Some(id) => {
                self.ops[id as usize] = op;
                id
            }
            None => {
                self.ops.push(op);
                (self.ops.len() - 1) as u32
            }
        };
        let at = &mut self.stations[job.station as usize];
        if !at.busy {
            at.busy = true;
            return self.start(id, now, events);
        }
        if at.tail == NONE {
            at.head = id;
        } else {
            self.ops[at.tail as usize].next = id;
        }
        at.tail = id;
    }

    fn start(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let op = self.ops[id as usize].job;
        match op.work {
            Work::Read | Work::Copy => {
                let begin = match self.arbitration {
                    Arbitration::CommandFirst => now,
                    Arbitration::InOrder => self.channel_idle_at(&op, now),
                };
                let sense = self.vary(self.read);
                events.push_in_order(lane::SENSE, begin + sense, Event::Sensed(id));
            }
            Work::Program => {
                let arrived = self.transfer(op.station, op.place, now);
                let program = self.vary(self.program);
                events.push(arrived + program, Event::OpDone(id));
            }
            Work::Erase => {
                let erase = self.vary(self.erase);
                events.push(now + erase, Event::OpDone(id));
            }
            Work::Busy(ns) => events.push(now + Dur(u64::from(ns)), Event::OpDone(id)),
        }
    }

    /// The page register holds the data: book the channel.
    #[inline]
    pub(crate) fn sensed(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let op = self.ops[id as usize].job;
        let mut end = self.transfer(op.station, op.place, now);
        if op.work == Work::Copy {
            // Out for error correction and back in, then the program.
            end = self.transfer(op.station, op.place, end) + self.vary(self.program);
        }
        events.push(end, Event::OpDone(id));
    }

    /// The operation is done: gives it back and starts the next one of its station.
    #[inline]
    pub(crate) fn done(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) -> Job {
        let op = self.ops[id as usize].job;
        self.free_ops.push(id);
        let at = &mut self.stations[op.station as usize];
        let next = at.head;
        if next == NONE {
            at.busy = false;
        } else {
            at.head = self.ops[next as usize].next;
            if at.head == NONE {
                at.tail = NONE;
            }
            self.start(next, now, events);
        }
        op
    }

    /// Bytes of the tables of stations and channels.
    pub(crate) fn state_bytes(&self) -> usize {
        self.stations.capacity() * size_of::<Station>()
            + self.planes.capacity() * 4
            + self.channel_free_ps.capacity() * 8
    }

    /// Forgets everything in flight, as a power cut does.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.free_ops.clear();
        self.stations.fill(Station {
            busy: false,
            head: NONE,
            tail: NONE,
        });
        self.channel_free_ps.fill(0);
    }

    fn channel_idle_at(&self, op: &Job, now: Time) -> Time {
        let plane = (op.place.first / self.sectors_per_page) as usize;
        let channel = self.planes[op.station as usize * self.width + plane % self.width];
        now.max(Time(self.channel_free_ps[channel as usize].div_ceil(1_000)))
    }

    /// Books the channels of a place's planes from `now` on; the end of the last transfer.
    #[inline]
    fn transfer(&mut self, station: u32, place: Place, now: Time) -> Time {
        let mut last_ps = 0;
        let (mut sector, end) = (place.first, place.first + place.sectors);
        while sector < end {
            let plane = sector / self.sectors_per_page;
            let upto = ((plane + 1) * self.sectors_per_page).min(end);
            let ps = if upto - sector == self.sectors_per_page {
                self.whole_page_ps
            } else {
                self.bus
                    .transfer_ps(u64::from(upto - sector) * SECTOR_BYTES)
            };
            let channel = self.planes[station as usize * self.width + plane as usize % self.width];
            let free = &mut self.channel_free_ps[channel as usize];
            *free = (*free).max(now.0 * 1_000) + ps;
            last_ps = last_ps.max(*free);
            sector = upto;
        }
        now.max(Time(last_ps.div_ceil(1_000)))
    }

    #[inline]
    fn vary(&mut self, nominal: Dur) -> Dur {
        if self.jitter == 0.0 {
            return nominal;
        }
        let factor = (1.0 + self.jitter * self.rng.normal()).max(0.5);
        Dur((nominal.0 as f64 * factor) as u64)
    }
}
