//! Statistics of a drive.

use super::Ssd;
use super::counters::Counters;
use fathom_base::{SECTOR_BYTES, Time};
use fathom_block::{DriveStats, Subject};

impl Ssd {
    /// Returns the temperature at a time that is not before the last request, in degrees Celsius, rounded; `None` if the
    /// drive file has no `[thermal]`.
    pub fn temperature_celsius(&self, now: Time) -> Option<i16> {
        let celsius = self.flash.nand.celsius(now)?;
        Some(celsius.round() as i16)
    }

    /// Returns the counters of the work that the drive has done since it was new.
    pub fn counters(&self) -> Counters {
        let counts = self.flash.counts;
        Counters {
            host_sectors_written: self.host.sectors_written,
            host_sectors_read: self.host.sectors_read,
            flash_sectors_programmed: counts.sectors_programmed,
            flash_ops: counts.ops,
            erases: counts.erases,
            map_reads: counts.map_reads,
            map_fetches: counts.map_fetches,
            map_programs: counts.map_programs,
            read_retries: self.flash.nand.retries,
            suspends: self.flash.nand.suspends,
            program_fails: self.health.program_fails,
            erase_fails: self.health.erase_fails,
            parity_programs: self.flash.parity.programs,
            rebuilds: self.flash.parity.rebuilds,
            background_collections: self.collection.collected,
            stalls: self.memory.stalls,
            events: self.clock.happened,
        }
    }
}

impl Subject for Ssd {
    fn next_at(&mut self) -> Option<Time> {
        Some(self.clock.next_at())
    }

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
            busy: None,
        })
    }

    fn fill(&mut self) -> u64 {
        Ssd::fill(self)
    }
}
