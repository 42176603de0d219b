//! A request on its way through the queue, as a scheduler sees it.

use crate::Class;
use fathom_base::Time;
use fathom_block::Op;

/// Names a request while it is in the queue and in flight; used again afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoKey(pub u32);

/// A read or a write that the queue holds: one that was submitted, a piece of one, or several that were merged.
///
/// Flushes and trims never reach a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Names it.
    pub key: IoKey,
    /// Read or write.
    pub op: Op,
    /// Start, in bytes.
    pub offset: u64,
    /// Length, in bytes.
    pub len: u64,
    /// The process on whose behalf it was made; of what was merged, that of the first.
    pub process: u32,
    /// The I/O priority of that process: its class, and its level, from 0, the highest, to 7.
    pub class: Class,
    /// The level.
    pub priority: u8,
    /// Somebody waits for it. Reads are always waited for; so are direct writes in Linux today ([`crate::Era::Multi`]).
    pub sync: bool,
    /// Durable before it completes. Never merged.
    pub fua: bool,
    /// When the oldest part of it came.
    pub queued: Time,
}

impl Io {
    /// The first byte after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }

    /// Whether it is a write.
    #[inline]
    pub fn is_write(&self) -> bool {
        self.op == Op::Write
    }
}
