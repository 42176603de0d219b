//! One access of a workload: what trace readers and generators give, and steps shape.

use crate::Op;
use fathom_base::Time;

/// One access to a drive, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When it is asked for, since the first access of its workload.
    pub at: Time,
    /// What is asked for.
    pub op: Op,
    /// Start, in bytes.
    pub offset: u64,
    /// Length, in bytes. Zero for a flush only.
    pub len: u64,
    /// Which disk of the trace: an application storage unit, a disk number, a device number; 0 where a trace
    /// knows one disk.
    pub disk: u32,
}

impl Access {
    /// The first byte after it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}
