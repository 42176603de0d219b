//! Rebuilds the map of a block-mapped drive after a power cut, from the contents of the flash.
//!
//! A new log, or a block that a full merge fills, is programmed only after everything before it is programmed (a
//! barrier). So among the blocks of one data block, in order of birth, only the last can be unfinished. The spare
//! area of its pages holds a block's birth and the births of the blocks that it was made from. A merge that was cut
//! off is ignored as long as the blocks that it read are there; these are erased only when the merge is done. TRIM
//! is kept in memory only: trimmed data may come back.

use super::BlockFtl;
use crate::ftl::contract::{FlashOp, NO_CBLOCK};
use crate::nand::store::Store;
use fathom_base::Ppn;
use std::collections::BTreeMap;

/// A unit found after a power cut.
#[derive(Clone, Copy, Debug)]
struct Found {
    place: u32,
    offset: u32,
    version: u64,
}

impl BlockFtl {
    /// Rebuilds the map, and has all blocks erased that are not needed.
    pub(super) fn rebuild_all(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let fresh = Self::empty(&self.g, self.partial_program, self.logs_per_group);
        *self = Self {
            merges: self.merges,
            clock: self.clock,
            origins: std::mem::take(&mut self.origins),
            ..fresh
        };
        let per_block = self.g.units_per_cblock;
        let mut by_lbn: BTreeMap<u32, Vec<Found>> = BTreeMap::new();
        let mut used = vec![false; self.g.cblocks() as usize];
        let mut held = used.clone();
        torn.iter()
            .for_each(|at| used[(at.0 / per_block) as usize] = true);
        for (at, cell) in store.scan() {
            held[(at.0 / per_block) as usize] = true;
            let found = Found {
                place: at.0,
                offset: cell.lpn.0 % per_block,
                version: cell.version,
            };
            by_lbn
                .entry(cell.lpn.0 / per_block)
                .or_default()
                .push(found);
        }
        for group in &mut self.free {
            group.retain(|&b| !used[b as usize] && !held[b as usize]);
        }
        for (lbn, found) in by_lbn {
            self.rebuild(lbn, &found, ops);
        }
        let torn_only = (0..self.g.cblocks()).filter(|&b| used[b as usize] && !held[b as usize]);
        ops.extend(torn_only.map(|cblock| FlashOp::Erase { cblock }));
    }

    /// Reduces the blocks that hold units of one data block to a data block and a log.
    fn rebuild(&mut self, lbn: u32, found: &[Found], ops: &mut Vec<FlashOp>) {
        let per_block = self.g.units_per_cblock;
        let mut blocks: Vec<u32> = found.iter().map(|f| f.place / per_block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let (data, log) = self.choose(&blocks, found);
        let kept = |cblock: u32| Some(cblock) == data || Some(cblock) == log;
        let emptied = blocks.iter().copied().filter(|&b| !kept(b));
        ops.extend(emptied.map(|cblock| FlashOp::Erase { cblock }));
        for unit in found.iter().filter(|f| kept(f.place / per_block)) {
            self.live.insert(lbn * per_block + unit.offset);
        }
        self.data[lbn as usize] = data.unwrap_or(NO_CBLOCK);
        if let Some(cblock) = log {
            self.adopt_log(lbn, cblock, found);
        }
    }

    /// Determines which of the blocks that hold units of one data block is its data block, and which its log.
    fn choose(&self, blocks: &[u32], found: &[Found]) -> (Option<u32>, Option<u32>) {
        let per_block = self.g.units_per_cblock;
        let born = |birth: u64| blocks.iter().copied().find(|&b| self.birth(b) == birth);
        let Some(last) = blocks.iter().copied().max_by_key(|&b| self.birth(b)) else {
            return (None, None);
        };
        let origin = self.origins[last as usize];
        if origin.log != 0 {
            let (data, log) = (born(origin.data), born(origin.log));
            // The blocks that the merge read are still there. They count, and not the merge, which may be
            // unfinished.
            return match (data, log) {
                (Some(_), Some(_)) => (data, log),
                (None, Some(_)) if origin.data == 0 => (None, log),
                _ => (Some(last), None),
            };
        }
        let elsewhere = |f: &Found| f.place / per_block == last && f.place % per_block != f.offset;
        match born(origin.data) {
            None if !found.iter().any(elsewhere) => (Some(last), None),
            data => (data, Some(last)),
        }
    }

    /// Takes a clustered block as the log of a data block. The log is closed for appending, because it is unknown
    /// where its last program was cut off.
    fn adopt_log(&mut self, lbn: u32, cblock: u32, found: &[Found]) {
        let per_block = self.g.units_per_cblock;
        let id = self.open_log(lbn, cblock);
        self.clock += 1;
        let log = &mut self.logs[id as usize];
        (log.next, log.in_order, log.last_write) = (per_block, false, self.clock);
        let mut newest = vec![0u64; per_block as usize];
        for unit in found.iter().filter(|f| f.place / per_block == cblock) {
            let newest = &mut newest[unit.offset as usize];
            if unit.version > *newest {
                *newest = unit.version;
                log.slot_of[unit.offset as usize] = unit.place % per_block;
            }
        }
    }
}
