//! The drive: events in order of time, and what each of them sets in motion.
//!
//! An event exists only where something is contended or ends: a command is through the controller, a piece of a
//! write has crossed the link, a page register holds its data, an operation is done, a request is complete.
//! Everything else is arithmetic. Data moves when an operation is issued and becomes durable when it is done.

mod batch;
mod counters;
mod domain;
mod drain;
mod draining;
mod fill;
mod flash;
mod map;
mod order;
mod power;
mod read;
mod requests;
mod upkeep;
mod worn;
mod write;

pub use counters::Counters;

use crate::buffer::{ReadLines, WriteLines};
use crate::ftl::{AnyFtl, FlashOp, Ftl, MapCounts, MergeCounts};
use crate::geometry::Geometry;
use crate::host::Link;
use crate::nand::store::Store;
use crate::nand::{Nand, Place};
use crate::spec::{Cut, Drain, Faults, Noise, Oversize, Spec, SpecError};
use batch::Batch;
use domain::Domain;
use draining::Draining;
use fathom_base::memory::room_for;
use fathom_base::{BadValue, want};
use fathom_base::{Dur, EventQueue, Lpn, Rng, SECTOR_BYTES, Slab, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, Request};
use flash::Ticket;
use order::Hazards;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What can happen. Numbers are indices of requests or of operations at the flash array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The controller is through with a command.
    Command(u32),
    /// A piece of a write has crossed the link.
    Arrived(u32),
    /// A page register holds its data.
    Sensed(u32),
    /// A flash operation is done.
    OpDone(u32),
    /// A request is complete.
    Complete(u32),
    /// Perhaps no write has come for a while.
    Idle,
    /// Background work begins.
    Background,
    /// The data of a program is in the page registers of a station: the array begins, or its cache register is free.
    Loaded(u32),
    /// The data of a program is in the page register of a station, where a read waits to interrupt it.
    Suspend(u32),
    /// The host may have been idle long enough to collect blocks.
    Collect,
    /// Perhaps a write waits for an erased block that never comes.
    Exhausted,
}

/// Which lines of the buffer may be programmed together, where a clustered page holds several units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gathers {
    /// Any (page mapping).
    AnyUnits,
    /// Those whose units follow one another in one block (block mapping).
    Neighbours,
}

impl Gathers {
    fn of(spec: &Spec, g: &Geometry) -> Option<Self> {
        let several = spec.write_buffer.is_some() && g.units_per_cpage > 1;
        several.then_some(match spec.mapping.kind {
            kind if kind.is_paged() => Gathers::AnyUnits,
            _ => Gathers::Neighbours,
        })
    }
}

/// Pieces of background work that a station has at most: where the host leaves it no time for them, the next are left
/// out.
const BACKGROUND_WAITING_MAX: u8 = 4;

/// Lanes of the event queue: what the controller, the link and the array's sensing end comes in order of time.
pub(crate) mod lane {
    pub(crate) const COMMAND: usize = 0;
    pub(crate) const IN: usize = 1;
    pub(crate) const OUT: usize = 2;
    pub(crate) const SENSE: usize = 3;
    /// Operations of one kind take equally long, so that their ends come in order where no bus makes them wait.
    pub(crate) const READ: usize = 4;
    pub(crate) const PROGRAM: usize = 5;
    pub(crate) const COPY: usize = 6;
    pub(crate) const ERASE: usize = 7;
}

/// A request in flight.
#[derive(Clone, Debug)]
struct Active {
    request: Request,
    submitted: Time,
    /// Parts still to come: flash operations of a read, programs of an unbuffered write.
    pending: u32,
    /// Sectors of a write that have crossed the link.
    arrived: u64,
    /// The piece on the link: its sectors, and those for which room is set aside.
    piece: (u32, u32),
    /// A write of which a part cannot be placed any more: it fails when nothing of it is under way.
    failed: bool,
    /// When the last transfer of a read ends.
    last_transfer: Time,
    data: Option<Box<[u8]>>,
    /// The unit of the map that was read last for an unbuffered write.
    map_read: Option<Place>,
}

/// A flush that waits: first for the buffer to be drained up to `mark`, then in every domain for each program before
/// `after`.
#[derive(Clone, Debug)]
struct Flushing {
    request: u32,
    mark: u64,
    after: Option<Box<[u64]>>,
}

/// A modelled drive. `Clone` forks it with everything that it holds.
#[derive(Clone, Debug)]
pub struct Ssd {
    info: DeviceInfo,
    g: Geometry,
    noise: Noise,
    drain: Drain,
    idle_delay: Dur,
    battery: bool,
    /// Once full, all of the buffer is drained before more is taken.
    drain_whole: bool,
    /// That is going on.
    emptying: bool,
    oversize: Oversize,
    cut: Cut,
    unbuffered: bool,
    now: Time,
    events: EventQueue<Event>,
    link: Link,
    nand: Nand,
    ftl: AnyFtl,
    lines: WriteLines,
    reads: Option<ReadLines>,
    active: Slab<Active>,
    finished: Vec<Completion>,
    tickets: Slab<Ticket>,
    /// Writes whose command is through, in the order in which they cross the link.
    incoming: VecDeque<u32>,
    /// The first of them waits for room in the buffer.
    waits_for_room: bool,
    flushes: Vec<Flushing>,
    /// Lines that became dirty up to here are due.
    drain_mark: u64,
    draining: Draining,
    last_write: Time,
    idle_scheduled: bool,
    gathers: Option<Gathers>,
    /// Whether all pages of a group are alike in time: it has one lane, and a clustered page is one page.
    group_tells_station: bool,
    /// The order of programs and erases: of each group, or of the whole drive.
    domains: Vec<Domain>,
    hazards: Hazards,
    arriving: Vec<u32>,
    rng: Rng,
    store: Option<Store>,
    line_bytes: BTreeMap<u32, Box<[u8]>>,
    counters: Counters,
    cut_after_ops: Option<u64>,
    powered: bool,
    faults: Faults,
    rng_faults: Rng,
    /// Whether programs or erases fail at all.
    may_fail: bool,
    /// Blocks with a failed program: out of use after the next erase.
    doomed: BTreeSet<u32>,
    /// Blocks out of use, and how many of them were so from the start.
    bad: BTreeSet<u32>,
    bad_at_first: usize,
    /// No spare block is left: the drive can only be read.
    worn_out: bool,
    /// Erases of every clustered block.
    wear: Vec<u32>,
    /// How long the host must be idle before blocks are collected; `None` for a drive that does not.
    collect_after: Option<Dur>,
    collect_scheduled: bool,
    collecting: bool,
    last_activity: Time,
    /// Pieces of background work of each station, the one at work included.
    background_work: Vec<u8>,
    ops: Vec<FlashOp>,
    gather: Vec<Place>,
    map_reads: Vec<Place>,
    /// Reads of the map that are under way.
    map_arriving: Vec<u32>,
    /// Old data to read for programs that wait for their map first.
    after_map: Vec<(u32, Place)>,
    batch: Batch,
    /// The units of a batch, where data is kept.
    unit_bytes: Vec<u8>,
}

/// What is kept in order by itself: a group, where units never leave theirs, else the drive.
fn domains_of(spec: &Spec, g: &Geometry) -> usize {
    match spec.mapping.kind.is_paged() {
        true => 1,
        false => g.groups as usize,
    }
}

/// Whether the largest tables fit into memory: a map of all pages has 4 bytes for each unit, both ways.
fn room_for_tables(spec: &Spec, g: &Geometry) -> Result<(), BadValue> {
    let units = u64::from(g.logical_units) + u64::from(g.physical_units());
    let bytes = match spec.mapping.kind.is_paged() {
        true => 4 * units,
        false => units / 8,
    };
    want(room_for(bytes), "capacity", spec.capacity, || {
        format!(
            "less than that here: its tables take {} MiB of memory",
            bytes >> 20
        )
    })
}

impl Ssd {
    /// A new drive, never written.
    ///
    /// # Errors
    /// [`SpecError::Value`] where no such drive can be built, or not in the memory that there is.
    pub fn new(spec: &Spec, seed: u64) -> Result<Ssd, SpecError> {
        spec.check()?;
        let g = Geometry::new(spec);
        room_for_tables(spec, &g)?;
        let buffer = spec.write_buffer.as_ref();
        let mut drive = Ssd {
            info: info_of(spec),
            noise: spec.noise.clone(),
            drain: buffer.map_or(Drain::OnFull, |b| b.drain),
            idle_delay: buffer.map_or(Dur::ZERO, |b| b.idle_delay),
            battery: buffer.is_some_and(|b| b.battery),
            drain_whole: buffer.is_some_and(|b| b.drain_whole),
            emptying: false,
            oversize: buffer.map_or(Oversize::default(), |b| b.oversize),
            cut: buffer.map_or(Cut::default(), |b| b.cut),
            unbuffered: buffer.is_none(),
            now: Time::ZERO,
            events: EventQueue::default(),
            link: Link::new(&spec.host, spec.noise.command_percent, Rng::new(seed, 1)),
            nand: Nand::new(spec, &g, Rng::new(seed, 2)),
            ftl: AnyFtl::new(spec, &g, seed),
            lines: WriteLines::new(&drain::line_setup(spec, &g)),
            reads: spec.read_buffer.as_ref().map(ReadLines::new),
            active: Slab::default(),
            finished: Vec::new(),
            tickets: Slab::default(),
            incoming: VecDeque::new(),
            waits_for_room: false,
            flushes: Vec::new(),
            drain_mark: 0,
            draining: Draining::new(spec, &g),
            last_write: Time::ZERO,
            idle_scheduled: false,
            gathers: Gathers::of(spec, &g),
            group_tells_station: g.lanes_per_group == 1
                && g.sectors_per_cpage == g.sectors_per_page,
            domains: vec![Domain::default(); domains_of(spec, &g)],
            hazards: Hazards::default(),
            arriving: Vec::new(),
            rng: Rng::new(seed, 3),
            store: None,
            line_bytes: BTreeMap::new(),
            counters: Counters::default(),
            cut_after_ops: None,
            powered: true,
            may_fail: spec.faults.program_fail > 0.0 || spec.faults.erase_fail > 0.0,
            faults: spec.faults.clone(),
            rng_faults: Rng::new(seed, 6),
            doomed: BTreeSet::new(),
            bad: BTreeSet::new(),
            bad_at_first: 0,
            worn_out: false,
            wear: vec![0; g.cblocks() as usize],
            collect_after: (spec.gc.background_percent > 0.0).then_some(spec.gc.background_delay),
            collect_scheduled: false,
            collecting: false,
            last_activity: Time::ZERO,
            background_work: vec![0; g.stations as usize],
            ops: Vec::new(),
            gather: Vec::new(),
            map_reads: Vec::new(),
            map_arriving: Vec::new(),
            after_map: Vec::new(),
            batch: Batch::default(),
            unit_bytes: Vec::new(),
            g,
        };
        drive.mark_factory_bad(Rng::new(seed, 5));
        drive.schedule_background();
        Ok(drive)
    }

    /// From now on the drive keeps the bytes that are written and gives them back; writes without data, and those before,
    /// wrote zeros. Costs memory for every sector that is written from now on. Only a drive that keeps data from the
    /// beginning survives a power cut.
    pub fn keep_data(mut self) -> Self {
        let is_whole = self.counters.host_sectors_written == 0;
        self.store = Some(Store::new(&self.g, is_whole));
        self
    }

    /// The layout.
    pub fn geometry(&self) -> &Geometry {
        &self.g
    }

    /// What the drive has done so far.
    pub fn counters(&self) -> Counters {
        Counters {
            read_retries: self.nand.retries,
            suspends: self.nand.suspends,
            ..self.counters
        }
    }

    /// Erases of every clustered block so far.
    pub fn erase_counts(&self) -> &[u32] {
        &self.wear
    }

    /// Clustered blocks that are out of use.
    pub fn bad_blocks(&self) -> usize {
        self.bad.len()
    }

    /// Clustered blocks of a group that are out of use.
    pub fn bad_blocks_of(&self, group: u32) -> usize {
        let first = group * self.g.cblocks_per_group;
        self.bad
            .range(first..first + self.g.cblocks_per_group)
            .count()
    }

    /// Whether spare blocks have run out, so that writes fail.
    pub fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    /// Merges and garbage collections so far.
    pub fn merges(&self) -> MergeCounts {
        self.ftl.merges()
    }

    /// The cache of a map that lies in flash, so far; all zero for a drive that keeps its map in memory.
    pub fn map_counts(&self) -> MapCounts {
        self.ftl.map_counts()
    }

    /// Whether the translation layer's tables agree with each other; for tests. O(units).
    ///
    /// # Errors
    /// What does not agree.
    pub fn check(&self) -> Result<(), String> {
        self.ftl.check()
    }

    /// Bytes of the tables that grow with the capacity: the map, the state of blocks, stations and channels.
    pub fn state_bytes(&self) -> usize {
        self.ftl.state_bytes() + self.nand.state_bytes()
    }

    fn schedule_background(&mut self) {
        if self.noise.background_interval > Dur::ZERO {
            let wait = self
                .rng
                .exponential(self.noise.background_interval.0 as f64);
            self.events
                .push(self.now + Dur(wait as u64 + 1), Event::Background);
        }
    }

    fn background(&mut self) {
        let station = self.rng.below(u64::from(self.g.stations)) as u32;
        let length = self
            .rng
            .exponential(self.noise.background_duration.0 as f64);
        let waiting = &mut self.background_work[station as usize];
        if *waiting < BACKGROUND_WAITING_MAX {
            *waiting += 1;
            self.occupy(station, length.min(4.0e9) as u32);
        }
        self.schedule_background();
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        self.counters.events += 1;
        match event {
            Event::Command(id) => self.command(id),
            Event::Arrived(id) => self.arrived(id),
            Event::Sensed(op) => self.nand.sensed(op, self.now, &mut self.events),
            Event::OpDone(op) => self.op_done(op),
            Event::Complete(id) => self.complete(id, Ok(())),
            Event::Idle => self.idle(),
            Event::Background => self.background(),
            Event::Loaded(station) => self.nand.loaded(station, self.now, &mut self.events),
            Event::Suspend(station) => self.nand.suspend_due(station, self.now, &mut self.events),
            Event::Collect => self.collect_in_idle_time(),
            Event::Exhausted => self.exhausted(),
        }
    }
}

fn info_of(spec: &Spec) -> DeviceInfo {
    DeviceInfo {
        name: spec.name.clone(),
        capacity_bytes: spec.capacity.0,
        logical_block_bytes: spec.host.logical_block.0 as u32,
        max_request_bytes: spec.host.max_request.0,
        queue_depth: spec.host.queue_depth,
        volatile_cache: spec.write_buffer.as_ref().is_some_and(|b| !b.battery),
        trim: true,
        read_only: false,
        modelled: true,
        rotational: Some(false),
    }
}

impl Device for Ssd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        // What is complete but not collected still takes its place in the queue.
        if self.active.len() + self.finished.len() >= self.info.queue_depth as usize {
            return Err(Busy(request));
        }
        let refused = self.refusal(&request);
        if refused.is_none() && request.op == Op::Write {
            let (unit, _) = self.g.unit_of_sector(request.offset / SECTOR_BYTES);
            self.ftl.fetch(Lpn(unit));
        }
        let id = self.active.insert(Active {
            request,
            submitted: self.now,
            pending: 0,
            arrived: 0,
            piece: (0, 0),
            failed: false,
            last_transfer: self.now,
            data: None,
            map_read: None,
        });
        match refused {
            Some(kind) => self.complete(id, Err(kind)),
            None => {
                let at = self.link.command(self.now);
                if at == self.now && self.events.next_at().is_none_or(|next| next > at) {
                    // Nothing comes before it: it need not be an event.
                    self.command(id);
                } else {
                    self.events
                        .push_in_order(lane::COMMAND, at, Event::Command(id));
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        // What happens at this very instant belongs to it, however early `until` is.
        let until = until.max(self.now);
        loop {
            if until == Time::MAX && self.active.is_empty() {
                break;
            }
            // Once something is complete, only what happens at the same instant joins it.
            let limit = if self.finished.is_empty() {
                until.min(Time::END)
            } else {
                self.now
            };
            let Some((at, event)) = self.events.pop_until(limit) else {
                self.end_of_time(until);
                break;
            };
            self.now = self.now.max(at);
            self.handle(event);
        }
        if !self.finished.is_empty() {
            if done.is_empty() {
                std::mem::swap(done, &mut self.finished);
            } else {
                done.append(&mut self.finished);
            }
        } else if until != Time::MAX {
            self.now = until;
        }
    }
}
