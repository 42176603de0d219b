//! What an engine does for the loop: takes reads, gives them to the kernel, returns completions.

use crate::buffer::AlignedBuffer;
use rustix::io::Errno;

/// A completed read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// Slot of the read.
    pub(super) slot: u32,
    /// Number of bytes read, or a negative error number.
    pub(super) result: i32,
}

/// Reads in flight by one engine, each in a slot with a buffer of its own. Used by the thread that made it.
pub(super) trait Queue {
    /// Takes a read of one block at `offset` into the buffer of a free slot. [`Queue::go`] gives it to the kernel, if the
    /// kernel does not take it by itself.
    ///
    /// # Errors
    /// The queue cannot hold it. This does not happen while every slot has at most one read.
    fn push(&mut self, slot: u32, offset: u64) -> Result<(), Errno>;

    /// Gives all reads that were pushed to the kernel. With `wait`, sleeps or polls until at least one read has completed,
    /// and appends those that have; a signal may end this early.
    ///
    /// # Errors
    /// The kernel refuses the call. A refused read is a completion with an error instead.
    fn go(&mut self, wait: bool, done: &mut Vec<Done>) -> Result<(), Errno>;

    /// Returns the buffer of a slot whose read has completed.
    fn data(&self, slot: u32) -> &[u8];

    /// Returns the number of system calls so far.
    fn calls(&self) -> u64;

    /// Returns the settings that the kernel has granted, for a report.
    fn granted(&self) -> &'static str {
        ""
    }
}

/// Returns a buffer for each slot, whose pages exist already.
///
/// # Errors
/// ENOMEM if there is not enough memory.
pub(super) fn buffers(depth: u32, block_bytes: u32) -> Result<Vec<AlignedBuffer>, Errno> {
    let one = || AlignedBuffer::new(u64::from(block_bytes));
    (0..depth).map(|_| one()).collect()
}
