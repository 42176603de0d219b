//! The state of the journal in time: the commit in progress, and committed metadata that is not in its place yet.

use fathom_base::Time;
use fathom_fs::{Extent, FileId, Journal, Volume};
use std::collections::VecDeque;

/// A commit in progress.
#[derive(Debug)]
pub(super) struct Commit {
    /// The changed blocks.
    pub(super) blocks: Vec<u64>,
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    pub(super) phase: Phase,
    /// Number of incomplete requests of the phase. In the phase of data this includes the write-backs that were in
    /// flight when the commit began.
    pub(super) in_flight: u32,
    /// What is left to be written to the log before the commit record.
    pub(super) log: Vec<Extent>,
    /// The block of the commit record.
    pub(super) record: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The dirty data is being written.
    Data,
    /// The metadata is being written to the journal.
    Log,
    /// The drive's cache is being flushed.
    Flush,
    /// The commit record is being written.
    Record,
}

/// The transactions of a mounted file system.
#[derive(Debug)]
pub(super) struct Transactions {
    /// None for a file system without a journal.
    pub(super) journal: Option<Journal>,
    /// Files deleted by the running transaction, with their extents.
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    /// Whether a log-structured file system has something to write in a checkpoint.
    pub(super) pending: bool,
    /// When the running transaction is to be committed.
    pub(super) due: Option<Time>,
    pub(super) commit: Option<Commit>,
    /// Number of commits begun so far, and of those that have ended.
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// Metadata that may be written to its place, with the time at which it is to be.
    pub(super) committed: VecDeque<(Time, Vec<u64>)>,
    /// Whether operations wait for room in the log.
    pub(super) short: bool,
    /// Threads that wait for the journal.
    pub(super) waiting: Vec<usize>,
}

impl Transactions {
    pub(super) fn new(volume: &Volume) -> Self {
        Self {
            journal: volume.new_journal(),
            freed: Vec::new(),
            pending: false,
            due: None,
            commit: None,
            begun: 0,
            ended: 0,
            committed: VecDeque::new(),
            short: false,
            waiting: Vec::new(),
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.is_idle() && self.commit.is_none() && self.committed.is_empty()
    }

    /// Returns whether the running transaction is empty.
    pub(super) fn is_idle(&self) -> bool {
        let idle = self.journal.as_ref().is_none_or(Journal::is_idle);
        idle && !self.pending
    }

    /// Returns whether an operation that changes metadata must wait: the log is full, or the running transaction is and
    /// the one before it is still being committed.
    pub(super) fn must_wait(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| {
            journal.is_short() || (journal.is_full() && self.commit.is_some())
        })
    }
}
