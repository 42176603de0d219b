//! What a process has asked for.

use fathom_block::Op;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// Accesses.
    pub(super) accesses: u64,
    /// Of them, writes.
    pub(super) writes: u64,
    /// In all and in this pass.
    pub(super) bytes: u64,
    pub(super) pass_bytes: u64,
    /// Passes that ended because nothing was left.
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
