//! Page mapping: every unit anywhere, log-structured, greedy garbage collection.
//!
//! Writes go round robin over the groups, one clustered page each, which is dynamic striping; each group has
//! one block open for the host and one for copies. The victim is the sealed block with the fewest valid units,
//! the first of equals. It does not model the traffic of a mapping table that lies in flash itself.

use super::{
    FlashOp, Ftl, MergeCounts, NO_CBLOCK, RESERVE_CBLOCKS, Stall, emit_copy, emit_programs,
};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use fathom_base::{Lpn, Ppn};
use std::collections::VecDeque;

const UNMAPPED: u32 = u32::MAX;

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
}

/// The state of a page-mapped drive: 8 bytes a unit and 5 a clustered block.
#[derive(Clone, Debug)]
pub(crate) struct PageFtl {
    g: Geometry,
    partial_program: bool,
    place_of: Vec<u32>,
    owner_of: Vec<u32>,
    valid: Vec<u32>,
    sealed: Vec<bool>,
    groups: Vec<Group>,
    turn: u32,
    merges: MergeCounts,
}

impl PageFtl {
    pub(crate) fn new(g: &Geometry, partial_program: bool) -> Self {
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
        };
        Self {
            partial_program,
            place_of: vec![UNMAPPED; g.logical_units as usize],
            owner_of: vec![UNMAPPED; g.physical_units() as usize],
            valid: vec![0; g.cblocks() as usize],
            sealed: vec![false; g.cblocks() as usize],
            groups: (0..g.groups).map(group).collect(),
            turn: 0,
            merges: MergeCounts::default(),
            g: g.clone(),
        }
    }

    /// The next group in turn that has room for more valid data.
    #[inline]
    fn pick_group(&mut self, units: u32) -> u32 {
        let most = (self.g.cblocks_per_group - RESERVE_CBLOCKS) * self.g.units_per_cblock;
        let mut best = self.turn;
        for i in 0..self.g.groups {
            let group = self.turn + i;
            let group = if group >= self.g.groups {
                group - self.g.groups
            } else {
                group
            };
            if self.groups[group as usize].valid + units <= most {
                best = group;
                break;
            }
        }
        self.turn = if best + 1 == self.g.groups {
            0
        } else {
            best + 1
        };
        best
    }

    #[inline]
    fn forget(&mut self, lpn: u32) {
        let place = std::mem::replace(&mut self.place_of[lpn as usize], UNMAPPED);
        if place != UNMAPPED {
            self.owner_of[place as usize] = UNMAPPED;
            let cblock = place / self.g.units_per_cblock;
            self.valid[cblock as usize] -= 1;
            self.groups[(cblock / self.g.cblocks_per_group) as usize].valid -= 1;
        }
    }

    #[inline]
    fn settle(&mut self, lpn: u32, place: u32) {
        self.place_of[lpn as usize] = place;
        self.owner_of[place as usize] = lpn;
        let cblock = place / self.g.units_per_cblock;
        self.valid[cblock as usize] += 1;
        self.groups[(cblock / self.g.cblocks_per_group) as usize].valid += 1;
    }

    /// Makes sure that the group can take `units` more host units.
    fn make_room(&mut self, group: u32, units: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let at = &self.groups[group as usize];
        if at.host.next + units <= self.g.units_per_cblock {
            return Ok(());
        }
        while {
            let at = &self.groups[group as usize];
            at.free.len() as u32 + at.erasing < 2
        } {
            if !self.collect(group, ops) {
                break;
            }
        }
        if self.groups[group as usize].free.is_empty() {
            Err(Stall)
        } else {
            Ok(())
        }
    }

    /// One place for the host in the group; there is room.
    #[inline]
    fn next_place(&mut self, group: u32, copies: bool) -> Option<u32> {
        let at = &mut self.groups[group as usize];
        let open = if copies { &mut at.copies } else { &mut at.host };
        if open.next == self.g.units_per_cblock {
            if open.cblock != NO_CBLOCK {
                self.sealed[open.cblock as usize] = true;
                open.cblock = NO_CBLOCK;
            }
            *open = Open {
                cblock: at.free.pop_front()?,
                next: 0,
            };
        }
        open.next += 1;
        Some(open.cblock * self.g.units_per_cblock + open.next - 1)
    }

    fn victim(&self, group: u32) -> Option<u32> {
        let first = group * self.g.cblocks_per_group;
        (first..first + self.g.cblocks_per_group)
            .filter(|&b| self.sealed[b as usize])
            .min_by_key(|&b| self.valid[b as usize])
    }

    /// Moves what is valid out of the group's best victim and has it erased; false where nothing can be gained.
    fn collect(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        let Some(victim) = self.victim(group) else {
            return false;
        };
        let at = &self.groups[group as usize];
        let room = self.g.units_per_cblock - at.copies.next
            + if at.free.is_empty() {
                0
            } else {
                self.g.units_per_cblock
            };
        let moving = self.valid[victim as usize];
        if moving == self.g.units_per_cblock || moving > room {
            return false;
        }
        let first = victim * self.g.units_per_cblock;
        for from in first..first + self.g.units_per_cblock {
            let lpn = self.owner_of[from as usize];
            if lpn == UNMAPPED {
                continue;
            }
            let Some(to) = self.next_place(group, true) else {
                return false;
            };
            self.forget(lpn);
            self.settle(lpn, to);
            emit_copy(&self.g, from, to, ops);
        }
        if !self.partial_program {
            Self::pad(&self.g, &mut self.groups[group as usize].copies);
        }
        self.merges.collected += 1;
        self.merges.moved_units += u64::from(moving);
        self.sealed[victim as usize] = false;
        self.groups[group as usize].erasing += 1;
        ops.push(FlashOp::Erase { cblock: victim });
        true
    }

    /// Gives up the rest of a partly filled clustered page.
    #[inline]
    fn pad(g: &Geometry, open: &mut Open) {
        open.next = open.next.next_multiple_of(g.units_per_cpage);
    }
}

impl Ftl for PageFtl {
    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.place_of[lpn.index()])
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let units = runs.iter().map(|r| r.1).sum();
        let group = self.pick_group(units);
        self.make_room(group, units, ops)?;
        let (mut start, mut count) = (0, 0);
        for lpn in runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n) {
            let Some(place) = self.next_place(group, false) else {
                return Err(Stall);
            };
            if count > 0 && place != start + count {
                emit_programs(&self.g, start, count, false, ops);
                count = 0;
            }
            if count == 0 {
                start = place;
            }
            count += 1;
            self.forget(lpn);
            self.settle(lpn, place);
        }
        emit_programs(&self.g, start, count, false, ops);
        if !self.partial_program {
            Self::pad(&self.g, &mut self.groups[group as usize].host);
        }
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, _ops: &mut Vec<FlashOp>) {
        (lpn.0..lpn.0 + units).for_each(|lpn| self.forget(lpn));
    }

    fn erased(&mut self, cblock: u32) {
        let group = &mut self.groups[(cblock / self.g.cblocks_per_group) as usize];
        group.erasing = group.erasing.saturating_sub(1);
        group.free.push_back(cblock);
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], _ops: &mut Vec<FlashOp>) {
        *self = Self {
            merges: self.merges,
            ..Self::new(&self.g, self.partial_program)
        };
        let mut newest = vec![0u64; self.place_of.len()];
        let mut used = vec![false; self.valid.len()];
        torn.iter()
            .for_each(|at| used[(at.0 / self.g.units_per_cblock) as usize] = true);
        for (at, cell) in store.scan() {
            used[(at.0 / self.g.units_per_cblock) as usize] = true;
            if cell.version > newest[cell.lpn.index()] {
                newest[cell.lpn.index()] = cell.version;
                self.forget(cell.lpn.0);
                self.settle(cell.lpn.0, at.0);
            }
        }
        for group in &mut self.groups {
            group.free.retain(|&cblock| !used[cblock as usize]);
        }
        self.sealed = used;
    }

    fn check(&self) -> Result<(), String> {
        let mut valid = vec![0u32; self.valid.len()];
        for (lpn, &place) in self.place_of.iter().enumerate() {
            if place == UNMAPPED {
                continue;
            }
            valid[(place / self.g.units_per_cblock) as usize] += 1;
            if self.owner_of[place as usize] as usize != lpn {
                return Err(format!(
                    "unit {lpn} is at {place}, which belongs to {}",
                    self.owner_of[place as usize]
                ));
            }
        }
        if valid != self.valid {
            return Err("the counts of valid units differ from the map".into());
        }
        let owned = self.owner_of.iter().filter(|&&lpn| lpn != UNMAPPED).count();
        let mapped = valid.iter().map(|&v| v as usize).sum::<usize>();
        let free_with_data = self
            .groups
            .iter()
            .flat_map(|g| &g.free)
            .find(|&&b| valid[b as usize] > 0);
        match free_with_data {
            Some(cblock) => Err(format!("free block {cblock} holds valid data")),
            None if owned != mapped => {
                Err(format!("{owned} owned places for {mapped} mapped units"))
            }
            None => Ok(()),
        }
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }
}
