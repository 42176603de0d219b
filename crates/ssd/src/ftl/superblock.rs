//! Superblock mapping: neighbouring data blocks share their blocks and are page-mapped within (Kang, Jo, Kim and
//! Lee, "A superblock-based flash translation layer for NAND flash memory", EMSOFT 2006).
//!
//! A superblock is made of [`DATA_BLOCKS`] logical blocks that are neighbours in a group. It has as many D-blocks,
//! and U-blocks beyond them for updates. A unit of it may lie anywhere in any of them. Host writes go to the
//! superblock's open U-block. Once all U-blocks of the group (`log_blocks`) are in use, the least recently written
//! superblock gives one back. Only its own blocks are touched for that:
//!
//! - A block without a valid unit is erased, because U-blocks have taken its place (switch merge).
//! - Otherwise the valid units of the block with the fewest are moved into the rest of an open block, and it is
//!   erased (partial merge).
//! - Otherwise a new block is taken and filled with the valid units of the blocks that have the fewest, until one
//!   block is left over (one full merge for every block that is taken).
//!
//! Moved units are cold. They fill a block of their own unless they complete a U-block, so that hot units gather in
//! the U-blocks.
//!
//! The maps in spare areas and the reads that they cost are not modelled, and the number of D-blocks does not vary.

mod reclaim;

use super::config::LOG_BLOCKS;
use super::contract::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall};
use super::pool::tail::Tail;
use super::pool::{Pool, by_pool};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use std::collections::BTreeSet;

/// Number of logical blocks of a superblock.
const DATA_BLOCKS: u32 = 4;

/// The state of one superblock.
#[derive(Clone, Debug)]
struct Superblock {
    group: u32,
    /// Maximum number of D-blocks.
    share: usize,
    blocks: Vec<u32>,
    /// The block that the host fills.
    hot: Tail,
    /// The block that copies fill.
    cold: Tail,
    last_write: u64,
    /// Set while room is being made: the number of blocks to get down to.
    until: Option<usize>,
}

impl Superblock {
    fn new(group: u32, share: u32, g: &Geometry) -> Self {
        Self {
            group,
            share: share as usize,
            blocks: Vec::new(),
            hot: Tail::none(g),
            cold: Tail::none(g),
            last_write: 0,
            until: None,
        }
    }

    fn has_updates(&self) -> bool {
        self.blocks.len() > self.share
    }
}

/// The state of a drive with superblocks.
#[derive(Clone, Debug)]
pub(crate) struct SuperblockFtl {
    pool: Pool,
    /// All superblocks, group by group.
    superblocks: Vec<Superblock>,
    /// Number of U-blocks in each group.
    updates: Vec<u32>,
    clock: u64,
}

impl SuperblockFtl {
    /// Returns the index of the superblock of a unit.
    fn superblock_of(&self, lpn: u32) -> usize {
        let g = &self.pool.g;
        let lbn = lpn / g.units_per_cblock;
        (lbn % g.groups * per_group(g) + lbn / g.groups / DATA_BLOCKS) as usize
    }

    /// Gives a block to a superblock.
    fn add(&mut self, id: usize, cblock: u32) {
        let at = &mut self.superblocks[id];
        at.blocks.push(cblock);
        self.updates[at.group as usize] += u32::from(at.has_updates());
    }

    /// Takes a block without valid units from a superblock.
    fn remove(&mut self, id: usize, cblock: u32) {
        let at = &mut self.superblocks[id];
        self.updates[at.group as usize] -= u32::from(at.has_updates());
        at.blocks.retain(|&b| b != cblock);
        for tail in [&mut at.hot, &mut at.cold] {
            if tail.holds(cblock) {
                *tail = Tail::none(&self.pool.g);
            }
        }
    }

    /// Makes room for `units` units in the block that the host fills.
    fn make_room(&mut self, id: usize, units: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        while self.superblocks[id].hot.room(&self.pool.g) < units {
            let at = &self.superblocks[id];
            let (group, beyond) = (at.group, at.blocks.len() >= at.share);
            let in_use = self.updates[group as usize];
            if beyond && in_use >= self.pool.logs {
                self.reclaim(group, ops)?;
            } else if !beyond || self.pool.may_open(group, in_use) {
                let cblock = self.pool.take(group)?;
                self.add(id, cblock);
                self.superblocks[id].hot.add(cblock, &self.pool.g);
            } else {
                return Err(Stall);
            }
        }
        Ok(())
    }
}

fn per_group(g: &Geometry) -> u32 {
    g.data_cblocks_per_group().div_ceil(DATA_BLOCKS)
}

/// Returns the superblocks of a new drive, group by group.
fn never_written(g: &Geometry) -> Vec<Superblock> {
    let mut all = Vec::new();
    for group in 0..g.groups {
        let blocks = (g.logical_cblocks + g.groups - 1 - group) / g.groups;
        for first in (0..per_group(g)).map(|i| i * DATA_BLOCKS) {
            let share = blocks.saturating_sub(first).min(DATA_BLOCKS);
            all.push(Superblock::new(group, share, g));
        }
    }
    all
}

keys! {
    /// `[mapping]` of `superblock`.
    pub struct Config {
        /// Log blocks of the drive, 1 to 65536: each takes the writes to the blocks of one superblock.
        pub(super) log_blocks: u32 = LOG_BLOCKS,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for SuperblockFtl {
    const ABOUT: About = About::new("superblocks of neighbouring data blocks, with page mapping inside").text(
        "Superblock mapping (Kang, Jo, Kim and Lee, EMSOFT 2006): a few neighbouring data blocks share their log blocks and \
are page-mapped within, so that units that are written often gather in few blocks.",
    ).keys(Config::KEYS);
    type Config = Config;

    by_pool!();

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let logs = spec.logs_per_group(config.log_blocks, g.groups);
        Self {
            pool: Pool::new(logs, config.partial_program, g),
            superblocks: never_written(g),
            updates: vec![0; g.groups as usize],
            clock: 0,
        }
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let Some(&(first, _)) = runs.first() else {
            return Ok(());
        };
        let id = self.superblock_of(first.0);
        let units = runs.iter().map(|r| r.1).sum();
        self.make_room(id, units, ops)?;
        self.clock += 1;
        let at = &mut self.superblocks[id];
        at.last_write = self.clock;
        self.pool.append(&mut at.hot, runs, ops);
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let mut touched = BTreeSet::new();
        for lpn in lpn.0..lpn.0 + units {
            self.pool.forget(lpn);
            touched.insert(self.superblock_of(lpn));
        }
        for id in touched {
            self.drop_dead(id, ops);
        }
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let held = self.pool.recover(store, torn, ops);
        self.superblocks = never_written(&self.pool.g);
        self.updates.fill(0);
        for cblock in held {
            let Some(lpn) = self.pool.first_unit(cblock) else {
                continue;
            };
            let id = self.superblock_of(lpn);
            self.add(id, cblock);
            self.clock += 1;
            self.superblocks[id].last_write = self.clock;
        }
    }

    fn check(&self) -> Result<(), String> {
        let blocks = self
            .superblocks
            .iter()
            .flat_map(|s| s.blocks.iter().copied());
        self.pool.check(blocks)?;
        let mut updates = vec![0; self.updates.len()];
        for (id, at) in self.superblocks.iter().enumerate() {
            let owned = |tail: Tail| tail.cblock == NO_CBLOCK || at.blocks.contains(&tail.cblock);
            let units = at.blocks.iter().flat_map(|&b| self.pool.units_of(b));
            let strange = units.map(|lpn| self.superblock_of(lpn)).find(|&s| s != id);
            if strange.is_some() || !owned(at.hot) || !owned(at.cold) {
                return Err(format!("superblock {id} holds what is not its own"));
            }
            updates[at.group as usize] += at.blocks.len().saturating_sub(at.share) as u32;
        }
        if updates != self.updates {
            return Err("the counts of U-blocks differ from the superblocks".into());
        }
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        let blocks: usize = self.superblocks.iter().map(|s| s.blocks.capacity()).sum();
        let words = blocks + self.updates.capacity();
        let superblocks = self.superblocks.capacity() * size_of::<Superblock>();
        self.pool.state_bytes() + words * 4 + superblocks
    }
}
