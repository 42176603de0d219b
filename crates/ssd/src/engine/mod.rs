//! The drive: processes events in order of time and their consequences.
//!
//! The state is divided into *rooms* that can each be understood alone: the host side ([`HostSide`]: requests and the
//! link), the memories for writes ([`WriteMemory`]) and for reads ([`ReadMemory`]), the flash side ([`FlashSide`]:
//! operations in flight), failures and wear ([`Health`]), garbage collection and folding in idle time ([`Collection`]), and background
//! work ([`Background`]). No room knows the drive; whatever it needs of another room is passed to it. An event that
//! concerns several rooms is handled by a method of [`Ssd`], in the file named after the event.

mod active;
mod background;
mod batch;
mod collection;
mod constant;
mod contents;
mod counters;
mod domain;
mod done;
mod drain;
mod draining;
mod fill;
mod flash;
mod flushes;
mod gather;
mod health;
mod host;
mod issue;
mod log;
mod map;
mod memory;
mod order;
mod parity;
mod plain;
mod power;
mod queues;
mod read;
mod reading;
mod record;
mod requests;
mod stats;
mod stripe;
mod ticket;
mod worn;
mod write;
mod zones;

pub use counters::Counters;

use crate::event::{Clock, End, Event};
use crate::ftl::{AnyFtl, FlashOp, MapCounts, MergeCounts};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::seed::Rngs;
use crate::spec::{Spec, SpecError};
use background::Background;
use collection::Collection;

use fathom_base::memory::room_for;
use fathom_base::{BadValue, Lpn, SECTOR_BYTES, Time, want};
use fathom_block::devices::Zones;
use fathom_block::simulated::{self, Progress, Simulated};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveLog, IoErrorKind, Op, Request, Zone,
};
use flash::FlashSide;
use health::Health;
use host::HostSide;
use memory::WriteMemory;
use reading::ReadMemory;

/// A modelled drive. `Clone` forks it with its complete state.
#[derive(Clone, Debug)]
pub struct Ssd {
    info: DeviceInfo,
    zones: Zones,
    g: Geometry,
    clock: Clock,
    host: HostSide,
    memory: WriteMemory,
    reads: ReadMemory,
    ftl: AnyFtl,
    /// Operations requested by the translation layer and not issued yet.
    ops: Vec<FlashOp>,
    flash: FlashSide,
    health: Health,
    collection: Collection,
    folding: Collection,
    background: Background,
    powered: bool,
    /// Writes with an unknown placement handle.
    misplaced: u64,
    /// Number of flash operations after which the power is cut.
    cut_after_ops: Option<u64>,
}

/// Checks that the largest tables fit into memory: a page map has 4 bytes per unit in each direction.
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
    /// Creates a new drive that was never written.
    ///
    /// # Errors
    /// Returns [`SpecError::Value`] if such a drive cannot be built, or not in the available memory.
    pub fn new(spec: &Spec, seed: u64) -> Result<Ssd, SpecError> {
        spec.check()?;
        let g = Geometry::new(spec);
        room_for_tables(spec, &g)?;
        let rngs = Rngs::new(spec, seed);
        let bad = health::draw_bad(&g, rngs.bad_blocks);
        let info = info_of(spec);
        let mut drive = Ssd {
            zones: Zones::new(&info),
            info,
            clock: Clock::default(),
            host: HostSide::new(spec, &g, rngs.commands),
            memory: WriteMemory::new(spec, &g),
            reads: ReadMemory::new(spec),
            ftl: AnyFtl::new(spec, &g, rngs.victims)?,
            ops: Vec::new(),
            flash: FlashSide::new(spec, &g, rngs.flash),
            health: Health::new(&spec.faults, &g, &bad, rngs.failures),
            collection: Collection::new(&spec.gc),
            folding: Collection::folding(spec.fast_cache.as_ref()),
            background: Background::new(&spec.noise, g.stations, rngs.background),
            powered: true,
            misplaced: 0,
            cut_after_ops: None,
            g,
        };
        for cblock in bad {
            drive.ftl.retire(cblock);
        }
        drive.background.schedule(&mut drive.clock);
        Ok(drive)
    }

    /// Makes the drive store the bytes that are written from now on, and return them to reads. Earlier writes and writes
    /// without data count as zeros. Uses memory for every sector that is written from now on. Only a drive that has kept
    /// data since it was new survives a power cut.
    pub fn keep_data(mut self) -> Self {
        let is_whole = self.host.sectors_written == 0;
        self.flash.store = Some(Store::new(&self.g, is_whole));
        self
    }

    /// Returns the layout.
    pub fn geometry(&self) -> &Geometry {
        &self.g
    }

    /// Returns the number of erases of every clustered block so far.
    pub fn erase_counts(&self) -> &[u32] {
        &self.health.wear
    }

    /// Returns the number of clustered blocks that are out of use.
    pub fn bad_blocks(&self) -> usize {
        self.health.bad.len()
    }

    /// Returns the number of clustered blocks of a group that are out of use.
    pub fn bad_blocks_of(&self, group: u32) -> usize {
        let first = group * self.g.cblocks_per_group;
        self.health
            .bad
            .range(first..first + self.g.cblocks_per_group)
            .count()
    }

    /// Returns true if spare blocks have run out, so that writes fail.
    pub fn is_worn_out(&self) -> bool {
        self.health.worn_out
    }

    /// Returns the counts of merges and garbage collections so far.
    pub fn merges(&self) -> MergeCounts {
        self.ftl.merges()
    }

    /// Returns the counts of the mapping table cache so far; all zero for a drive that keeps its whole map in memory.
    pub fn map_counts(&self) -> MapCounts {
        self.ftl.map_counts()
    }

    /// Returns the number of writes with a placement handle that the drive does not have (the event Invalid Placement
    /// Identifier of NVMe FDP); they were placed as those with handle 0.
    pub fn misplaced_writes(&self) -> u64 {
        self.misplaced
    }

    /// Checks that the translation layer's tables are consistent; for tests. Takes O(units) time.
    ///
    /// # Errors
    /// Returns a description of the first inconsistency.
    pub fn check(&self) -> Result<(), String> {
        self.ftl.check()
    }

    /// Returns the size in bytes of the tables that grow with the capacity: map, block states, stations and channels.
    pub fn state_bytes(&self) -> usize {
        self.ftl.state_bytes() + self.flash.nand.state_bytes()
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        let clock = &mut self.clock;
        match event {
            Event::Command(id) => self.command(id),
            Event::Fetch => self.host.fetch_due(clock),
            Event::Arrived(id) => self.arrived(id),
            Event::Sensed(op) => self.flash.nand.sensed(op, clock),
            Event::OpDone(_, op) => self.op_done(op),
            Event::Plain(End::Read, station) => self.plain_read_done(station),
            Event::Plain(_, station) => self.plain_done(station),
            Event::Fetched(ticket) => self.map_fetched(ticket),
            Event::Complete(id) => self.complete(id, Ok(())),
            Event::Idle => self.idle(),
            Event::Background => self.background(),
            Event::Loaded(station) => self.flash.nand.loaded(station, clock),
            Event::Suspend(station) => self.flash.nand.suspend_due(station, clock),
            Event::Collect => self.collect(),
            Event::Released(sectors) => self.released(sectors),
            Event::Recorded(id) => self.part_written(id),
            Event::Fold => self.fold(),
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
        trim: !spec.mapping.kind.is_zoned(),
        read_only: false,
        modelled: true,
        rotational: Some(false),
        zoned: spec.mapping.zones(spec.host.max_request),
        placement_handles: spec.mapping.placement_handles as u16,
        reclaim_unit_bytes: match spec.mapping.placement_handles {
            0 => 0,
            _ => spec.flash.clustered_block.0,
        },
    }
}

impl Device for Ssd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.clock.now
    }

    fn submit(&mut self, mut request: Request) -> Result<(), Busy> {
        let Some(admitted) = simulated::admit(self, &request) else {
            return Err(Busy(request));
        };
        self.background.note_request(&mut self.clock);
        let asked = request.offset;
        let mut refused = self.refusal(request.op, admitted.err());
        if self.info.zoned.is_some() && refused.is_none() {
            refused = self.enter_zone(&mut request).err();
        }
        if refused.is_none() && request.op == Op::Write {
            let (unit, _) = self.g.unit_of_sector(request.offset / SECTOR_BYTES);
            self.ftl.fetch(Lpn(unit));
            if self.info.placement_handles > 1 {
                self.note_placement(&request);
            }
        }
        let id = self.host.accept(request, asked, self.clock.now);
        if let Some(kind) = refused {
            self.complete(id, Err(kind));
        } else if self.host.is_command_through(id, &mut self.clock) {
            self.command(id);
            self.start_map_fetches();
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        simulated::wait(self, until, done);
    }

    fn log(&mut self) -> Option<DriveLog> {
        self.own_log()
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.zones.report(from, count)
    }
}

impl Simulated for Ssd {
    #[inline]
    fn progress(&mut self) -> &mut Progress {
        &mut self.clock
    }

    #[inline]
    fn step(&mut self, limit: Time) -> bool {
        let event = self.clock.next(limit);
        if let Some(event) = event {
            self.handle(event);
            self.start_map_fetches();
        }
        event.is_some()
    }

    fn is_still(&self) -> bool {
        self.clock.events.is_empty()
    }

    fn end(&mut self) {
        self.fail_all(IoErrorKind::EndOfTime);
        self.forget_motion();
    }
}
