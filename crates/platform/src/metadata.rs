//! Metadata: the blocks that an operation reads and changes.

use super::host::Event;
use super::mount::metadata;
use crate::{Failed, Host};
use fathom_base::{Dur, Time};
use fathom_fs::{BLOCK_BYTES, Extent, FileId, FsError, PageKey};

/// Length of the names of files, in bytes.
const NAME_BYTES: usize = 8;

impl Host {
    /// Creates an empty file in a directory, for the thread whose step is handled.
    ///
    /// # Errors
    /// The file system is full, or there is no such directory.
    pub fn create(&mut self, directory: usize, now: Time) -> Result<FileId, Failed> {
        let parent = self.files.mount.directories.get(directory).copied();
        let parent = parent.unwrap_or(FileId(u32::MAX));
        let created = self.with_room(|host| {
            let volume = &mut host.files.mount.volume;
            volume.create(parent, NAME_BYTES, false)
        })?;
        self.note_changes(now);
        Ok(created)
    }

    /// Counts a creation that a program gives up because there is no room for it.
    pub fn gave_up(&mut self) {
        self.totals.cut_short += 1;
    }

    /// Opens a file or reads its attributes: its entry and its inode must be in memory.
    pub fn open(&mut self, file: FileId, now: Time) {
        for block in self.volume().looked_up(file) {
            self.need(metadata(block), now);
        }
    }

    /// Deletes a file. Its dirty pages are never written. Its blocks become free when the deletion is committed.
    pub fn delete(&mut self, file: FileId, now: Time) {
        if let Ok(extents) = self.files.mount.volume.delete(file) {
            self.note_changes(now);
            self.files.forget(file);
            self.totals.dropped += u64::from(self.cache.forget(file));
            self.flusher.forget(file);
            match self.journal.journal {
                // One that moves has freed nothing yet: a checkpoint does.
                None if !self.volume().moves() => self.release(vec![(file, extents)]),
                _ => self.journal.freed.push((file, extents)),
            }
        }
    }

    /// Tells the allocator that a file is open for writing, or no longer: programs open a file for each write.
    pub(super) fn open_to_write(&mut self, file: FileId, open: bool) {
        // A file that another thread has deleted is nobody's.
        let _deleted = self.files.mount.volume.open(file, open);
    }

    /// Makes room for a write of the bytes up to `end`, from `from` on: gives pages their blocks, or only checks that
    /// there are enough. Changes the inode in any case.
    pub(super) fn grow(
        &mut self,
        file: FileId,
        from: u64,
        end: u64,
        now: Time,
    ) -> Result<(), Failed> {
        let pages = (from / BLOCK_BYTES) as u32..end.div_ceil(BLOCK_BYTES) as u32;
        if self.files.mount.delayed {
            let wanted = self.files.homeless() + u64::from(pages.end - pages.start);
            self.with_room(|host| host.volume().want_room(wanted))?;
            self.files.mount.volume.set_size(file, end)?;
        } else {
            // With each page the file grows, as with a program's calls of 4 KiB.
            for page in pages {
                let so_far = end.min((u64::from(page) + 1) * BLOCK_BYTES);
                self.with_room(|host| host.files.mount.volume.allocate(file, page, 1))?;
                self.files.mount.volume.set_size(file, so_far)?;
            }
        }
        self.note_changes(now);
        Ok(())
    }

    /// Gives pages of a file blocks that have none, when they are written to the drive.
    pub(super) fn place(
        &mut self,
        file: FileId,
        page: u32,
        pages: u32,
        now: Time,
    ) -> Result<(), Failed> {
        let keys = (page..page + pages).map(|page| PageKey { file, page });
        let counts = |&key: &PageKey| match self.volume().moves() {
            true => self.cache.get(key).is_some_and(|state| state.dirty),
            false => self.files.is_homeless(key),
        };
        let homeless = keys.filter(counts).count() as u64;
        self.with_room(|host| host.files.mount.volume.allocate(file, page, pages))?;
        self.files.house(file, homeless);
        self.note_changes(now);
        Ok(())
    }

    /// Retries an operation that found no room after releasing the blocks of files whose deletion is not committed.
    /// ext3 forces a commit before it retries.
    fn with_room<T>(
        &mut self,
        take: impl Fn(&mut Self) -> Result<T, FsError>,
    ) -> Result<T, Failed> {
        if let Ok(taken) = take(self) {
            return Ok(taken);
        }
        let mut freed = std::mem::take(&mut self.journal.freed);
        if let Some(commit) = self.journal.commit.as_mut() {
            freed.append(&mut commit.freed);
        }
        self.release(freed);
        if self.volume().moves() {
            // A checkpoint frees what is no longer valid.
            if self.journal.commit.is_none() {
                self.begin_commit();
            }
            self.files.mount.volume.committed(&[]);
        }
        Ok(take(self)?)
    }

    /// Takes account of the metadata that the last operation changed.
    pub(super) fn note_changes(&mut self, now: Time) {
        let volume = &mut self.files.mount.volume;
        let (fresh, revoked, changed) = (
            volume.take_fresh(),
            volume.take_revoked(),
            volume.take_changed(),
        );
        for block in fresh {
            self.cache.set(metadata(block), |_| {});
        }
        for block in changed {
            self.change(block, now);
        }
        for block in revoked {
            self.revoke(block);
        }
        self.note_moves(now);
    }

    /// Changes a block of metadata.
    fn change(&mut self, block: u64, now: Time) {
        let key = metadata(block);
        self.need(key, now);
        let Some(journal) = &mut self.journal.journal else {
            // One that is dirty has its time of write-back, or is to be written already.
            let dirty = self.cache.get(key).is_some_and(|state| state.dirty);
            self.cache.set(key, |state| state.dirty = true);
            if !dirty {
                self.settle_later(vec![block], now);
            }
            return;
        };
        self.flusher.clean(key);
        self.cache.set(key, |state| {
            state.dirty = false;
            state.held = true;
        });
        journal.change(block);
        let at_once = journal.is_full() || journal.is_short();
        self.commit_by(at_once, now);
    }

    /// Sets the time of the next commit: now, or when the transaction has reached its age.
    pub(super) fn commit_by(&mut self, at_once: bool, now: Time) {
        let age = Dur::ms(1000 * self.volume().commit_seconds());
        let due = match at_once {
            true => now,
            false => now + self.system.commit.unwrap_or(age),
        };
        if self.journal.due.is_none_or(|at| due < at) {
            self.journal.due = Some(due);
            self.events.push(due, Event::Commit);
        }
        if let Some(thread) = self.current {
            self.threads[thread].changed = true;
        }
    }

    /// Drops a block of metadata that was freed.
    fn revoke(&mut self, block: u64) {
        let key = metadata(block);
        self.flusher.clean(key);
        self.cache.discard(key);
        if let Some(journal) = &mut self.journal.journal {
            journal.revoke(block);
        }
    }

    /// Frees the blocks of deleted files. Those that are just being read or written wait for the next commit.
    pub(super) fn release(&mut self, freed: Vec<(FileId, Vec<Extent>)>) {
        for (file, extents) in freed {
            if self.in_flight.values().any(|io| io.first.file == file) {
                self.journal.freed.push((file, extents));
            } else {
                self.files.mount.volume.release(&extents);
            }
        }
    }

    /// Writes blocks of metadata to their places after [`crate::System::expire`].
    pub(super) fn settle_later(&mut self, blocks: Vec<u64>, now: Time) {
        let at = now + self.system.expire;
        self.journal.committed.push_back((at, blocks));
        self.events.push(at, Event::Expire);
    }

    /// Moves what is due at `now` to the lists of what is written at once: metadata, and data that was dirty for
    /// [`crate::System::expire`]; with [`Time::MAX`], all metadata.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some((at, _)) = self.journal.committed.front()
            && *at <= now
        {
            let (_, blocks) = self.journal.committed.pop_front().unwrap_or_default();
            for key in blocks.into_iter().map(metadata) {
                if self.cache.get(key).is_some_and(|state| state.dirty) {
                    self.flusher.metadata.add(key, now);
                }
            }
        }
        if now < Time::MAX {
            self.expire_data(now);
        }
    }

    fn expire_data(&mut self, now: Time) {
        while let Some((file, since)) = self.flusher.data.oldest()
            && since + self.system.expire <= now
        {
            self.announce(file);
            self.flusher.due.take(&mut self.flusher.data, file);
        }
    }

    /// Tells the allocator what is rewritten in place soon.
    pub(super) fn announce(&mut self, file: FileId) {
        let pages = self.flusher.data.pages_of(file);
        self.files.mount.volume.announce(file, pages);
    }
}
