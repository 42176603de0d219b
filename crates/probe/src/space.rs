//! What is known of a drive before anything is measured: enough to bound the bytes that a probe writes.

use crate::record::Record;
use std::ops::Range;

/// The most of a drive that robust probes use, in bytes: enough for a hundred of the largest blocks looked for.
const SPAN_MAX: u64 = 2 << 30;

/// Where a probe may measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The part of the drive that the run may touch, in bytes.
    pub region: Range<u64>,
    /// The logical block, in bytes; at least 1.
    pub block_bytes: u64,
    /// How much thinner than printed the papers' grids are; at least 1.
    pub thin: u32,
}

impl Space {
    /// As a record tells it.
    pub(crate) fn of(record: &Record) -> Self {
        let target = &record.meta.target;
        let region = record
            .meta
            .region
            .map_or(0..target.capacity_bytes, |[from, to]| from..to);
        Self {
            region,
            block_bytes: u64::from(target.logical_block_bytes).max(1),
            thin: record.meta.thin.max(1),
        }
    }

    /// How much may be touched, in bytes.
    pub fn bytes(&self) -> u64 {
        self.region.end.saturating_sub(self.region.start)
    }

    /// The same drive with another region.
    pub(crate) fn within(&self, region: Range<u64>) -> Self {
        Self {
            region,
            ..self.clone()
        }
    }

    /// The part that robust probes use, in bytes from the start of the region.
    pub(crate) fn span(&self) -> u64 {
        let whole = self.bytes().min(SPAN_MAX);
        whole / self.block_bytes * self.block_bytes
    }

    /// The smallest multiple of the logical block that is at least `bytes`.
    pub(crate) fn round_up(&self, bytes: u64) -> u64 {
        bytes.max(1).next_multiple_of(self.block_bytes)
    }
}
