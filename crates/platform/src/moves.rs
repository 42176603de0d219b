//! What a log-structured file system does by itself: its checkpoints, and cleaning.
//!
//! Cleaning is a thread of its own. It reads the blocks that it moves, then writes them, then a checkpoint if it needs one;
//! operations that change the file system wait until it is done (`f2fs_balance_fs`). A checkpoint is a commit whose log is
//! nodes and tables: see `commit`.

use super::host::Host;
use super::journal::{Commit, Phase};
use fathom_base::Time;
use fathom_block::program::Request;
use fathom_block::{Access, Op, Tag};
use fathom_fs::{BLOCK_BYTES, Extent, Purpose, Write};

impl Host {
    /// Takes account of what a log-structured file system has begun by itself.
    pub(super) fn note_moves(&mut self, now: Time) {
        let volume = &mut self.files.mount.volume;
        if !volume.moves() {
            return;
        }
        let cleaned = volume.take_cleaned();
        let writes = volume.take_writes();
        let pending = !volume.is_clean();
        if !cleaned.is_empty() || !writes.is_empty() {
            self.add_cleaning(&cleaned, &writes);
        }
        if pending {
            self.journal.pending = true;
            self.commit_by(false, now);
        }
    }

    fn add_cleaning(&mut self, cleaned: &[Extent], writes: &[Write]) {
        self.totals.cleaned += cleaned.iter().map(|extent| extent.blocks).sum::<u64>();
        self.cleaner.add(Op::Read, cleaned.iter().copied());
        for writes in writes.chunk_by(|a, b| is_record(a) == is_record(b)) {
            let extents = writes.iter().map(|write| write.extent);
            self.cleaner.add(Op::Write, extents);
        }
    }

    /// Issues the next request of cleaning. Returns whether there was one.
    pub(super) fn clean(&mut self, now: Time) -> bool {
        let longest = u64::from(self.longest_write());
        let Some(part) = self.cleaner.next(longest) else {
            return false;
        };
        let cleaner = self.flusher_actor() + 1;
        let offset = self.files.mount.start.0 + part.extent.start * BLOCK_BYTES;
        let len = part.extent.blocks * BLOCK_BYTES;
        self.flusher.in_flight += 1;
        self.ask(
            cleaner,
            Request {
                access: Access::new(Time::ZERO, part.op, offset, len),
                tag: Tag {
                    process: cleaner as u32,
                    ..Tag::default()
                },
                asked: now,
                counts: Time::ZERO,
                data: None,
            },
        );
        true
    }

    /// Handles the completion of a request of cleaning.
    pub(super) fn cleaned(&mut self) {
        self.cleaner.done();
        self.flusher.in_flight -= 1;
    }

    /// Begins a checkpoint of a log-structured file system.
    pub(super) fn begin_checkpoint(&mut self) {
        if !std::mem::take(&mut self.journal.pending) {
            return;
        }
        self.journal.due = None;
        self.journal.begun += 1;
        let volume = &mut self.files.mount.volume;
        let checkpoint = volume.checkpoint();
        let (cleaned, mut writes) = (volume.take_cleaned(), volume.take_writes());
        for block in volume.take_fresh() {
            self.cache.set(super::mount::metadata(block), |_| {});
        }
        self.add_cleaning(&cleaned, &[]);
        let record = writes.pop().filter(is_record);
        let Some(record) = record.filter(|_| checkpoint.is_ok()) else {
            // There was nothing to write, or no room for it.
            self.totals.cut_short += u64::from(checkpoint.is_err());
            self.journal.ended += 1;
            return;
        };
        let extents = writes.iter().map(|write| write.extent);
        let blocks = extents.clone();
        self.journal.commit = Some(Commit {
            blocks: blocks.flat_map(|e| e.start..e.end()).collect(),
            freed: std::mem::take(&mut self.journal.freed),
            phase: Phase::Data,
            in_flight: self.flusher.back_in_flight,
            log: extents.collect(),
            record: record.extent.start,
        });
    }
}

/// Whether a write waits for all before it, and all behind it wait for it.
fn is_record(write: &Write) -> bool {
    write.purpose == Purpose::Commit
}
