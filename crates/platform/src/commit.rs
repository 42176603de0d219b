//! Commits of the journal, step by step: data, log, commit record; and the checkpoint of a full log.

use super::host::{Io, Purpose};
use super::journal::{Commit, Phase};
use super::mount::metadata;
use crate::Host;
use fathom_base::Time;
use fathom_block::{Access, Op, Tag};
use fathom_fs::{BLOCK_BYTES, Extent};

impl Host {
    /// Begins a commit if the transaction is due and no commit is in progress.
    pub(super) fn commit_due(&mut self, now: Time) {
        if self.journal.due.is_some_and(|due| due <= now) && self.journal.commit.is_none() {
            self.begin_commit();
        }
    }

    pub(super) fn begin_commit(&mut self) {
        let Some(journal) = &mut self.journal.journal else {
            return self.begin_checkpoint();
        };
        self.files.mount.volume.close();
        let blocks = journal.changed().collect();
        // Delayed pages are none of the transaction's until they get their blocks.
        let tail = journal.due_super_block();
        let Some(planned) = journal.begin() else {
            return;
        };
        let in_flight = match self.files.mount.delayed {
            true => self.flusher.back_in_flight,
            false => {
                let files: Vec<_> = self.flusher.data.files().collect();
                files.into_iter().for_each(|file| self.announce(file));
                self.flusher.seal()
            }
        };
        let tail = tail.map(|block| Extent::new(block, 1)).into_iter();
        self.journal.due = None;
        self.journal.begun += 1;
        self.journal.commit = Some(Commit {
            blocks,
            freed: std::mem::take(&mut self.journal.freed),
            phase: Phase::Data,
            in_flight,
            log: tail.chain(planned.log).collect(),
            record: planned.record,
        });
    }

    /// Issues the next request of the commit. Returns whether there was one.
    pub(super) fn commit_write(&mut self, now: Time) -> bool {
        let Some(commit) = self.journal.commit.as_mut() else {
            return false;
        };
        let waits = commit.in_flight > 0;
        match commit.phase {
            Phase::Data if !self.flusher.sealed.is_empty() => {
                let began = self.write_sealed(now);
                if began && let Some(commit) = self.journal.commit.as_mut() {
                    commit.in_flight += 1;
                }
                began
            }
            Phase::Data if waits => false,
            Phase::Data => {
                commit.phase = Phase::Log;
                self.files.mount.volume.announced();
                self.commit_write(now)
            }
            Phase::Log if !commit.log.is_empty() => self.log(now),
            Phase::Log if waits => false,
            Phase::Log if self.system.barriers => {
                commit.phase = Phase::Flush;
                self.flush(now)
            }
            Phase::Flush if waits => false,
            Phase::Log | Phase::Flush => {
                commit.phase = Phase::Record;
                commit.log = vec![Extent::new(commit.record, 1)];
                self.log(now)
            }
            Phase::Record => false,
        }
    }

    /// Writes the next part of the journal: blocks of metadata, or the commit record.
    fn log(&mut self, now: Time) -> bool {
        let longest = u64::from(self.longest_write());
        let flusher = self.flusher_actor();
        let Some(commit) = self.journal.commit.as_mut() else {
            return false;
        };
        let Some(next) = commit.log.first_mut() else {
            return false;
        };
        let pages = next.blocks.min(longest);
        let first = metadata(next.start);
        let offset = self.files.mount.start.0 + next.start * BLOCK_BYTES;
        if self.in_flight.contains_key(&(Op::Write, offset)) {
            // The super block is being written.
            return false;
        }
        *next = Extent::new(next.start + pages, next.blocks - pages);
        commit.log.retain(|extent| extent.blocks > 0);
        let io = Io {
            purpose: Purpose::Log,
            first,
            pages: pages as u32,
        };
        let tag = Tag {
            process: flusher as u32,
            fua: commit.phase == Phase::Record && self.system.barriers,
            ..Tag::default()
        };
        commit.in_flight += 1;
        self.flusher.in_flight += 1;
        let access = Access::new(Time::ZERO, Op::Write, offset, pages * BLOCK_BYTES);
        self.issue(flusher, access, tag, io, now);
        true
    }

    /// Flushes the drive's cache: what was written before is on the medium when the commit record is.
    fn flush(&mut self, now: Time) -> bool {
        let Some(commit) = self.journal.commit.as_mut() else {
            return false;
        };
        commit.in_flight += 1;
        self.flusher.in_flight += 1;
        let io = Io {
            purpose: Purpose::Log,
            first: metadata(0),
            pages: 0,
        };
        self.request(self.flusher_actor(), Op::Flush, 0, io, now);
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
        self.totals.committed += commit.blocks.len() as u64;
        self.journal.ended += 1;
        let mut settled = commit.blocks;
        match &mut self.journal.journal {
            Some(journal) => {
                journal.committed();
                settled.retain(|&block| journal.awaits_place(block));
            }
            None => settled.clear(),
        }
        for &block in &settled {
            self.cache.set(metadata(block), |state| {
                state.held = false;
                state.dirty = true;
            });
        }
        self.files.mount.volume.committed(&[]);
        self.release(commit.freed);
        if !settled.is_empty() {
            self.settle_later(settled, now);
        }
        self.commit_due(now);
    }

    /// Writes committed metadata to its place while the log is so full that operations wait; commits if that is of no
    /// use.
    pub(super) fn checkpoint(&mut self, now: Time) {
        let Some(journal) = &mut self.journal.journal else {
            return;
        };
        if !journal.is_short() {
            if std::mem::take(&mut self.journal.short)
                && let Some(block) = journal.super_block()
            {
                self.write_super(block, now);
            }
            return;
        }
        self.journal.short = true;
        let blocks = journal.to_checkpoint();
        if blocks.is_empty() && self.journal.commit.is_none() {
            self.begin_commit();
        }
        for key in blocks.into_iter().map(metadata) {
            if self.cache.get(key).is_some_and(|state| state.dirty) {
                self.flusher.metadata.remove(key);
                self.flusher.checkpoint.add(key, now);
            }
        }
    }

    fn write_super(&mut self, block: u64, now: Time) {
        let io = Io {
            purpose: Purpose::Super,
            first: metadata(block),
            pages: 1,
        };
        let offset = self.files.mount.start.0 + block * BLOCK_BYTES;
        if !self.in_flight.contains_key(&(Op::Write, offset)) {
            self.flusher.in_flight += 1;
            self.request(self.flusher_actor(), Op::Write, offset, io, now);
        }
    }
}
