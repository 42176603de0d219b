//! Zones: the host writes each zone in order, and every unit of a zone has a fixed place in the clustered blocks of the
//! zone (NVMe Zoned Namespace Command Set Specification 1.1; Bjørling et al., "ZNS: avoiding the block interface tax for
//! flash-based SSDs", USENIX ATC 2021).
//!
//! A zone consists of one or several clustered blocks, over which its clustered pages are striped; the blocks of
//! consecutive numbers lie in consecutive groups. So a zone works on as many dies as its blocks have, and zones on
//! different dies work at the same time. A zone takes erased blocks when it is written, and gives them back when it is
//! reset. Nothing is ever moved, so the write amplification is 1, plus the pages that a finish pads.
//!
//! **After a power cut** the blocks of each zone are known: the table of the zones has a few bytes for each of them, and
//! it is assumed to be stored safely with every change. The contents of the pages tell how far a zone was written. A page
//! whose program was cut off is never programmed again; it lies below the write pointer and reads as zero.

use super::contract::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall, emit_programs};
use crate::bits::BitSet;
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Bytes, Lpn, Ppn, Rng, keys};
use std::collections::VecDeque;

/// The state of a clustered block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Erased,
    /// Part of a zone.
    InUse,
    /// Its erase is in progress.
    Leaving,
    Bad,
}

/// The state of a zoned drive: one bit per unit, and some bytes for every clustered block.
#[derive(Clone, Debug)]
pub(crate) struct ZonedFtl {
    g: Geometry,
    /// Clustered blocks of the address space of a zone, and those that hold data.
    span: u32,
    blocks: u32,
    /// The clustered block for each logical one, or [`NO_CBLOCK`]. Zone `z` has the `blocks` entries from `z * blocks` on.
    data: Vec<u32>,
    /// Whether each unit was written since the last reset.
    live: BitSet,
    /// The first unit of each zone that was not programmed, counted from the start of the zone.
    next: Vec<u32>,
    free: Vec<VecDeque<u32>>,
    state: Vec<State>,
    retired: Vec<u32>,
    /// Clustered pages that a finish has padded.
    padded: u64,
}

impl ZonedFtl {
    fn zones(&self) -> u32 {
        self.g.logical_cblocks / self.span
    }

    fn units_per_zone(&self) -> u32 {
        self.span * self.g.units_per_cblock
    }

    /// Returns the zone of a unit, and the index of the unit in it.
    #[inline]
    fn split(&self, lpn: u32) -> (u32, u32) {
        (lpn / self.units_per_zone(), lpn % self.units_per_zone())
    }

    /// Returns the logical block of a unit of a zone, and its index in that block: clustered pages go to the blocks in
    /// turn.
    #[inline]
    fn home(&self, zone: u32, unit: u32) -> (u32, u32) {
        let (page, within) = (unit / self.g.units_per_cpage, unit % self.g.units_per_cpage);
        let block = zone * self.blocks + page % self.blocks;
        (block, page / self.blocks * self.g.units_per_cpage + within)
    }

    /// Returns the place of a unit of a zone, if its block has been taken.
    #[inline]
    fn place(&self, zone: u32, unit: u32) -> Option<u32> {
        let (block, index) = self.home(zone, unit);
        let cblock = *self.data.get(block as usize)?;
        (cblock != NO_CBLOCK).then(|| cblock * self.g.units_per_cblock + index)
    }

    fn group_of(&self, block: u32) -> usize {
        (block % self.g.groups) as usize
    }

    /// Takes erased blocks for units `from` to `to` of a zone.
    fn take(&mut self, zone: u32, from: u32, to: u32) -> Result<(), Stall> {
        let pages = from / self.g.units_per_cpage..to.div_ceil(self.g.units_per_cpage);
        for page in pages {
            let (block, _) = self.home(zone, page * self.g.units_per_cpage);
            if self.data[block as usize] == NO_CBLOCK {
                let group = self.group_of(block);
                let cblock = self.free[group].pop_front().ok_or(Stall)?;
                self.state[cblock as usize] = State::InUse;
                self.data[block as usize] = cblock;
            }
        }
        Ok(())
    }

    /// Returns the number of units that were programmed, padded or cut off in each zone, from its start on.
    pub(crate) fn written(&self, zone: u32) -> u32 {
        self.next[zone as usize]
    }

    /// Has the blocks of a zone erased.
    pub(crate) fn reset(&mut self, zone: u32, ops: &mut Vec<FlashOp>) {
        let first = zone * self.units_per_zone();
        self.live.remove_range(first..first + self.units_per_zone());
        self.next[zone as usize] = 0;
        for block in zone * self.blocks..(zone + 1) * self.blocks {
            let cblock = std::mem::replace(&mut self.data[block as usize], NO_CBLOCK);
            if cblock != NO_CBLOCK {
                self.state[cblock as usize] = State::Leaving;
                ops.push(FlashOp::Erase { cblock });
            }
        }
    }

    /// Programs the rest of the blocks that a zone has begun: a block that stays partly programmed would lose data sooner.
    /// Everything written to the zone must be programmed.
    pub(crate) fn pad(&mut self, zone: u32, ops: &mut Vec<FlashOp>) {
        let per_page = self.g.units_per_cpage;
        let first = self.next[zone as usize].div_ceil(per_page);
        for page in first..self.blocks * self.g.cpages_per_cblock {
            if let Some(at) = self.place(zone, page * per_page) {
                emit_programs(&self.g, at, per_page, ops);
                self.padded += 1;
            }
        }
        self.seal(zone);
    }

    /// Makes a zone full without programming the rest of it.
    pub(crate) fn seal(&mut self, zone: u32) {
        self.next[zone as usize] = self.blocks * self.g.units_per_cblock;
    }

    /// Returns the zone and the unit in it of a place, if a zone has it.
    fn owner(&self, homes: &[u32], place: u32) -> Option<(u32, u32)> {
        let (cblock, index) = (
            place / self.g.units_per_cblock,
            place % self.g.units_per_cblock,
        );
        let block = *homes.get(cblock as usize)?;
        if block == NO_CBLOCK {
            return None;
        }
        let (page, within) = (
            index / self.g.units_per_cpage,
            index % self.g.units_per_cpage,
        );
        let (zone, lane) = (block / self.blocks, block % self.blocks);
        Some((
            zone,
            (page * self.blocks + lane) * self.g.units_per_cpage + within,
        ))
    }

    /// Returns the logical block of each clustered block, or [`NO_CBLOCK`].
    fn homes(&self) -> Vec<u32> {
        let mut homes = vec![NO_CBLOCK; self.g.cblocks() as usize];
        for (block, &cblock) in (0..).zip(&self.data) {
            if cblock != NO_CBLOCK {
                homes[cblock as usize] = block;
            }
        }
        homes
    }
}

keys! {
    /// `[mapping]` of `zoned`.
    pub struct Config {
        /// Size of a zone in the address space: a number of clustered blocks that divides the capacity.
        pub(super) zone: Bytes = Bytes(0),
        /// Bytes that a zone can hold: a number of clustered blocks, at most the size of the zone, which is the default.
        pub(super) zone_capacity: Option<Bytes> = None,
        /// Maximum number of open zones; 0 for no limit.
        pub(super) max_open_zones: u32 = 0,
        /// Maximum number of open and closed zones; 0 for no limit.
        pub(super) max_active_zones: u32 = 0,
        /// Whether the rest of a partly filled clustered page can be programmed later.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for ZonedFtl {
    const ABOUT: About = About::new("zones that the host writes in order and resets as a whole (NVMe ZNS)").text(
        "The drive shows zones: a zone is written at its write pointer, by writes or appends, and reset as a whole. Each \
zone has clustered blocks of its own, over which its pages are striped. The drive moves no data, so it needs neither a \
map of pages nor garbage collection, and little over-provisioning (Bjørling et al., USENIX ATC 2021).",
    ).keys(Config::KEYS);
    type Config = Config;

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let cblock = spec.flash.clustered_block.0;
        let held = config.zone_capacity.unwrap_or(config.zone);
        let span = ((config.zone.0 / cblock) as u32).max(1);
        let zones = g.logical_cblocks / span;
        let blocks = ((held.0 / cblock) as u32).max(1);
        let free = (0..g.groups)
            .map(|i| (i * g.cblocks_per_group..(i + 1) * g.cblocks_per_group).collect());
        Self {
            span,
            blocks,
            data: vec![NO_CBLOCK; (zones * blocks) as usize],
            live: BitSet::new(g.logical_units),
            next: vec![0; zones as usize],
            free: free.collect(),
            state: vec![State::Erased; g.cblocks() as usize],
            retired: vec![0; g.groups as usize],
            padded: 0,
            g: g.clone(),
        }
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        if !self.live.contains(lpn.0) {
            return Ppn::NONE;
        }
        let (zone, unit) = self.split(lpn.0);
        self.place(zone, unit).map_or(Ppn::NONE, Ppn)
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        for &(lpn, units) in runs {
            let (zone, unit) = self.split(lpn.0);
            self.take(zone, unit, unit + units)?;
        }
        for &(lpn, units) in runs {
            let (zone, unit) = self.split(lpn.0);
            let end = (zone + 1) * self.units_per_zone();
            debug_assert!(
                self.live.count(lpn.0..end) == 0,
                "zone {zone} is written out of order"
            );
            for lpn in lpn.0..lpn.0 + units {
                self.live.insert(lpn);
            }
            // A protected buffer may hold the last units of a zone that was sealed after a power cut.
            let next = &mut self.next[zone as usize];
            *next = (*next).max(unit + units);
            // A run lies in one clustered page.
            if let Some(at) = self.place(zone, unit) {
                emit_programs(&self.g, at, units, ops);
            }
        }
        Ok(())
    }

    fn trim(&mut self, _lpn: Lpn, _units: u32, _ops: &mut Vec<FlashOp>) {}

    fn erased(&mut self, cblock: u32) {
        self.state[cblock as usize] = State::Erased;
        self.free[self.g.group_of_cblock(cblock) as usize].push_back(cblock);
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = self.g.group_of_cblock(cblock) as usize;
        if std::mem::replace(&mut self.state[cblock as usize], State::Bad) != State::Bad {
            self.retired[group] += 1;
        }
        self.free[group].retain(|&free| free != cblock);
        let needed = (0..self.data.len() as u32).filter(|&block| self.group_of(block) == group);
        self.g.cblocks_per_group - self.retired[group] >= needed.count() as u32
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let homes = self.homes();
        self.live = BitSet::new(self.g.logical_units);
        // A finished zone stays finished: its table says so.
        let full = self.blocks * self.g.units_per_cblock;
        self.next
            .iter_mut()
            .for_each(|next| *next = if *next == full { full } else { 0 });
        let mut programmed: Vec<(u32, bool)> = torn.iter().map(|at| (at.0, false)).collect();
        programmed.extend(store.scan().map(|(at, _)| (at.0, true)));
        for (place, whole) in programmed {
            if let Some((zone, unit)) = self.owner(&homes, place) {
                let next = &mut self.next[zone as usize];
                *next = (*next).max(unit + 1);
                if whole {
                    self.live.insert(zone * self.units_per_zone() + unit);
                }
            }
        }
        // The erases that were in progress begin again.
        for cblock in 0..self.g.cblocks() {
            if self.state[cblock as usize] == State::Leaving {
                ops.push(FlashOp::Erase { cblock });
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let mut uses = vec![0u32; self.state.len()];
        for &cblock in self.data.iter().filter(|&&b| b != NO_CBLOCK) {
            uses[cblock as usize] += 1;
        }
        for (cblock, (&uses, &state)) in uses.iter().zip(&self.state).enumerate() {
            if uses > 1 || (uses == 1) != (state == State::InUse) {
                return Err(format!(
                    "block {cblock} is {state:?}, and {uses} zones use it"
                ));
            }
        }
        let free = self.free.iter().flatten();
        if let Some(cblock) = free
            .copied()
            .find(|&b| self.state[b as usize] != State::Erased)
        {
            return Err(format!("block {cblock} is not free"));
        }
        let per_zone = self.units_per_zone();
        let beyond = (0..self.zones()).find(|&zone| {
            let next = zone * per_zone + self.next[zone as usize];
            self.live.count(next..(zone + 1) * per_zone) > 0
        });
        beyond.map_or(Ok(()), |zone| {
            Err(format!("zone {zone} holds units behind its end"))
        })
    }

    fn merges(&self) -> MergeCounts {
        MergeCounts::default()
    }

    fn state_bytes(&self) -> usize {
        let free = self.free.iter().map(VecDeque::capacity);
        let words = self.data.capacity() + self.next.capacity() + self.retired.capacity();
        (words + free.sum::<usize>()) * 4
            + self.live.state_bytes()
            + self.state.capacity() * size_of::<State>()
    }
}
