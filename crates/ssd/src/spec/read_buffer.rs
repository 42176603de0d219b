//! The read buffer's part of a drive file.

use fathom_base::{Bytes, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// The read buffer: lines in order of last use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBuffer {
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// Bytes of a line.
    #[serde(default = "line")]
    pub line: Bytes,
    /// Shorter reads pass it by.
    #[serde(default = "sector")]
    pub min_request: Bytes,
    /// Reading ahead, if the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
}

/// Reading ahead of a sequential stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Consecutive reads that make a stream.
    pub after: u32,
    /// How far ahead of the stream to read.
    pub depth: Bytes,
}

fn sector() -> Bytes {
    Bytes(SECTOR_BYTES)
}

fn line() -> Bytes {
    Bytes::kib(4)
}
