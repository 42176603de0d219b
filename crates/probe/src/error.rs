//! Errors of a run: it could not start, or it ended early.

use crate::session::OtherRun;
use crate::{Parameter, Record, Stop};

/// The smallest region that can be measured, in logical blocks: four slots of four blocks.
pub const REGION_BLOCKS_MIN: u64 = 16;

/// The smallest region that the robust probes measure, in bytes: they use places up to a mebibyte apart, and need four
/// different ones.
pub const REGION_BYTES_MIN: u64 = 4 << 20;

/// An error that prevents a run or ends it early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The region is smaller than [`REGION_BLOCKS_MIN`], extends beyond the drive, or is not aligned to logical blocks.
    #[error(
        "the region {start}..{end} is not a stretch of at least {REGION_BLOCKS_MIN} whole logical blocks \
         ({block_bytes} bytes each) of the drive's {capacity_bytes} bytes; choose another"
    )]
    Region {
        /// First byte.
        start: u64,
        /// First byte after it.
        end: u64,
        /// The drive's logical block, in bytes.
        block_bytes: u64,
        /// The drive's capacity, in bytes.
        capacity_bytes: u64,
    },
    /// The region is smaller than [`REGION_BYTES_MIN`], which the robust method needs.
    #[error(
        "{bytes} bytes are too few to measure in: the robust method needs {REGION_BYTES_MIN} ({} MiB) at least; choose a \
         larger file, drive or region",
        REGION_BYTES_MIN >> 20
    )]
    Small {
        /// The region's length, in bytes.
        bytes: u64,
    },
    /// The drive has zones, and the run may write.
    #[error(
        "it is a zoned drive: its zones take writes in order only, and the probes write at any place. Nothing was written; fill \
         the zones and measure with --read-only what reads alone show, or measure a drive file with another `mapping.kind`"
    )]
    Zoned,
    /// The record to resume belongs to another run.
    #[error(transparent)]
    OtherRun(#[from] OtherRun),
    /// The drive failed, or the record does not match it.
    #[error("the run ended in {parameter}: {stop}")]
    Failed {
        /// The parameter that was being measured.
        parameter: Parameter,
        /// The reason.
        #[source]
        stop: Stop,
        /// Everything measured until then; not complete.
        record: Box<Record>,
    },
}
