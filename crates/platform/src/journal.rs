//! What the journal knows: transactions, and metadata that is committed and not in its place.

use fathom_base::Time;
use fathom_fs::files::{Extent, FileId, PageKey, Volume};
use std::collections::{BTreeSet, VecDeque};

/// A commit that is under way.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) metadata: Vec<PageKey>,
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    pub(super) phase: Phase,
    /// Requests of the phase that are not done. While data is written, these are all that were in flight when the
    /// commit began, too.
    pub(super) in_flight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The dirty data is written.
    Data,
    /// So many blocks of the journal are still to be written before the commit record.
    Log(u32),
    /// The commit record is written.
    Record,
}

/// The running transaction, the one that commits, and what is committed and not in its place.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) file: FileId,
    pub(super) pages: u32,
    pub(super) head: u32,
    /// Blocks that the running transaction has changed.
    pub(super) running: BTreeSet<PageKey>,
    /// Files that it has deleted, and where they were.
    pub(super) freed: Vec<(FileId, Vec<Extent>)>,
    /// When it is to be committed.
    pub(super) due: Option<Time>,
    pub(super) commit: Option<Commit>,
    /// Commits that began.
    pub(super) generation: u64,
    /// Metadata that was committed, and when it is to be written to its place.
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
