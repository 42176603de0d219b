//! The state of write-back: the pages to be written, and the requests in flight.

use crate::System;
use fathom_fs::cache::DirtyList;
use fathom_fs::{FileId, PageKey};

/// The list of pages to write from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Sealed,
    Due,
    Data,
    Checkpoint,
    Metadata,
}

/// The pages to be written back, and those being written.
#[derive(Debug)]
pub(super) struct Flusher {
    /// Data pages that became dirty since the last commit began.
    pub(super) data: DirtyList,
    /// Data pages that the commit in progress waits for.
    pub(super) sealed: DirtyList,
    /// Data pages that somebody waits for, or that were dirty for too long.
    pub(super) due: DirtyList,
    /// Metadata that may be written to its place.
    pub(super) metadata: DirtyList,
    /// Metadata that must be written to its place before operations go on.
    pub(super) checkpoint: DirtyList,
    /// Number of requests of the flusher in flight, including those to the journal.
    pub(super) in_flight: u32,
    /// Number of write-backs among them.
    pub(super) back_in_flight: u32,
    /// Number of pages being written.
    pub(super) writing: u32,
    /// Number of dirty pages above which they are written in the background.
    pub(super) background: u32,
    /// Number of dirty pages and pages being written above which writers wait.
    pub(super) limit: u32,
}

impl Flusher {
    pub(super) fn new(system: &System) -> Self {
        Self {
            data: DirtyList::default(),
            sealed: DirtyList::default(),
            due: DirtyList::default(),
            metadata: DirtyList::default(),
            checkpoint: DirtyList::default(),
            in_flight: 0,
            back_in_flight: 0,
            writing: 0,
            background: system.pages(system.background_percent),
            limit: system.pages(system.dirty_percent),
        }
    }

    pub(super) fn list(&mut self, which: Which) -> &mut DirtyList {
        match which {
            Which::Sealed => &mut self.sealed,
            Which::Due => &mut self.due,
            Which::Data => &mut self.data,
            Which::Checkpoint => &mut self.checkpoint,
            Which::Metadata => &mut self.metadata,
        }
    }

    /// Removes a page from write-back.
    pub(super) fn clean(&mut self, key: PageKey) {
        self.data.remove(key);
        self.sealed.remove(key);
        self.due.remove(key);
        self.metadata.remove(key);
        self.checkpoint.remove(key);
    }

    pub(super) fn forget(&mut self, file: FileId) {
        self.data.forget(file);
        self.sealed.forget(file);
        self.due.forget(file);
    }

    /// Assigns all dirty data to the commit that begins. Returns the number of write-backs in flight, which the commit
    /// waits for, too.
    pub(super) fn seal(&mut self) -> u32 {
        self.sealed.append(&mut self.due);
        self.sealed.append(&mut self.data);
        self.back_in_flight
    }

    pub(super) fn is_clean(&self) -> bool {
        self.data_is_clean() && self.metadata.is_empty() && self.checkpoint.is_empty()
    }

    fn data_is_clean(&self) -> bool {
        self.data.is_empty() && self.sealed.is_empty() && self.due.is_empty()
    }
}
