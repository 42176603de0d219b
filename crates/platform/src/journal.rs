//! The state of the journal: transactions, and committed metadata that is not in its place yet.

use fathom_base::Time;
use fathom_fs::files::{Extent, FileId, PageKey, Volume};
use std::collections::{BTreeSet, VecDeque};

/// A commit in progress.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) metadata: Vec<PageKey>,
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    pub(super) phase: Phase,
    /// Number of incomplete requests of the phase. In the phase of data this includes the write-backs that were in
    /// flight when the commit began.
    pub(super) in_flight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The dirty data is being written.
    Data,
    /// The metadata is being written to the journal; the number of blocks left before the commit record.
    Log(u32),
    /// The commit record is being written.
    Record,
}

/// The running transaction, the committing one, and committed metadata that is not in its place yet.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) file: FileId,
    pub(super) pages: u32,
    pub(super) head: u32,
    /// Blocks changed by the running transaction.
    pub(super) running: BTreeSet<PageKey>,
    /// Files deleted by the running transaction, with their extents.
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    /// When the running transaction is to be committed.
    pub(super) due: Option<Time>,
    pub(super) commit: Option<Commit>,
    /// Number of commits begun so far.
    pub(super) generation: u64,
    /// Committed metadata, with the time at which it is to be written to its place.
    pub(super) committed: VecDeque<(Time, Vec<PageKey>)>,
}

impl Journal {
    pub(super) fn new(volume: &Volume) -> Self {
        let (file, pages) = volume.journal();
        Self {
            file,
            pages,
            head: 0,
            running: BTreeSet::new(),
            freed: Vec::new(),
            due: None,
            commit: None,
            generation: 0,
            committed: VecDeque::new(),
        }
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn is_clean(&self) -> bool {
        self.running.is_empty() && self.commit.is_none() && self.committed.is_empty()
    }
}
