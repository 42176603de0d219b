//! Block mapping with log blocks (`irbw` 2.1, `greedy-space` II; a log block serves one data block, as in BAST).
//!
//! Data blocks hold their units in order. A write is appended to the log block of its data block. A log block that
//! was filled in order becomes the data block (switch merge). One that was written in order but not filled is
//! completed from the data block (partial merge). Any other is merged with the data block into a new block (full
//! merge). If a log block is needed, the least recently written one is merged.
//!
//! Recovery after a power cut is in `recovery`.

mod recovery;

use super::config::LOG_BLOCKS;
use super::contract::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall, emit_copy, emit_programs};
use crate::bits::BitSet;
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use std::collections::VecDeque;

const NO_LOG: u32 = u32::MAX;
/// In the map of a log: the unit is not in the log.
const NOT_LOGGED: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Log {
    /// Logical number of the data block that the log serves; [`NO_CBLOCK`] for a log that is not in use.
    lbn: u32,
    cblock: u32,
    next: u32,
    in_order: bool,
    last_write: u64,
    slot_of: Vec<u32>,
}

/// The contents of the spare area of a clustered block. Birth numbers are unique and never 0.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    birth: u64,
    /// Birth of the data block at the time when this block was opened; 0 if there was none.
    data: u64,
    /// Birth of the log block, if this block was opened to merge one into it; 0 for a log block.
    log: u64,
}

/// The state of a block-mapped drive: one bit per unit, and a map for every log block.
#[derive(Clone, Debug)]
pub(crate) struct BlockFtl {
    g: Geometry,
    partial_program: bool,
    logs_per_group: u32,
    data: Vec<u32>,
    log_of: Vec<u32>,
    live: BitSet,
    logs: Vec<Log>,
    logs_in_group: Vec<u32>,
    free: Vec<VecDeque<u32>>,
    /// Number of retired blocks in each group.
    retired: Vec<u32>,
    origins: Vec<Origin>,
    clock: u64,
    merges: MergeCounts,
}

impl BlockFtl {
    fn empty(g: &Geometry, partial_program: bool, logs_per_group: u32) -> Self {
        let free = (0..g.groups)
            .map(|i| (i * g.cblocks_per_group..(i + 1) * g.cblocks_per_group).collect());
        Self {
            partial_program,
            logs_per_group,
            data: vec![NO_CBLOCK; g.logical_cblocks as usize],
            log_of: vec![NO_LOG; g.logical_cblocks as usize],
            live: BitSet::new(g.logical_units),
            logs: Vec::new(),
            logs_in_group: vec![0; g.groups as usize],
            free: free.collect(),
            retired: vec![0; g.groups as usize],
            origins: vec![Origin::default(); g.cblocks() as usize],
            clock: 0,
            merges: MergeCounts::default(),
            g: g.clone(),
        }
    }

    #[inline]
    fn group_of(&self, lbn: u32) -> u32 {
        lbn % self.g.groups
    }

    /// Returns the log of a data block that has room for `units` more. Opens one, and merges, where needed.
    fn log_with_room(
        &mut self,
        lbn: u32,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<u32, Stall> {
        let id = self.log_of[lbn as usize];
        if id != NO_LOG {
            if self.logs[id as usize].next + units <= self.g.units_per_cblock {
                return Ok(id);
            }
            self.merge(id, ops)?;
        }
        let group = self.group_of(lbn);
        while self.logs_in_group[group as usize] >= self.logs_per_group {
            let Some(oldest) = self.oldest_log(group) else {
                return Err(Stall);
            };
            self.merge(oldest, ops)?;
        }
        let cblock = self.take_free(lbn, 0, ops)?;
        Ok(self.open_log(lbn, cblock))
    }

    /// Takes an erased block on behalf of a data block: for a log, or to merge the log with birth number `log`
    /// into.
    fn take_free(&mut self, lbn: u32, log: u64, ops: &mut Vec<FlashOp>) -> Result<u32, Stall> {
        let group = self.group_of(lbn);
        let cblock = self.free[group as usize].pop_front().ok_or(Stall)?;
        let data = self.data[lbn as usize];
        self.clock += 1;
        self.origins[cblock as usize] = Origin {
            birth: self.clock,
            data: self.birth(data),
            log,
        };
        ops.push(FlashOp::Barrier { cblock });
        Ok(cblock)
    }

    fn birth(&self, cblock: u32) -> u64 {
        self.origins
            .get(cblock as usize)
            .map_or(0, |origin| origin.birth)
    }

    fn oldest_log(&self, group: u32) -> Option<u32> {
        let logs = self.logs.iter().enumerate();
        logs.filter(|(_, log)| log.lbn != NO_CBLOCK && self.group_of(log.lbn) == group)
            .min_by_key(|(_, log)| log.last_write)
            .map(|(id, _)| id as u32)
    }

    fn open_log(&mut self, lbn: u32, cblock: u32) -> u32 {
        let unused = self.logs.iter().position(|log| log.lbn == NO_CBLOCK);
        let id = unused.unwrap_or_else(|| {
            let slot_of = vec![NOT_LOGGED; self.g.units_per_cblock as usize];
            self.logs.push(Log {
                lbn,
                cblock,
                next: 0,
                in_order: true,
                last_write: 0,
                slot_of,
            });
            self.logs.len() - 1
        });
        let log = &mut self.logs[id];
        log.slot_of.fill(NOT_LOGGED);
        (log.lbn, log.cblock, log.next, log.in_order) = (lbn, cblock, 0, true);
        let group = self.group_of(lbn);
        self.logs_in_group[group as usize] += 1;
        self.log_of[lbn as usize] = id as u32;
        id as u32
    }

    fn close_log(&mut self, id: u32) {
        let lbn = std::mem::replace(&mut self.logs[id as usize].lbn, NO_CBLOCK);
        let group = self.group_of(lbn);
        self.logs_in_group[group as usize] -= 1;
        self.log_of[lbn as usize] = NO_LOG;
    }

    /// Merges a log and its data block into one data block.
    fn merge(&mut self, id: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let log = &self.logs[id as usize];
        let (lbn, cblock, next, in_order) = (log.lbn, log.cblock, log.next, log.in_order);
        let units = self.g.units_per_cblock;
        let mut lpns = lbn * units..(lbn + 1) * units;
        if !lpns.any(|lpn| self.live.contains(lpn)) {
            self.forget(lbn, ops);
            return Ok(());
        }
        let old = self.data[lbn as usize];
        let target = if in_order {
            cblock
        } else {
            self.take_free(lbn, self.birth(cblock), ops)?
        };
        let mut moved = 0;
        for offset in if in_order { next } else { 0 }..units {
            let lpn = lbn * units + offset;
            let from = self.lookup(Lpn(lpn));
            if from.is_some() {
                emit_copy(&self.g, from.0, target * units + offset, ops);
                moved += 1;
            }
        }
        match (in_order, next == units) {
            (true, true) => self.merges.switch += 1,
            (true, false) => self.merges.partial += 1,
            (false, _) => self.merges.full += 1,
        }
        self.merges.moved_units += moved;
        self.close_log(id);
        self.data[lbn as usize] = target;
        for emptied in [old, cblock] {
            if emptied != NO_CBLOCK && emptied != target {
                ops.push(FlashOp::Erase { cblock: emptied });
            }
        }
        Ok(())
    }

    /// Has the data block and the log erased after everything in them was trimmed. Merging them would fill nothing,
    /// and after a power cut a data block that holds nothing cannot be told from an erased one.
    fn forget(&mut self, lbn: u32, ops: &mut Vec<FlashOp>) {
        let data = std::mem::replace(&mut self.data[lbn as usize], NO_CBLOCK);
        let id = self.log_of[lbn as usize];
        let log = if id == NO_LOG {
            NO_CBLOCK
        } else {
            self.logs[id as usize].cblock
        };
        if id != NO_LOG {
            self.close_log(id);
        }
        let emptied = [data, log].into_iter().filter(|&b| b != NO_CBLOCK);
        ops.extend(emptied.map(|cblock| FlashOp::Erase { cblock }));
    }

    /// Appends runs of units to a log that has room for them.
    fn append(&mut self, id: u32, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) {
        self.clock += 1;
        let per_block = self.g.units_per_cblock;
        let log = &mut self.logs[id as usize];
        log.last_write = self.clock;
        let first = log.next;
        for &(lpn, units) in runs {
            let offset = lpn.0 % per_block;
            log.in_order &= log.next == offset;
            for i in 0..units {
                log.slot_of[(offset + i) as usize] = log.next + i;
            }
            log.next += units;
        }
        let (at, units) = (log.cblock * per_block + first, log.next - first);
        if !self.partial_program {
            let padded = log.next.next_multiple_of(self.g.units_per_cpage);
            log.in_order &= padded == log.next;
            log.next = padded;
        }
        let full = log.next == per_block && log.in_order;
        for &(lpn, units) in runs {
            for lpn in lpn.0..lpn.0 + units {
                self.live.insert(lpn);
            }
        }
        emit_programs(&self.g, at, units, ops);
        if full {
            // Needs no free block, so it cannot stall.
            let _ = self.merge(id, ops);
        }
    }
}

keys! {
    /// `[mapping]` of `block`.
    pub struct Config {
        /// Log blocks of the drive, 1 to 65536: each takes the writes to one data block.
        pub(super) log_blocks: u32 = LOG_BLOCKS,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for BlockFtl {
    const ABOUT: About = About::new("block mapping with a log block for each data block that is written (BAST)").text(
        "Data blocks keep their units in order. Writes to a block go to its own log block, which is page-mapped (Kim et \
al., IEEE Transactions on Consumer Electronics 2002; irbw 2.1, greedy-space II). A log that was written in order \
becomes the data block (switch merge), an orderly beginning is completed (partial merge), and any other log is \
merged into a new block (full merge).",
    ).keys(Config::KEYS);
    type Config = Config;

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let logs = spec.logs_per_group(config.log_blocks, g.groups);
        Self::empty(g, config.partial_program, logs)
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        let (lbn, offset) = (
            lpn.0 / self.g.units_per_cblock,
            lpn.0 % self.g.units_per_cblock,
        );
        if !self.live.contains(lpn.0) {
            return Ppn::NONE;
        }
        let id = self.log_of[lbn as usize];
        if id != NO_LOG {
            let log = &self.logs[id as usize];
            let slot = log.slot_of[offset as usize];
            if slot != NOT_LOGGED {
                return Ppn(log.cblock * self.g.units_per_cblock + slot);
            }
        }
        Ppn(self.data[lbn as usize] * self.g.units_per_cblock + offset)
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        // A batch lies within one clustered page of the host, so within one data block, and goes into one clustered
        // page of its log.
        let units: u32 = runs.iter().map(|r| r.1).sum();
        let Some(&(first, _)) = runs.first() else {
            return Ok(());
        };
        let id = self.log_with_room(first.0 / self.g.units_per_cblock, units, ops)?;
        self.append(id, runs, ops);
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let per_block = self.g.units_per_cblock;
        self.live.remove_range(lpn.0..lpn.0 + units);
        for lbn in lpn.0.div_ceil(per_block)..(lpn.0 + units) / per_block {
            self.forget(lbn, ops);
        }
    }

    fn erased(&mut self, cblock: u32) {
        self.free[(cblock / self.g.cblocks_per_group) as usize].push_back(cblock);
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = cblock / self.g.cblocks_per_group;
        self.free[group as usize].retain(|&free| free != cblock);
        self.retired[group as usize] += 1;
        // The remaining blocks must hold the group's data, its logs and the blocks of a merge.
        let left = self.g.cblocks_per_group - self.retired[group as usize];
        left >= self.g.data_cblocks_per_group() + self.logs_per_group + 2
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        self.rebuild_all(store, torn, ops);
    }

    fn check(&self) -> Result<(), String> {
        let mut owners = vec![0u32; self.g.cblocks() as usize];
        let logs = self
            .logs
            .iter()
            .filter(|log| log.lbn != NO_CBLOCK)
            .map(|log| log.cblock);
        let data = self.data.iter().copied().filter(|&b| b != NO_CBLOCK);
        for cblock in logs.chain(data).chain(self.free.iter().flatten().copied()) {
            owners[cblock as usize] += 1;
        }
        if let Some(cblock) = owners.iter().position(|&n| n > 1) {
            return Err(format!(
                "clustered block {cblock} serves {} purposes",
                owners[cblock]
            ));
        }
        let lost = (0..self.g.logical_units).find(|&lpn| {
            self.live.contains(lpn)
                && self.lookup(Lpn(lpn)).0 / self.g.units_per_cblock >= self.g.cblocks()
        });
        lost.map_or(Ok(()), |lpn| {
            Err(format!("unit {lpn} is live and lies nowhere"))
        })
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }

    fn state_bytes(&self) -> usize {
        let maps = self.logs.iter().map(|log| log.slot_of.capacity());
        let free = self.free.iter().map(VecDeque::capacity);
        let words = self.data.capacity() + self.log_of.capacity() + self.logs_in_group.capacity();
        (words + maps.sum::<usize>() + free.sum::<usize>()) * 4
            + self.live.state_bytes()
            + self.origins.capacity() * size_of::<Origin>()
            + self.logs.capacity() * size_of::<Log>()
    }
}
