//! The drive's own log: what it reports about its work and its state.
//!
//! The endurance used is not reported: a drive file has no number of erases that the vendor expects.

use super::Ssd;
use crate::spec::{Log, Protocol};
use fathom_base::SECTOR_BYTES;
use fathom_block::DriveLog;

/// The unit in which NVMe counts the bytes of hosts: 1000 sectors of 512 bytes.
const NVME_UNIT_BYTES: u64 = 512_000;

impl Ssd {
    /// Returns the log, as far as the drive file lets the drive report it.
    pub(super) fn own_log(&self) -> Option<DriveLog> {
        let counters = self.counters();
        let in_unit = |sectors: u64| {
            let bytes = sectors * SECTOR_BYTES;
            match self.host.protocol {
                Protocol::Nvme => bytes.div_ceil(NVME_UNIT_BYTES) * NVME_UNIT_BYTES,
                Protocol::Sata => bytes,
            }
        };
        let throttling = self.flash.nand.throttling();
        let host = DriveLog {
            host_bytes_written: Some(in_unit(counters.host_sectors_written)),
            host_bytes_read: Some(in_unit(counters.host_sectors_read)),
            temperature_celsius: self.temperature_celsius(self.clock.now),
            warning_celsius: throttling.map(|(celsius, _)| celsius.ceil() as i16),
            throttles: throttling.map(|(_, count)| count),
            ..DriveLog::default()
        };
        match self.host.log {
            Log::None => None,
            Log::Host => Some(host),
            Log::Media => Some(DriveLog {
                media_bytes_written: Some(counters.flash_sectors_programmed * SECTOR_BYTES),
                spare_percent: Some(self.spare_percent()),
                ..host
            }),
        }
    }

    /// Returns the blocks beyond the capacity that are left, in percent of those of a new drive, rounded down. A drive
    /// that can do without no further block has none.
    fn spare_percent(&self) -> u8 {
        if self.health.worn_out {
            return 0;
        }
        let good = u64::from(self.g.cblocks()) - self.health.bad_at_first() as u64;
        let new = good.saturating_sub(u64::from(self.g.logical_cblocks));
        let lost = (self.health.bad.len() - self.health.bad_at_first()) as u64;
        let left = new.saturating_sub(lost);
        (left * 100).checked_div(new).unwrap_or_default() as u8
    }
}
