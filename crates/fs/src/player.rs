//! File operations on a volume without time: what each sync writes.
//!
//! Everything is cached: a write makes pages dirty, a sync writes them, and the dirty pages of a deleted file are never
//! written. Data is written file by file, in the order in which the files became dirty, in order of pages; then the
//! metadata. Pages get their blocks when they are written to the drive (delayed allocation), or one by one when the
//! program writes them, with calls of 4 KiB.

use crate::alloc::Allocator;
use crate::block::{BLOCK_BYTES, Extent, FileId, ROOT};
use crate::error::FsError;
use crate::space::Space;
use crate::volume::Volume;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What a sync writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Data, in order.
    pub data: Vec<Extent>,
    /// Blocks of metadata, each once, in order of place.
    pub metadata: Vec<u64>,
    /// Blocks of metadata that were freed: the journal must not replay them.
    pub revoked: Vec<u64>,
}

/// The dirty pages of a file.
#[derive(Clone, Debug, Default)]
struct Dirty {
    pages: BTreeSet<u32>,
    /// Number of them that have no block yet.
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
    /// Number of dirty pages that have no block yet.
    homeless: u64,
    freed: Vec<Extent>,
}

impl Player {
    /// Begins with nothing dirty. `delayed`: blocks are allocated when pages are written to the drive.
    pub fn new(volume: Volume, delayed: bool) -> Self {
        Self {
            volume,
            delayed,
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
        self.want_room(bytes.div_ceil(BLOCK_BYTES))?;
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
        let pages = (from + bytes).div_ceil(BLOCK_BYTES) - from.div_ceil(BLOCK_BYTES);
        self.want_room(pages)?;
        self.volume.open(file, true)?;
        self.write(file, from, bytes)?;
        self.volume.open(file, false)
    }

    /// Checks that there is room for pages, for those that have no block yet, for the blocks that map them (one for
    /// 340 extents at worst), and for a block of a directory.
    fn want_room(&self, pages: u64) -> Result<(), FsError> {
        let pages = pages + self.homeless;
        let wanted = pages + pages.div_ceil(340) + 4;
        let free = self.volume.space().free() + self.volume.allocator().set_aside();
        match wanted <= free {
            true => Ok(()),
            false => Err(FsError::Full { wanted, free }),
        }
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
                dirty.homeless += 1;
                self.homeless += 1;
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

    /// Writes all that is dirty.
    ///
    /// # Errors
    /// See [`Volume::allocate`].
    pub fn sync(&mut self) -> Result<Synced, FsError> {
        let mut data = Vec::new();
        for (&file, dirty) in self
            .order
            .iter()
            .filter_map(|file| self.dirty.get_key_value(file))
        {
            self.volume.announce(file, dirty.pages.iter().copied());
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
                self.write_back(file, first, end, &mut data)?;
            }
        }
        self.volume.announced();
        self.volume.release(&std::mem::take(&mut self.freed));
        Ok(Synced {
            data,
            metadata: self.volume.take_changed(),
            revoked: self.volume.take_revoked(),
        })
    }

    fn write_back(
        &mut self,
        file: FileId,
        first: u32,
        end: u32,
        data: &mut Vec<Extent>,
    ) -> Result<(), FsError> {
        if self.delayed {
            self.volume.allocate(file, first, end - first)?;
        }
        let mut page = first;
        while page < end {
            let Some((block, run)) = self.volume.find(file, page) else {
                return Err(FsError::Missing(file));
            };
            let run = run.min(u64::from(end - page));
            match data.last_mut() {
                Some(last) if last.end() == block => last.blocks += run,
                _ => data.push(Extent::new(block, run)),
            }
            page += run as u32;
        }
        Ok(())
    }
}
