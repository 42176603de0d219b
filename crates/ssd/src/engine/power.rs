//! Power cuts: what is in flight is lost, what is programmed stays, the map is built again from the flash.

use super::domain::Domain;
use super::{Event, Ssd};
use crate::buffer::{LineView, Piece};
use crate::ftl::Ftl;
use crate::nand::store::Store;
use fathom_base::{Lpn, SECTOR_BYTES};
use fathom_block::IoErrorKind;

use super::flash::NOBODY;

impl Ssd {
    /// Cuts the power once `flash_ops` flash operations have been done since the drive was made: every request
    /// in flight fails with [`IoErrorKind::Gone`]. Only a drive that has kept data since it was new can be cut off and come
    /// back; false, and nothing happens, for any other.
    pub fn cut_power_after(&mut self, flash_ops: u64) -> bool {
        if self.knows_its_flash() {
            self.cut_after_ops = Some(flash_ops);
        }
        self.knows_its_flash()
    }

    fn knows_its_flash(&self) -> bool {
        self.store.as_ref().is_some_and(Store::is_whole)
    }

    /// Cuts the power now, as [`Ssd::cut_power_after`] does later; false for a drive that has not kept data since it was new, or has
    /// no power.
    pub fn cut_power(&mut self) -> bool {
        let cut = self.knows_its_flash() && self.powered;
        if cut {
            self.power_cut();
        }
        cut
    }

    /// Whether the power is on.
    pub fn is_powered(&self) -> bool {
        self.powered
    }

    pub(super) fn power_cut(&mut self) {
        self.cut_after_ops = None;
        self.powered = false;
        self.fail_all(IoErrorKind::Gone);
        self.forget_motion();
        let saved: Vec<(LineView, Box<[u8]>)> = self
            .lines
            .drain_all()
            .into_iter()
            .map(|line| {
                let bytes = self.line_bytes.remove(&line.id).unwrap_or_default();
                (line, bytes)
            })
            .collect();
        self.line_bytes.clear();
        let Some(store) = &mut self.store else { return };
        // A battery saves what the host wrote; the map is found again without it.
        let lost = match self.battery {
            true => store.latest_in_flight(),
            false => Vec::new(),
        };
        let torn = store.power_cut();
        self.ops.clear();
        self.ftl.recover(store, &torn, &mut self.ops);
        for &cblock in &self.bad {
            self.worn_out |= !self.ftl.retire(cblock);
        }
        if self.battery {
            lost.into_iter()
                .for_each(|(lpn, bytes)| self.restore_unit(lpn, &bytes));
            saved
                .into_iter()
                .for_each(|(line, bytes)| self.restore_line(&line, &bytes));
        }
    }

    pub(super) fn forget_motion(&mut self) {
        self.events.clear();
        self.nand.clear();
        self.link.clear();
        self.tickets.clear();
        self.domains.iter_mut().for_each(Domain::clear);
        self.hazards.clear();
        self.flushes.clear();
        self.incoming.clear();
        (self.waits_for_room, self.emptying) = (false, false);
        self.arriving.clear();
        self.map_reads.clear();
        self.map_arriving.clear();
        self.after_map.clear();
        self.idle_scheduled = false;
        self.draining.clear();
        (self.collect_scheduled, self.collecting) = (false, false);
        self.background_work.fill(0);
        if let Some(reads) = &mut self.reads {
            reads.clear();
        }
    }

    fn restore_unit(&mut self, lpn: Lpn, bytes: &[u8]) {
        let (per_page, per_unit) = (self.g.units_per_cpage, self.g.sectors_per_unit);
        let first = (lpn.0 % per_page) * per_unit;
        self.restore(lpn.0 / per_page, first, per_unit, bytes);
    }

    fn restore_line(&mut self, line: &LineView, bytes: &[u8]) {
        let size = SECTOR_BYTES as usize;
        for sector in (0..self.g.sectors_per_cpage).filter(|&s| line.holds(s)) {
            self.restore(
                line.cline,
                sector,
                1,
                &bytes[sector as usize * size..][..size],
            );
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
        let line = self.lines.insert(piece, self.drain_mark);
        let size = (u64::from(self.g.sectors_per_cpage) * SECTOR_BYTES) as usize;
        let kept = self
            .line_bytes
            .entry(line)
            .or_insert_with(|| vec![0; size].into_boxed_slice());
        let at = first as usize * SECTOR_BYTES as usize;
        kept[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Power returns: the drive goes on from what it holds.
    pub fn power_on(&mut self) {
        if self.powered {
            return;
        }
        self.powered = true;
        self.drain_mark = self.lines.insertions();
        self.issue_own();
        self.schedule_background();
        self.events.push(self.now, Event::Idle);
        self.idle_scheduled = true;
        self.pump();
    }
}
