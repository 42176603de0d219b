//! What write-back knows: which pages are to be written, and how much is in flight.

use crate::System;
use fathom_fs::cache::DirtyList;
use fathom_fs::files::{FileId, PageKey};

/// What is to be written, and what is being written.
#[derive(Debug)]
pub(super) struct Flusher {
    /// Data that became dirty since the last commit began.
    pub(super) data: DirtyList,
    /// Data that the commit under way waits for.
    pub(super) sealed: DirtyList,
    /// Metadata that is committed and may go to its place.
    pub(super) metadata: DirtyList,
    /// Requests of the flusher in flight, those to the journal included.
    pub(super) in_flight: u32,
    /// Of these, write-backs.
    pub(super) back_in_flight: u32,
    /// Pages that are being written.
    pub(super) writing: u32,
    /// Dirty pages above which it writes in the background.
    pub(super) background: u32,
    /// Dirty pages and pages being written above which who writes waits.
    pub(super) limit: u32,
}

impl Flusher {
    pub(super) fn new(system: &System) -> Self {
        Self {
            data: DirtyList::default(),
            sealed: DirtyList::default(),
            metadata: DirtyList::default(),
            in_flight: 0,
            back_in_flight: 0,
            writing: 0,
            background: system.pages(system.background_percent),
            limit: system.pages(system.dirty_percent),
        }
    }

    /// A page is not to be written any more, or not in this way.
    pub(super) fn clean(&mut self, key: PageKey) {
        self.data.remove(key);
        self.sealed.remove(key);
        self.metadata.remove(key);
    }

    pub(super) fn forget(&mut self, file: FileId) {
        self.data.forget(file);
        self.sealed.forget(file);
    }

    /// All data that is dirty now belongs to the commit that begins, which also waits for what is in flight.
    pub(super) fn seal(&mut self) -> u32 {
        self.sealed.append(&mut self.data);
        self.back_in_flight
    }

    pub(super) fn sealed_is_empty(&self) -> bool {
        self.sealed.is_empty()
    }

    pub(super) fn data_is_clean(&self) -> bool {
        self.data.is_empty() && self.sealed.is_empty()
    }
}
