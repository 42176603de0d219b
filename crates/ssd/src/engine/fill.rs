//! Sequential fill of a new drive without simulating the requests.
//!
//! On a new drive that is written in order, placement depends only on the order of writes, not on their times, because no
//! write waits for an erase. The translation layer is therefore called for one clustered page after another, as
//! sequential requests would do, and the operations it emits count as done. No time passes. The end of the drive is left
//! to real requests, so that the state that depends on the last writes (buffers, operations in progress) is correct.
//!
//! A map in flash with a small cache is written so often that blocks are collected during the fill. Then writes wait for
//! erases, and requests fill the whole drive.
//!
//! A fast cache makes writes wait once its data has to be folded. Such a drive is filled at once up to that point, less what
//! is left at the end of other drives, and by requests from there on.

use super::Ssd;
use crate::ftl::FlashOp;
use fathom_base::{Lpn, SECTOR_BYTES};

/// Bytes at the end of the drive that are left to requests: the minimum, and the multiple of the write buffer's capacity.
const LEFT_BYTES: u64 = 64 << 20;
const LEFT_BUFFERS: u64 = 2;

impl Ssd {
    /// Writes a new drive sequentially from its beginning in no simulated time. Returns the number of bytes written;
    /// requests must write the rest. This covers nearly all of a large drive. It writes nothing (returns 0) on a drive
    /// that keeps data, was written before, has failing programs or erases, or has noise, because random draws depend on
    /// requests and their times, and on a drive that collects blocks before it is full, or has both its map in flash and
    /// a fast cache. On a drive with a fast cache it stops before data has to be folded.
    pub fn fill(&mut self) -> u64 {
        let is_new = self.host.sectors_written == 0 && self.clock.is_idle();
        let is_plain = !self.health.may_fail() && self.background.is_silent();
        let is_cached = !self.flash.fast.is_empty();
        let is_unknown = self.flash.store.is_some() || is_cached && self.g.map_units > 0;
        let is_zoned = self.info.zoned.is_some();
        if !is_new || !is_plain || is_zoned || is_unknown {
            return 0;
        }
        let new = (self.g.map_units > 0).then(|| (self.ftl.clone(), self.flash.counts));
        let capacity = self.memory.lines.capacity();
        let buffers = capacity.saturating_mul(LEFT_BUFFERS * SECTOR_BYTES);
        let left = match self.memory.unbuffered {
            true => LEFT_BYTES,
            false => LEFT_BYTES.max(buffers),
        };
        let page = u64::from(self.g.sectors_per_cpage) * SECTOR_BYTES;
        let mut pages = (self.info.capacity_bytes.saturating_sub(left) / page) as u32;
        if is_cached {
            pages = self.pages_without_folding(pages, left.div_ceil(page) as u32);
        }
        let at_once = self.ftl.fill(pages);
        self.count_programs(u64::from(at_once));
        let one_by_one = (at_once..pages).take_while(|&cpage| self.fill_page(cpage));
        let written = at_once + one_by_one.count() as u32;
        if let Some((ftl, counts)) = new
            && (written < pages || self.collects_after(pages))
        {
            (self.ftl, self.flash.counts) = (ftl, counts);
            return 0;
        }
        self.date_filled(written);
        let parity = self.flash.parity.fill(written);
        self.count_programs(parity);
        self.host.sectors_written += u64::from(written) * u64::from(self.g.sectors_per_cpage);
        u64::from(written) * page
    }

    /// Notes the age of the first clustered pages of the host, which have been filled.
    fn date_filled(&mut self, cpages: u32) {
        if !self.flash.nand.age.matters() {
            return;
        }
        let units = self.g.units_per_cpage;
        for cpage in 0..cpages {
            let at = self.ftl.lookup(Lpn(cpage * units));
            if at.is_some() {
                let cblock = self.g.cblock_of_unit(at.0);
                self.flash.nand.age.filled(cblock);
            }
        }
    }

    /// Returns how many of the first `pages` clustered pages can be written so that nothing is moved or erased even during the
    /// `left` pages that follow.
    fn pages_without_folding(&self, pages: u32, left: u32) -> u32 {
        let (mut ftl, mut ops) = (self.ftl.clone(), Vec::new());
        let units = self.g.units_per_cpage;
        let quiet = (0..pages).position(|cpage| {
            ops.clear();
            let placed = ftl.write(&[(Lpn(cpage * units), units)], &mut ops);
            placed.is_err() || moves(&ops)
        });
        quiet.map_or(pages, |quiet| (quiet as u32).saturating_sub(left))
    }

    /// Returns true if blocks are collected while the rest of the drive is written, from this clustered page on.
    fn collects_after(&self, cpage: u32) -> bool {
        let (mut ftl, mut ops) = (self.ftl.clone(), Vec::new());
        let units = self.g.units_per_cpage;
        (cpage..self.g.logical_units / units).any(|cpage| {
            ops.clear();
            let placed = ftl.write(&[(Lpn(cpage * units), units)], &mut ops);
            placed.is_err() || collects(&ops)
        })
    }

    /// Writes a clustered page of the host's address space. Returns false if the write would have to wait, or collects
    /// blocks for a map in flash; the translation layer has changed then.
    fn fill_page(&mut self, cpage: u32) -> bool {
        let units = self.g.units_per_cpage;
        let mut ops = std::mem::take(&mut self.ops);
        let placed = self.ftl.write(&[(Lpn(cpage * units), units)], &mut ops);
        let collected = self.g.map_units > 0 && collects(&ops);
        if collected {
            ops.clear();
        }
        ops.drain(..).for_each(|op| self.count_done(op));
        self.ops = ops;
        placed.is_ok() && !collected
    }

    /// Counts programs of whole clustered pages.
    fn count_programs(&mut self, cpages: u64) {
        let sectors = self.g.units_per_cpage * self.g.sectors_per_unit;
        self.flash.counts.ops += cpages;
        self.flash.counts.sectors_programmed += cpages * u64::from(sectors);
    }

    /// Counts an operation as done; it takes no time.
    fn count_done(&mut self, op: FlashOp) {
        let sectors = u64::from(self.g.sectors_per_unit);
        if let FlashOp::Mode { cblock, fast } = op {
            return self.flash.set_mode(cblock, fast);
        }
        self.flash.counts.ops += 1;
        match op {
            FlashOp::Program { units, .. } | FlashOp::Copy { units, .. } => {
                self.flash.counts.sectors_programmed += u64::from(units) * sectors;
            }
            FlashOp::MapProgram { .. } => {
                self.flash.counts.map_programs += 1;
                self.flash.counts.sectors_programmed += sectors;
            }
            FlashOp::MapRead { .. } => self.flash.counts.map_reads += 1,
            FlashOp::MapFetch { .. } => self.flash.counts.map_fetches += 1,
            FlashOp::Erase { cblock } => {
                self.health.wear[cblock as usize] += 1;
                self.flash.nand.age.erased(cblock);
                self.flash.counts.erases += 1;
                self.ftl.erased(cblock);
            }
            FlashOp::Barrier { .. } | FlashOp::Mode { .. } => {}
        }
    }
}

fn moves(ops: &[FlashOp]) -> bool {
    let moves = |op: &FlashOp| matches!(op, FlashOp::Copy { .. } | FlashOp::Erase { .. });
    ops.iter().any(moves)
}

fn collects(ops: &[FlashOp]) -> bool {
    ops.iter().any(|op| matches!(op, FlashOp::Erase { .. }))
}
