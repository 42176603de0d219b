//! The work of simulating candidates, which bounds a fit: no clock counts, so that a fit repeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The page that counts as one operation, in bytes.
const PAGE: u64 = 16 << 10;

/// A count of operations: requests, and pages of 16 KiB that were programmed. A clone counts into the same number.
#[derive(Clone, Debug, Default)]
pub(in crate::twin) struct Work(Arc<AtomicU64>);

impl Work {
    /// Counts requests, and the bytes that a drive programmed meanwhile.
    pub(super) fn count(&self, requests: usize, programmed_bytes: u64) {
        self.add(requests as u64 + programmed_bytes.div_ceil(PAGE));
    }

    /// Adds operations that were counted elsewhere.
    pub(in crate::twin) fn add(&self, operations: u64) {
        self.0.fetch_add(operations, Ordering::Relaxed);
    }

    /// Returns the operations so far.
    pub(in crate::twin) fn operations(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
