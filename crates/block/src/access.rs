//! One access of a workload: produced by trace readers and generators, transformed by steps.

use crate::Op;
use fathom_base::Time;

/// One access to a drive, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Time of the request, since the first access of the workload.
    pub at: Time,
    /// The operation.
    pub op: Op,
    /// Start, in bytes.
    pub offset: u64,
    /// Length, in bytes. Only a flush has length zero.
    pub len: u64,
    /// Disk of the trace: an application storage unit, a disk number or a device number; 0 if the trace has only one
    /// disk.
    pub disk: u32,
    /// Process of the trace that made the access, with its number there; 0 if the trace has no processes.
    pub process: u32,
}

impl Access {
    /// Creates an access to a single disk.
    pub fn new(at: Time, op: Op, offset: u64, len: u64) -> Self {
        Self {
            at,
            op,
            offset,
            len,
            disk: 0,
            process: 0,
        }
    }

    /// Returns the offset of the first byte after the access.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}
