//! File operations on a volume without time: what each sync writes.
//!
//! Everything is cached: a write makes pages dirty, a sync writes them, and the dirty pages of a deleted file are never
//! written. As `sync` of Linux does, it writes the data file by file, in the order in which the files became dirty, in
//! order of pages; then the transaction into the journal; then the changed metadata to its place. No transaction ends
//! before (Linux commits one every 5 s, and writes metadata to its place after 30 s). Pages get their blocks when they are
//! written to the drive (delayed allocation), or one by one when the program writes them, with calls of 4 KiB.

use crate::alloc::Allocator;
use crate::block::{BLOCK_BYTES, Extent, FileId, ROOT};
use crate::error::FsError;
use crate::journal::Journal;
use crate::space::Space;
use crate::volume::Volume;
use crate::write::{Purpose, Write, join};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The dirty pages of a file.
#[derive(Clone, Debug, Default)]
struct Dirty {
    pages: BTreeSet<u32>,
    /// Number of blocks that those need that have none yet, with what maps them.
    homeless: u64,
}

/// A volume with its dirty pages.
#[derive(Debug)]
pub struct Player {
    volume: Volume,
    delayed: bool,
    /// Files in the order in which they became dirty. Those that are clean again or deleted are skipped.
    order: Vec<FileId>,
    dirty: FxHashMap<FileId, Dirty>,
    /// Number of blocks that the dirty pages need that have none yet, with what maps them.
    homeless: u64,
    freed: Vec<Extent>,
    /// None for ext2.
    journal: Option<Journal>,
}

impl Player {
    /// Begins with nothing dirty. `delayed`: blocks are allocated when pages are written to the drive. A log-structured
    /// format always does so.
    pub fn new(volume: Volume, delayed: bool) -> Self {
        Self {
            journal: volume.new_journal(),
            delayed: delayed || volume.moves(),
            volume,
            order: Vec::new(),
            dirty: FxHashMap::default(),
            homeless: 0,
            freed: Vec::new(),
        }
    }

    /// The volume.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// Mounts the volume again, with another allocator: what the present one has set aside is given up.
    pub fn mount(&mut self, allocator: impl FnOnce(&Space) -> Box<dyn Allocator>) {
        self.volume.mount(allocator);
    }

    /// Makes a directory in the root.
    ///
    /// # Errors
    /// See [`Volume::create`].
    pub fn make_directory(&mut self, name_bytes: usize) -> Result<FileId, FsError> {
        self.want_room(0, 0)?;
        self.volume.create(ROOT, name_bytes, true)
    }

    /// Creates a file and writes it.
    ///
    /// # Errors
    /// See [`Volume::create`]; there is no room for the data. There is no such file then.
    pub fn create(
        &mut self,
        parent: FileId,
        name_bytes: usize,
        bytes: u64,
    ) -> Result<FileId, FsError> {
        self.want_room(0, bytes.div_ceil(BLOCK_BYTES))?;
        let file = self.volume.create(parent, name_bytes, false)?;
        self.write(file, 0, bytes)?;
        self.volume.open(file, false)?;
        Ok(file)
    }

    /// Appends to a file.
    ///
    /// # Errors
    /// The file does not exist; there is no room for the data. The file is as it was then.
    pub fn append(&mut self, file: FileId, bytes: u64) -> Result<(), FsError> {
        let from = self.volume.size(file);
        self.want_room(
            from.div_ceil(BLOCK_BYTES),
            (from + bytes).div_ceil(BLOCK_BYTES),
        )?;
        self.volume.open(file, true)?;
        self.write(file, from, bytes)?;
        self.volume.open(file, false)
    }

    /// Checks that there is room for the pages from one to another, for those that have no block yet, for the blocks that
    /// map them, and for a block of a directory.
    fn want_room(&self, from: u64, end: u64) -> Result<(), FsError> {
        let new = (from..end).map(|page| 1 + self.volume.nodes_at(page));
        self.volume.want_room(new.sum::<u64>() + self.homeless)
    }

    fn write(&mut self, file: FileId, from: u64, bytes: u64) -> Result<(), FsError> {
        if bytes == 0 {
            return Ok(());
        }
        let end = from + bytes;
        let dirty = self.dirty.entry(file).or_default();
        if dirty.pages.is_empty() {
            self.order.push(file);
        }
        for page in from / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let new = dirty.pages.insert(page as u32);
            if !self.delayed {
                self.volume
                    .set_size(file, end.min((page + 1) * BLOCK_BYTES))?;
                self.volume.allocate(file, page as u32, 1)?;
            } else if new && self.volume.find(file, page as u32).is_none() {
                let blocks = 1 + self.volume.nodes_at(page);
                dirty.homeless += blocks;
                self.homeless += blocks;
            }
        }
        self.volume.set_size(file, end)
    }

    /// Deletes a file or directory.
    ///
    /// # Errors
    /// See [`Volume::delete`].
    pub fn delete(&mut self, file: FileId) -> Result<(), FsError> {
        self.freed.extend(self.volume.delete(file)?);
        let dirty = self.dirty.remove(&file).unwrap_or_default();
        self.homeless -= dirty.homeless;
        Ok(())
    }

    /// Writes all that is dirty. Returns the writes in order.
    ///
    /// # Errors
    /// See [`Volume::allocate`].
    pub fn sync(&mut self) -> Result<Vec<Write>, FsError> {
        let mut writes = Vec::new();
        for file in &self.order {
            if let Some(dirty) = self.dirty.get(file) {
                self.volume.announce(*file, dirty.pages.iter().copied());
            }
        }
        for file in std::mem::take(&mut self.order) {
            let dirty = self.dirty.remove(&file).unwrap_or_default();
            self.homeless -= dirty.homeless;
            let mut pages = dirty.pages.into_iter().peekable();
            while let Some(first) = pages.next() {
                let mut end = first + 1;
                while pages.next_if_eq(&end).is_some() {
                    end += 1;
                }
                self.write_back(file, first, end, &mut writes)?;
            }
        }
        self.volume.announced();
        self.commit(&mut writes)?;
        self.volume.committed(&std::mem::take(&mut self.freed));
        Ok(writes)
    }

    /// Writes the changed metadata: into the journal, then to its place; or a checkpoint.
    fn commit(&mut self, writes: &mut Vec<Write>) -> Result<(), FsError> {
        self.volume.checkpoint()?;
        writes.extend(self.volume.take_writes());
        self.volume.close();
        let changed = self.volume.take_changed();
        let revoked = self.volume.take_revoked();
        let Some(journal) = &mut self.journal else {
            add(writes, Purpose::Metadata, Extent::runs(&changed));
            return Ok(());
        };
        for block in changed {
            journal.change(block);
            if journal.is_full() {
                commit(journal, writes);
            }
        }
        revoked.into_iter().for_each(|block| journal.revoke(block));
        commit(journal, writes);
        let placed = journal.not_in_place();
        placed.iter().for_each(|&block| journal.placed(block));
        add(writes, Purpose::Metadata, Extent::runs(&placed));
        Ok(())
    }

    fn write_back(
        &mut self,
        file: FileId,
        first: u32,
        end: u32,
        writes: &mut Vec<Write>,
    ) -> Result<(), FsError> {
        if self.delayed {
            self.volume.allocate(file, first, end - first)?;
            writes.extend(self.volume.take_writes());
        }
        let mut page = first;
        while page < end {
            let Some((block, run)) = self.volume.find(file, page) else {
                return Err(FsError::Missing(file));
            };
            let run = run.min(u64::from(end - page));
            join(writes, Purpose::Data, Extent::new(block, run));
            page += run as u32;
        }
        Ok(())
    }
}

/// Commits the running transaction.
fn commit(journal: &mut Journal, writes: &mut Vec<Write>) {
    if journal.is_idle() {
        return;
    }
    let single = |block: u64| Extent::new(block, 1);
    let checkpoint = journal.in_the_way();
    checkpoint.iter().for_each(|&block| journal.placed(block));
    add(writes, Purpose::Checkpoint, Extent::runs(&checkpoint));
    let tail = journal.super_block().map(single);
    add(writes, Purpose::JournalSuper, tail.into_iter().collect());
    let commit = journal.begin().unwrap_or_default();
    add(writes, Purpose::Log, commit.log);
    add(writes, Purpose::Commit, vec![single(commit.record)]);
    journal.committed();
}

fn add(writes: &mut Vec<Write>, purpose: Purpose, extents: Vec<Extent>) {
    let write = |extent| Write { purpose, extent };
    writes.extend(extents.into_iter().map(write));
}
