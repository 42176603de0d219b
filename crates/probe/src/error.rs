//! Why a run gave no record, or ended before its end.

use crate::session::OtherRun;
use crate::{Parameter, Record, Stop};

/// The smallest region that can be measured, in logical blocks: four slots of four.
pub const REGION_BLOCKS_MIN: u64 = 16;

/// The smallest region that the robust probes measure, in bytes: their places lie up to a mebibyte apart, and four of
/// them must differ.
pub const REGION_BYTES_MIN: u64 = 4 << 20;

/// Why a run gave no record, or ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The region is smaller than [`REGION_BLOCKS_MIN`], leaves the drive, or does not lie on logical blocks.
    #[error(
        "the region {start}..{end} is not a stretch of at least {REGION_BLOCKS_MIN} whole logical blocks \
         ({block_bytes} bytes each) of the drive's {capacity_bytes} bytes; choose another"
    )]
    Region {
        /// First byte.
        start: u64,
        /// First byte after it.
        end: u64,
        /// The drive's unit, in bytes.
        block_bytes: u64,
        /// The drive's size, in bytes.
        capacity_bytes: u64,
    },
    /// The region is smaller than [`REGION_BYTES_MIN`], and the method needs that much.
    #[error(
        "{bytes} bytes are too few to measure in: the robust method needs {REGION_BYTES_MIN} ({} MiB) at least; choose a \
         larger file, drive or region",
        REGION_BYTES_MIN >> 20
    )]
    Small {
        /// The region's length, in bytes.
        bytes: u64,
    },
    /// The record to go on from belongs to another run.
    #[error(transparent)]
    OtherRun(#[from] OtherRun),
    /// The drive failed, or the record does not fit it.
    #[error("the run ended in {parameter}: {stop}")]
    Failed {
        /// What was being measured.
        parameter: Parameter,
        /// What happened.
        #[source]
        stop: Stop,
        /// Everything measured before; not complete.
        record: Box<Record>,
    },
}
