//! What a thread is doing.

use fathom_base::{Dur, Time};
use fathom_fs::cache::ReadAhead;
use fathom_fs::files::{BLOCK_BYTES, FileId, PageKey};

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) task: Task,
    /// Pages that must be in memory before it goes on.
    pub(super) awaits: Vec<PageKey>,
    /// Its writes to the drive that are not done.
    pub(super) through: u32,
    /// Until when it computes, whatever wakes it before.
    pub(super) computes: Time,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Task {
    #[default]
    Idle,
    Compute(Dur),
    Read(Reading),
    Write(Writing),
    Through(Job, u32),
    Settle(u32),
    Sleep,
    End,
}

/// A read, page by page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) file: FileId,
    pub(super) page: u32,
    pub(super) end: u32,
    /// The first byte, the bytes of a call, and the first byte after the last call.
    pub(super) from: u64,
    pub(super) call: u64,
    pub(super) until: u64,
    pub(super) ahead: ReadAhead,
    /// Pages read and not computed for.
    pub(super) read: u32,
}

impl Reading {
    /// Pages from the next one on that the call reads in which that one is.
    pub(super) fn wanted(&self) -> u32 {
        let byte = self.from.max(u64::from(self.page) * BLOCK_BYTES);
        let calls = (byte - self.from) / self.call + 1;
        let end = self.call.saturating_mul(calls).saturating_add(self.from);
        end.min(self.until).div_ceil(BLOCK_BYTES) as u32 - self.page
    }
}

/// A write to the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    pub(super) file: FileId,
    pub(super) at: u64,
    pub(super) end: u64,
}

/// A write to the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) thread: usize,
    pub(super) file: FileId,
    pub(super) from: u64,
    pub(super) end: u64,
}
