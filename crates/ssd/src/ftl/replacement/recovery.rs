//! Rebuilds the chains of a drive with replacement blocks after a power cut, from the contents of the flash.
//!
//! The spare area of its pages holds a block's birth, and the births of the block before it in its chain and of the
//! first block of that chain, as NFTL keeps its links there. A new block is programmed only after everything before
//! it is done (a barrier), and blocks are erased only after the block that took their data is done. So the youngest
//! block of a data block determines the chain: itself and the blocks before it, as far as they are there. A block
//! that a full merge filled ends the chain, because it contains everything before.
//!
//! The youngest block may be the target of a full merge that was cut off. That is possible only while the whole
//! chain that it read is still there. If the target then has nothing that this chain lacks, the chain counts and
//! the target is erased. Otherwise the target is complete, because the host's programs into it wait for its last
//! copy. Blocks at the beginning of a chain that have no newest version of any unit are erased. The youngest block
//! is erased first: the target of a merge that was cut off must be gone before the chain that identifies it becomes
//! incomplete. The remaining blocks cannot be programmed further, because it is unknown where their last program
//! was cut off. TRIM is kept in memory only: trimmed data may come back.

use super::{CHAIN_MAX, Chained, NOWHERE, Origin, ReplacementFtl};
use crate::ftl::contract::{FlashOp, NO_CBLOCK};
use crate::nand::store::Store;
use fathom_base::Ppn;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The units that a block holds: offset and version.
type Held = BTreeMap<u32, u64>;

impl ReplacementFtl {
    /// Rebuilds the chains, and has all blocks erased that are not needed.
    pub(super) fn rebuild_all(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let fresh = Self::empty(&self.g, self.partial_program, self.per_group);
        *self = Self {
            merges: self.merges,
            clock: self.clock,
            origins: std::mem::take(&mut self.origins),
            ..fresh
        };
        let per_block = self.g.units_per_cblock;
        let mut blocks: BTreeMap<u32, Held> = BTreeMap::new();
        for at in torn {
            blocks.entry(at.0 / per_block).or_default();
        }
        let mut by_lbn: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (at, cell) in store.scan() {
            let cblock = at.0 / per_block;
            let held = blocks.entry(cblock).or_default();
            if held.is_empty() {
                let of_lbn = by_lbn.entry(cell.lpn.0 / per_block).or_default();
                of_lbn.push(cblock);
            }
            held.insert(cell.lpn.0 % per_block, cell.version);
        }
        for group in &mut self.free {
            group.retain(|cblock| !blocks.contains_key(cblock));
        }
        for (lbn, of_lbn) in by_lbn {
            let chain = self.chain_of(&of_lbn, &blocks);
            self.adopt(lbn, &chain, &blocks);
        }
        let used: BTreeSet<u32> = self.chains.iter().flatten().copied().collect();
        let emptied = blocks.into_keys().filter(|cblock| !used.contains(cblock));
        let mut emptied: Vec<u32> = emptied.collect();
        emptied.sort_by_key(|&cblock| Reverse(self.birth(cblock)));
        ops.extend(emptied.into_iter().map(|cblock| FlashOp::Erase { cblock }));
    }

    /// Returns the chain of a data block, in order, from the blocks that hold units of it.
    fn chain_of(&self, of_lbn: &[u32], blocks: &BTreeMap<u32, Held>) -> Vec<u32> {
        let youngest = of_lbn.iter().copied().max_by_key(|&b| self.birth(b));
        let Some(youngest) = youngest else {
            return Vec::new();
        };
        let origin = self.origins[youngest as usize];
        let (mut chain, whole) = self.before(youngest, of_lbn);
        if !origin.merged {
            chain.push(youngest);
            return chain;
        }
        let in_chain = |offset: &u32, version: &u64| {
            let same = |b: &u32| blocks[b].get(offset) == Some(version);
            chain.iter().any(same)
        };
        if whole && blocks[&youngest].iter().all(|(o, v)| in_chain(o, v)) {
            return chain;
        }
        vec![youngest]
    }

    /// Returns the blocks before a block in its chain, as far as they are there, and whether all of them are there.
    fn before(&self, cblock: u32, of_lbn: &[u32]) -> (Vec<u32>, bool) {
        let Origin { before, head, .. } = self.origins[cblock as usize];
        let mut wanted = before;
        let mut chain = Vec::new();
        let mut whole = wanted == 0;
        while wanted != 0 && !whole {
            let Some(found) = of_lbn.iter().copied().find(|&b| self.birth(b) == wanted) else {
                break;
            };
            chain.insert(0, found);
            whole = wanted == head;
            wanted = self.origins[found as usize].before;
        }
        (chain, whole)
    }

    /// Takes blocks as the chain of a data block, except those at its beginning that hold no newest version.
    fn adopt(&mut self, lbn: u32, chain: &[u32], blocks: &BTreeMap<u32, Held>) {
        let newest = |offset: u32| {
            let holders = chain.iter().copied();
            holders.rev().find(|b| blocks[b].contains_key(&offset))
        };
        let newest: Vec<Option<u32>> = (0..self.g.units_per_cblock).map(newest).collect();
        // Blocks in between are kept, because the links lead over them.
        let kept = chain.iter().skip_while(|&&b| !newest.contains(&Some(b)));
        let mut slots = [NO_CBLOCK; CHAIN_MAX];
        let mut length = 0;
        for (slot, cblock) in slots.iter_mut().zip(kept) {
            *slot = *cblock;
            length += 1;
        }
        self.chains[lbn as usize] = slots;
        for (lpn, holder) in self.units_of(lbn).zip(newest) {
            let index = holder.and_then(|b| slots.iter().position(|&s| s == b));
            self.newest[lpn] = index.map_or(NOWHERE, |index| index as u8);
            self.written[lpn] = length;
        }
        if length > 1 {
            let group = self.group_of(lbn);
            let last_write = self.clock;
            // Units that the last block already has are not counted: the chain is never folded as complete.
            self.chained[group].push(Chained {
                lbn,
                last_write,
                in_last: 0,
            });
        }
    }
}
