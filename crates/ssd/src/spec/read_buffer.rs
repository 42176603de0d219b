//! The part of a drive file for the read buffer.

use fathom_base::{Bytes, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// The read buffer. It evicts the least recently used line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBuffer {
    /// Capacity in bytes of data.
    pub capacity: Bytes,
    /// Size of a line in bytes.
    #[serde(default = "line")]
    pub line: Bytes,
    /// Minimum length of a read that uses the buffer. Shorter reads bypass it.
    #[serde(default = "sector")]
    pub min_request: Bytes,
    /// Settings of read-ahead, if the drive reads ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
}

/// Read-ahead of a sequential stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Number of consecutive reads that make a stream.
    pub after: u32,
    /// Distance in bytes that the drive reads ahead of the stream.
    pub depth: Bytes,
}

fn sector() -> Bytes {
    Bytes(SECTOR_BYTES)
}

fn line() -> Bytes {
    Bytes::kib(4)
}
