//! The part of a drive that may be measured, as known before any measurement: enough to bound the bytes that a probe writes.

use crate::record::{Level, Record};
use std::ops::Range;

/// The most of a drive that robust probes use, in bytes: enough for a hundred blocks of the largest size that they look for.
const SPAN_MAX: u64 = 2 << 30;

/// The region in which a probe may measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The part of the drive that the run may touch, in bytes.
    pub region: Range<u64>,
    /// The logical block, in bytes; at least 1.
    pub block_bytes: u64,
    /// By how much the papers' grids are thinned; at least 1.
    pub thin: u32,
    /// How much time and how many bytes a probe may take.
    pub level: Level,
}

impl Space {
    /// Returns the space of a recorded run.
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
            level: record.meta.level,
        }
    }

    /// Returns the length of the region, in bytes.
    pub fn bytes(&self) -> u64 {
        self.region.end.saturating_sub(self.region.start)
    }

    /// Returns the same space with another region.
    pub(crate) fn within(&self, region: Range<u64>) -> Self {
        Self {
            region,
            ..self.clone()
        }
    }

    /// Returns the length of the part that robust probes use, in bytes from the start of the region.
    pub(crate) fn span(&self) -> u64 {
        let whole = self.bytes().min(SPAN_MAX);
        whole / self.block_bytes * self.block_bytes
    }

    /// Returns the smallest multiple of the logical block that is at least `bytes`.
    pub(crate) fn round_up(&self, bytes: u64) -> u64 {
        bytes.max(1).next_multiple_of(self.block_bytes)
    }
}
