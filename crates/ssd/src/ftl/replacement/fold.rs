//! Folding: merges a chain into one block.
//!
//! If the last block of the chain has every unit, it is kept as it is (switch merge). If the offsets of all missing
//! units are free in it, these units are copied there (partial merge; fold in place in the driver). Otherwise
//! everything goes into a new block (full merge). A chain whose last block is complete is folded at once.

use super::{CHAIN_MAX, NOWHERE, ReplacementFtl};
use crate::ftl::contract::{FlashOp, NO_CBLOCK, Stall, emit_copy};

impl ReplacementFtl {
    /// Folds a chain into one block.
    pub(super) fn fold(&mut self, lbn: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let length = self.length(lbn);
        let last = length - 1;
        let mut elsewhere = (self.units_of(lbn))
            .filter(|&lpn| self.newest[lpn] != NOWHERE && usize::from(self.newest[lpn]) != last)
            .peekable();
        let moves = elsewhere.peek().is_some();
        let in_place = elsewhere.all(|lpn| usize::from(self.written[lpn]) <= last);
        let target = if in_place {
            self.chains[lbn as usize][last]
        } else {
            self.take_free(lbn, true, ops)?
        };
        match (in_place, moves) {
            (true, false) => self.merges.switch += 1,
            (true, true) => self.merges.partial += 1,
            (false, _) => self.merges.full += 1,
        }
        self.gather(lbn, target, last, ops);
        if !in_place {
            // The host's programs into the new block come after all copies. So if it holds host writes of its own,
            // it is complete.
            ops.push(FlashOp::Barrier { cblock: target });
        }
        self.shorten(lbn, target, ops);
        Ok(())
    }

    /// Copies the missing units to `target`, which is the last block of the chain or a new one.
    fn gather(&mut self, lbn: u32, target: u32, last: usize, ops: &mut Vec<FlashOp>) {
        let (units, per_block) = (self.units_of(lbn), self.g.units_per_cblock);
        let chain = self.chains[lbn as usize];
        let in_place = chain[last] == target;
        for lpn in units.clone() {
            let newest = self.newest[lpn];
            let kept = in_place && usize::from(self.written[lpn]) > last;
            self.written[lpn] = u8::from(kept);
            if newest == NOWHERE {
                continue;
            }
            self.newest[lpn] = 0;
            self.written[lpn] = 1;
            if !(in_place && usize::from(newest) == last) {
                let offset = lpn as u32 % per_block;
                let from = chain[usize::from(newest)] * per_block + offset;
                emit_copy(&self.g, from, target * per_block + offset, ops);
                self.merges.moved_units += 1;
            }
        }
        if !self.partial_program {
            for page in self.written[units].chunks_mut(self.g.units_per_cpage as usize) {
                let any = page.iter().copied().max().unwrap_or(0);
                page.fill(any);
            }
        }
    }

    /// Reduces a chain to the block `kept` and has the others erased.
    pub(super) fn shorten(&mut self, lbn: u32, kept: u32, ops: &mut Vec<FlashOp>) {
        let chain = std::mem::replace(&mut self.chains[lbn as usize], [NO_CBLOCK; CHAIN_MAX]);
        self.chains[lbn as usize][0] = kept;
        let emptied = chain
            .iter()
            .copied()
            .filter(|&b| b != NO_CBLOCK && b != kept);
        ops.extend(emptied.map(|cblock| FlashOp::Erase { cblock }));
        let group = self.group_of(lbn);
        self.chained[group].retain(|at| at.lbn != lbn);
    }
}
