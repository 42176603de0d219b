//! A file system on a volume: its files, where they lie, and what each operation changes.
//!
//! An operation returns nothing of the drive: it notes the blocks of metadata that it changes
//! (`take_changed`), those that it frees (`take_revoked`), and leaves it to the caller to write data
//! and journal. Blocks of a deleted file are free only after [`Volume::release`]: no file system uses them before the
//! deletion is committed.

use crate::alloc::Allocator;
use crate::block::{Extent, FileId, ROOT};
use crate::error::FsError;
use crate::ext::{Ext, ExtFormat};
use crate::journal::Journal;
use crate::layout::{Core, Layout};
use crate::log::{LogFormat, LogFs};
use crate::reiser::{ReiserFormat, ReiserFs};
use crate::space::Space;
use crate::write::Write;

/// Longest name, in bytes.
const LONGEST_NAME: usize = 255;

/// A format with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formatting {
    /// ext2, ext3 or ext4.
    Ext(ExtFormat),
    /// ReiserFS.
    Reiser(ReiserFormat),
    /// A log-structured format, which places blocks itself.
    Log(LogFormat),
}

impl From<LogFormat> for Formatting {
    fn from(format: LogFormat) -> Self {
        Self::Log(format)
    }
}

impl From<ReiserFormat> for Formatting {
    fn from(format: ReiserFormat) -> Self {
        Self::Reiser(format)
    }
}

impl From<ExtFormat> for Formatting {
    fn from(format: ExtFormat) -> Self {
        Self::Ext(format)
    }
}

/// A file system.
#[derive(Debug)]
pub struct Volume {
    pub(crate) core: Core,
    pub(crate) layout: Box<dyn Layout>,
}

impl Volume {
    /// Formats a volume of `blocks` blocks with an empty root directory. `allocator` is made once the free blocks are known.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub fn format(
        format: impl Into<Formatting>,
        blocks: u64,
        allocator: impl FnOnce(&Space) -> Box<dyn Allocator>,
    ) -> Result<Self, FsError> {
        let mut space = Space::new(blocks);
        let layout: Box<dyn Layout> = match format.into() {
            Formatting::Ext(format) => Box::new(Ext::new(format, &mut space)?),
            Formatting::Reiser(format) => Box::new(ReiserFs::new(format, &mut space)?),
            Formatting::Log(format) => Box::new(LogFs::new(format, &mut space)?),
        };
        let core = Core {
            allocator: allocator(&space),
            space,
            files: vec![None, None],
            changed: Vec::new(),
            revoked: Vec::new(),
            fresh: Vec::new(),
            cleaned: Vec::new(),
            writes: Vec::new(),
            processor: 0,
        };
        let mut volume = Self { core, layout };
        volume.layout.make_root(&mut volume.core)?;
        volume.core.changed.clear();
        volume.core.fresh.clear();
        Ok(volume)
    }

    /// Mounts the volume again with an allocator: what the present one has set aside is given up.
    pub fn mount(&mut self, allocator: impl FnOnce(&Space) -> Box<dyn Allocator>) {
        let core = &mut self.core;
        core.allocator.give_back(&mut core.space);
        core.allocator = allocator(&core.space);
    }

    /// Tells the allocator that a sync begins that writes these pages of a file, those of them that have blocks in place.
    pub fn announce(&mut self, id: FileId, pages: impl Iterator<Item = u32>) {
        let core = &mut self.core;
        let Some(file) = core.files.get(id.0 as usize).and_then(Option::as_ref) else {
            return;
        };
        for (block, _) in pages.filter_map(|page| file.map.find(page)) {
            core.allocator.rewrites(Extent::new(block, 1));
        }
    }

    /// Tells the allocator that the sync has allocated all its blocks.
    pub fn announced(&mut self) {
        self.core.allocator.synced();
    }

    /// The free blocks.
    pub fn space(&self) -> &Space {
        &self.core.space
    }

    /// The allocator.
    pub fn allocator(&self) -> &dyn Allocator {
        self.core.allocator.as_ref()
    }

    /// The pieces of the journal, in order; none if the format has no journal.
    pub fn journal(&self) -> &[Extent] {
        self.layout.journal()
    }

    /// An empty journal, if the format has one.
    pub fn new_journal(&self) -> Option<Journal> {
        self.layout.new_journal()
    }

    /// The blocks of metadata that were changed since the last call, each once, in order of place.
    pub fn take_changed(&mut self) -> Vec<u64> {
        let mut changed = std::mem::take(&mut self.core.changed);
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// The blocks of metadata that were freed since the last call.
    pub fn take_revoked(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.core.revoked)
    }

    /// The blocks of metadata that were taken since the last call: nobody reads them before they are written.
    pub fn take_fresh(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.core.fresh)
    }

    /// The transaction ends that has the operations up to now.
    pub fn close(&mut self) {
        self.layout.close();
    }

    /// The transaction that ended last ([`Volume::close`], or [`Volume::checkpoint`]) is committed, which deleted these
    /// blocks: they are free.
    pub fn committed(&mut self, deleted: &[Extent]) {
        self.release(deleted);
        self.layout.committed(&mut self.core);
    }

    /// Tells the allocator how many processors the machine has, if these are more than it was made for.
    pub fn runs_on(&mut self, processors: u32) {
        self.core.allocator.runs_on(processors);
    }

    /// Sets the processor on whose behalf the next blocks are allocated.
    pub fn on_processor(&mut self, processor: u32) {
        self.core.processor = processor;
    }

    /// Creates a file or directory with a name of `name_bytes` bytes. A file is open for writing until
    /// [`Volume::open`] closes it.
    ///
    /// # Errors
    /// The parent does not exist or is no directory; the name is too long; no inode or no block for the entry is free.
    pub fn create(
        &mut self,
        parent: FileId,
        name_bytes: usize,
        directory: bool,
    ) -> Result<FileId, FsError> {
        if !(1..=LONGEST_NAME).contains(&name_bytes) {
            return Err(FsError::NameLength(name_bytes));
        }
        if !self.core.file(parent)?.directory {
            let directory = false;
            return Err(FsError::Kind {
                file: parent,
                directory,
            });
        }
        self.layout
            .create(&mut self.core, parent, name_bytes, directory)
    }

    /// Gives the pages of a range that have no block one; a log-structured format gives all of them new blocks. Changes the
    /// inode in any case.
    ///
    /// # Errors
    /// The file does not exist; not enough blocks are free, and then none is taken.
    pub fn allocate(&mut self, id: FileId, page: u32, pages: u32) -> Result<(), FsError> {
        self.layout.allocate(&mut self.core, id, page, pages)
    }

    /// Whether the format is log-structured: each write of a page gives it a new block.
    pub fn moves(&self) -> bool {
        self.layout.moves()
    }

    /// Writes what is dirty and a checkpoint, in a log-structured format; `take_writes` returns the writes.
    ///
    /// # Errors
    /// No section is free.
    pub fn checkpoint(&mut self) -> Result<(), FsError> {
        self.layout.checkpoint(&mut self.core)
    }

    /// Seconds from the first change of a transaction to its commit by default: 5 for ext3 and ext4, 30 for ReiserFS, 60
    /// for the checkpoint of a log-structured format.
    pub fn commit_seconds(&self) -> u64 {
        self.layout.commit_seconds()
    }

    /// Whether a log-structured format has nothing to write in a checkpoint.
    pub fn is_clean(&self) -> bool {
        self.layout.is_clean()
    }

    /// Number of pages of a file that the next allocation gives contiguous blocks; of a log-structured format what is left
    /// of the section, of others no limit.
    pub fn run_ahead(&self) -> u64 {
        self.layout.run_ahead()
    }

    /// The blocks that cleaning has moved since the last call: it reads them first.
    pub fn take_cleaned(&mut self) -> Vec<Extent> {
        std::mem::take(&mut self.core.cleaned)
    }

    /// What a log-structured format has written by itself since the last call, in order: what cleaning has moved
    /// ([`Volume::take_cleaned`]), and checkpoints.
    pub fn take_writes(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.core.writes)
    }

    /// See [`Layout::nodes_at`].
    pub(crate) fn nodes_at(&self, page: u64) -> u64 {
        self.layout.nodes_at(page)
    }

    /// Sets the length of a file that grows.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn set_size(&mut self, id: FileId, bytes: u64) -> Result<(), FsError> {
        let file = self.core.file_mut(id)?;
        file.bytes = file.bytes.max(bytes);
        self.layout.touch(&mut self.core, id);
        Ok(())
    }

    /// Opens a file for writing, or closes it.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn open(&mut self, id: FileId, open: bool) -> Result<(), FsError> {
        self.core.file_mut(id)?.open = open;
        if !open {
            self.core.allocator.closed(&mut self.core.space, id);
        }
        Ok(())
    }

    /// Deletes a file or an empty directory. Returns its blocks, which stay in use until [`Volume::release`].
    ///
    /// # Errors
    /// The file does not exist, is the root, or is a directory with files.
    pub fn delete(&mut self, id: FileId) -> Result<Vec<Extent>, FsError> {
        let directory = self.core.file(id)?.directory;
        if id == ROOT || directory && !self.layout.is_empty(id) {
            return Err(FsError::NotEmpty(id));
        }
        self.core.allocator.closed(&mut self.core.space, id);
        let extents = self.layout.delete(&mut self.core, id)?;
        for &extent in &extents {
            self.core.space.set_leaving(extent, true);
        }
        Ok(extents)
    }

    /// Frees the blocks of deleted files.
    pub fn release(&mut self, extents: &[Extent]) {
        for &extent in extents {
            self.core.space.set_leaving(extent, false);
        }
        self.core.release(extents);
    }

    /// The length of a file in bytes; 0 if it does not exist.
    pub fn size(&self, id: FileId) -> u64 {
        self.core.file(id).map_or(0, |file| file.bytes)
    }

    /// The block of a page, and the number of pages from it on that are contiguous there; `None` if it has none.
    pub fn find(&self, id: FileId, page: u32) -> Option<(u64, u64)> {
        self.core.file(id).ok()?.map.find(page)
    }

    /// All files and directories.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        let all = self.core.files.iter().zip(0..);
        all.filter_map(|(file, id)| file.as_ref().map(|_| FileId(id)))
    }

    /// The blocks of a file: its pages, then the blocks that map them. Those of [`crate::METADATA`] are the blocks of
    /// metadata that were allocated and that no file owns.
    pub fn blocks(&self, id: FileId) -> Vec<Extent> {
        let pages = self.core.file(id).map(|file| file.map.pieces());
        let pages = pages.unwrap_or(&[]).iter().map(|piece| piece.extent);
        pages.chain(self.layout.metadata(id)).collect()
    }

    /// Number of pieces of a file.
    pub fn pieces(&self, id: FileId) -> usize {
        self.core.file(id).map_or(0, |file| file.map.pieces().len())
    }
}
