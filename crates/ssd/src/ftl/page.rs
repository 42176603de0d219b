//! Page mapping: every unit anywhere, log-structured, greedy garbage collection.
//!
//! Writes go round robin over the groups, one clustered page each, which is dynamic striping; each group has
//! one block open for the host and one for copies. The victim is the sealed block with the fewest valid units,
//! the first of equals.
//!
//! The last erased block of a group is never taken while another can be waited for: after a power cut the open
//! blocks cannot be filled further, and without an erased block nothing could be moved. It does not model the
//! traffic of a mapping table that lies in flash itself.

use super::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall, emit_copy, emit_programs};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{Lpn, Ppn};
use std::collections::VecDeque;

const UNMAPPED: u32 = u32::MAX;
/// Added to a block's count of valid units while it is no candidate for collection.
const NOT_SEALED: u32 = 1 << 31;
/// Blocks that are erased, or about to be, before the host gets another one.
const EXCHANGE: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Open {
    cblock: u32,
    next: u32,
}

#[derive(Clone, Debug)]
struct Group {
    free: VecDeque<u32>,
    erasing: u32,
    host: Open,
    copies: Open,
    valid: u32,
    /// No erased block for the host until the next erase.
    waits: bool,
}

/// The state of a page-mapped drive: 4 bytes a logical and 4 a physical unit, and 4 a clustered block.
#[derive(Clone, Debug)]
pub(crate) struct PageFtl {
    g: Geometry,
    partial_program: bool,
    /// Valid units that a group may hold, so that a victim always yields something.
    valid_max: u32,
    place_of: Vec<u32>,
    /// Who was written to a place last; still there if `place_of` says so too.
    owner_of: Vec<u32>,
    /// Valid units of a block, with [`NOT_SEALED`].
    valid: Vec<u32>,
    groups: Vec<Group>,
    turn: u32,
    merges: MergeCounts,
}

impl PageFtl {
    pub(crate) fn new(spec: &Spec, g: &Geometry, _seed: u64) -> Self {
        Self::empty(g, spec.mapping.partial_program)
    }

    fn empty(g: &Geometry, partial_program: bool) -> Self {
        let closed = Open {
            cblock: NO_CBLOCK,
            next: g.units_per_cblock,
        };
        let group = |i: u32| Group {
            free: (i * g.cblocks_per_group..(i + 1) * g.cblocks_per_group).collect(),
            erasing: 0,
            host: closed,
            copies: closed,
            valid: 0,
            waits: false,
        };
        let filled = g.units_per_cblock - g.units_lost_per_cblock;
        Self {
            partial_program,
            valid_max: (g.cblocks_per_group - g.reserve_cblocks) * filled,
            place_of: vec![UNMAPPED; (g.logical_units + g.map_units) as usize],
            owner_of: vec![UNMAPPED; g.physical_units() as usize],
            valid: vec![NOT_SEALED; g.cblocks() as usize],
            groups: (0..g.groups).map(group).collect(),
            turn: 0,
            merges: MergeCounts::default(),
            g: g.clone(),
        }
    }

    /// The next group in turn that has room for more valid data and does not wait for an erase; where none has
    /// room, the one with the most. `None` if there is only waiting to do.
    #[inline]
    fn pick_group(&mut self, units: u32) -> Option<u32> {
        let turn = self.turn as usize;
        let has_room = |at: &Group| at.valid + units <= self.valid_max;
        let is_ready = |at: &Group| !at.waits && has_room(at);
        let best = if is_ready(&self.groups[turn]) {
            turn
        } else {
            let in_turn = (turn..self.groups.len()).chain(0..turn);
            match in_turn.clone().find(|&i| is_ready(&self.groups[i])) {
                Some(group) => group,
                None if self.groups.iter().any(has_room) => return None,
                None => in_turn
                    .min_by_key(|&i| self.groups[i].valid)
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
    fn group_for(&mut self, units: u32, ops: &mut Vec<FlashOp>) -> Result<u32, Stall> {
        loop {
            let group = self.pick_group(units).ok_or(Stall)?;
            match self.make_room(group, units, ops) {
                Ok(()) => return Ok(group),
                // The others need not wait for it.
                Err(Stall) => self.groups[group as usize].waits = true,
            }
        }
    }

    #[inline]
    fn count(&mut self, place: u32, more: bool) {
        let cblock = self.g.cblock_of_unit(place);
        let group = self.g.group_of_cblock(cblock);
        let by = if more { 1 } else { u32::MAX };
        let valid = &mut self.valid[cblock as usize];
        *valid = valid.wrapping_add(by);
        let valid = &mut self.groups[group as usize].valid;
        *valid = valid.wrapping_add(by);
    }

    #[inline]
    fn forget(&mut self, lpn: u32) {
        let place = std::mem::replace(&mut self.place_of[lpn as usize], UNMAPPED);
        if place != UNMAPPED {
            self.count(place, false);
        }
    }

    #[inline]
    fn settle(&mut self, lpn: u32, place: u32) {
        self.place_of[lpn as usize] = place;
        self.owner_of[place as usize] = lpn;
        self.count(place, true);
    }

    /// Makes sure that the group can take `units` more host units.
    fn make_room(&mut self, group: u32, units: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        if self.groups[group as usize].host.next + units <= self.g.units_per_cblock {
            return Ok(());
        }
        loop {
            let at = &self.groups[group as usize];
            if at.free.len() as u32 + at.erasing >= EXCHANGE || !self.collect(group, ops) {
                break;
            }
        }
        if self.groups[group as usize].free.len() < 2 {
            Err(Stall)
        } else {
            Ok(())
        }
    }

    /// One place in the group, for the host or for a copy; there is room.
    #[inline]
    fn next_place(&mut self, group: u32, copies: bool) -> Option<u32> {
        let at = &mut self.groups[group as usize];
        let open = if copies { &mut at.copies } else { &mut at.host };
        if open.next == self.g.units_per_cblock {
            let fresh = at.free.pop_front()?;
            if open.cblock != NO_CBLOCK {
                self.valid[open.cblock as usize] &= !NOT_SEALED;
            }
            *open = Open {
                cblock: fresh,
                next: 0,
            };
        }
        open.next += 1;
        Some(open.cblock * self.g.units_per_cblock + open.next - 1)
    }

    /// The sealed block of a group with the fewest valid units.
    fn victim(&self, group: u32) -> Option<u32> {
        let first = group * self.g.cblocks_per_group;
        let blocks = &self.valid[first as usize..][..self.g.cblocks_per_group as usize];
        let fewest = blocks.iter().copied().min()?;
        let index = blocks.iter().position(|&valid| valid == fewest)?;
        (fewest < NOT_SEALED).then_some(first + index as u32)
    }

    /// Units that copies can still take without the last erased block, unless nothing else can make room.
    fn copy_room(&self, group: u32) -> u32 {
        let at = &self.groups[group as usize];
        let fresh = at.free.len() >= 2 || (at.free.len() == 1 && at.erasing == 0);
        let block = self.g.units_per_cblock;
        block - at.copies.next + if fresh { block } else { 0 }
    }

    /// Moves what is valid out of the group's best victim and has it erased; false where nothing can be gained.
    fn collect(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        let Some(victim) = self.victim(group) else {
            return false;
        };
        let moving = self.valid[victim as usize];
        if moving == self.g.units_per_cblock || moving > self.copy_room(group) {
            return false;
        }
        let first = victim * self.g.units_per_cblock;
        for from in first..first + self.g.units_per_cblock {
            let lpn = self.owner_of[from as usize];
            if lpn == UNMAPPED || self.place_of[lpn as usize] != from {
                continue;
            }
            let Some(to) = self.next_place(group, true) else {
                return false;
            };
            self.place_of[lpn as usize] = to;
            self.owner_of[to as usize] = lpn;
            self.valid[self.g.cblock_of_unit(to) as usize] += 1;
            emit_copy(&self.g, from, to, ops);
        }
        if !self.partial_program {
            Self::pad(&self.g, &mut self.groups[group as usize].copies);
        }
        self.merges.collected += 1;
        self.merges.moved_units += u64::from(moving);
        self.valid[victim as usize] = NOT_SEALED;
        self.groups[group as usize].erasing += 1;
        ops.push(FlashOp::Erase { cblock: victim });
        true
    }

    /// Gives up the rest of a partly filled clustered page.
    #[inline]
    fn pad(g: &Geometry, open: &mut Open) {
        if g.units_per_cpage > 1 {
            open.next = open.next.next_multiple_of(g.units_per_cpage);
        }
    }

    /// Whose data a place holds, if it is valid: what a mapping that keeps the map in flash must know of a copy.
    pub(super) fn owner(&self, place: Ppn) -> Option<Lpn> {
        let owned = self.is_valid(place.index());
        owned.then(|| Lpn(self.owner_of[place.index()]))
    }

    fn is_valid(&self, place: usize) -> bool {
        let lpn = self.owner_of[place];
        lpn != UNMAPPED && self.place_of[lpn as usize] as usize == place
    }
}

impl Ftl for PageFtl {
    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.place_of[lpn.index()])
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let units = runs.iter().map(|r| r.1).sum();
        let group = self.group_for(units, ops)?;
        let (mut start, mut count) = (0, 0);
        for lpn in runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n) {
            let Some(place) = self.next_place(group, false) else {
                return Err(Stall);
            };
            if count > 0 && place != start + count {
                emit_programs(&self.g, start, count, ops);
                count = 0;
            }
            if count == 0 {
                start = place;
            }
            count += 1;
            self.forget(lpn);
            self.settle(lpn, place);
        }
        emit_programs(&self.g, start, count, ops);
        if !self.partial_program {
            Self::pad(&self.g, &mut self.groups[group as usize].host);
        }
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, _ops: &mut Vec<FlashOp>) {
        (lpn.0..lpn.0 + units).for_each(|lpn| self.forget(lpn));
    }

    fn erased(&mut self, cblock: u32) {
        let group = &mut self.groups[self.g.group_of_cblock(cblock) as usize];
        group.erasing = group.erasing.saturating_sub(1);
        group.free.push_back(cblock);
        group.waits = false;
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = &mut self.groups[self.g.group_of_cblock(cblock) as usize];
        group.free.retain(|&free| free != cblock);
        true
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], _ops: &mut Vec<FlashOp>) {
        *self = Self {
            merges: self.merges,
            ..Self::empty(&self.g, self.partial_program)
        };
        // The newest of every unit; of equals the one that was copied less, whose block was not erased yet: so
        // the block that the copies went to has nothing of its own, and is free to be erased.
        let mut newest = vec![(0u64, 0u32); self.place_of.len()];
        let mut used = vec![false; self.valid.len()];
        torn.iter()
            .for_each(|at| used[self.g.cblock_of_unit(at.0) as usize] = true);
        for (at, cell) in store.scan() {
            used[self.g.cblock_of_unit(at.0) as usize] = true;
            let (version, copies) = newest[cell.lpn.index()];
            if (cell.version, copies) > (version, cell.copies) {
                newest[cell.lpn.index()] = (cell.version, cell.copies);
                self.forget(cell.lpn.0);
                self.settle(cell.lpn.0, at.0);
            }
        }
        for group in &mut self.groups {
            group.free.retain(|&cblock| !used[cblock as usize]);
        }
        for (valid, _) in self.valid.iter_mut().zip(used).filter(|(_, used)| *used) {
            *valid &= !NOT_SEALED;
        }
    }

    fn check(&self) -> Result<(), String> {
        let mut valid = vec![0u32; self.valid.len()];
        let mut in_group = vec![0u32; self.groups.len()];
        for (lpn, &place) in self.place_of.iter().enumerate() {
            if place == UNMAPPED {
                continue;
            }
            let cblock = self.g.cblock_of_unit(place);
            valid[cblock as usize] += 1;
            in_group[self.g.group_of_cblock(cblock) as usize] += 1;
            let owner = self.owner_of[place as usize];
            if owner as usize != lpn {
                return Err(format!("unit {lpn} is at {place}, which is {owner}'s"));
            }
        }
        let counted = self.valid.iter().map(|v| v & !NOT_SEALED);
        if !counted.eq(valid.iter().copied()) {
            return Err("the counts of valid units differ from the map".into());
        }
        if !self.groups.iter().map(|g| g.valid).eq(in_group) {
            return Err("a group's count of valid units differs from the map".into());
        }
        let owned = (0..self.owner_of.len())
            .filter(|&p| self.is_valid(p))
            .count();
        let mapped = valid.iter().map(|&v| v as usize).sum::<usize>();
        if owned != mapped {
            return Err(format!("{owned} owned places for {mapped} mapped units"));
        }
        let mut free = self.groups.iter().flat_map(|g| &g.free).copied();
        match free.find(|&b| self.valid[b as usize] != NOT_SEALED) {
            Some(cblock) => Err(format!(
                "free block {cblock} holds data or can be collected"
            )),
            None => Ok(()),
        }
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }

    fn state_bytes(&self) -> usize {
        let words = self.place_of.capacity() + self.owner_of.capacity() + self.valid.capacity();
        let free = self.groups.iter().map(|group| group.free.capacity());
        words * 4 + free.sum::<usize>() * 4 + self.groups.capacity() * size_of::<Group>()
    }
}
