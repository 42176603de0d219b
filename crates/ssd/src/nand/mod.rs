//! Timing of the flash array: each station executes one operation at a time, each channel carries one transfer at a time.
//!
//! A channel is booked when an operation reaches it, never earlier: booking at submission would be fast and wrong. This
//! module knows places (clustered pages and the sectors in them), not their meaning. `program` contains the program
//! modes, `suspend` the suspension of operations by reads.

pub(crate) mod age;
mod channels;
mod heat;
pub(crate) mod job;
mod program;
mod station;
pub(crate) mod store;
mod suspend;

use crate::event::{Clock, End, Event};
use crate::geometry::Geometry;
use crate::spec::{Arbitration, FastCache, Flash, ProgramMode, Spec};
use age::Age;
use channels::Channels;
use fathom_base::{Dur, Rng, Time};
use heat::Heat;
use job::{Job, PlainLine, Work};
use station::{IDLE, NONE, Op, Station, UNKNOWN};

/// The times of blocks in SLC mode; all zero without a fast cache.
#[derive(Clone, Copy, Debug, Default)]
struct FastTimes {
    read: Dur,
    program: Dur,
    erase: Dur,
}

impl FastTimes {
    fn of(cache: &FastCache) -> Self {
        Self {
            read: cache.read,
            program: cache.program,
            erase: cache.erase,
        }
    }
}

/// Stations, channels and the operations that wait for them.
#[derive(Clone, Debug)]
pub(crate) struct Nand {
    flash: Flash,
    read_retries_max: u32,
    /// True if a read can fail because its data can be rebuilt.
    rebuilds: bool,
    fast: FastTimes,
    jitter: f64,
    channels: Channels,
    stations: Vec<Station>,
    /// The plain operations of each station.
    plain: Vec<PlainLine>,
    /// True if reads always find their channels free after sensing, and the time of that is known in advance: no two
    /// stations share a channel, and sensing always takes equally long.
    reads_alone: bool,
    /// The time of a copy that does not use the bus, if it is the same for all pages.
    every_copy: Option<Dur>,
    ops: Vec<Op>,
    free_ops: Vec<u32>,
    /// Present if times vary or reads may be repeated.
    rng: Option<Rng>,
    heat: Heat,
    pub(crate) age: Age,
    /// Repeated reads, and suspended programs, copies and erases.
    pub(crate) retries: u64,
    pub(crate) suspends: u64,
}

impl Nand {
    pub(crate) fn new(spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self {
        let channels = Channels::new(spec, g);
        let heat = Heat::new(spec.thermal.as_ref());
        let age = Age::new(&spec.faults, g);
        let even = spec.noise.flash_percent == 0.0 && !age.repeats() && spec.fast_cache.is_none();
        let steady = even && !heat.is_on();
        let command_first = spec.flash.arbitration == Arbitration::CommandFirst;
        Self {
            flash: spec.flash.clone(),
            read_retries_max: spec.faults.read_retries_max,
            rebuilds: spec.flash.parity_stripe > 0,
            fast: spec
                .fast_cache
                .as_ref()
                .map(FastTimes::of)
                .unwrap_or_default(),
            jitter: spec.noise.flash_percent / 100.0,
            reads_alone: steady && command_first && !channels.are_shared(),
            every_copy: (steady && spec.flash.program_steps.is_empty())
                .then(|| spec.flash.read + spec.flash.program),
            channels,
            stations: vec![IDLE; g.stations as usize],
            plain: vec![PlainLine::new(); g.stations as usize],
            ops: Vec::new(),
            free_ops: Vec::new(),
            rng,
            heat,
            age,
            retries: 0,
            suspends: 0,
        }
    }

    fn can_suspend(&self) -> bool {
        self.flash.arbitration == Arbitration::Suspend
    }

    /// Hands an operation to its station. It starts now or after the operations before it.
    #[inline]
    pub(crate) fn submit(&mut self, job: Job, clock: &mut Clock) {
        let op = Op {
            job,
            next: NONE,
            array: (clock.now, clock.now),
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
            return self.start(id, clock);
        }
        let overtakes = job.work == Work::Read
            && matches!(
                self.flash.arbitration,
                Arbitration::ReadFirst | Arbitration::Suspend
            );
        if !overtakes {
            at.queue.push(&mut self.ops, id);
            if self.flash.program_mode == ProgramMode::Cache {
                self.preload(job.station, clock.now);
            }
            return;
        }
        at.reads.push(&mut self.ops, id);
        if self.can_suspend() {
            self.suspend(job.station, clock);
        }
    }

    fn start(&mut self, id: u32, clock: &mut Clock) {
        self.heat.look(clock.now);
        let op = self.ops[id as usize].job;
        match op.work {
            Work::Copy if self.flash.copy_back && op.stays => {
                let begin = clock.now + self.sense(&op, clock.now).0;
                self.program_copy(id, begin, clock);
            }
            Work::Read | Work::Gather if self.reads_alone => {
                let end = self
                    .channels
                    .transfer(op.station, op.place, clock.now + self.flash.read);
                clock.at(end, Event::OpDone(End::Read, id));
            }
            Work::Read | Work::Gather | Work::Copy => {
                let begin = match self.flash.arbitration {
                    Arbitration::InOrder => self.channels.free_at(op.station, op.place, clock.now),
                    _ => clock.now,
                };
                self.start_read(id, begin, clock);
            }
            Work::Program => self.start_program(id, clock),
            Work::Erase => {
                let nominal = match op.fast {
                    true => self.fast.erase,
                    false => self.flash.erase,
                };
                let end = clock.now + self.vary(nominal);
                self.ops[id as usize].array = (clock.now, end);
                clock.at(end, Event::OpDone(End::Erase, id));
            }
            Work::Busy(ns) => clock.after(Dur(u64::from(ns)), Event::OpDone(End::Other, id)),
        }
    }

    #[inline]
    fn start_read(&mut self, id: u32, begin: Time, clock: &mut Clock) {
        self.ops[id as usize].array = UNKNOWN;
        let job = self.ops[id as usize].job;
        let (sense, failed) = self.sense(&job, clock.now);
        self.ops[id as usize].job.failed = failed && job.work != Work::Copy;
        clock.at(begin + sense, Event::Sensed(id));
    }

    /// The page register holds the data: books the channel.
    #[inline]
    pub(crate) fn sensed(&mut self, id: u32, clock: &mut Clock) {
        let op = self.ops[id as usize].job;
        let end = self.channels.transfer(op.station, op.place, clock.now);
        if op.work == Work::Copy {
            // The data goes out for error correction and back in before the program.
            let begin = self.channels.transfer(op.station, op.place, end);
            return self.program_copy(id, begin, clock);
        }
        clock.at(end, Event::OpDone(End::Read, id));
    }

    /// Ends an operation: returns its job and starts the next one of its station. Returns `None` if the operation was
    /// suspended in the meantime and has not ended.
    #[inline]
    pub(crate) fn done(&mut self, id: u32, clock: &mut Clock) -> Option<Job> {
        let job = self.ops[id as usize].job;
        if self.was_interrupted(id, clock.now) {
            return None;
        }
        self.heat.add(&job, clock.now);
        self.free_ops.push(id);
        if !self.ops[id as usize].joined {
            self.go_on(job.station, clock);
        }
        Some(job)
    }

    /// Starts the next operation of a station, whose current one has ended.
    #[inline]
    pub(crate) fn go_on(&mut self, station: u32, clock: &mut Clock) {
        let at = &mut self.stations[station as usize];
        if at.preloaded != NONE && at.suspended == NONE {
            let next = std::mem::replace(&mut at.preloaded, NONE);
            at.current = next;
            self.start_preloaded(next, clock);
        } else if let Some(next) = at.reads.pop(&self.ops) {
            at.current = next;
            self.start(next, clock);
        } else if at.suspended != NONE {
            self.resume(station, clock);
        } else if let Some(next) = self.plain[station as usize].waiting.pop_front() {
            self.plain[station as usize].at_work = next;
            self.start_plain(station, clock);
        } else if let Some(next) = at.queue.pop(&self.ops) {
            at.current = next;
            self.start(next, clock);
        } else {
            at.busy = false;
        }
    }

    /// Size of the tables of stations and channels in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.stations.capacity() * size_of::<Station>() + self.channels.state_bytes()
    }

    /// Returns the temperature at a time, in degrees Celsius; `None` if it is not modelled.
    pub(crate) fn celsius(&self, now: Time) -> Option<f64> {
        self.heat.celsius(now)
    }

    /// Returns the temperature from which on the controller slows down, in degrees Celsius, and how often it began to.
    pub(crate) fn throttling(&self) -> Option<(f64, u32)> {
        self.heat.throttling()
    }

    /// Forgets all operations in flight, as a power cut does.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.free_ops.clear();
        self.stations.fill(IDLE);
        self.plain.iter_mut().for_each(|line| line.waiting.clear());
        self.channels.clear();
    }

    /// Draws the time of a read of a clustered page in the array, including repeated reads, and whether the last one failed.
    #[inline]
    fn sense(&mut self, job: &Job, now: Time) -> (Dur, bool) {
        let nominal = match job.fast {
            true => self.fast.read,
            false => self.flash.read,
        };
        let mut time = self.vary(nominal);
        if self.age.repeats() {
            let retry = self.age.retry(job.place.cpage, now);
            for _ in 0..self.read_retries_max {
                if !self.chance(retry) {
                    return (time, false);
                }
                self.retries += 1;
                time += self.vary(nominal);
            }
            return (time, self.rebuilds && self.chance(retry));
        }
        (time, false)
    }

    #[inline]
    fn vary(&mut self, nominal: Dur) -> Dur {
        let nominal = self.heat.stretch(nominal);
        match &mut self.rng {
            Some(rng) if self.jitter > 0.0 => {
                let factor = (1.0 + self.jitter * rng.normal()).max(0.5);
                Dur((nominal.0 as f64 * factor) as u64)
            }
            _ => nominal,
        }
    }

    /// Draws whether something of this probability happens.
    fn chance(&mut self, probability: f64) -> bool {
        let rng = self.rng.as_mut();
        rng.is_some_and(|rng| rng.chance(probability))
    }
}
