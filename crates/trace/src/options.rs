//! How a trace is to be read, where its format leaves that open.

use super::Format;
use super::error::{ErrorKind, TraceError};
use super::line::{BlockEvent, Choices};
use fathom_base::Bytes;
use serde::{Deserialize, Serialize};

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The format; told from the content where it is not given.
    pub format: Option<Format>,
    /// Go on after what is wrong with a line or a record, and count it (see [`super::Skipped`]), instead of stopping
    /// at the first.
    pub lenient: bool,
    /// Which events of blkparse and blktrace are accesses.
    pub block_event: BlockEvent,
    /// What the fourth column of a DiskSim trace counts, in bytes; 512 by its documentation, 4 KiB in some files.
    pub disksim_size_unit: Bytes,
    /// Accesses that are held back to be set in order of time, at some 80 bytes each; 4096 for blkparse and blktrace
    /// and 0 for others where it is not given.
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

    /// What of it the parsers of lines must know.
    pub(super) fn choices(&self) -> Choices {
        Choices {
            block_event: self.block_event,
            disksim_size_unit: self.disksim_size_unit,
        }
    }
}
