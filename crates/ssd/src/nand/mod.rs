//! The flash array in time: stations that work on one operation at a time, channels that carry one transfer at
//! a time.
//!
//! A channel is booked when an operation arrives at it, never earlier: booking at submission would be fast and
//! wrong. It knows places (clustered pages and sectors in them), not what they mean. A channel counts picoseconds
//! ([`fathom_base::bus`]) so that back-to-back transfers keep their exact rate; an operation's end is rounded up once.

mod program;
pub(crate) mod store;
mod suspend;

use crate::engine::{Event, lane};
use crate::geometry::Geometry;
use crate::spec::{Arbitration, Faults, Flash, ProgramMode, Spec};
use fathom_base::{Bus, Dur, EventQueue, Exact, Rate, Rng, SECTOR_BYTES, Time};

/// No operation.
pub(crate) const NONE: u32 = u32::MAX;

/// What a station is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Array to controller, for a read of the host's.
    Read,
    /// The same for a program that waits for it: it goes before nothing.
    Gather,
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
    /// The number of the page that a program or a copy fills, within its block.
    pub(crate) number: u32,
    /// Which of the lanes that share the station it lies on.
    pub(crate) plane: u32,
    /// Of a copy: it stays within its planes, so that it need not cross the bus.
    pub(crate) stays: bool,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    job: Job,
    next: u32,
    /// When what can be interrupted of it begins and when it ends; [`UNKNOWN`] before that can be told, and a suspended
    /// one's end is not known yet.
    array: (Time, Time),
    /// It is programmed in step with another one, which the station works on.
    joined: bool,
}

/// When the data of a copy will be back in the page register is not known before it has been sensed.
const UNKNOWN: (Time, Time) = (Time::MAX, Time::MAX);

/// A first-in, first-out list of operations.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

const EMPTY: Queue = Queue {
    head: NONE,
    tail: NONE,
};

impl Queue {
    #[inline]
    fn push(&mut self, ops: &mut [Op], id: u32) {
        match self.tail {
            NONE => self.head = id,
            tail => ops[tail as usize].next = id,
        }
        self.tail = id;
    }

    #[inline]
    fn pop(&mut self, ops: &[Op]) -> Option<u32> {
        let id = Some(self.head).filter(|&id| id != NONE)?;
        self.head = ops[id as usize].next;
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(id)
    }
}

#[derive(Clone, Copy, Debug)]
struct Station {
    busy: bool,
    /// The operation at work, if `busy`.
    current: u32,
    /// A program, a copy or an erase that a read has interrupted.
    suspended: u32,
    /// The next program, whose data is in the cache register or on its way there.
    preloaded: u32,
    /// Programs of other planes that begin together with the one at work, whose data has not all arrived.
    joined: Queue,
    /// Reads that go before everything else (`read-first` and `suspend`).
    reads: Queue,
    queue: Queue,
}

const IDLE: Station = Station {
    busy: false,
    current: NONE,
    suspended: NONE,
    preloaded: NONE,
    joined: EMPTY,
    reads: EMPTY,
    queue: EMPTY,
};

/// Stations, channels and the operations that wait for them.
#[derive(Clone, Debug)]
pub(crate) struct Nand {
    read: Dur,
    program: Dur,
    /// Times of the pages of a word line, in place of `program`.
    steps: Vec<Dur>,
    program_mode: ProgramMode,
    erase: Dur,
    bus: Rate,
    arbitration: Arbitration,
    /// Whether reads interrupt.
    can_suspend: bool,
    suspend_latency: Dur,
    suspend_overhead: Dur,
    copy_back: bool,
    faults: Faults,
    /// Repetitions of reads, and interruptions of programs and erases.
    pub(crate) retries: u64,
    pub(crate) suspends: u64,
    jitter: f64,
    sectors_per_page: u32,
    whole_page: Exact,
    channels: Vec<Bus>,
    stations: Vec<Station>,
    /// Channel of each plane of each station, `width` a station.
    planes: Vec<u32>,
    width: usize,
    /// Whether reads find their channels free when they have been sensed, at a time that is known before: no two
    /// stations share a channel, and sensing always takes equally long.
    reads_alone: bool,
    ops: Vec<Op>,
    free_ops: Vec<u32>,
    rng: Rng,
}

impl Nand {
    pub(crate) fn new(spec: &Spec, geometry: &Geometry, rng: Rng) -> Self {
        let flash: &Flash = &spec.flash;
        let planes: Vec<u32> = (0..geometry.stations)
            .flat_map(|s| geometry.planes_of_station(s))
            .collect();
        let page_bytes = u64::from(geometry.sectors_per_page) * SECTOR_BYTES;
        let mut channels = planes.clone();
        channels.dedup();
        channels.sort_unstable();
        let shared = channels.windows(2).any(|pair| pair[0] == pair[1]);
        let steady = spec.noise.flash_percent == 0.0 && spec.faults.read_retry == 0.0;
        Self {
            read: flash.read,
            program: flash.program,
            steps: flash.program_steps.clone(),
            program_mode: flash.program_mode,
            erase: flash.erase,
            bus: flash.bus,
            arbitration: flash.arbitration,
            can_suspend: flash.arbitration == Arbitration::Suspend,
            suspend_latency: flash.suspend_latency,
            suspend_overhead: flash.suspend_overhead,
            copy_back: flash.copy_back,
            faults: spec.faults.clone(),
            retries: 0,
            suspends: 0,
            jitter: spec.noise.flash_percent / 100.0,
            sectors_per_page: geometry.sectors_per_page,
            whole_page: flash.bus.transfer_exact(page_bytes),
            channels: vec![Bus::default(); geometry.channels as usize],
            stations: vec![IDLE; geometry.stations as usize],
            width: planes.len() / geometry.stations as usize,
            planes,
            reads_alone: !shared && steady && flash.arbitration == Arbitration::CommandFirst,
            ops: Vec::new(),
            free_ops: Vec::new(),
            rng,
        }
    }

    /// Hands an operation to its station; it starts now or when those before it are done.
    #[inline]
    pub(crate) fn submit(&mut self, job: Job, now: Time, events: &mut EventQueue<Event>) {
        let op = Op {
            job,
            next: NONE,
            array: (now, now),
            joined: false,
        };
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
            at.current = id;
            return self.start(id, now, events);
        }
        let overtakes = job.work == Work::Read
            && matches!(
                self.arbitration,
                Arbitration::ReadFirst | Arbitration::Suspend
            );
        if !overtakes {
            at.queue.push(&mut self.ops, id);
            if self.program_mode == ProgramMode::Cache {
                self.preload(job.station, now);
            }
            return;
        }
        at.reads.push(&mut self.ops, id);
        if self.can_suspend {
            self.suspend(job.station, now, events);
        }
    }

    fn start(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let op = self.ops[id as usize].job;
        match op.work {
            Work::Copy if self.copy_back && op.stays => {
                let begin = now + self.sense();
                self.program_copy(id, begin, now, events);
            }
            Work::Read | Work::Gather if self.reads_alone => {
                let end = self.transfer(op.station, op.place, now + self.read);
                events.push_in_order(lane::READ, end, Event::OpDone(id));
            }
            Work::Read | Work::Gather | Work::Copy => {
                self.ops[id as usize].array = UNKNOWN;
                let begin = match self.arbitration {
                    Arbitration::InOrder => self.channel_idle_at(&op, now),
                    _ => now,
                };
                let sense = self.sense();
                events.push_in_order(lane::SENSE, begin + sense, Event::Sensed(id));
            }
            Work::Program => self.start_program(id, now, events),
            Work::Erase => {
                let end = now + self.vary(self.erase);
                self.ops[id as usize].array = (now, end);
                events.push_in_order(lane::ERASE, end, Event::OpDone(id));
            }
            Work::Busy(ns) => events.push(now + Dur(u64::from(ns)), Event::OpDone(id)),
        }
    }

    /// The page register holds the data: book the channel.
    #[inline]
    pub(crate) fn sensed(&mut self, id: u32, now: Time, events: &mut EventQueue<Event>) {
        let op = self.ops[id as usize].job;
        let end = self.transfer(op.station, op.place, now);
        if op.work == Work::Copy {
            // Out for error correction and back in, then the program.
            let begin = self.transfer(op.station, op.place, end);
            return self.program_copy(id, begin, now, events);
        }
        events.push_in_order(lane::READ, end, Event::OpDone(id));
    }

    /// The operation is done: gives it back and starts the next one of its station. `None` where it was
    /// interrupted meanwhile and is not done.
    #[inline]
    pub(crate) fn done(
        &mut self,
        id: u32,
        now: Time,
        events: &mut EventQueue<Event>,
    ) -> Option<Job> {
        let job = self.ops[id as usize].job;
        if self.was_interrupted(id, now) {
            return None;
        }
        self.free_ops.push(id);
        let at = &mut self.stations[job.station as usize];
        if self.ops[id as usize].joined {
            return Some(job);
        }
        if at.preloaded != NONE && at.suspended == NONE {
            let next = std::mem::replace(&mut at.preloaded, NONE);
            at.current = next;
            self.start_preloaded(next, now, events);
        } else if let Some(next) = at.reads.pop(&self.ops) {
            at.current = next;
            self.start(next, now, events);
        } else if at.suspended != NONE {
            self.resume(job.station, now, events);
        } else if let Some(next) = at.queue.pop(&self.ops) {
            at.current = next;
            self.start(next, now, events);
        } else {
            at.busy = false;
        }
        Some(job)
    }

    /// Bytes of the tables of stations and channels.
    pub(crate) fn state_bytes(&self) -> usize {
        self.stations.capacity() * size_of::<Station>()
            + self.planes.capacity() * 4
            + self.channels.capacity() * size_of::<Bus>()
    }

    /// Forgets everything in flight, as a power cut does.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.free_ops.clear();
        self.stations.fill(IDLE);
        self.channels.fill(Bus::default());
    }

    fn channel_idle_at(&self, op: &Job, now: Time) -> Time {
        let plane = (op.place.first / self.sectors_per_page) as usize;
        let channel = self.planes[op.station as usize * self.width + plane % self.width];
        now.max(self.channels[channel as usize].free_at().ceil())
    }

    /// Books the channels of a place's planes from `now` on; the end of the last transfer.
    #[inline]
    fn transfer(&mut self, station: u32, place: Place, now: Time) -> Time {
        if self.width == 1 && place.sectors == self.sectors_per_page {
            // The whole of a clustered page that is one page.
            let channel = self.planes[station as usize];
            let (_, end) = self.channels[channel as usize].book(now, self.whole_page);
            return end.ceil();
        }
        self.transfer_parts(station, place, now)
    }

    fn transfer_parts(&mut self, station: u32, place: Place, now: Time) -> Time {
        let mut last = Exact::default();
        let (mut sector, end) = (place.first, place.first + place.sectors);
        while sector < end {
            let plane = sector / self.sectors_per_page;
            let upto = ((plane + 1) * self.sectors_per_page).min(end);
            let length = if upto - sector == self.sectors_per_page {
                self.whole_page
            } else {
                let bytes = u64::from(upto - sector) * SECTOR_BYTES;
                self.bus.transfer_exact(bytes)
            };
            let channel = self.planes[station as usize * self.width + plane as usize % self.width];
            let (_, end) = self.channels[channel as usize].book(now, length);
            last = last.max(end);
            sector = upto;
        }
        now.max(last.ceil())
    }

    /// Time of a read in the array, repetitions included.
    #[inline]
    fn sense(&mut self) -> Dur {
        let mut time = self.vary(self.read);
        if self.faults.read_retry > 0.0 {
            for _ in 0..self.faults.read_retries_max {
                if !self.rng.chance(self.faults.read_retry) {
                    break;
                }
                self.retries += 1;
                time += self.vary(self.read);
            }
        }
        time
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
