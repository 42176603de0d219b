//! The disk: processes events in order of time and their consequences.
//!
//! An event exists only where something ends: the controller has processed a command, the head has passed a piece of a
//! track, data has crossed the link, a request is complete. The arm does one thing at a time, in pieces of at most
//! [`PIECE_SECTORS`]; after each piece its next work is chosen. Overlapping requests are served in the order in which
//! they arrived.

mod arm;
mod state;
mod transfer;

use crate::cache::Segments;
use crate::dirty::Dirty;
use crate::geometry::{Geometry, Phase, TURN};
use crate::link::Link;
use crate::seek::SeekCurve;
use crate::spec::{Spec, SpecError};
use fathom_base::event::LANES;
use fathom_base::{Dur, Rng, SECTOR_BYTES, Slab, Time};
use fathom_block::devices::Pages;
use fathom_block::simulated::{self, Clock, Progress, Simulated};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Op, Request, Subject};
use state::{Active, Arm};
use std::collections::VecDeque;

/// Maximum number of sectors in a piece, the unit of head movement and of transfers that a read sends while data comes
/// off the medium: 8 KiB, the longest data frame of Serial ATA (2048 double words).
pub(crate) const PIECE_SECTORS: u64 = 16;

/// The events. Numbers are indices of requests, except in `Passed`.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The controller has processed a command.
    Command(u32),
    /// The head has passed the piece with this number.
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

/// The work that the disk has done since it was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors written by the host.
    pub host_sectors_written: u64,
    /// Sectors read by the host.
    pub host_sectors_read: u64,
    /// Seeks: movements of the arm to another cylinder.
    pub seeks: u64,
    /// Total seek time, including settling.
    pub seek_time: Dur,
    /// Switches to another head on the same cylinder.
    pub head_switches: u64,
    /// Rotational delay: total time spent waiting for a sector to arrive under the head after the arm had settled.
    pub rotation_wait: Dur,
    /// Sectors read from the medium.
    pub medium_sectors_read: u64,
    /// Sectors written to the medium.
    pub medium_sectors_written: u64,
    /// Sectors read ahead: read from the medium before a request asked for them.
    pub read_ahead_sectors: u64,
    /// Reads served completely from memory.
    pub cache_hits: u64,
    /// Reads whose first sectors were in memory, or were already being read ahead.
    pub partial_hits: u64,
    /// Reads served completely from the medium.
    pub cache_misses: u64,
    /// Number of times that a cached write found no room.
    pub write_stalls: u64,
    /// Events processed by the simulation.
    pub events: u64,
}

/// A modelled disk. `Clone` forks it with its complete state.
#[derive(Clone, Debug)]
pub struct Hdd {
    info: DeviceInfo,
    g: Geometry,
    clock: Clock<Event>,
    link: Link,
    active: Slab<Active>,
    sequence: u64,
    /// Requests held back by an earlier overlapping request, in order.
    held: Vec<u32>,
    /// Requests that wait for the arm, in order.
    waiting: Vec<u32>,
    arm: Arm,
    segments: Option<Segments>,
    read_ahead: u64,
    dirty: Option<Dirty>,
    /// Flushes, and cached writes that have not booked the link for all of their data, in order.
    incoming: VecDeque<u32>,
    /// True if the first entry of `incoming` has been counted as a stall.
    stalled: bool,
    store: Option<Pages>,
    counters: Counters,
    rotation_wait: Phase,
}

impl Hdd {
    /// Creates a disk at rest with its head on the outermost track, at an angle drawn from the seed.
    ///
    /// # Errors
    /// Returns [`SpecError::Value`] if no such disk can be built.
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

    /// Makes the disk store the bytes that are written from now on, and return them to reads; writes without data write
    /// zeros. Uses memory for all written data. Only for a disk that was never written.
    pub fn keep_data(mut self) -> Self {
        self.store = Some(Pages::default());
        self
    }

    /// Returns the layout.
    pub fn geometry(&self) -> &Geometry {
        &self.g
    }

    /// Returns the seek curve.
    pub fn seek_curve(&self) -> &SeekCurve {
        &self.arm.curve
    }

    /// Returns the counters of the work that the disk has done since it was new.
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

    /// Returns true if an earlier request in flight overlaps this one.
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
            // The check of every request refuses the operations of zoned devices.
            Op::Flush | Op::Trim | Op::Append | Op::Zone(_) => self.begin_flush(id),
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

    /// Counts the work of a request and moves its bytes. No overlapping request is in progress, so the bytes may be moved
    /// at any time between its start and its completion.
    fn account(&mut self, request: &Request) -> Option<Box<[u8]>> {
        let (offset, len) = (request.offset, request.len);
        match request.op {
            Op::Read => self.counters.host_sectors_read += len / SECTOR_BYTES,
            Op::Write => self.counters.host_sectors_written += len / SECTOR_BYTES,
            Op::Flush | Op::Trim | Op::Append | Op::Zone(_) => {}
        }
        let store = self.store.as_mut()?;
        match request.op {
            Op::Read => Some(store.read(offset, len)),
            Op::Write => {
                match &request.data {
                    Some(data) => store.write(offset, data),
                    None => store.zero(offset, len),
                }
                None
            }
            Op::Flush | Op::Trim | Op::Append | Op::Zone(_) => None,
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
        ..DeviceInfo::default()
    }
}

/// A disk counts no work: all that [`fathom_block::DriveStats`] knows is the work of flash.
impl Subject for Hdd {
    fn next_at(&mut self) -> Option<Time> {
        Some(self.clock.next_at())
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
        let Some(admitted) = simulated::admit(self, &request) else {
            return Err(Busy(request));
        };
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
        match admitted.err() {
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
