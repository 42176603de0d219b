//! The disk: events in order of time, and what each of them sets in motion.
//!
//! An event exists only where something ends: a command is through the controller, the head has passed a piece of a
//! track, data has crossed the link, a request is complete. The arm does one thing at a time, in pieces of at most
//! [`PIECE_SECTORS`]; after each of them it is decided what comes next. Requests that meet are served in the order in
//! which they came.

mod arm;
mod state;
mod transfer;

use crate::cache::Segments;
use crate::dirty::Dirty;
use crate::geometry::{Geometry, Phase, TURN};
use crate::link::Link;
use crate::seek::SeekCurve;
use crate::spec::{Spec, SpecError};
use crate::store::Store;
use fathom_base::event::LANES;
use fathom_base::{Dur, Rng, SECTOR_BYTES, Slab, Time};
use fathom_block::simulated::{self, Clock, Progress, Simulated};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveStats, IoErrorKind, Op, Request, Subject,
};
use state::{Active, Arm};
use std::collections::VecDeque;

/// The most sectors that the head passes before it is looked at again, and that a read sends at once as they come off
/// the medium: 8 KiB, the longest data frame of Serial ATA (2048 double words).
pub(crate) const PIECE_SECTORS: u64 = 16;

/// What can happen. Numbers are indices of requests.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The controller is through with a command.
    Command(u32),
    /// The head has passed the piece of this number.
    Passed(u32),
    /// Sectors of a cached write have crossed the link.
    Arrived { id: u32, sectors: u32 },
    /// A request is complete.
    Complete(u32),
}

impl simulated::Event for Event {
    fn lane(self) -> usize {
        match self {
            Event::Command(_) => 0,
            Event::Passed(_) => 1,
            Event::Arrived { .. } | Event::Complete(_) => LANES,
        }
    }
}

/// What the disk has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors written by the host.
    pub host_sectors_written: u64,
    /// Sectors read by the host.
    pub host_sectors_read: u64,
    /// Movements of the arm from one cylinder to another.
    pub seeks: u64,
    /// Time of those, settling included.
    pub seek_time: Dur,
    /// Changes of the head on one cylinder.
    pub head_switches: u64,
    /// Time spent waiting for a sector to come round, after the arm had settled.
    pub rotation_wait: Dur,
    /// Sectors read from the medium.
    pub medium_sectors_read: u64,
    /// Sectors written to the medium.
    pub medium_sectors_written: u64,
    /// Sectors read from the medium that no request had asked for yet.
    pub read_ahead_sectors: u64,
    /// Reads that were wholly in memory.
    pub cache_hits: u64,
    /// Reads whose beginning was in memory, or that the head was already reading.
    pub partial_hits: u64,
    /// Reads that had to go to the medium for everything.
    pub cache_misses: u64,
    /// Times that a cached write found no room.
    pub write_stalls: u64,
    /// Events handled.
    pub events: u64,
}

/// A modelled disk. `Clone` forks it with everything that it holds.
#[derive(Clone, Debug)]
pub struct Hdd {
    info: DeviceInfo,
    g: Geometry,
    clock: Clock<Event>,
    link: Link,
    active: Slab<Active>,
    sequence: u64,
    /// Requests that wait for an earlier one which they meet, in order.
    held: Vec<u32>,
    /// Requests that wait for the arm, in order.
    waiting: Vec<u32>,
    arm: Arm,
    segments: Option<Segments>,
    read_ahead: u64,
    dirty: Option<Dirty>,
    /// Cached writes that have not booked the link for all of their data, and flushes, in order.
    incoming: VecDeque<u32>,
    /// The front of `incoming` has been counted as a stall.
    stalled: bool,
    store: Option<Store>,
    counters: Counters,
    rotation_wait: Phase,
}

impl Hdd {
    /// A disk at rest with its head on the outermost track, at an angle drawn from the seed.
    ///
    /// # Errors
    /// [`SpecError::Value`] where no such disk can be built.
    pub fn new(spec: &Spec, seed: u64) -> Result<Hdd, SpecError> {
        spec.check()?;
        let start = Rng::new(seed, 1).below(TURN);
        let g = Geometry::new(spec, start);
        let noise = spec.noise.command_percent;
        let ahead = spec.read_cache.as_ref().map_or(0, |c| c.read_ahead.0);
        Ok(Hdd {
            info: info_of(spec),
            clock: Clock::default(),
            link: Link::new(&spec.host, noise, Rng::new(seed, 2)),
            active: Slab::default(),
            sequence: 0,
            held: Vec::new(),
            waiting: Vec::new(),
            arm: Arm::new(spec, Phase::from(start)),
            segments: spec.read_cache.as_ref().map(Segments::new),
            read_ahead: ahead / SECTOR_BYTES,
            dirty: spec.write_cache.as_ref().map(Dirty::new),
            incoming: VecDeque::new(),
            stalled: false,
            store: None,
            counters: Counters::default(),
            rotation_wait: 0,
            g,
        })
    }

    /// From now on the disk keeps the bytes that are written and gives them back; writes without data write zeros.
    /// Costs memory for what is written; for a disk that was never written.
    pub fn keep_data(mut self) -> Self {
        self.store = Some(Store::default());
        self
    }

    /// The layout.
    pub fn geometry(&self) -> &Geometry {
        &self.g
    }

    /// The seek curve.
    pub fn seek_curve(&self) -> &SeekCurve {
        &self.arm.curve
    }

    /// What the disk has done so far.
    pub fn counters(&self) -> Counters {
        Counters {
            rotation_wait: self.g.duration(self.rotation_wait),
            events: self.clock.happened,
            ..self.counters
        }
    }

    fn command(&mut self, id: u32) {
        if self.must_wait(id) {
            self.held.push(id);
        } else {
            self.begin(id);
        }
    }

    /// Whether an earlier request is in flight that this one meets.
    fn must_wait(&self, id: u32) -> bool {
        let Some(this) = self.active.get(id) else {
            return false;
        };
        let earlier = |other: &Active| other.sequence < this.sequence && other.meets(this);
        let mut others = self.active.ids().filter_map(|id| self.active.get(id));
        others.any(earlier)
    }

    fn begin(&mut self, id: u32) {
        let Some(active) = self.active.get(id) else {
            return;
        };
        match active.request.op {
            Op::Read => self.begin_read(id),
            Op::Write => self.begin_write(id),
            Op::Flush | Op::Trim => self.begin_flush(id),
        }
    }

    fn complete(&mut self, id: u32, result: Result<(), IoErrorKind>) {
        let Some(active) = self.active.remove(id) else {
            return;
        };
        let data = match result {
            Ok(()) => self.account(&active.request),
            Err(_) => None,
        };
        self.clock
            .complete(&active.request, active.submitted, result, data);
        self.release_held();
    }

    /// Counts what a request did, and moves its bytes. Nothing that it meets is under way, so that now is as good as
    /// any moment since it began.
    fn account(&mut self, request: &Request) -> Option<Box<[u8]>> {
        let (offset, len) = (request.offset, request.len);
        match request.op {
            Op::Read => self.counters.host_sectors_read += len / SECTOR_BYTES,
            Op::Write => self.counters.host_sectors_written += len / SECTOR_BYTES,
            Op::Flush | Op::Trim => {}
        }
        let store = self.store.as_mut()?;
        match request.op {
            Op::Read => Some(store.read(offset, len)),
            Op::Write => {
                store.write(offset, len, request.data.as_deref());
                None
            }
            Op::Flush | Op::Trim => None,
        }
    }

    fn release_held(&mut self) {
        let mut index = 0;
        while let Some(&id) = self.held.get(index) {
            if self.must_wait(id) {
                index += 1;
            } else {
                self.held.remove(index);
                self.begin(id);
            }
        }
    }
}

fn info_of(spec: &Spec) -> DeviceInfo {
    DeviceInfo {
        name: spec.name.clone(),
        capacity_bytes: spec.capacity.0,
        logical_block_bytes: SECTOR_BYTES as u32,
        max_request_bytes: spec.host.max_request.0,
        queue_depth: spec.host.queue_depth,
        volatile_cache: spec.write_cache.is_some(),
        trim: false,
        read_only: false,
        modelled: true,
        rotational: Some(true),
    }
}

/// Flash counters that stay 0.
impl Subject for Hdd {
    fn stats(&self) -> Option<DriveStats> {
        Some(DriveStats::default())
    }
}

impl Device for Hdd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.clock.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let (request, refused) = simulated::admit(self, request)?;
        self.sequence += 1;
        let wanted = request.offset / SECTOR_BYTES;
        let id = self.active.insert(Active {
            request,
            submitted: self.clock.now,
            sequence: self.sequence,
            wanted,
            booked: 0,
            arrived: 0,
            ready: 0,
        });
        match refused {
            Some(kind) => self.complete(id, Err(kind)),
            None => {
                let at = self.link.command(self.clock.now);
                self.clock.at(at, Event::Command(id));
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        simulated::wait(self, until, done);
    }
}

impl Simulated for Hdd {
    fn progress(&mut self) -> &mut Progress {
        &mut self.clock
    }

    fn step(&mut self, limit: Time) -> bool {
        let event = self.clock.next(limit);
        match event {
            Some(Event::Command(id)) => self.command(id),
            Some(Event::Passed(number)) => self.passed(number),
            Some(Event::Arrived { id, sectors }) => self.arrived(id, u64::from(sectors)),
            Some(Event::Complete(id)) => self.complete(id, Ok(())),
            None => {}
        }
        event.is_some()
    }

    fn is_still(&self) -> bool {
        self.clock.events.is_empty()
    }

    fn end(&mut self) {
        self.clock.events.clear();
        self.held.clear();
        self.waiting.clear();
        self.incoming.clear();
        let in_flight: Vec<u32> = self.active.ids().collect();
        for id in in_flight {
            self.complete(id, Err(IoErrorKind::EndOfTime));
        }
    }
}
