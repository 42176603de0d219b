//! Block mapping after a power cut: the map is built again from what the flash holds.
//!
//! A new log, and a block that a full merge fills, are filled only when everything before them is programmed (a
//! barrier), so that of the blocks of one data block, in order of birth, only the last can be unfinished. A block's
//! birth and what it was made from stand in the spare area of its pages. A merge that was cut off is forgotten, as
//! long as the blocks that it read are there; they are erased only when it is done. TRIM is kept in memory only:
//! what was trimmed may come back.

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
    /// Forgets the map and builds it again; has erased what nobody needs.
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

    /// After a power cut: what is left of one data block, reduced to a data block and a log.
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

    /// Which of the blocks that hold units of one data block is its data block, and which its log.
    fn choose(&self, blocks: &[u32], found: &[Found]) -> (Option<u32>, Option<u32>) {
        let per_block = self.g.units_per_cblock;
        let born = |birth: u64| blocks.iter().copied().find(|&b| self.birth(b) == birth);
        let Some(last) = blocks.iter().copied().max_by_key(|&b| self.birth(b)) else {
            return (None, None);
        };
        let origin = self.origins[last as usize];
        if origin.log != 0 {
            let (data, log) = (born(origin.data), born(origin.log));
            // What the merge read is there: it counts, and not the merge, which may be unfinished.
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

    /// Takes a clustered block for the log of a data block. It is closed for appending: where its last program
    /// was cut off cannot be told.
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
