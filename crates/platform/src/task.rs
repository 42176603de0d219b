//! The state of a thread and its current task.

use super::processors::Booking;
use fathom_base::{Dur, Time};
use fathom_fs::cache::ReadAhead;
use fathom_fs::{BLOCK_BYTES, FileId, PageKey};

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) task: Task,
    /// Pages that must be in memory before the thread continues.
    pub(super) awaits: Vec<PageKey>,
    /// Number of its writes to the drive in flight.
    pub(super) through: u32,
    /// Whether it has changed metadata since it last went on.
    pub(super) changed: bool,
    /// Its computing, and the end of that as far as it is known, whatever wakes it before.
    pub(super) booking: Booking,
    pub(super) computes: Time,
}

/// The current task of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Task {
    #[default]
    Idle,
    Compute(Dur),
    Read(Reading),
    Write(Writing),
    Through(Job, u32),
    Settle(u32),
    Sync(Syncing),
    Sleep,
    SleepUntil(Time),
    End,
}

/// A read, page by page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) file: FileId,
    pub(super) page: u32,
    pub(super) end: u32,
    /// The first byte, the length of a call, and the end of the last call, in bytes.
    pub(super) from: u64,
    pub(super) call: u64,
    pub(super) until: u64,
    pub(super) ahead: ReadAhead,
    /// Number of pages read whose computing time has not been charged yet.
    pub(super) read: u32,
}

impl Reading {
    /// Number of pages that the current call reads from the next page on.
    pub(super) fn wanted(&self) -> u32 {
        let byte = self.from.max(u64::from(self.page) * BLOCK_BYTES);
        let calls = (byte - self.from) / self.call + 1;
        let end = self.call.saturating_mul(calls).saturating_add(self.from);
        end.min(self.until).div_ceil(BLOCK_BYTES) as u32 - self.page
    }
}

/// What a sync waits for. A file, or all of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Syncing {
    /// The dirty data.
    Data(Option<FileId>),
    /// The end of the commit with this number.
    Commit(Option<FileId>, u64),
    /// All metadata at its place.
    Metadata,
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
