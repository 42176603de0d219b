//! The bytes of sectors on drives that keep data: the write memory overlays the flash array.

use super::Ssd;
use super::batch::Batch;
use fathom_base::{Lpn, SECTOR_BYTES};

const SIZE: usize = SECTOR_BYTES as usize;

impl Ssd {
    /// Returns the bytes that a read issued now returns.
    pub(super) fn assemble(&self, first: u64, sectors: u64) -> Box<[u8]> {
        let mut bytes = vec![0u8; sectors as usize * SIZE].into_boxed_slice();
        for (sector, into) in (first..).zip(bytes.chunks_exact_mut(SIZE)) {
            self.copy_sector(sector, |_| true, into);
        }
        bytes
    }

    /// Returns the bytes to program for the units of a batch, one unit after another; empty if no data is kept.
    pub(super) fn merged_bytes(&self, batch: &Batch) -> Vec<u8> {
        let Some(store) = &self.flash.store else {
            return Vec::new();
        };
        let (size, per_unit) = (store.unit_bytes(), u64::from(self.g.sectors_per_unit));
        let mut bytes = vec![0; batch.all_units().count() * size];
        for (lpn, unit) in batch.all_units().zip(bytes.chunks_exact_mut(size)) {
            let first = u64::from(lpn.0) * per_unit;
            for (sector, into) in (first..).zip(unit.chunks_exact_mut(SIZE)) {
                // Lines that do not belong to the batch are newer and must not be included.
                self.copy_sector(sector, |line| batch.has_line(line), into);
            }
        }
        bytes
    }

    /// Stores the bytes of a batch that has been placed: the mapping already points to its new places.
    pub(super) fn keep_units(&mut self, batch: &Batch, bytes: &[u8]) {
        if let Some(store) = &mut self.flash.store {
            let size = store.unit_bytes();
            for (lpn, unit) in batch.all_units().zip(bytes.chunks_exact(size)) {
                store.program(self.ftl.lookup(lpn), lpn, unit);
            }
        }
    }

    /// Copies the bytes of a sector: from the newest line that `counts` accepts, otherwise from flash.
    fn copy_sector(&self, sector: u64, counts: impl Fn(u32) -> bool, into: &mut [u8]) {
        let (cline, in_line) = self.g.line_of_sector(sector);
        let lines = &self.memory.lines;
        let mut holding = lines
            .lines_of(cline)
            .filter(|&id| lines.line_holds(id, in_line));
        let bytes = match holding.find(|&id| counts(id)) {
            Some(id) => self.memory.sector(id, in_line),
            None => self.flash_sector(sector),
        };
        if let Some(bytes) = bytes {
            into.copy_from_slice(bytes);
        }
    }

    fn flash_sector(&self, sector: u64) -> Option<&[u8]> {
        let (unit, in_unit) = self.g.unit_of_sector(sector);
        let at = self.ftl.lookup(Lpn(unit));
        let cell = self.flash.store.as_ref()?.get(at)?;
        cell.bytes.get(in_unit as usize * SIZE..)?.get(..SIZE)
    }
}
