//! The part of a drive file for compression and deduplication of what the host writes.

use serde::{Deserialize, Serialize};

/// Compression. Content that shrinks is recorded and not programmed: runs of zeros, and repeated content where the drive
/// deduplicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compression {
    /// Size of the record of a mapped unit that shrinks, in percent of the unit: 0 to 50. Records are programmed one
    /// mapped unit at a time. A record of an address and a pattern takes some 16 bytes of 4 KiB.
    pub zero_percent: f64,
    /// Whether content that repeats ([`fathom_block::Payload::Repeated`]) shrinks like zeros.
    pub deduplicates: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self {
            zero_percent: 1.0,
            deduplicates: false,
        }
    }
}
