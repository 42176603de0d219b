//! What a drive has done since it was new.

use super::Ssd;
use fathom_base::{Dur, SECTOR_BYTES};
use fathom_block::{DriveStats, Subject};

/// What the drive has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors written by the host.
    pub host_sectors_written: u64,
    /// Sectors read by the host.
    pub host_sectors_read: u64,
    /// Sectors programmed, copies included.
    pub flash_sectors_programmed: u64,
    /// Flash operations done.
    pub flash_ops: u64,
    /// Clustered blocks erased.
    pub erases: u64,
    /// Reads of a map that lies in flash.
    pub map_reads: u64,
    /// Programs of a map that lies in flash.
    pub map_programs: u64,
    /// Repetitions of reads.
    pub read_retries: u64,
    /// Programs and erases that a read interrupted.
    pub suspends: u64,
    /// Programs that failed and were done again.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Blocks collected in idle time.
    pub background_collections: u64,
    /// Times that a write found no erased block and waited for one.
    pub stalls: u64,
    /// Events handled.
    pub events: u64,
}

impl Subject for Ssd {
    fn stats(&self) -> Option<DriveStats> {
        let (counters, merges) = (self.counters(), self.merges());
        Some(DriveStats {
            host_bytes_written: counters.host_sectors_written * SECTOR_BYTES,
            flash_bytes_programmed: counters.flash_sectors_programmed * SECTOR_BYTES,
            erases: counters.erases,
            switch_merges: merges.switch,
            partial_merges: merges.partial,
            full_merges: merges.full,
            collected: merges.collected,
            moved_units: merges.moved_units,
            map_reads: counters.map_reads,
            map_programs: counters.map_programs,
            read_retries: counters.read_retries,
            suspends: counters.suspends,
            bad_blocks: self.bad_blocks() as u64,
            // This engine does not count it.
            busy: Dur::ZERO,
        })
    }

    fn fill(&mut self) -> u64 {
        Ssd::fill(self)
    }
}
