//! The journal of ext3 and ext4 (JBD2) as the block layer sees it, in ordered mode.
//!
//! The running transaction gathers changed blocks of metadata and revoked ones. A commit writes, in this order and one
//! behind the other in the log: blocks of revoke records, and for each run of changed blocks a descriptor with their tags
//! followed by the blocks themselves; then, when all of these are written, the commit block, with a flush of the drive's
//! cache before it and forced to the medium (a barrier). After the commit the changed blocks may be written to their
//! places; a transaction's part of the log is free again when all of them are, or when a later transaction has committed
//! them too, and the super block of the journal then names the new tail. A transaction that finds no room in the log waits
//! until the oldest ones are checkpointed. After `fs/jbd2/{commit,checkpoint,journal,revoke}.c` of Linux 6.18.
//!
//! The caller writes the data of the transaction before the commit (ordered mode), and waits for what it writes.
//! Left out: fast commits, asynchronous commits, credits of handles, and the contents of blocks.

use crate::block::Extent;
use crate::tags::{LARGEST_SHARE, Tags};
use std::collections::{BTreeSet, VecDeque};

/// Blocks of the log that stay free beside a large transaction, for what the last operations change that do not wait.
const SPARE: u64 = 64;

/// What a commit writes into the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Blocks of the volume for revoke blocks, descriptors and changed blocks, in order.
    pub log: Vec<Extent>,
    /// The block of the commit block; it is written when all others are.
    pub record: u64,
}

/// A transaction whose blocks are not all in their places.
#[derive(Clone, Debug)]
struct Pending {
    /// Blocks of the log that it takes.
    log: u64,
    blocks: BTreeSet<u64>,
}

/// A journal.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The pieces of the journal, with its super block first.
    pieces: Vec<Extent>,
    tags: Tags,
    /// Blocks of the log: those of the journal without its super block.
    blocks: u64,
    /// The next block of the log.
    head: u64,
    running: BTreeSet<u64>,
    revoked: BTreeSet<u64>,
    committing: Option<Pending>,
    /// The oldest first.
    pending: VecDeque<Pending>,
    used: u64,
    /// Blocks of the log that became free since the super block of the journal was written.
    moved: u64,
}

impl Journal {
    /// Begins with an empty log in these pieces, of at least 64 blocks in all.
    pub(crate) fn new(pieces: Vec<Extent>, tags: Tags) -> Self {
        let all: u64 = pieces.iter().map(|piece| piece.blocks).sum();
        Self {
            pieces,
            tags,
            blocks: all.saturating_sub(1),
            head: 0,
            running: BTreeSet::new(),
            revoked: BTreeSet::new(),
            committing: None,
            pending: VecDeque::new(),
            used: 0,
            moved: 0,
        }
    }

    /// Adds a changed block to the running transaction.
    pub fn change(&mut self, block: u64) {
        self.revoked.remove(&block);
        self.running.insert(block);
    }

    /// Adds a freed block of metadata: it is not to be replayed, and needs not be written to its place.
    pub fn revoke(&mut self, block: u64) {
        self.running.remove(&block);
        self.revoked.insert(block);
        if let Some(committing) = &mut self.committing {
            committing.blocks.remove(&block);
        }
        self.placed(block);
    }

    /// Returns whether nothing is to be committed.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.revoked.is_empty()
    }

    /// Returns whether a block may be written to its place: it is in no transaction that is not committed.
    pub(crate) fn may_write(&self, block: u64) -> bool {
        let committing = self.committing.as_ref();
        !self.running.contains(&block)
            && committing.is_none_or(|pending| !pending.blocks.contains(&block))
    }

    /// Returns whether the running transaction is so large that it must be committed.
    pub fn is_full(&self) -> bool {
        self.needs() > self.tags.largest(self.blocks)
    }

    /// Blocks of the log that a commit of the running transaction takes, the commit block included.
    fn needs(&self) -> u64 {
        let changed = self.running.len() as u64;
        let revokes = self.tags.revoke_blocks(self.revoked.len() as u64);
        changed + changed.div_ceil(self.tags.per_descriptor()) + revokes + 1
    }

    /// The committed blocks that are not in their places, in order of place.
    pub(crate) fn not_in_place(&self) -> Vec<u64> {
        let all = self.pending.iter().flat_map(|pending| &pending.blocks);
        let blocks: BTreeSet<u64> = all
            .copied()
            .filter(|&block| self.may_write(block))
            .collect();
        blocks.into_iter().collect()
    }

    /// The blocks to write to their places before the log has room for a commit; none if it has.
    pub(crate) fn in_the_way(&self) -> Vec<u64> {
        self.in_the_way_of(self.needs())
    }

    /// The blocks to write to their places before operations go on ([`Journal::is_short`]).
    pub fn to_checkpoint(&self) -> Vec<u64> {
        self.in_the_way_of(self.room_wanted())
    }

    /// Room for the largest transaction (`jbd2_space_needed`), and in any case for the running one.
    fn room_wanted(&self) -> u64 {
        self.tags.largest(self.blocks).max(self.needs() + SPARE)
    }

    fn in_the_way_of(&self, room: u64) -> Vec<u64> {
        let mut free = self.blocks.saturating_sub(self.used);
        let mut blocks = BTreeSet::new();
        for pending in &self.pending {
            if free >= room {
                break;
            }
            free += pending.log;
            blocks.extend(&pending.blocks);
        }
        blocks
            .into_iter()
            .filter(|&block| self.may_write(block))
            .collect()
    }

    /// Begins to commit the running transaction. `None` if there is nothing to commit, another commit is in progress, or
    /// the log has no room ([`Journal::to_checkpoint`]).
    pub fn begin(&mut self) -> Option<Commit> {
        let needs = self.needs();
        if self.is_idle() || self.committing.is_some() || self.used + needs > self.blocks {
            return None;
        }
        let log = self.take(needs - 1);
        let record = self.take(1).first().map_or(0, |extent| extent.start);
        let blocks = std::mem::take(&mut self.running);
        self.revoked.clear();
        self.used += needs;
        self.committing = Some(Pending { log: needs, blocks });
        Some(Commit { log, record })
    }

    /// Takes blocks of the log, as blocks of the volume.
    fn take(&mut self, blocks: u64) -> Vec<Extent> {
        let mut taken: Vec<Extent> = Vec::new();
        let mut left = blocks;
        while left > 0 {
            let (start, room) = self.place(self.head + self.first());
            let run = room.min(left).min(self.blocks - self.head);
            taken.push(Extent::new(start, run));
            self.head = (self.head + run) % self.blocks.max(1);
            left -= run;
        }
        taken
    }

    /// The first block of the log: ext's journal begins with its super block, ReiserFS's ends with its header.
    fn first(&self) -> u64 {
        u64::from(self.tags != Tags::Reiser)
    }

    /// The block of the volume of a block of the journal, and the number of blocks up to the end of its piece.
    fn place(&self, block: u64) -> (u64, u64) {
        let mut before = 0;
        for piece in &self.pieces {
            if block < before + piece.blocks {
                let within = block - before;
                return (piece.start + within, piece.blocks - within);
            }
            before += piece.blocks;
        }
        (0, 1)
    }

    /// Ends the commit: its record is on the medium.
    pub fn committed(&mut self) {
        let Some(committed) = self.committing.take() else {
            return;
        };
        for earlier in &mut self.pending {
            earlier
                .blocks
                .retain(|block| !committed.blocks.contains(block));
        }
        self.pending.push_back(committed);
        self.advance();
    }

    /// Notes that a block was written to its place.
    pub fn placed(&mut self, block: u64) {
        for pending in &mut self.pending {
            pending.blocks.remove(&block);
        }
        self.advance();
    }

    /// Frees the log of the oldest transactions that have nothing left to write.
    fn advance(&mut self) {
        while self
            .pending
            .front()
            .is_some_and(|oldest| oldest.blocks.is_empty())
        {
            let freed = self.pending.pop_front().map_or(0, |oldest| oldest.log);
            self.used -= freed;
            self.moved += freed;
        }
    }

    /// Returns the block of the journal's super block if the tail has moved since the last call: it must be written before
    /// the freed part of the log is.
    pub fn super_block(&mut self) -> Option<u64> {
        let block = match self.tags {
            Tags::Short | Tags::Long => 0,
            Tags::Reiser => self.blocks,
        };
        (std::mem::take(&mut self.moved) > 0).then(|| self.place(block).0)
    }

    /// As [`Journal::super_block`], if so much of the log became free that a commit updates the tail.
    pub fn due_super_block(&mut self) -> Option<u64> {
        let due = self.moved >= self.blocks / LARGEST_SHARE;
        due.then(|| self.super_block()).flatten()
    }

    /// The blocks that the running transaction changed, in order of place.
    pub fn changed(&self) -> impl Iterator<Item = u64> + '_ {
        self.running.iter().copied()
    }

    /// Returns whether a block of the last commit is to be written to its place: it was not changed or freed since.
    pub fn awaits_place(&self, block: u64) -> bool {
        let last = self.pending.back();
        self.may_write(block) && last.is_some_and(|pending| pending.blocks.contains(&block))
    }

    /// Returns whether a block was changed by the running transaction.
    pub fn changes(&self, block: u64) -> bool {
        self.running.contains(&block)
    }

    /// Returns whether the log is so full that operations wait for a checkpoint. The running transaction then still has
    /// room for its commit.
    pub fn is_short(&self) -> bool {
        self.blocks - self.used.min(self.blocks) < self.room_wanted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        // A super block and 99 blocks of the log, in two pieces.
        Journal::new(
            vec![Extent::new(1000, 40), Extent::new(5000, 60)],
            Tags::Short,
        )
    }

    #[test]
    fn a_commit_has_revokes_descriptors_blocks_and_a_record() {
        let mut journal = journal();
        (1..=30).for_each(|block| journal.change(block));
        let commit = journal.begin().unwrap();
        // A descriptor and 30 blocks, then the record.
        assert_eq!(commit.log, [Extent::new(1001, 31)]);
        assert_eq!(commit.record, 1032);
        assert!(!journal.may_write(7));
        journal.committed();
        assert!(journal.may_write(7) && journal.is_idle());
        assert_eq!(journal.not_in_place().len(), 30);
        journal.revoke(7);
        journal.change(31);
        let commit = journal.begin().unwrap();
        // A revoke block, a descriptor, a block; 39 blocks of the log are in the first piece.
        assert_eq!(commit.log, [Extent::new(1033, 3)]);
        assert_eq!(commit.record, 1036);
    }

    #[test]
    fn the_log_goes_around_and_a_full_one_waits_for_the_oldest() {
        let mut journal = journal();
        for round in 0..3 {
            (1..=28).for_each(|block| journal.change(100 * round + block));
            assert_eq!(journal.in_the_way(), []);
            journal.begin().unwrap();
            journal.committed();
        }
        assert_eq!(journal.super_block(), None);
        (1..=28).for_each(|block| journal.change(300 + block));
        assert_eq!(journal.begin(), None, "90 of 99 blocks are used");
        let oldest: Vec<u64> = (1..=28).collect();
        assert_eq!(journal.in_the_way(), oldest);
        oldest.into_iter().for_each(|block| journal.placed(block));
        assert_eq!(journal.super_block(), Some(1000));
        assert_eq!(journal.super_block(), None);
        let commit = journal.begin().unwrap();
        // Blocks 91 to 99 of the log, then from its beginning.
        assert_eq!(commit.log, [Extent::new(5051, 9), Extent::new(1001, 20)]);
        assert_eq!(commit.record, 1021);
    }

    #[test]
    fn a_block_that_is_committed_again_frees_the_earlier_transaction() {
        let mut journal = journal();
        for _ in 0..20 {
            (1..=28).for_each(|block| journal.change(block));
            assert!(journal.begin().is_some());
            journal.committed();
        }
        assert_eq!(journal.super_block(), Some(1000));
        assert_eq!(journal.in_the_way(), []);
        assert!(!journal.is_full());
        (1..=30).for_each(|block| journal.change(block));
        assert!(journal.is_full());
    }

    #[test]
    fn the_header_of_reiserfs_ends_the_journal() {
        let mut journal = Journal::new(vec![Extent::new(18, 100)], Tags::Reiser);
        (1..=10).for_each(|block| journal.change(block));
        journal.revoke(10);
        let commit = journal.begin().unwrap();
        // The description block and 9 blocks, then the commit block.
        assert_eq!(commit.log, [Extent::new(18, 10)]);
        assert_eq!(commit.record, 28);
        journal.committed();
        journal
            .not_in_place()
            .into_iter()
            .for_each(|block| journal.placed(block));
        assert_eq!(journal.super_block(), Some(117));
    }
}
