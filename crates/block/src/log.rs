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
}
