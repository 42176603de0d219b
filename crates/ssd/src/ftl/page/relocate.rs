//! Finds the valid units of a block and moves them into an open one.

use super::PageFtl;
use super::group::{COPIES, HOT};
use crate::ftl::contract::{FlashOp, emit_copy};
use fathom_base::Lpn;

/// The look-ups that overlap before the search for valid units asks whether it has enough.
const LOOK_UPS: usize = 64;

impl PageFtl {
    /// Moves units, given by place and owner, into the blocks that take copies. There must be room.
    pub(super) fn relocate(&mut self, group: u32, live: &mut [(u32, u32)], ops: &mut Vec<FlashOp>) {
        let apart = self.part(group, live);
        self.move_to(group, self.copies, &live[..apart], ops);
        if apart < live.len() {
            self.move_to(group, HOT, &live[apart..], ops);
        }
        self.merges.moved_units += live.len() as u64;
    }

    /// Moves units, given by place and owner, to an open block that has room for them.
    pub(super) fn move_to(
        &mut self,
        group: u32,
        front: usize,
        mut live: &[(u32, u32)],
        ops: &mut Vec<FlashOp>,
    ) {
        while !live.is_empty() {
            let Some(first) = self.next_place(group, front, ops) else {
                break;
            };
            // As many as the open block takes, at once.
            let open = &mut self.groups[group as usize].open[front];
            let fits = (open.end - open.next) as usize + 1;
            let (now, later) = live.split_at(fits.min(live.len()));
            open.next += now.len() as u32 - 1;
            let place_of = self.map.table();
            for (to, &(from, owner)) in (first..).zip(now) {
                place_of[owner as usize - 1] = to + 1;
                self.owners.set(to, owner);
                emit_copy(&self.g, from, to, ops);
            }
            let cblock = self.g.cblock_of_unit(first);
            self.blocks.gain(cblock, group, now.len() as u32);
            live = later;
        }
        self.pad(group, front);
    }

    /// Orders the units to be moved: first those that go to the open block for copies, then the hot ones, which go
    /// to the open block for hot units. Returns the number of the former.
    fn part(&self, group: u32, live: &mut [(u32, u32)]) -> usize {
        if !self.heat.is_used() {
            return live.len();
        }
        let is_hot = |&(_, owner): &(u32, u32)| self.heat.is_hot(Lpn(owner - 1));
        live.sort_by_key(is_hot);
        let cold = live.partition_point(|unit| !is_hot(unit));
        if self.has_hot_room(group, cold as u32, (live.len() - cold) as u32) {
            return cold;
        }
        live.sort_unstable();
        live.len()
    }

    /// Returns true if `hot` hot units can be moved separately from `cold` cold ones: an erased block must stay,
    /// and the rests of two pages that may be lost must be less than the space gained.
    fn has_hot_room(&self, group: u32, cold: u32, hot: u32) -> bool {
        let at = &self.groups[group as usize];
        let block = self.g.units_per_cblock;
        let lost = if self.partial_program {
            0
        } else {
            2 * (self.g.units_per_cpage - 1)
        };
        let left = |front: usize| block - at.open[front].next;
        let taken = usize::from(cold > left(COPIES));
        cold + hot + lost < block && (hot <= left(HOT) || at.free.len() >= 2 + taken)
    }

    /// Puts the places and owners of the valid units of a block at the head of `live` and returns their number.
    /// There is no branch on the result of a look-up, so that the look-ups, which are far apart in memory, overlap.
    pub(super) fn find_live(&mut self, cblock: u32, live: &mut Vec<(u32, u32)>) -> usize {
        self.find_live_behind(cblock, 0, usize::MAX, live)
    }

    /// As [`PageFtl::find_live`], without the first `behind` places of the block, and without the rest of it once more than
    /// `enough` units were found.
    pub(super) fn find_live_behind(
        &mut self,
        cblock: u32,
        behind: u32,
        enough: usize,
        live: &mut Vec<(u32, u32)>,
    ) -> usize {
        let place_of = self.map.table();
        let first = cblock * self.g.units_per_cblock;
        let owners = self.owners.of_block(cblock);
        if live.len() < owners.len() {
            live.resize(owners.len(), (0, 0));
        }
        let owners = &owners[behind as usize..];
        let (mut from, mut found) = (first + behind, 0);
        for some in owners.chunks(LOOK_UPS) {
            for &owner in some {
                live[found] = (from, owner);
                // A place without an owner looks up the first unit, which is elsewhere.
                found += usize::from(place_of[owner.max(1) as usize - 1] == from + 1);
                from += 1;
            }
            if found > enough {
                break;
            }
        }
        found
    }
}
