//! What a drive reports about its own work and state.

use serde::{Deserialize, Serialize};

/// The counters and the state that a drive reports about itself: the SMART / health log of NVMe (log page 02h, and the
/// vendor's or OCP's page for the media), the attributes of ATA. A field that the drive does not report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveLog {
    /// Bytes that hosts have written. NVMe counts in units of 512,000 bytes, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bytes_written: Option<u64>,
    /// Bytes that hosts have read, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bytes_read: Option<u64>,
    /// Bytes written to the media, with everything that the drive moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_bytes_written: Option<u64>,
    /// The temperature of the drive, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<i16>,
    /// The time above the warning temperature, in minutes; NVMe only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u32>,
    /// The spare blocks left, in percent of those of a new drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u8>,
    /// The endurance used, in percent of what the vendor expects; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u8>,
    /// The temperature from which on the drive warns, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_celsius: Option<i16>,
    /// How often the drive has begun to slow down because of its temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttles: Option<u32>,
    /// The critical warnings, a bit each (NVMe base specification 2.0, Figure 207, byte 0): spare (0), temperature (1),
    /// reliability (2), read-only (3), backup of volatile memory (4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_warning: Option<u8>,
}

impl DriveLog {
    /// Returns the log of two drives that are used as one: the sums of the bytes, and the state of the drive that is worse
    /// off. A field that one of them does not report is `None`.
    #[must_use]
    pub fn with(&self, other: &DriveLog) -> DriveLog {
        DriveLog {
            host_bytes_written: sum(self.host_bytes_written, other.host_bytes_written),
            host_bytes_read: sum(self.host_bytes_read, other.host_bytes_read),
            media_bytes_written: sum(self.media_bytes_written, other.media_bytes_written),
            temperature_celsius: largest(self.temperature_celsius, other.temperature_celsius),
            hot_minutes: largest(self.hot_minutes, other.hot_minutes),
            spare_percent: both(self.spare_percent, other.spare_percent).map(|(a, b)| a.min(b)),
            used_percent: largest(self.used_percent, other.used_percent),
            warning_celsius: both(self.warning_celsius, other.warning_celsius)
                .map(|(a, b)| a.min(b)),
            throttles: both(self.throttles, other.throttles).map(|(a, b)| a.saturating_add(b)),
            critical_warning: both(self.critical_warning, other.critical_warning)
                .map(|(a, b)| a | b),
        }
    }
}

fn both<T>(a: Option<T>, b: Option<T>) -> Option<(T, T)> {
    Some((a?, b?))
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    both(a, b).map(|(a, b)| a.saturating_add(b))
}

fn largest<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    both(a, b).map(|(a, b)| a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_drives_report_sums_and_the_worse_state() {
        let one = DriveLog {
            host_bytes_written: Some(512_000),
            media_bytes_written: Some(700),
            temperature_celsius: Some(-3),
            spare_percent: Some(90),
            used_percent: Some(7),
            ..DriveLog::default()
        };
        let other = DriveLog {
            host_bytes_written: Some(1_024_000),
            host_bytes_read: Some(5),
            media_bytes_written: Some(1),
            temperature_celsius: Some(40),
            spare_percent: Some(30),
            used_percent: Some(2),
            ..DriveLog::default()
        };
        let want = DriveLog {
            host_bytes_written: Some(1_536_000),
            media_bytes_written: Some(701),
            temperature_celsius: Some(40),
            spare_percent: Some(30),
            used_percent: Some(7),
            ..DriveLog::default()
        };
        assert_eq!(one.with(&other), want);
        assert_eq!(other.with(&one), want);
    }
}
