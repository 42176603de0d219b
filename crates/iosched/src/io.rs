//! A request in the queue, as a scheduler sees it.

use crate::Class;
use fathom_base::Time;
use fathom_block::Op;

/// Identifies a request while it is in the queue or in flight. Keys are reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoKey(pub u32);

/// A read or a write that the queue holds: a submitted request, a piece of one, or several merged requests.
///
/// Flushes and trims never reach a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Identifies the request.
    pub key: IoKey,
    /// Read or write.
    pub op: Op,
    /// Start, in bytes.
    pub offset: u64,
    /// Length, in bytes.
    pub len: u64,
    /// The process that made the request; of a merged request, the process of the first one.
    pub process: u32,
    /// The class of the I/O priority of that process.
    pub class: Class,
    /// The level of that priority, from 0, the highest, to 7.
    pub priority: u8,
    /// Whether somebody waits for the request. True for all reads, and for direct writes in current Linux
    /// ([`crate::Era::Multi`]).
    pub sync: bool,
    /// Whether the data must be durable before the request completes (FUA). Such a request is never merged.
    pub fua: bool,
    /// The placement handle. Writes with different handles are not merged (`bi_write_stream`, Linux 6.16).
    pub placement: u16,
    /// When the oldest part of the request arrived.
    pub queued: Time,
}

impl Io {
    /// Returns the offset of the first byte after the request.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }

    /// Returns true for a write.
    #[inline]
    pub fn is_write(&self) -> bool {
        self.op == Op::Write
    }
}
