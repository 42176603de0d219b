//! A page-mapped log over block-mapped data (`irbw` 2.1: sector mapping for log blocks, block mapping for data
//! blocks).
//!
//! All host writes are appended to the log of their group, which is page-mapped. The groups share `log_blocks` log
//! blocks evenly, rounded up, at least one each. A log block that comes to hold the units of one data block in order
//! becomes the data block (switch merge). When the log is full, the log block with the fewest valid units is cleaned,
//! the first one among equals:
//!
//! - If at most half of the block is valid, its hot units get a second chance: they are copied to the end of the log
//!   (Lim, Lee and Moon, "FASTer FTL for enterprise-class flash memory SSDs", SNAPI 2010). A unit is hot as long as it
//!   was not moved since the host wrote it. Units that already had their second chance are cold, and their data
//!   blocks are merged.
//! - If more than half of the block is valid, all of its data blocks are merged, because copying would gain little.
//!
//! A merge copies the newest version of every unit of a data block to a new block (full merge). If the only block
//! left to clean is the one that is being filled, and it holds the first units of one data block in order, it is
//! completed instead (partial merge).
//!
//! FASTer gives up log blocks in order of age; here it is the block with the fewest valid units. This mapping does
//! not keep hot and cold units, or sequential and random writes, in different log blocks.

use super::config::LOG_BLOCKS;
use super::contract::{FlashOp, Ftl, MergeCounts, Stall};
use super::pool::homes::{Homes, home_of};
use super::pool::tail::Tail;
use super::pool::{Pool, by_pool};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Group {
    /// Log blocks in the order in which they were opened.
    logs: VecDeque<u32>,
    /// The log block that is being filled, and the one after it.
    tail: Tail,
    /// The log block whose data blocks are being merged.
    merging: Option<u32>,
}

impl Group {
    fn remove(&mut self, log: u32, g: &Geometry) {
        self.logs.retain(|&b| b != log);
        self.merging = self.merging.filter(|&b| b != log);
        if self.tail.cblock == log {
            self.tail.leave(g);
        }
    }
}

/// The state of a drive with a page-mapped log.
#[derive(Clone, Debug)]
pub(crate) struct HybridFtl {
    pool: Pool,
    homes: Homes,
    groups: Vec<Group>,
    /// For each unit: true if it is in the log and was moved since the host wrote it.
    moved: Vec<bool>,
}

impl HybridFtl {
    fn logs_in_use(&self, group: u32) -> u32 {
        self.groups[group as usize].logs.len() as u32
    }

    /// Makes room for `units` units in the log of a group.
    fn make_room(&mut self, group: u32, units: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        while self.groups[group as usize].tail.room(&self.pool.g) < units {
            if self.logs_in_use(group) >= self.pool.logs {
                self.clean(group, ops)?;
            } else {
                self.open_log(group)?;
            }
        }
        Ok(())
    }

    fn open_log(&mut self, group: u32) -> Result<(), Stall> {
        if !self.pool.may_open(group, self.logs_in_use(group)) {
            return Err(Stall);
        }
        let cblock = self.pool.take(group)?;
        let at = &mut self.groups[group as usize];
        at.logs.push_back(cblock);
        at.tail.add(cblock, &self.pool.g);
        Ok(())
    }

    /// Returns the log block with the fewest valid units. A block that is being filled is chosen only if there is
    /// no other.
    fn victim(&self, group: u32) -> Option<u32> {
        let at = &self.groups[group as usize];
        let filled = |b: u32| at.tail.room(&self.pool.g) > 0 && at.tail.holds(b);
        let logs = at.logs.iter().copied();
        logs.min_by_key(|&b| (filled(b), self.pool.valid(b)))
    }

    /// Empties a log block and has it erased. After a stall it continues with the same block.
    fn clean(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let at = &self.groups[group as usize];
        let log = at.merging.or_else(|| self.victim(group)).ok_or(Stall)?;
        let is_filled = at.tail.room(&self.pool.g) > 0 && at.tail.holds(log);
        let few = 2 * self.pool.valid(log) <= self.pool.g.units_per_cblock;
        // Copying needs one more log block for a time. After a power cut there may be one too many already.
        let may_copy = self.pool.slack(group) > 0 && self.logs_in_use(group) <= self.pool.logs;
        if few && may_copy && !is_filled && at.merging.is_none() {
            self.collect(group, log, ops)?;
        } else if self.complete_in_order(group, log, ops) {
            return Ok(());
        } else {
            self.groups[group as usize].merging = Some(log);
            while let Some(lpn) = self.pool.first_unit(log) {
                self.merge(lpn, ops)?;
            }
        }
        let at = &mut self.groups[group as usize];
        at.remove(log, &self.pool.g);
        self.pool.erase(log, true, ops);
        Ok(())
    }

    fn merge(&mut self, lpn: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let lbn = lpn / self.pool.g.units_per_cblock;
        self.homes.merge(&mut self.pool, lbn, ops)
    }

    /// Copies the hot units of a log block to the end of the log, after merging the data blocks of the cold ones.
    fn collect(&mut self, group: u32, log: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        loop {
            let cold = self.pool.units_of(log).find(|&u| self.moved[u as usize]);
            match cold {
                Some(lpn) => self.merge(lpn, ops)?,
                None => break,
            }
        }
        let hot: Vec<u32> = self.pool.units_of(log).collect();
        if hot.is_empty() {
            return Ok(());
        }
        if self.groups[group as usize].tail.room(&self.pool.g) < hot.len() as u32 {
            self.open_log(group)?;
        }
        let tail = &mut self.groups[group as usize].tail;
        for lpn in hot {
            self.pool.append_copy(tail, lpn, ops);
            self.moved[lpn as usize] = true;
        }
        self.pool.pad(tail);
        self.pool.merges.collected += 1;
        Ok(())
    }

    /// Turns a log block into the data block if its contents are the first units of one data block in order, all of
    /// them valid. Returns true if it did.
    fn complete_in_order(&mut self, group: u32, log: u32, ops: &mut Vec<FlashOp>) -> bool {
        let at = &mut self.groups[group as usize];
        let written = if at.tail.cblock == log {
            at.tail.next
        } else {
            self.pool.g.units_per_cblock
        };
        if self.pool.valid(log) != written {
            return false;
        }
        let home = home_of(&self.pool, log);
        if let Some(lbn) = home {
            at.remove(log, &self.pool.g);
            self.homes.complete(&mut self.pool, lbn, log, written, ops);
        }
        home.is_some()
    }
}

keys! {
    /// `[mapping]` of `hybrid`.
    pub struct Config {
        /// Log blocks of the drive, 1 to 65536: they make up the log of their group.
        pub(super) log_blocks: u32 = LOG_BLOCKS,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for HybridFtl {
    const ABOUT: About = About::new("a page-mapped log, garbage-collected, over block-mapped data (irbw 2)").text(
        "Writes to all data blocks go to one page-mapped log. A log block with few valid units is collected within the log; \
any other is merged into its data blocks (irbw 2.1).",
    ).keys(Config::KEYS);
    type Config = Config;

    by_pool!();

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let logs = spec.logs_per_group(config.log_blocks, g.groups);
        let pool = Pool::new(logs, config.partial_program, g);
        let group = Group {
            logs: VecDeque::new(),
            tail: Tail::none(g),
            merging: None,
        };
        Self {
            homes: Homes::new(&pool),
            groups: vec![group; g.groups as usize],
            moved: vec![false; g.logical_units as usize],
            pool,
        }
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let Some(&(first, _)) = runs.first() else {
            return Ok(());
        };
        let group = first.0 / self.pool.g.units_per_cblock % self.pool.g.groups;
        let units = runs.iter().map(|r| r.1).sum();
        self.make_room(group, units, ops)?;
        for &(lpn, n) in runs {
            self.moved[lpn.index()..][..n as usize].fill(false);
        }
        let tail = &mut self.groups[group as usize].tail;
        let before = *tail;
        self.pool.append(tail, runs, ops);
        let tail = *tail;
        // The block that was being filled is full now, or the one after it, or both.
        let is_new = before.cblock != tail.cblock && before.next < self.pool.g.units_per_cblock;
        if is_new {
            self.complete_in_order(group, before.cblock, ops);
        }
        if tail.next == self.pool.g.units_per_cblock {
            self.complete_in_order(group, tail.cblock, ops);
        }
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let per_block = self.pool.g.units_per_cblock;
        (lpn.0..lpn.0 + units).for_each(|lpn| self.pool.forget(lpn));
        for lbn in lpn.0.div_ceil(per_block)..(lpn.0 + units) / per_block {
            self.homes.trimmed(&mut self.pool, lbn, ops);
        }
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let held = self.pool.recover(store, torn, ops);
        let (homes, logs) = Homes::recover(&self.pool, &held);
        self.homes = homes;
        self.moved.fill(false);
        for lpn in logs.iter().flatten().flat_map(|&b| self.pool.units_of(b)) {
            let cell = store.get(self.pool.lookup(Lpn(lpn)));
            self.moved[lpn as usize] = cell.is_some_and(|cell| cell.copies > 0);
        }
        for (group, logs) in self.groups.iter_mut().zip(logs) {
            *group = Group {
                logs,
                tail: Tail::none(&self.pool.g),
                merging: None,
            };
        }
    }

    fn check(&self) -> Result<(), String> {
        self.homes.check(&self.pool)?;
        let logs = self.groups.iter().flat_map(|group| &group.logs).copied();
        self.pool.check(self.homes.blocks().chain(logs))?;
        let filled = |group: &Group| {
            let tail = &group.tail;
            tail.room(&self.pool.g) > 0 && !group.logs.iter().any(|&b| tail.holds(b))
        };
        if self.groups.iter().any(filled) {
            return Err("a block is filled that is no log".into());
        }
        Ok(())
    }

    fn state_bytes(&self) -> usize {
        let logs: usize = self.groups.iter().map(|g| g.logs.capacity()).sum();
        let groups = self.groups.capacity() * size_of::<Group>();
        let tables = self.pool.state_bytes() + self.homes.state_bytes();
        tables + self.moved.capacity() + logs * 4 + groups
    }
}
