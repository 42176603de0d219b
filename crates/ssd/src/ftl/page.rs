//! Page mapping: every unit can lie anywhere, and writes are log-structured.
//!
//! Writes go to the groups round robin, one clustered page each (dynamic striping), or to the group that the
//! address selects ([`super::striping`]). Nothing is moved from one group to another. Each group has one open block
//! for the host and one for copies, or one for both, or three: frequently written units (`heat`) then have an open
//! block of their own, which takes them from the host and from collection alike (the hot and the cold write
//! frontier of Van Houdt, "Performance of garbage collection algorithms for flash-based solid state drives with
//! hot/cold data", Performance Evaluation 70(10), 2013).
//!
//! A drive with placement handles (NVMe Flexible Data Placement, TP4146) has an open block for each of them in each group:
//! data with different handles shares no block until collection moves it ("initially isolated"). The handles of units
//! are forgotten in a power cut.
//!
//! [`super::victim`] selects the block to collect, `collect` collects it, `relocate` moves its units, `wear` levels
//! wear, and `recovery` rebuilds the map after a power cut. `cache` and `fold` are the fast cache: blocks that are programmed with one bit per
//! cell. The traffic of a mapping table that lies in flash itself is not modelled
//! here.

mod bits;
mod cache;
mod collect;
mod erased;
mod fill;
mod filled;
mod fold;
mod group;
mod heat;
mod map;
mod owners;
mod place;
mod recovery;
mod relocate;
pub(crate) mod shortcut;
mod sparse;
mod step;
mod wear;

use super::contract::{FlashOp, Ftl, MergeCounts, Stall};
use super::striping::Stripes;
use super::victim::Blocks;
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::{Gc, Separation, Spec, Striping};
use cache::Cache;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use filled::NOTHING;
use group::{COPIES, Group, HOST};
use heat::Heat;
use map::Map;
use owners::Owners;
use step::InStep;
use wear::Wear;

/// The state of a page-mapped drive: 4 bytes per logical and 4 per physical unit, one more per logical unit where
/// hot data is separated, and some per clustered block.
#[derive(Clone, Debug)]
pub(crate) struct PageFtl {
    g: Geometry,
    gc: Gc,
    partial_program: bool,
    stripes: Option<Stripes>,
    in_step: Option<InStep>,
    /// Index of the open block that takes copies.
    copies: usize,
    map: Map,
    owners: Owners,
    blocks: Blocks,
    heat: Heat,
    /// The placement handle of the last write of each unit; empty if the drive has at most one.
    handles: Vec<u8>,
    wear: Wear,
    groups: Vec<Group>,
    cache: Option<Cache>,
    turn: u32,
    background_turn: u32,
    merges: MergeCounts,
    /// Scratch space: places and owners of the units being moved.
    live: Vec<(u32, u32)>,
    /// Scratch space: groups and units of a write that goes to several groups.
    parts: Vec<(u32, u32)>,
}

impl PageFtl {
    fn erased_groups(&self) -> Vec<Group> {
        let erased = |group| Group::erased(&self.g, group, self.valid_max(0));
        (0..self.g.groups).map(erased).collect()
    }

    /// Returns the number of valid units that a group may hold after `retired` of its blocks were retired.
    fn valid_max(&self, retired: u32) -> u32 {
        let blocks = self.g.cblocks_per_group - retired;
        let filled = self.g.units_per_cblock - self.g.units_lost_per_cblock;
        blocks.saturating_sub(self.g.reserve_cblocks) * filled
    }

    /// Returns the unit that a place holds, if it is valid. A mapping that keeps the map in flash needs it for
    /// copies.
    pub(super) fn owner(&self, place: Ppn) -> Option<Lpn> {
        let lpn = self.owners.get(place.0).checked_sub(1)?;
        (self.map.get(lpn) == place.0 + 1).then_some(Lpn(lpn))
    }

    /// Returns true if the drive can still hold everything that the host can write.
    fn holds_all(&self) -> bool {
        let units = self.g.logical_units + self.g.map_units;
        match &self.stripes {
            Some(stripes) => {
                let share = stripes.share(units);
                self.groups.iter().all(|group| group.valid_max >= share)
            }
            None => {
                let room = self.groups.iter().map(|group| u64::from(group.valid_max));
                room.sum::<u64>() >= u64::from(units)
            }
        }
    }
}

keys! {
    /// `[mapping]` of `page`.
    pub struct Config {
        /// Where the next page goes: `dynamic`, or a static order such as `cwdp`.
        pub(super) striping: Striping = Striping::Dynamic,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
        /// Placement handles of writes, 0 to 8 (NVMe FDP): each has an open block of its own in every group.
        pub(super) placement_handles: u32 = 0,
    }
}

impl Ftl for PageFtl {
    const ABOUT: About = About::new("page mapping with garbage collection").text(
        "Page mapping: a write goes to the next free page of a group. Groups take turns (striping = \"dynamic\"), or the \
address selects the group (a static order of channel, way, die and plane). `[gc]` sets which block is collected, \
which data has blocks of its own, and whether idle time is used. The map takes 4 bytes a unit.",
    ).keys(Config::KEYS);
    type Config = Config;

    fn new(config: Config, spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self {
        let gc = &spec.gc;
        let hot = gc.separate == Separation::HotCold;
        let stripes = Stripes::new(config.striping, &spec.flash, g);
        let units = (g.logical_units + g.map_units) as usize;
        let mut ftl = Self {
            partial_program: config.partial_program,
            map: Map::new(units, stripes.is_some()),
            stripes,
            in_step: InStep::new(spec.flash.program_mode, g),
            copies: match gc.separate {
                Separation::Nothing => HOST,
                Separation::Copies | Separation::HotCold => COPIES,
            },
            owners: Owners::new(g),
            blocks: Blocks::new(gc, g, rng),
            heat: Heat::new(if hot {
                g.logical_units + g.map_units
            } else {
                0
            }),
            handles: match config.placement_handles {
                0 | 1 => Vec::new(),
                _ => vec![0; units],
            },
            wear: Wear::new(gc, g),
            groups: Vec::new(),
            cache: spec.fast_cache.as_ref().map(|cache| Cache::new(cache, g)),
            turn: 0,
            background_turn: 0,
            merges: MergeCounts::default(),
            live: Vec::new(),
            parts: Vec::new(),
            gc: gc.clone(),
            g: g.clone(),
        };
        ftl.groups = ftl.erased_groups();
        ftl
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.map.get(lpn.0).wrapping_sub(1))
    }

    #[inline]
    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let front = self.front_of(runs);
        let lpns = || runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
        if self.stripes.is_some() {
            match *runs {
                [(lpn, 1)] => self.write_one(front, lpn.0, ops)?,
                _ => self.write_striped(front, runs, ops)?,
            }
        } else {
            let units = runs.iter().map(|r| r.1).sum();
            let group = self.group_for(front, units, ops)?;
            self.place(group, self.front_in(group, front), lpns(), ops)?;
        }
        if self.heat.is_used() {
            lpns().for_each(|lpn| self.heat.count(Lpn(lpn)));
        }
        Ok(())
    }

    fn fill(&mut self, cpages: u32) -> u32 {
        self.fill_rows(cpages)
    }

    fn background(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        self.collect_one(ops)
    }

    fn fold(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        self.fold_step(ops)
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        if let Some(cache) = &mut self.cache {
            cache.groups.iter_mut().for_each(|at| at.closed = false);
        }
        for lpn in lpn.0..lpn.0 + units {
            let place = self.map.remove(lpn);
            if place != NOTHING {
                self.lose(place - 1);
            }
        }
        if self.cache.is_some() {
            self.drop_trimmed(ops);
        }
    }

    fn erased(&mut self, cblock: u32) {
        let group = self.g.group_of_cblock(cblock);
        self.wear.erased(cblock, group);
        let at = &mut self.groups[group as usize];
        at.erasing = at.erasing.saturating_sub(1);
        at.free.push(cblock);
        at.waits = false;
        if let Some(cache) = &mut self.cache {
            cache.groups[group as usize].closed = false;
        }
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = self.g.group_of_cblock(cblock);
        self.wear.retire(cblock);
        let at = &mut self.groups[group as usize];
        let index = at.free.iter().position(|free| free == cblock);
        match index {
            Some(index) => drop(at.free.remove(index)),
            None => at.erasing = at.erasing.saturating_sub(1),
        }
        (at.waits, at.retired) = (false, at.retired + 1);
        let retired = at.retired;
        self.groups[group as usize].valid_max = if self.is_stuck(group) {
            0
        } else {
            self.valid_max(retired)
        };
        self.holds_all()
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], _ops: &mut Vec<FlashOp>) {
        self.rebuild(store, torn);
    }

    fn check(&self) -> Result<(), String> {
        self.check_tables()
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }

    fn state_bytes(&self) -> usize {
        let free = self.groups.iter().map(|group| group.free.state_bytes());
        free.sum::<usize>()
            + self.owners.state_bytes()
            + self.map.state_bytes()
            + self.blocks.state_bytes()
            + self.wear.state_bytes()
            + self.heat.state_bytes()
            + self.cache.as_ref().map_or(0, Cache::state_bytes)
            + self.handles.capacity()
            + self.groups.capacity() * size_of::<Group>()
    }
}
