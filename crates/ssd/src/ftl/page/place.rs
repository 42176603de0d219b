//! Places the next units of a page-mapped drive: in the group whose turn it is, or in the group that their
//! addresses select.

use super::PageFtl;
use super::filled::NOTHING;
use super::group::{Group, HOST, HOT, front_of_handle};
use crate::ftl::contract::{FlashOp, Stall, emit_programs};
use fathom_base::{Lpn, Ppn};

impl PageFtl {
    /// Returns the next group in turn that has room for more valid data and does not wait for an erase. If no group
    /// has room, returns the one with the most. `None` if the write has to wait.
    #[inline]
    fn pick_group(&mut self, front: usize, units: u32) -> Option<u32> {
        let turn = self.turn as usize;
        let has_room = |at: &Group| at.valid + units <= at.valid_max;
        let groups = &self.groups;
        let in_step = |i| {
            let front_in = |i: usize| self.front_in(i as u32, front);
            self.in_step
                .is_none_or(|s| s.is_due(groups, i, front_in, has_room))
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

    /// Returns the group for the next units, after making room for them.
    pub(super) fn group_for(
        &mut self,
        front: usize,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<u32, Stall> {
        loop {
            let group = self.pick_group(front, units).ok_or(Stall)?;
            match self.make_room(group, front, units, ops) {
                Ok(()) => return Ok(group),
                // The other groups need not wait for this one.
                Err(Stall) => self.groups[group as usize].waits = true,
            }
        }
    }

    /// Returns the open block for units that the host writes together: the one of their placement handle; else the one for
    /// hot units if more than half of them are hot.
    #[inline]
    pub(super) fn front_of(&self, runs: &[(Lpn, u32)]) -> usize {
        if let (false, Some(&(lpn, _))) = (self.handles.is_empty(), runs.first()) {
            return front_of_handle(self.placement(lpn));
        }
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

    /// Returns the placement handle of the last write of a unit.
    pub(in crate::ftl) fn placement(&self, lpn: Lpn) -> u8 {
        self.handles.get(lpn.index()).copied().unwrap_or_default()
    }

    /// Notes the placement handle of a write of units `from` to `to`.
    pub(in crate::ftl) fn note_placement(&mut self, from: Lpn, to: Lpn, handle: u8) {
        if let Some(handles) = self.handles.get_mut(from.index()..to.index()) {
            handles.fill(handle);
        }
    }

    /// Counts a place as no longer valid.
    #[inline]
    pub(super) fn lose(&mut self, place: u32) {
        let cblock = self.g.cblock_of_unit(place);
        let group = self.g.group_of_cblock(cblock);
        self.blocks.lose(cblock, group);
        self.groups[group as usize].valid -= 1;
    }

    #[inline]
    pub(super) fn settle(&mut self, lpn: u32, place: u32, group: u32) {
        let old = self.map.replace(lpn, place + 1);
        self.owners.set(place, lpn + 1);
        self.blocks.gain(self.g.cblock_of_unit(place), group, 1);
        self.groups[group as usize].valid += 1;
        if old != NOTHING {
            self.lose(old - 1);
        }
    }

    /// Places units in a group that has room for them.
    #[inline]
    pub(super) fn place(
        &mut self,
        group: u32,
        front: usize,
        lpns: impl Iterator<Item = u32>,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let (mut start, mut count) = (0, 0);
        for lpn in lpns {
            let place = self.next_place(group, front, ops).ok_or(Stall)?;
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

    /// Places one unit in the group that its address selects.
    #[inline]
    pub(super) fn write_one(
        &mut self,
        front: usize,
        lpn: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let group = self.home_of(lpn);
        self.make_room(group, front, 1, ops)?;
        let front = self.front_in(group, front);
        let place = self.next_place(group, front, ops).ok_or(Stall)?;
        self.settle(lpn, place, group);
        ops.push(FlashOp::Program {
            at: Ppn(place),
            units: 1,
        });
        self.pad(group, front);
        Ok(())
    }

    /// Places units in the groups that their addresses select. Nothing is placed until there is room for all of
    /// them.
    pub(super) fn write_striped(
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
                let front = self.front_in(part[0].0, front);
                self.place(part[0].0, front, part.iter().map(|part| part.1), ops)
            });
        }
        self.parts = parts;
        result
    }

    /// Returns the group that the address of a unit selects.
    #[inline]
    pub(super) fn home_of(&self, lpn: u32) -> u32 {
        self.stripes.as_ref().map_or(0, |s| s.group_of(lpn))
    }

    /// Skips the rest of a partly filled clustered page if it cannot be programmed later.
    #[inline]
    pub(super) fn pad(&mut self, group: u32, front: usize) {
        if !self.partial_program && self.g.units_per_cpage > 1 {
            let open = &mut self.groups[group as usize].open[front];
            open.next = open.next.next_multiple_of(self.g.units_per_cpage);
        }
    }
}
