//! Options for reading a trace: those that its format leaves open, and how errors are handled.

use super::Format;
use super::error::{ErrorKind, TraceError};
use super::line::{BlockEvent, Choices};
use fathom_base::Bytes;
use serde::{Deserialize, Serialize};

/// Options for reading a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The format; detected from the content if `None`.
    pub format: Option<Format>,
    /// If true, skips and counts wrong lines and records (see [`super::Skipped`]) instead of stopping at the first.
    pub lenient: bool,
    /// The events of blkparse and blktrace that count as accesses.
    pub block_event: BlockEvent,
    /// Unit of the fourth column of a DiskSim trace, in bytes: 512 in DiskSim's documentation, 4 KiB in some files.
    pub disksim_size_unit: Bytes,
    /// Number of accesses held back to be sorted by time, at some 80 bytes each. If `None`: 4096 for blkparse and blktrace,
    /// 0 for other formats.
    pub reorder: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            lenient: false,
            block_event: BlockEvent::default(),
            disksim_size_unit: Bytes(fathom_base::SECTOR_BYTES),
            reorder: None,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<(), TraceError> {
        if self.disksim_size_unit.0 == 0 {
            return Err(TraceError::input(ErrorKind::Setting {
                name: "disksim_size_unit",
                found: self.disksim_size_unit.to_string(),
            }));
        }
        Ok(())
    }

    /// Returns the options that the line parsers need.
    pub(super) fn choices(&self) -> Choices {
        Choices {
            block_event: self.block_event,
            disksim_size_unit: self.disksim_size_unit,
        }
    }
}
