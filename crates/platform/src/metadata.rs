//! Metadata: the blocks that an operation changes, and the journal that they are written to.

use super::host::{Event, Io, Purpose};
use super::journal::{Commit, Phase};
use crate::{Failed, Host};
use fathom_base::Time;
use fathom_block::Op;
use fathom_fs::files::{BLOCK_BYTES, Extent, FileId, PageKey, Touched};

/// Number of blocks that one descriptor block of the journal lists: tags of 8 bytes after a header of 12 and an
/// identity of 16 (`journal_block_tag_s` of JBD).
const TAGS_PER_DESCRIPTOR: u32 = 508;

impl Host {
    /// Creates an empty file in a directory, for the thread whose step is handled.
    ///
    /// # Errors
    /// The file system is full.
    pub fn create(&mut self, directory: usize, now: Time) -> Result<FileId, Failed> {
        let created = self.with_room(|host| host.volume.create(directory))?;
        let (file, touched) = created;
        self.change_all(touched, now);
        Ok(file)
    }

    /// Opens a file or reads its attributes: its inode must be in memory.
    pub fn open(&mut self, file: FileId, now: Time) {
        if let Some(inode) = self.volume.inode_page(file) {
            self.need(inode, now);
        }
    }

    /// Deletes a file. Its dirty pages are never written. Its blocks become free when the deletion is committed.
    pub fn delete(&mut self, file: FileId, now: Time) {
        if let Some(deleted) = self.volume.delete(file) {
            self.change_all(deleted.touched, now);
            self.totals.dropped += u64::from(self.cache.forget(file));
            self.flusher.forget(file);
            self.journal.freed.push((file, deleted.extents));
        }
    }

    /// Extends a file to at least `bytes` bytes. Changes its inode in any case.
    pub(super) fn grow(&mut self, file: FileId, bytes: u64, now: Time) -> Result<(), Failed> {
        let touched = self.with_room(|host| host.volume.grow(file, bytes))?;
        self.change_all(touched, now);
        if let Some(inode) = self.volume.inode_page(file) {
            self.change(inode, now);
        }
        Ok(())
    }

    /// Retries an allocation that found no room after releasing the blocks of files whose deletion is not committed.
    /// ext3 forces a commit before it retries.
    fn with_room<T>(
        &mut self,
        take: impl Fn(&mut Self) -> Result<T, fathom_fs::files::Full>,
    ) -> Result<T, Failed> {
        if let Ok(taken) = take(self) {
            return Ok(taken);
        }
        let mut freed = std::mem::take(&mut self.journal.freed);
        if let Some(commit) = self.journal.commit.as_mut() {
            freed.append(&mut commit.freed);
        }
        self.release(freed);
        Ok(take(self)?)
    }

    fn change_all(&mut self, touched: Touched, now: Time) {
        touched.into_iter().for_each(|key| self.change(key, now));
    }

    /// Changes a block of metadata.
    pub(super) fn change(&mut self, key: PageKey, now: Time) {
        self.need(key, now);
        self.flusher.clean(key);
        self.cache.set(key, |state| {
            state.dirty = false;
            state.held = true;
        });
        self.journal.running.insert(key);
        let due = match self.journal.running.len() as u32 > self.journal.pages / 4 {
            true => now,
            false => now + self.system.commit,
        };
        if self.journal.due.is_none_or(|at| due < at) {
            self.journal.due = Some(due);
            self.events.push(due, Event::Commit);
        }
    }

    /// Begins a commit if the transaction is due and no commit is in progress.
    pub(super) fn commit_due(&mut self, now: Time) {
        if self.journal.due.is_some_and(|due| due <= now) && self.journal.commit.is_none() {
            self.begin_commit();
        }
    }

    fn begin_commit(&mut self) {
        let in_flight = self.flusher.seal();
        let journal = &mut self.journal;
        let metadata: Vec<PageKey> = std::mem::take(&mut journal.running).into_iter().collect();
        journal.due = None;
        journal.generation += 1;
        journal.commit = Some(Commit {
            metadata,
            freed: std::mem::take(&mut journal.freed),
            phase: Phase::Data,
            in_flight,
        });
    }

    /// Begins a commit of all remaining changes when all threads have ended.
    pub(super) fn commit_last(&mut self) {
        if self.journal.commit.is_none()
            && !(self.journal.running.is_empty() && self.flusher.data_is_clean())
        {
            self.begin_commit();
        }
    }

    /// Issues the next request of the commit. Returns whether there was one.
    pub(super) fn commit_write(&mut self, now: Time) -> bool {
        let Some(commit) = self.journal.commit.as_mut() else {
            return false;
        };
        let waits = commit.in_flight > 0;
        match commit.phase {
            Phase::Data if !self.flusher.sealed_is_empty() => {
                let began = self.write_sealed(now);
                if began && let Some(commit) = self.journal.commit.as_mut() {
                    commit.in_flight += 1;
                }
                return began;
            }
            Phase::Data if waits => return false,
            Phase::Data if commit.metadata.is_empty() => {
                self.end_commit(now);
                return self.commit_write(now);
            }
            Phase::Data => {
                let blocks = commit.metadata.len() as u32;
                commit.phase = Phase::Log(blocks + blocks.div_ceil(TAGS_PER_DESCRIPTOR));
                return self.commit_write(now);
            }
            Phase::Log(0) if waits => return false,
            Phase::Log(0) => commit.phase = Phase::Record,
            Phase::Log(_) => {}
            Phase::Record => return false,
        }
        self.log(now)
    }

    /// Writes the next part of the journal: blocks of metadata, or the commit record.
    fn log(&mut self, now: Time) -> bool {
        let longest = (self.system.longest_write.0 / BLOCK_BYTES) as u32;
        let Some(commit) = self.journal.commit.as_mut() else {
            return false;
        };
        let left = match commit.phase {
            Phase::Log(left) => left,
            _ => 1,
        };
        let first = PageKey {
            file: self.journal.file,
            page: self.journal.head,
        };
        let Some((offset, pages)) = self.volume.run(first, left.min(longest)) else {
            return false;
        };
        if let Phase::Log(left) = &mut commit.phase {
            *left -= pages;
        }
        commit.in_flight += 1;
        self.journal.head = (self.journal.head + pages) % self.journal.pages;
        let io = Io {
            purpose: Purpose::Log,
            first,
            pages,
        };
        self.flusher.in_flight += 1;
        self.request(self.flusher_actor(), Op::Write, offset, io, now);
        true
    }

    /// Handles the completion of a write to the journal.
    pub(super) fn logged(&mut self) {
        self.flusher.in_flight -= 1;
        self.commit_done();
    }

    /// Counts a completed request of the commit.
    pub(super) fn commit_done(&mut self) {
        if let Some(commit) = self.journal.commit.as_mut() {
            commit.in_flight -= 1;
        }
    }

    /// Ends a commit whose record is written.
    pub(super) fn end_recorded(&mut self, now: Time) {
        let commit = self.journal.commit.as_ref();
        if commit.is_some_and(|commit| commit.phase == Phase::Record && commit.in_flight == 0) {
            self.end_commit(now);
        }
    }

    fn end_commit(&mut self, now: Time) {
        let Some(commit) = self.journal.commit.take() else {
            return;
        };
        self.totals.commits += 1;
        self.totals.committed += commit.metadata.len() as u64;
        let again = &self.journal.running;
        let settled = commit.metadata.into_iter();
        let settled: Vec<PageKey> = settled.filter(|key| !again.contains(key)).collect();
        for &key in &settled {
            self.cache.set(key, |state| {
                state.held = false;
                state.dirty = true;
            });
        }
        self.release(commit.freed);
        if !settled.is_empty() {
            let at = now + self.system.expire;
            self.journal.committed.push_back((at, settled));
            self.events.push(at, Event::Expire);
        }
        self.commit_due(now);
    }

    /// Frees the blocks of deleted files. Files that are just being written wait for the next commit.
    fn release(&mut self, freed: Vec<(FileId, Vec<Extent>)>) {
        for (file, extents) in freed {
            if self.in_flight.values().any(|io| io.first.file == file) {
                self.journal.freed.push((file, extents));
            } else {
                self.volume.release(&extents);
            }
        }
    }

    /// Moves the metadata due at `now` to the write-back list; with [`Time::MAX`], all committed metadata.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some((at, _)) = self.journal.committed.front()
            && *at <= now
        {
            let (_, keys) = self.journal.committed.pop_front().unwrap_or_default();
            for key in keys {
                if self.cache.get(key).is_some_and(|state| state.dirty) {
                    self.flusher.metadata.add(key);
                }
            }
        }
    }
}
