//! How a superblock gives a U-block back.

use super::SuperblockFtl;
use crate::ftl::contract::{FlashOp, Stall};
use crate::ftl::pool::tail::Tail;

impl SuperblockFtl {
    /// Has the least recently written superblock of a group give one block back. If a superblock stalled before,
    /// goes on with that one.
    pub(super) fn reclaim(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let here = |&id: &usize| self.superblocks[id].group == group;
        let begun = |&id: &usize| self.superblocks[id].until.is_some();
        let ids = (0..self.superblocks.len()).filter(here);
        let oldest = ids
            .clone()
            .filter(|&id| self.superblocks[id].has_updates())
            .min_by_key(|&id| self.superblocks[id].last_write);
        let id = ids.clone().find(begun).or(oldest).ok_or(Stall)?;
        let at = &mut self.superblocks[id];
        // A superblock that stalled may have lost all of its blocks to TRIM since.
        let one_less = at.blocks.len().saturating_sub(1);
        let until = *at.until.get_or_insert(one_less);
        let (mut emptied, mut is_full, mut result) = (Vec::new(), false, Ok(()));
        while self.superblocks[id].blocks.len() > until && result.is_ok() {
            let Some(victim) = self.victim(id) else {
                break;
            };
            result = self.empty(id, victim, &mut is_full, ops);
            if result.is_ok() {
                self.remove(id, victim);
                emptied.push(victim);
            }
        }
        // Padding comes only now, so that copies fill whole clustered pages.
        let at = &mut self.superblocks[id];
        self.pool.pad(&mut at.cold);
        self.pool.pad(&mut at.hot);
        at.until = at.until.filter(|_| result.is_err());
        // The blocks that were taken replace all emptied blocks but the last.
        let last = emptied.last().copied().filter(|_| result.is_ok());
        for cblock in emptied {
            self.pool.erase(cblock, Some(cblock) == last, ops);
        }
        result
    }

    /// Returns the block with the fewest valid units, the first one among equals. A block that is being filled is
    /// chosen only if no other block has space to free.
    fn victim(&self, id: usize) -> Option<u32> {
        let at = &self.superblocks[id];
        let filled = |tail: &Tail, b: u32| tail.room(&self.pool.g) > 0 && tail.holds(b);
        let rank = |b: u32| u32::from(filled(&at.hot, b)) + 2 * u32::from(filled(&at.cold, b));
        let blocks = at.blocks.iter().copied();
        let gives = |b: u32| self.pool.valid(b) < self.pool.g.units_per_cblock;
        blocks.min_by_key(|&b| (!gives(b), rank(b), self.pool.valid(b)))
    }

    /// Moves the valid units out of a block. `is_full` is set once a block was taken for that: units that then go
    /// to the rest of it belong to the same full merge.
    fn empty(
        &mut self,
        id: usize,
        victim: u32,
        is_full: &mut bool,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let valid = self.pool.valid(victim);
        let at = &mut self.superblocks[id];
        for tail in [&mut at.hot, &mut at.cold] {
            if tail.holds(victim) {
                *tail = Tail::none(&self.pool.g);
            }
        }
        let fits_cold = valid <= at.cold.room(&self.pool.g);
        let completes_hot = !fits_cold && !*is_full && valid <= at.hot.room(&self.pool.g);
        if valid == 0 {
            self.pool.merges.switch += 1;
        } else if !*is_full && (fits_cold || completes_hot) {
            self.pool.merges.partial += 1;
        }
        let units: Vec<u32> = self.pool.units_of(victim).collect();
        for lpn in units {
            if !completes_hot && self.superblocks[id].cold.room(&self.pool.g) == 0 {
                self.take_cold(id, ops)?;
                *is_full = true;
            }
            let at = &mut self.superblocks[id];
            let tail = if completes_hot {
                &mut at.hot
            } else {
                &mut at.cold
            };
            self.pool.append_copy(tail, lpn, ops);
        }
        Ok(())
    }

    /// Takes an erased block for copies.
    fn take_cold(&mut self, id: usize, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let target = self.pool.take_target(self.superblocks[id].group, ops)?;
        self.add(id, target);
        self.superblocks[id].cold.add(target, &self.pool.g);
        self.pool.merges.full += 1;
        Ok(())
    }

    /// Has the blocks erased that hold nothing valid after a trim.
    pub(super) fn drop_dead(&mut self, id: usize, ops: &mut Vec<FlashOp>) {
        let at = &self.superblocks[id];
        let is_dead = |b: u32| self.pool.valid(b) == 0 && !at.hot.holds(b) && !at.cold.holds(b);
        let blocks = at.blocks.iter().copied();
        let dead: Vec<u32> = blocks.filter(|&b| is_dead(b)).collect();
        for cblock in dead {
            let as_log = self.superblocks[id].has_updates();
            self.remove(id, cblock);
            self.pool.erase(cblock, as_log, ops);
        }
    }
}
