//! Counters of the accesses that a process has issued.

use fathom_block::Op;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// Number of accesses, flushes excluded.
    pub(super) accesses: u64,
    /// Number of writes.
    pub(super) writes: u64,
    /// Bytes in total, and in this pass.
    pub(super) bytes: u64,
    pub(super) pass_bytes: u64,
    /// Number of passes that ended because no place was left.
    pub(super) passes: u64,
}

impl Asked {
    pub(super) fn count(&mut self, op: Op, len: u64) {
        self.bytes = self.bytes.saturating_add(len);
        self.pass_bytes += len;
        self.accesses += 1;
        self.writes += u64::from(op == Op::Write);
    }
}
