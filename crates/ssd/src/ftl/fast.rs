//! FAST: log blocks for any data block, one of them for sequential writes (Lee, Park, Chung, Lee, Park and Song, "A
//! log buffer-based FTL using fully-associative sector translation", ACM TECS 6(3), 2007; `irbw` 2.1).
//!
//! Each group has one *SW* log; all its other log blocks are *RW* logs. A write to the first unit of a data block
//! starts a new SW log, and a write that continues it is appended there. Every other write is appended to the RW
//! logs, whatever its data block. A full SW log becomes the data block (switch merge). If the SW log is needed for
//! another stream, or its data block is written elsewhere, it is completed from the data block (partial merge).
//! When all RW logs are full, the oldest is reclaimed: every data block that has a valid unit in it is merged into
//! a new block, with all its units in the logs (full merges).
//!
//! Differences from the paper: the first write of a unit goes to a log, too, because the pages of a block must be
//! programmed in order. A write that leaves a clustered page partly filled goes to the RW logs if the page cannot
//! be programmed later, because the SW log keeps every unit at its offset. A data block that owns the SW log is
//! merged by completing that log. An RW log that happens to be in order is not switched.

use super::config::LOG_BLOCKS;
use super::contract::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall};
use super::pool::homes::Homes;
use super::pool::tail::Tail;
use super::pool::{Pool, by_pool};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use std::collections::VecDeque;

/// The log for sequential writes.
#[derive(Clone, Copy, Debug)]
struct Sequential {
    lbn: u32,
    tail: Tail,
}

#[derive(Clone, Debug)]
struct Group {
    sequential: Option<Sequential>,
    /// RW logs in the order in which they were opened.
    random: VecDeque<u32>,
    /// The RW log that is being filled, and the one after it.
    tail: Tail,
}

/// The state of a FAST drive.
#[derive(Clone, Debug)]
pub(crate) struct FastFtl {
    pool: Pool,
    homes: Homes,
    groups: Vec<Group>,
}

impl FastFtl {
    #[inline]
    fn group_of(&self, lbn: u32) -> u32 {
        lbn % self.pool.g.groups
    }

    /// Returns the data block that owns the SW log of a group, and the offset of the next unit in it.
    fn expected(&self, group: u32) -> Option<(u32, u32)> {
        let sequential = self.groups[group as usize].sequential?;
        Some((sequential.lbn, sequential.tail.next))
    }

    fn may_open(&self, group: u32) -> bool {
        let at = &self.groups[group as usize];
        let in_use = at.random.len() as u32 + u32::from(at.sequential.is_some());
        self.pool.may_open(group, in_use)
    }

    /// Turns the SW log of a group into the data block of its owner.
    fn complete_sequential(&mut self, group: u32, ops: &mut Vec<FlashOp>) {
        if let Some(Sequential { lbn, tail }) = self.groups[group as usize].sequential.take() {
            self.homes
                .complete(&mut self.pool, lbn, tail.cblock, tail.next, ops);
        }
    }

    /// Returns true if `units` units from `offset` on can be appended to an SW log.
    fn fits_sequential(&self, offset: u32, units: u32) -> bool {
        self.pool.partial_program || (offset + units).is_multiple_of(self.pool.g.units_per_cpage)
    }

    /// Opens an SW log for a data block.
    fn begin_sequential(&mut self, lbn: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let group = self.group_of(lbn);
        self.complete_sequential(group, ops);
        // After a power cut there may be too many RW logs.
        while self.groups[group as usize].random.len() as u32 >= self.pool.logs {
            self.reclaim_first(group, ops)?;
        }
        if !self.may_open(group) {
            return Err(Stall);
        }
        let mut tail = Tail::none(&self.pool.g);
        tail.add(self.pool.take(group)?, &self.pool.g);
        self.groups[group as usize].sequential = Some(Sequential { lbn, tail });
        Ok(())
    }

    fn append_sequential(&mut self, group: u32, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) {
        let Some(sequential) = &mut self.groups[group as usize].sequential else {
            return;
        };
        self.pool.append(&mut sequential.tail, runs, ops);
        if sequential.tail.next == self.pool.g.units_per_cblock {
            self.complete_sequential(group, ops);
        }
    }

    /// Makes room for `units` units in the RW logs of a group.
    fn make_room(&mut self, group: u32, units: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        while self.groups[group as usize].tail.room(&self.pool.g) < units {
            if self.groups[group as usize].random.len() as u32 + 1 >= self.pool.logs {
                self.reclaim_first(group, ops)?;
            } else if self.may_open(group) {
                let cblock = self.pool.take(group)?;
                let at = &mut self.groups[group as usize];
                at.random.push_back(cblock);
                at.tail.add(cblock, &self.pool.g);
            } else {
                return Err(Stall);
            }
        }
        Ok(())
    }

    /// Merges every data block that has a valid unit in the oldest RW log, and has that log erased. After a stall
    /// it continues with the same log.
    fn reclaim_first(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let Some(&log) = self.groups[group as usize].random.front() else {
            return Ok(());
        };
        while let Some(lpn) = self.pool.first_unit(log) {
            let lbn = lpn / self.pool.g.units_per_cblock;
            if self.expected(group).is_some_and(|(owner, _)| owner == lbn) {
                self.complete_sequential(group, ops);
            } else {
                self.homes.merge(&mut self.pool, lbn, ops)?;
            }
        }
        let at = &mut self.groups[group as usize];
        at.random.pop_front();
        if at.tail.holds(log) {
            at.tail = Tail::none(&self.pool.g);
        }
        self.pool.erase(log, true, ops);
        Ok(())
    }
}

keys! {
    /// `[mapping]` of `fast`.
    pub struct Config {
        /// Log blocks of the drive, 1 to 65536, at least two for each group: one takes sequential writes, the others
        /// take writes to any data block of the group.
        pub(super) log_blocks: u32 = LOG_BLOCKS,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for FastFtl {
    const ABOUT: About = About::new("log blocks shared by all data blocks, one of them for sequential writes (FAST)").text(
        "Random writes to any data block fill log blocks in order of arrival. To reclaim the oldest log, every data block \
with a unit in it is merged. A sequential stream has its own log, which can be switched (Lee et al., ACM TECS \
2007).",
    ).keys(Config::KEYS);
    type Config = Config;

    by_pool!();

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let logs = spec.logs_per_group(config.log_blocks, g.groups);
        let pool = Pool::new(logs, config.partial_program, g);
        let group = Group {
            sequential: None,
            random: VecDeque::new(),
            tail: Tail::none(g),
        };
        Self {
            homes: Homes::new(&pool),
            groups: vec![group; g.groups as usize],
            pool,
        }
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let Some(&(first, _)) = runs.first() else {
            return Ok(());
        };
        let per_block = self.pool.g.units_per_cblock;
        let (lbn, offset) = (first.0 / per_block, first.0 % per_block);
        let group = self.group_of(lbn);
        let units: u32 = runs.iter().map(|r| r.1).sum();
        let joined = runs.windows(2).all(|w| w[0].0.0 + w[0].1 == w[1].0.0);
        if joined && self.fits_sequential(offset, units) {
            if offset == 0 {
                self.begin_sequential(lbn, ops)?;
            }
            if self.expected(group) == Some((lbn, offset)) {
                self.append_sequential(group, runs, ops);
                return Ok(());
            }
        }
        if self.expected(group).is_some_and(|(owner, _)| owner == lbn) {
            self.complete_sequential(group, ops);
        }
        self.make_room(group, units, ops)?;
        self.pool
            .append(&mut self.groups[group as usize].tail, runs, ops);
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let per_block = self.pool.g.units_per_cblock;
        (lpn.0..lpn.0 + units).for_each(|lpn| self.pool.forget(lpn));
        for lbn in lpn.0.div_ceil(per_block)..(lpn.0 + units) / per_block {
            let group = self.group_of(lbn);
            self.homes.trimmed(&mut self.pool, lbn, ops);
            if let Some((owner, _)) = self.expected(group)
                && owner == lbn
                && let Some(sequential) = self.groups[group as usize].sequential.take()
            {
                self.pool.erase(sequential.tail.cblock, true, ops);
            }
        }
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let held = self.pool.recover(store, torn, ops);
        let (homes, logs) = Homes::recover(&self.pool, &held);
        self.homes = homes;
        for (group, random) in self.groups.iter_mut().zip(logs) {
            *group = Group {
                sequential: None,
                random,
                tail: Tail::none(&self.pool.g),
            };
        }
    }

    fn check(&self) -> Result<(), String> {
        self.homes.check(&self.pool)?;
        let sequential = self.groups.iter().filter_map(|group| group.sequential);
        let logs = self.groups.iter().flat_map(|group| &group.random).copied();
        let logs = logs.chain(sequential.map(|s| s.tail.cblock));
        self.pool.check(self.homes.blocks().chain(logs))?;
        let filled = self.groups.iter().map(|group| group.tail.cblock);
        let all: Vec<u32> = self.groups.iter().flat_map(|g| g.random.clone()).collect();
        let mut odd = filled.filter(|&b| b != NO_CBLOCK && !all.contains(&b));
        odd.next()
            .map_or(Ok(()), |b| Err(format!("block {b} is filled and no log")))
    }

    fn state_bytes(&self) -> usize {
        let logs: usize = self.groups.iter().map(|g| g.random.capacity()).sum();
        let groups = self.groups.capacity() * size_of::<Group>();
        self.pool.state_bytes() + self.homes.state_bytes() + logs * 4 + groups
    }
}
