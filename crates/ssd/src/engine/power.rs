//! Power cuts: operations in flight are lost, programmed data survives, the map is rebuilt from the flash.

use super::Ssd;
use super::ticket::NOBODY;
use crate::buffer::lines::{LineView, Piece};
use crate::nand::store::Store;
use fathom_base::{Lpn, SECTOR_BYTES};
use fathom_block::{IoErrorKind, Payload};

impl Ssd {
    /// Cuts the power once `flash_ops` flash operations have been done since the drive was made. Every request in flight
    /// then fails with [`IoErrorKind::Gone`]. Only a drive that has kept data since it was new can lose power and
    /// recover; for any other this does nothing and returns false.
    pub fn cut_power_after(&mut self, flash_ops: u64) -> bool {
        if self.knows_its_flash() {
            self.cut_after_ops = Some(flash_ops);
        }
        self.knows_its_flash()
    }

    fn knows_its_flash(&self) -> bool {
        self.flash.store.as_ref().is_some_and(Store::is_whole)
    }

    /// Cuts the power now; see [`Ssd::cut_power_after`]. Does nothing and returns false if the drive has not kept data
    /// since it was new, or has no power.
    pub fn cut_power(&mut self) -> bool {
        let cut = self.knows_its_flash() && self.powered;
        if cut {
            self.power_cut();
        }
        cut
    }

    /// Returns true if the power is on.
    pub fn is_powered(&self) -> bool {
        self.powered
    }

    pub(super) fn power_cut(&mut self) {
        self.cut_after_ops = None;
        self.powered = false;
        self.fail_all(IoErrorKind::Gone);
        self.forget_motion();
        let lines = self.memory.take_all();
        let battery = self.memory.settings.battery;
        let Some(store) = &mut self.flash.store else {
            return;
        };
        // A battery preserves the host's writes; the map is rebuilt without it.
        let zoned = self.info.zoned.is_some();
        let lost = match battery {
            // A unit of a zone has one place: the battery lasts until its program is done.
            true if zoned => {
                store.settle_all();
                Vec::new()
            }
            true => store.latest_in_flight(),
            false => Vec::new(),
        };
        let torn = store.power_cut();
        self.ops.clear();
        self.ftl.recover(store, &torn, &mut self.ops);
        self.recover_constants();
        for &cblock in &self.health.bad {
            self.health.worn_out |= !self.ftl.retire(cblock);
        }
        if battery {
            lost.iter().for_each(|(lpn, b)| self.restore_unit(*lpn, b));
            lines
                .iter()
                .for_each(|(line, b)| self.restore_line(line, b));
        }
        self.restart_zones();
    }

    /// Forgets all operations, transfers and scheduled events.
    pub(super) fn forget_motion(&mut self) {
        self.clock.events.clear();
        self.host.clear();
        self.memory.clear();
        self.reads.clear();
        self.flash.clear();
        self.collection.clear();
        self.folding.clear();
        self.background.clear();
    }

    fn restore_unit(&mut self, lpn: Lpn, bytes: &[u8]) {
        let (per_page, per_unit) = (self.g.units_per_cpage, self.g.sectors_per_unit);
        let first = (lpn.0 % per_page) * per_unit;
        self.restore(lpn.0 / per_page, first, per_unit, bytes);
    }

    fn restore_line(&mut self, line: &LineView, bytes: &[u8]) {
        let sectors = (0..).zip(bytes.chunks_exact(SECTOR_BYTES as usize));
        for (sector, bytes) in sectors.filter(|&(sector, _)| line.holds(sector)) {
            self.restore(line.cline, sector, 1, bytes);
        }
    }

    fn restore(&mut self, cline: u32, first: u32, sectors: u32, bytes: &[u8]) {
        let piece = Piece {
            cline,
            first,
            sectors,
            reserved: 0,
            owner: NOBODY,
        };
        let line = self.memory.lines.insert(piece, self.memory.drain_mark);
        let (memory, bytes) = (&mut self.memory, Some(bytes));
        memory.shrinking.note(line, piece, Payload::Unique, bytes);
        memory.keep(line, piece, bytes);
    }

    /// Restores power: the drive continues from its stored state. Does nothing if the power is on.
    pub fn power_on(&mut self) {
        if self.powered {
            return;
        }
        self.powered = true;
        self.issue_own();
        self.background.schedule(&mut self.clock);
        self.memory.wake(&mut self.clock);
        self.pump();
        self.start_map_fetches();
    }
}
