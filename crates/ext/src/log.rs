//! The journal of an image: transactions into the log, and their blocks to their places.
//!
//! A transaction is committed with all its blocks at once, so none is ever in progress while another begins. Committed
//! blocks stay in memory and go to their places when half of the log is in use; the log is empty after that. A block that
//! was freed is revoked if the log has a copy of it. The order is that of [`crate::jbd2`]'s source: log, flush, commit
//! block, flush; places, flush, super block of the journal, flush.

use crate::disk::{BLOCK, Disk};
use crate::jbd2::{Format, JournalSuper};
use crate::meta::Block;
use fathom_fs::Extent;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A transaction.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    /// Changed blocks, in order of place.
    pub(crate) blocks: Vec<(u64, Arc<Block>)>,
    /// Blocks that were freed.
    pub(crate) freed: Vec<u64>,
}

/// The number of blocks that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wrote {
    /// Into the journal, its super block included.
    pub(crate) log: u64,
    /// To their places.
    pub(crate) places: u64,
}

/// A journal that is in use.
#[derive(Debug)]
pub(crate) struct Log {
    superblock: JournalSuper,
    format: Format,
    /// The block of the volume for each block of the journal.
    places: Vec<u64>,
    /// The next block of the log, as a block of the journal.
    head: u64,
    used: u64,
    sequence: u32,
    /// Committed blocks that are not in their places.
    pending: BTreeMap<u64, Arc<Block>>,
}

impl Log {
    /// Begins with an empty log. Nothing is written.
    pub(crate) fn new(superblock: JournalSuper, places: Vec<u64>) -> Self {
        Self {
            format: superblock.format(),
            head: u64::from(superblock.first()),
            used: 0,
            sequence: superblock.sequence(),
            pending: BTreeMap::new(),
            places,
            superblock,
        }
    }

    fn first(&self) -> u64 {
        u64::from(self.superblock.first())
    }

    /// Blocks of the log.
    pub(crate) fn blocks(&self) -> u64 {
        self.places.len() as u64 - self.first()
    }

    /// Whether a committed block is not in its place.
    pub(crate) fn has(&self, block: u64) -> bool {
        self.pending.contains_key(&block)
    }

    /// Marks the log as in use (`true`) or as empty for the next mount.
    pub(crate) fn mark(&mut self, disk: &mut dyn Disk, in_use: bool) -> io::Result<()> {
        let start = if in_use { self.head as u32 } else { 0 };
        let block = self.superblock.with_tail(start, self.sequence);
        disk.write(self.places[0], block)?;
        disk.flush()
    }

    /// Blocks of the log that a transaction takes.
    pub(crate) fn needs(&self, transaction: &Transaction) -> u64 {
        let changed = transaction.blocks.len();
        let revoked = transaction.freed.len();
        let all = changed
            + changed.div_ceil(self.format.tags())
            + revoked.div_ceil(self.format.records())
            + 1;
        all as u64
    }

    /// Commits a transaction whose data is written. The log has room for it when it is empty.
    pub(crate) fn commit(
        &mut self,
        disk: &mut dyn Disk,
        transaction: Transaction,
        now: i64,
    ) -> io::Result<Wrote> {
        let mut wrote = Wrote::default();
        let needs = self.needs(&transaction);
        if self.used + needs > self.blocks() {
            wrote = self.checkpoint(disk)?;
        }
        let Transaction { blocks, mut freed } = transaction;
        freed.retain(|block| self.pending.contains_key(block));
        freed.sort_unstable();
        let mut bytes = Vec::new();
        for part in freed.chunks(self.format.records()) {
            bytes.extend_from_slice(&self.format.revoke(self.sequence, part));
        }
        for part in blocks.chunks(self.format.tags()) {
            let part: Vec<(u64, &Block)> = part.iter().map(|(at, data)| (*at, &**data)).collect();
            self.format.describe(self.sequence, &part, &mut bytes);
        }
        let before = self.used;
        self.append(disk, &bytes)?;
        disk.flush()?;
        let record = self.format.commit(self.sequence, now);
        self.append(disk, &record)?;
        disk.flush()?;
        self.sequence = self.sequence.wrapping_add(1);
        for block in freed {
            self.pending.remove(&block);
        }
        self.pending.extend(blocks);
        wrote.log += self.used - before;
        Ok(wrote)
    }

    /// Writes blocks behind the head of the log.
    fn append(&mut self, disk: &mut dyn Disk, bytes: &[u8]) -> io::Result<()> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let place = self.places[self.head as usize];
            // As many blocks as lie one after the other, up to the end of the journal.
            let rest = self.places[self.head as usize..].iter();
            let run = rest
                .zip(place..)
                .take_while(|&(&at, expected)| at == expected);
            let count = run.count().min(bytes.len() / BLOCK);
            let (now, later) = bytes.split_at(count * BLOCK);
            disk.write(place, now)?;
            self.head += count as u64;
            self.used += count as u64;
            if self.head == self.places.len() as u64 {
                self.head = self.first();
            }
            bytes = later;
        }
        Ok(())
    }

    /// Whether so much of the log is in use that it is to be emptied.
    pub(crate) fn is_half_full(&self) -> bool {
        2 * self.used > self.blocks()
    }

    /// Writes all committed blocks to their places and empties the log.
    pub(crate) fn checkpoint(&mut self, disk: &mut dyn Disk) -> io::Result<Wrote> {
        let pending: Vec<(u64, Arc<Block>)> =
            std::mem::take(&mut self.pending).into_iter().collect();
        write_runs(disk, &pending)?;
        disk.flush()?;
        self.used = 0;
        self.mark(disk, true)?;
        Ok(Wrote {
            log: 1,
            places: pending.len() as u64,
        })
    }
}

/// Writes blocks that are in order of place, neighbours with one request.
pub(crate) fn write_runs(disk: &mut dyn Disk, blocks: &[(u64, Arc<Block>)]) -> io::Result<()> {
    let numbers: Vec<u64> = blocks.iter().map(|(block, _)| *block).collect();
    let mut at = 0;
    let mut bytes = Vec::new();
    for run in Extent::runs(&numbers) {
        let end = at + run.blocks as usize;
        bytes.clear();
        blocks[at..end]
            .iter()
            .for_each(|(_, data)| bytes.extend_from_slice(data.as_slice()));
        disk.write(run.start, &bytes)?;
        at = end;
    }
    Ok(())
}
