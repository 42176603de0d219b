//! Page mapping: every unit anywhere, log-structured.
//!
//! Writes go round robin over the groups, one clustered page each, which is dynamic striping, or where the address
//! says ([`super::striping`]); nothing is moved from one group to another. Each group has a block open for the host
//! and one for what is moved, or one for both, or three: what is written often (`heat`) has one of its own, which takes
//! it from the host and from collection alike (the hot and the cold write frontier of Van Houdt, "Performance of garbage
//! collection algorithms for flash-based solid state drives with hot/cold data", Performance Evaluation 70(10), 2013).
//!
//! Which block is collected stands in [`super::victim`], how in `collect`, what wear has to do with it in `wear`,
//! what happens after a power cut in `recovery`. It does not model the traffic of a mapping table that lies in
//! flash itself.

mod collect;
mod fill;
mod heat;
mod map;
mod recovery;
mod step;
mod wear;

use super::striping::Stripes;
use super::victim::Blocks;
use super::{FlashOp, Ftl, Home, MergeCounts, NO_CBLOCK, Stall, emit_programs};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::{Gc, Separation, Spec};
use fathom_base::{Lpn, Ppn, Rng};
use heat::Heat;
use map::Map;
use std::collections::VecDeque;
use step::InStep;
use wear::Wear;

/// In the map and in `owner_of`, which hold what they name plus one, so that empty tables are zero pages.
const NOTHING: u32 = 0;
/// Index of the block that is open for the host.
const HOST: usize = 0;
/// Index of the block that is open for what is moved, where that is another one.
const COPIES: usize = 1;
/// Index of the block that is open for what is written often.
const HOT: usize = 2;
/// Index of the block that is open for what is moved to even out wear.
const COLD: usize = 3;
/// The stream of the seed that victims are drawn from.
const STREAM: u64 = 7;

#[derive(Clone, Copy, Debug)]
struct Open {
    cblock: u32,
    next: u32,
    /// How many were open before it; of planes in step, the number that they agree on.
    nth: u32,
}

#[derive(Clone, Debug)]
struct Group {
    free: VecDeque<u32>,
    erasing: u32,
    open: [Open; 4],
    valid: u32,
    /// Valid units that it may hold, so that a victim always yields something; 0 for one that is stuck.
    valid_max: u32,
    retired: u32,
    /// No erased block for the host until the next erase.
    waits: bool,
    /// A block was emptied for wear since the host got its last one.
    levelled: bool,
    /// Collection left no room to empty the block that lags behind in wear: that one goes first the next time.
    level_first: bool,
}

/// The state of a page-mapped drive: 4 bytes a logical and 4 a physical unit, one more a logical unit where hot data
/// goes apart, and some for every clustered block.
#[derive(Clone, Debug)]
pub(crate) struct PageFtl {
    g: Geometry,
    gc: Gc,
    partial_program: bool,
    stripes: Option<Stripes>,
    in_step: Option<InStep>,
    /// The open block that takes what is moved.
    copies: usize,
    map: Map,
    /// Who was written to a place last; still there if the map says so too.
    owner_of: Vec<u32>,
    blocks: Blocks,
    heat: Heat,
    wear: Wear,
    groups: Vec<Group>,
    turn: u32,
    background_turn: u32,
    merges: MergeCounts,
    /// Places and owners of what is being moved.
    live: Vec<(u32, u32)>,
    /// Groups and units of what is being written to several groups.
    parts: Vec<(u32, u32)>,
}

impl PageFtl {
    pub(crate) fn new(spec: &Spec, g: &Geometry, seed: u64) -> Self {
        let gc = &spec.gc;
        let hot = gc.separate == Separation::HotCold;
        let stripes = Stripes::new(spec, g);
        let units = (g.logical_units + g.map_units) as usize;
        let mut ftl = Self {
            partial_program: spec.mapping.partial_program,
            map: Map::new(units, stripes.is_some()),
            stripes,
            in_step: InStep::new(spec, g),
            copies: match gc.separate {
                Separation::Nothing => HOST,
                Separation::Copies | Separation::HotCold => COPIES,
            },
            owner_of: vec![NOTHING; g.physical_units() as usize],
            blocks: Blocks::new(gc, g, Rng::new(seed, STREAM)),
            heat: Heat::new(if hot {
                g.logical_units + g.map_units
            } else {
                0
            }),
            wear: Wear::new(gc, g),
            groups: Vec::new(),
            turn: 0,
            background_turn: 0,
            merges: MergeCounts::default(),
            live: Vec::new(),
            parts: Vec::new(),
            gc: gc.clone(),
            g: g.clone(),
        };
        ftl.groups = (0..g.groups).map(|group| ftl.erased_group(group)).collect();
        ftl
    }

    fn erased_group(&self, group: u32) -> Group {
        let (first, blocks) = (group * self.g.cblocks_per_group, self.g.cblocks_per_group);
        let closed = Open {
            cblock: NO_CBLOCK,
            next: self.g.units_per_cblock,
            nth: 0,
        };
        Group {
            free: (first..first + blocks).collect(),
            erasing: 0,
            open: [closed; 4],
            valid: 0,
            valid_max: self.valid_max(0),
            retired: 0,
            waits: false,
            levelled: false,
            level_first: false,
        }
    }

    /// Valid units that a group may hold after so many of its blocks were retired.
    fn valid_max(&self, retired: u32) -> u32 {
        let blocks = self.g.cblocks_per_group - retired;
        let filled = self.g.units_per_cblock - self.g.units_lost_per_cblock;
        blocks.saturating_sub(self.g.reserve_cblocks) * filled
    }

    /// The next group in turn that has room for more valid data and does not wait for an erase; where none has
    /// room, the one with the most. `None` if there is only waiting to do.
    #[inline]
    fn pick_group(&mut self, front: usize, units: u32) -> Option<u32> {
        let turn = self.turn as usize;
        let has_room = |at: &Group| at.valid + units <= at.valid_max;
        let groups = &self.groups;
        let in_step = |i| {
            self.in_step
                .is_none_or(|s| s.is_due(groups, i, front, has_room))
        };
        let is_ready = |i: usize| !groups[i].waits && has_room(&groups[i]) && in_step(i);
        let best = if is_ready(turn) {
            turn
        } else {
            let in_turn = (turn..self.groups.len()).chain(0..turn);
            match in_turn.clone().find(|&i| is_ready(i)) {
                Some(group) => group,
                None if self.groups.iter().any(has_room) => return None,
                None => in_turn
                    .filter(|&i| self.groups[i].valid_max > 0)
                    .max_by_key(|&i| {
                        let at = &self.groups[i];
                        i64::from(at.valid_max) - i64::from(at.valid)
                    })
                    .filter(|&i| !self.groups[i].waits)?,
            }
        };
        self.turn = if best + 1 == self.groups.len() {
            0
        } else {
            best as u32 + 1
        };
        Some(best as u32)
    }

    /// The group where the next units go, with room made for them.
    fn group_for(
        &mut self,
        front: usize,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<u32, Stall> {
        loop {
            let group = self.pick_group(front, units).ok_or(Stall)?;
            match self.make_room(group, front, units, ops) {
                Ok(()) => return Ok(group),
                // The others need not wait for it.
                Err(Stall) => self.groups[group as usize].waits = true,
            }
        }
    }

    /// The open block for units that the host writes together: that for the hot ones if most of them are.
    #[inline]
    fn front_of(&self, runs: &[(Lpn, u32)]) -> usize {
        if !self.heat.is_used() {
            return HOST;
        }
        let (mut hot, mut all) = (0, 0);
        for lpn in runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n) {
            hot += u32::from(self.heat.is_hot(Lpn(lpn)));
            all += 1;
        }
        if 2 * hot > all { HOT } else { HOST }
    }

    /// A place is not valid any more.
    #[inline]
    fn lose(&mut self, place: u32) {
        let cblock = self.g.cblock_of_unit(place);
        let group = self.g.group_of_cblock(cblock);
        self.blocks.lose(cblock, group);
        self.groups[group as usize].valid -= 1;
    }

    #[inline]
    fn settle(&mut self, lpn: u32, place: u32, group: u32) {
        let old = self.map.replace(lpn, place + 1);
        self.owner_of[place as usize] = lpn + 1;
        self.blocks.gain(self.g.cblock_of_unit(place), group);
        self.groups[group as usize].valid += 1;
        if old != NOTHING {
            self.lose(old - 1);
        }
    }

    /// Places units in a group that has room for them.
    #[inline]
    fn place(
        &mut self,
        group: u32,
        front: usize,
        lpns: impl Iterator<Item = u32>,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let (mut start, mut count) = (0, 0);
        for lpn in lpns {
            let place = self.next_place(group, front).ok_or(Stall)?;
            if count > 0 && place != start + count {
                emit_programs(&self.g, start, count, ops);
                count = 0;
            }
            if count == 0 {
                start = place;
            }
            count += 1;
            self.settle(lpn, place, group);
        }
        emit_programs(&self.g, start, count, ops);
        self.pad(group, front);
        Ok(())
    }

    /// Places one unit where its address says.
    #[inline]
    fn write_one(&mut self, front: usize, lpn: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let group = self.home_of(lpn);
        self.make_room(group, front, 1, ops)?;
        let place = self.next_place(group, front).ok_or(Stall)?;
        self.settle(lpn, place, group);
        ops.push(FlashOp::Program {
            at: Ppn(place),
            units: 1,
        });
        self.pad(group, front);
        Ok(())
    }

    /// Places units where their addresses say: nothing until there is room for all of them.
    fn write_striped(
        &mut self,
        front: usize,
        runs: &[(Lpn, u32)],
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let lpns = runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
        parts.extend(lpns.map(|lpn| (self.home_of(lpn), lpn)));
        parts.sort_by_key(|part| part.0);
        let in_groups = || parts.chunk_by(|a, b| a.0 == b.0);
        let mut result = in_groups()
            .try_for_each(|part| self.make_room(part[0].0, front, part.len() as u32, ops));
        if result.is_ok() {
            result = in_groups().try_for_each(|part| {
                self.place(part[0].0, front, part.iter().map(|part| part.1), ops)
            });
        }
        self.parts = parts;
        result
    }

    /// The group that the address of a unit names.
    #[inline]
    fn home_of(&self, lpn: u32) -> u32 {
        self.stripes.as_ref().map_or(0, |s| s.group_of(lpn))
    }

    /// Gives up the rest of a partly filled clustered page, where it cannot be programmed further.
    #[inline]
    fn pad(&mut self, group: u32, front: usize) {
        if !self.partial_program && self.g.units_per_cpage > 1 {
            let open = &mut self.groups[group as usize].open[front];
            open.next = open.next.next_multiple_of(self.g.units_per_cpage);
        }
    }

    /// Whose data a place holds, if it is valid: what a mapping that keeps the map in flash must know of a copy.
    pub(super) fn owner(&self, place: Ppn) -> Option<Lpn> {
        let lpn = self.owner_of[place.index()].checked_sub(1)?;
        (self.map.get(lpn) == place.0 + 1).then_some(Lpn(lpn))
    }

    /// Whether the drive can still hold all that the host can write.
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

impl Ftl for PageFtl {
    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.map.get(lpn.0).wrapping_sub(1))
    }

    #[inline]
    fn fetch(&self, lpn: Lpn) {
        self.map.fetch(lpn.index());
    }

    #[inline]
    fn home(&self, lpn: Lpn) -> Home {
        match (&self.stripes, self.map.holds(lpn.index())) {
            (Some(stripes), Some(true)) => Home::Group(stripes.group_of(lpn.0)),
            (Some(_), Some(false)) => Home::Nowhere,
            _ => Home::Anywhere,
        }
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
            self.place(group, front, lpns(), ops)?;
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

    fn trim(&mut self, lpn: Lpn, units: u32, _ops: &mut Vec<FlashOp>) {
        for lpn in lpn.0..lpn.0 + units {
            let place = self.map.remove(lpn);
            if place != NOTHING {
                self.lose(place - 1);
            }
        }
    }

    fn erased(&mut self, cblock: u32) {
        let group = self.g.group_of_cblock(cblock);
        self.wear.erased(cblock, group);
        let at = &mut self.groups[group as usize];
        at.erasing = at.erasing.saturating_sub(1);
        at.free.push_back(cblock);
        at.waits = false;
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = self.g.group_of_cblock(cblock);
        self.wear.retire(cblock);
        let at = &mut self.groups[group as usize];
        match at.free.iter().position(|&free| free == cblock) {
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
        let free = self.groups.iter().map(|group| group.free.capacity());
        (self.owner_of.capacity() + free.sum::<usize>()) * 4
            + self.map.state_bytes()
            + self.blocks.state_bytes()
            + self.wear.state_bytes()
            + self.heat.state_bytes()
            + self.groups.capacity() * size_of::<Group>()
    }
}
