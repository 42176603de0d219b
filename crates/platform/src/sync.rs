//! Syncs: a thread waits until its file, or everything, is on the drive.

use super::host::Event;
use super::mount::metadata;
use super::task::{Syncing, Task};
use crate::Host;
use fathom_base::Time;
use fathom_fs::FileId;

impl Host {
    /// Begins a sync of a file, or of all.
    pub(super) fn begin_sync(&mut self, file: Option<FileId>) -> Task {
        let files: Vec<FileId> = match file {
            Some(file) => self
                .flusher
                .data
                .has(file)
                .then_some(file)
                .into_iter()
                .collect(),
            None => self.flusher.data.files().collect(),
        };
        for file in files {
            self.announce(file);
            self.flusher.due.take(&mut self.flusher.data, file);
        }
        Task::Sync(Syncing::Data(file))
    }

    /// Goes on with a sync. Returns what remains of it.
    pub(super) fn sync(&mut self, syncing: Syncing, now: Time) -> Option<Syncing> {
        match syncing {
            Syncing::Data(file) if self.data_is_there(file) => {
                self.files.mount.volume.announced();
                let next = self.begin_sync_commit(file, now);
                self.sync(next, now)
            }
            Syncing::Commit(file, number) if self.journal.ended >= number => match file {
                Some(_) => None,
                None => {
                    self.expire(Time::MAX);
                    self.sync(Syncing::Metadata, now)
                }
            },
            Syncing::Commit(..) => {
                // The commit before may have been in progress when this one was asked for.
                self.ask_for_commit();
                Some(syncing)
            }
            Syncing::Metadata if self.metadata_is_there() => None,
            waits => Some(waits),
        }
    }

    /// Returns whether no page of a file, or of any, that a sync waits for is to be written or being written.
    fn data_is_there(&self, file: Option<FileId>) -> bool {
        let lists = [&self.flusher.due, &self.flusher.sealed];
        match file {
            None => lists.iter().all(|list| list.is_empty()) && self.flusher.back_in_flight == 0,
            Some(file) => {
                let being_written = || self.in_flight.values().any(|io| io.first.file == file);
                !lists.iter().any(|list| list.has(file)) && !being_written()
            }
        }
    }

    /// The commit that a sync waits for; the last one if there is nothing to commit.
    fn begin_sync_commit(&mut self, file: Option<FileId>, now: Time) -> Syncing {
        let moves = self.volume().moves();
        if let (Some(file), None, false) = (file, &self.journal.journal, moves) {
            return self.begin_sync_inode(file, now);
        }
        let journal = &self.journal;
        let running = match (file, &journal.journal) {
            (_, None) => journal.pending,
            (None, Some(journal)) => !journal.is_idle(),
            (Some(file), Some(journal)) => {
                let inode = self.volume().inode_block(file);
                inode.is_some_and(|block| journal.changes(block))
            }
        };
        Syncing::Commit(file, journal.begun + u64::from(running))
    }

    /// Without a journal the inode of the file is written, and the blocks that map it.
    fn begin_sync_inode(&mut self, file: FileId, now: Time) -> Syncing {
        let volume = &self.files.mount.volume;
        let inode = volume.inode_block(file).into_iter();
        for key in inode.chain(volume.map_blocks(file)).map(metadata) {
            if self.cache.get(key).is_some_and(|state| state.dirty) {
                self.flusher.metadata.add(key, now);
            }
        }
        Syncing::Metadata
    }

    fn ask_for_commit(&mut self) {
        if self.journal.commit.is_none() && !self.journal.is_idle() {
            self.begin_commit();
        }
    }

    fn metadata_is_there(&self) -> bool {
        self.flusher.metadata.is_empty() && self.flusher.back_in_flight == 0
    }

    /// Lets the threads that sync look again.
    pub(super) fn wake_syncers(&mut self, now: Time) {
        for (thread, of) in self.threads.iter().enumerate() {
            if matches!(of.task, Task::Sync(_)) {
                self.events.push(now, Event::Run(thread as u32));
            }
        }
    }
}
