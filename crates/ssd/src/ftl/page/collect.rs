//! Garbage collection: valid units are moved out of a block, and the block is erased.
//!
//! The last erased block of a group is never taken while an erase is in progress that can be waited for. After a
//! power cut the open blocks cannot be filled further, and without an erased block nothing could be moved. The
//! block that takes copies may be the last one, because it holds no data of its own until its first victim is
//! erased. The host writes into the same block only while another erased one is left.

use super::PageFtl;
use super::group::{COLD, COPIES, FAST, Open};
use crate::ftl::contract::{FlashOp, NO_CBLOCK, Stall};
use crate::spec::Victim;

/// Collection for a host write stops once the group has this many blocks that are erased or being erased.
pub(super) const EXCHANGE: u32 = 3;

impl PageFtl {
    /// Makes sure that the group can take `units` more host units. [`PageFtl::front_in`] tells whether they go into the
    /// fast cache.
    #[inline]
    pub(super) fn make_room(
        &mut self,
        group: u32,
        front: usize,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        if self.cache.is_some() && self.enter_cache(group, units, ops)? {
            return Ok(());
        }
        if self.has_room(group, front, units) {
            return Ok(());
        }
        self.find_room(group, front, units, ops)
    }

    #[cold]
    fn find_room(
        &mut self,
        group: u32,
        front: usize,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let at = &self.groups[group as usize];
        if at.level_first {
            self.level(group, ops);
        }
        loop {
            let at = &self.groups[group as usize];
            let enough = at.free.len() as u32 + at.erasing >= EXCHANGE;
            // Copies may have left room in a block that they share with the host.
            if enough || !self.collect(group, false, ops) || self.has_room(group, front, units) {
                break;
            }
        }
        self.level(group, ops);
        if self.has_room(group, front, units) || self.groups[group as usize].free.len() >= 2 {
            Ok(())
        } else {
            Err(Stall)
        }
    }

    /// Returns true if the open block can take `units` more units.
    #[inline]
    fn has_room(&self, group: u32, front: usize, units: u32) -> bool {
        let at = &self.groups[group as usize];
        let fits = at.open[front].next + units <= at.open[front].end;
        fits && (front != self.copies || !at.free.is_empty())
    }

    /// Returns the next place in one of the open blocks of a group. There must be room.
    #[inline]
    pub(super) fn next_place(
        &mut self,
        group: u32,
        front: usize,
        ops: &mut Vec<FlashOp>,
    ) -> Option<u32> {
        let open = &self.groups[group as usize].open[front];
        if open.next == open.end {
            self.open_block(group, front, ops)?;
        }
        let open = &mut self.groups[group as usize].open[front];
        open.next += 1;
        Some(open.cblock * self.g.units_per_cblock + open.next - 1)
    }

    /// Seals a full block and opens an erased one.
    pub(super) fn open_block(
        &mut self,
        group: u32,
        front: usize,
        ops: &mut Vec<FlashOp>,
    ) -> Option<()> {
        let nth = match self.in_step {
            Some(in_step) => in_step.next_block(&self.groups, group as usize, front),
            None => 0,
        };
        let at = &mut self.groups[group as usize];
        let seldom = front == COPIES || front == COLD;
        let cblock = match front {
            COLD => self.wear.take_most_worn(&mut at.free)?,
            _ => self.wear.take(&mut at.free, seldom)?,
        };
        self.owners.open(cblock);
        let end = match &self.cache {
            Some(cache) if front == FAST => cache.units,
            _ => self.g.units_per_cblock,
        };
        let opened = Open {
            cblock,
            next: 0,
            end,
            nth,
        };
        let full = std::mem::replace(&mut at.open[front], opened).cblock;
        at.levelled &= seldom;
        if let Some(cache) = &mut self.cache {
            let fast = front == FAST;
            if cache.open(cblock, fast) {
                ops.push(FlashOp::Mode { cblock, fast });
            }
            if fast && full != NO_CBLOCK {
                cache.close(full, group);
                return Some(());
            }
            cache.groups[group as usize].closed &= fast;
        }
        if full != NO_CBLOCK {
            self.blocks.seal(full, group);
        }
        Some(())
    }

    /// Returns the number of units that copies can still take. The last erased block counts only if nothing else
    /// can make room.
    pub(super) fn copy_room(&self, group: u32) -> u32 {
        let at = &self.groups[group as usize];
        let fresh = at.free.len() >= 2 || (at.free.len() == 1 && at.erasing == 0);
        let block = self.g.units_per_cblock;
        block - at.open[self.copies].next + if fresh { block } else { 0 }
    }

    /// Returns true if nothing can be moved in a group and no erase will change that.
    pub(super) fn is_stuck(&mut self, group: u32) -> bool {
        let fewest = self.blocks.fewest(group);
        let at = &self.groups[group as usize];
        let moves = |cblock| self.blocks.valid(cblock) <= self.copy_room(group);
        let stuck = at.free.is_empty() && at.erasing == 0 && !fewest.is_some_and(moves);
        stuck && !self.can_fold(group, self.copy_room(group))
    }

    /// Collects a block of the group. Returns false if nothing can be gained, or not yet. When blocks are short,
    /// and in idle time, the victim must free space, even if the policy prefers a block that frees none. When blocks are
    /// short, data of the fast cache is folded where that is better, or where nothing else is left.
    pub(super) fn collect(&mut self, group: u32, idle: bool, ops: &mut Vec<FlashOp>) -> bool {
        let fewest = self.fewest(group).filter(|&cblock| self.gains(cblock));
        let Some(fewest) = fewest.filter(|&b| idle || !self.should_fold(group, Some(b))) else {
            return !idle && self.fold_for_room(group, ops);
        };
        let mut victim = match self.gc.victim {
            Victim::Greedy => fewest,
            _ => self.blocks.pick(group).unwrap_or(fewest),
        };
        let at = &self.groups[group as usize];
        let needy = at.free.len() as u32 + at.erasing < 2;
        if (needy || idle) && !self.gains(victim) {
            victim = fewest;
        }
        if at.erasing == 0 && self.blocks.valid(victim) > self.copy_room(group) {
            // There will never be more room. The block with the fewest valid units is the one that can still be
            // moved.
            victim = fewest;
        }
        let collected = self.empty(group, victim, ops);
        self.merges.collected += u64::from(collected);
        collected || (!idle && self.fold_for_room(group, ops))
    }

    /// Returns the sealed block of a group with the fewest valid units: among equals the least worn one with static
    /// wear levelling, else the first.
    fn fewest(&mut self, group: u32) -> Option<u32> {
        let first = self.blocks.fewest(group)?;
        let (blocks, valid) = (&self.blocks, self.blocks.valid(first));
        let is_equal = |cblock| blocks.is_sealed(cblock) && blocks.valid(cblock) == valid;
        self.wear.least_of(group, is_equal).or(Some(first))
    }

    /// Returns true if moving a block elsewhere frees space. The rest of the last page that the copies fill may be
    /// lost.
    fn gains(&self, cblock: u32) -> bool {
        let whole = if self.partial_program {
            1
        } else {
            self.g.units_per_cpage
        };
        self.blocks.valid(cblock).next_multiple_of(whole) < self.g.units_per_cblock
    }

    /// Empties a block of cold data that lags behind in wear. It does so at most once for each block that the host
    /// fills, so that it cannot use up all erased blocks. It runs after collection, which makes the room for it.
    /// Collection may use that room up itself, if the host writes into the block that takes copies and each victim
    /// holds much. The lagging block would then wait for ever, so it goes first the next time.
    pub(super) fn level(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        self.close_cold(group);
        let (at, blocks) = (&self.groups[group as usize], &self.blocks);
        if at.levelled {
            return false;
        }
        // If a worn block takes little data, it is not full, is soon collected and takes little again.
        let is_full = |cblock| 2 * blocks.valid(cblock) >= self.g.units_per_cblock;
        let cached = |cblock| self.cache.as_ref().is_some_and(|c| c.holds(cblock));
        let sealed = |cblock| match blocks.is_sealed(cblock) {
            true => Some(is_full(cblock)),
            false => cached(cblock).then_some(false),
        };
        let lagging = self.wear.lagging(group, &at.free, sealed);
        let is_full = |cblock| !cached(cblock) && is_full(cblock);
        let levelled = match lagging.map(|cblock| (cblock, is_full(cblock))) {
            Some((lagging, true)) => self.lay_to_rest(group, lagging, ops),
            Some((lagging, false)) => self.empty(group, lagging, ops),
            None => false,
        };
        let at = &mut self.groups[group as usize];
        (at.levelled, at.level_first) = (levelled, lagging.is_some() && !levelled);
        levelled
    }

    /// Moves the valid units of a block into the most worn erased one, and has the block erased. Returns false,
    /// without doing anything, if there is no room.
    fn lay_to_rest(&mut self, group: u32, lagging: u32, ops: &mut Vec<FlashOp>) -> bool {
        let at = &self.groups[group as usize];
        let left = self.g.units_per_cblock - at.open[COLD].next;
        // Never takes the last erased block: moving a full block frees nothing, and its erase may fail.
        if at.free.len() < 2 && self.blocks.valid(lagging) > left {
            return false;
        }
        let mut live = std::mem::take(&mut self.live);
        let found = self.find_live(lagging, &mut live);
        self.move_to(group, COLD, &live[..found], ops);
        self.live = live;
        self.merges.moved_units += found as u64;
        self.give_up(group, lagging, ops);
        true
    }

    /// Seals the open block for cold data if that block lags behind itself: not enough cold data came to fill it.
    fn close_cold(&mut self, group: u32) {
        let at = &mut self.groups[group as usize];
        let open = &mut at.open[COLD];
        if open.cblock != NO_CBLOCK && self.wear.lag(open.cblock, &at.free).is_some() {
            self.blocks.seal(open.cblock, group);
            (open.cblock, open.next) = (NO_CBLOCK, self.g.units_per_cblock);
        }
    }

    /// Has a block erased after everything was moved out of it.
    pub(super) fn give_up(&mut self, group: u32, victim: u32, ops: &mut Vec<FlashOp>) {
        self.blocks.empty(victim);
        if let Some(cache) = &mut self.cache {
            cache.remove(victim, group);
        }
        self.groups[group as usize].erasing += 1;
        ops.push(FlashOp::Erase { cblock: victim });
    }

    /// Moves the valid units of a block and has it erased. Returns false, without doing anything, if there is no
    /// room.
    pub(super) fn empty(&mut self, group: u32, victim: u32, ops: &mut Vec<FlashOp>) -> bool {
        let moving = self.blocks.valid(victim);
        if moving > self.copy_room(group) {
            return false;
        }
        let mut live = std::mem::take(&mut self.live);
        let found = self.find_live(victim, &mut live);
        self.relocate(group, &mut live[..found], ops);
        self.live = live;
        if self.cache.as_ref().is_some_and(|c| c.holds(victim)) {
            self.merges.folded_units += u64::from(moving);
        }
        self.give_up(group, victim, ops);
        true
    }

    /// Does one step of collection in idle time, in the next group in turn that has too few erased blocks or uneven
    /// wear. Returns false if there is none.
    pub(super) fn collect_one(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        let groups = self.g.groups;
        for group in (self.background_turn..groups).chain(0..self.background_turn) {
            let at = &self.groups[group as usize];
            let usable = self.g.cblocks_per_group - at.retired;
            let wanted = f64::from(usable) * self.gc.background_percent / 100.0;
            let few = ((at.free.len() as u32 + at.erasing) as f64) < wanted;
            if (few && self.collect(group, true, ops)) || self.level(group, ops) {
                self.background_turn = (group + 1) % groups;
                return true;
            }
        }
        false
    }
}
