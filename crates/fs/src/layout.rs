//! What a format of a file system decides, and what all formats share: files, free blocks, and the notes of an operation.
//!
//! A [`Layout`] says which blocks of metadata an operation reads and changes, and asks the allocator for new blocks with
//! the goals of its format. It does not order the writes of a sync and has no time.

use crate::alloc::{Allocator, Want};
use crate::block::{Extent, FileId};
use crate::error::FsError;
use crate::journal::Journal;
use crate::map::Map;
use crate::space::Space;
use crate::write::Write;
use std::fmt;

/// A file or directory, as far as all formats agree.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) map: Map,
    pub(crate) bytes: u64,
    /// The number of its inode, in the format's own count.
    pub(crate) number: u64,
    pub(crate) parent: FileId,
    pub(crate) directory: bool,
    pub(crate) open: bool,
}

impl File {
    pub(crate) fn new(number: u64, parent: FileId, directory: bool) -> Self {
        Self {
            map: Map::default(),
            bytes: 0,
            number,
            parent,
            directory,
            open: !directory,
        }
    }
}

/// The state of a volume that does not depend on its format.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) space: Space,
    pub(crate) allocator: Box<dyn Allocator>,
    pub(crate) files: Vec<Option<Box<File>>>,
    /// Blocks of metadata that were changed.
    pub(crate) changed: Vec<u64>,
    /// Blocks of metadata that were freed.
    pub(crate) revoked: Vec<u64>,
    /// Blocks of metadata that hold nothing on the drive yet.
    pub(crate) fresh: Vec<u64>,
    /// Blocks that cleaning has moved.
    pub(crate) cleaned: Vec<Extent>,
    /// What a log-structured format has written by itself: what cleaning has moved, and checkpoints.
    pub(crate) writes: Vec<Write>,
    /// The processor on whose behalf blocks are allocated.
    pub(crate) processor: u32,
}

impl Core {
    pub(crate) fn file(&self, id: FileId) -> Result<&File, FsError> {
        let file = self.files.get(id.0 as usize).and_then(Option::as_ref);
        file.map(Box::as_ref).ok_or(FsError::Missing(id))
    }

    pub(crate) fn file_mut(&mut self, id: FileId) -> Result<&mut File, FsError> {
        let file = self.files.get_mut(id.0 as usize).and_then(Option::as_mut);
        file.map(Box::as_mut).ok_or(FsError::Missing(id))
    }

    pub(crate) fn take_out(&mut self, id: FileId) -> Result<Box<File>, FsError> {
        let file = self.files.get_mut(id.0 as usize).and_then(Option::take);
        file.ok_or(FsError::Missing(id))
    }

    pub(crate) fn put_back(&mut self, id: FileId, file: Box<File>) {
        if let Some(place) = self.files.get_mut(id.0 as usize) {
            *place = Some(file);
        }
    }

    /// Asks the allocator for blocks.
    pub(crate) fn take(&mut self, want: &Want) -> Result<Extent, FsError> {
        let taken = self.allocator.allocate(&mut self.space, want);
        taken.ok_or(FsError::Full {
            wanted: want.blocks,
            free: self.space.free(),
        })
    }

    /// Refuses if fewer blocks than `wanted` can be had.
    pub(crate) fn want_room(&self, wanted: u64) -> Result<(), FsError> {
        let free = self.space.free() + self.allocator.set_aside();
        match wanted <= free {
            true => Ok(()),
            false => Err(FsError::Full { wanted, free }),
        }
    }

    /// Frees blocks.
    pub(crate) fn release(&mut self, extents: &[Extent]) {
        for &extent in extents {
            self.space.release(extent);
            self.allocator.released(&self.space, extent);
        }
    }
}

/// A format of a file system.
pub(crate) trait Layout: fmt::Debug + Send {
    /// The pieces of the journal, in order; none if it has no journal.
    fn journal(&self) -> &[Extent];

    /// An empty journal.
    fn new_journal(&self) -> Option<Journal>;

    /// Makes the root directory.
    fn make_root(&mut self, core: &mut Core) -> Result<(), FsError>;

    /// Enters a new file or directory, whose parent is a directory, and adds it to the files.
    fn create(
        &mut self,
        core: &mut Core,
        parent: FileId,
        name_bytes: usize,
        directory: bool,
    ) -> Result<FileId, FsError>;

    /// Gives pages blocks where they have none, or new ones if the format moves what is written.
    fn allocate(
        &mut self,
        core: &mut Core,
        id: FileId,
        page: u32,
        pages: u32,
    ) -> Result<(), FsError>;

    /// Number of blocks that map a file and that it needs once it has this page and all before it, but not without it.
    fn nodes_at(&self, _page: u64) -> u64 {
        0
    }

    /// Upper bound of the further blocks of metadata that an operation needs which gives files `blocks` blocks.
    fn most_nodes(&self, blocks: u64) -> u64;

    /// Notes that the length or a time of a file changed.
    fn touch(&mut self, core: &mut Core, id: FileId);

    /// Returns whether a directory has no entries but its own.
    fn is_empty(&self, id: FileId) -> bool;

    /// Deletes a file or an empty directory. Returns its blocks, which stay in use for now.
    fn delete(&mut self, core: &mut Core, id: FileId) -> Result<Vec<Extent>, FsError>;

    /// Whether each write moves a page to a new block.
    fn moves(&self) -> bool {
        false
    }

    /// Number of pages of a file that the next allocation gives contiguous blocks.
    fn run_ahead(&self) -> u64 {
        u64::MAX
    }

    /// Seconds from the first change of a transaction to its commit.
    fn commit_seconds(&self) -> u64 {
        5
    }

    /// Number of free blocks that no file may have.
    fn kept(&self) -> u64 {
        0
    }

    /// Whether a format that writes by itself has nothing to write.
    fn is_clean(&self) -> bool {
        true
    }

    /// The page of its directory with the entry of a file, in a format whose directories have pages.
    fn entry_page(&self, _id: FileId) -> Option<u32> {
        None
    }

    /// The blocks of metadata that a look-up of a file by its name reads.
    fn looked_up(&self, core: &Core, id: FileId) -> Vec<u64> {
        let entry = || {
            let directory = core.file(core.file(id).ok()?.parent).ok()?;
            let (block, _) = directory.map.find(self.entry_page(id)?)?;
            Some(block)
        };
        entry()
            .into_iter()
            .chain(self.inode_block(core, id))
            .collect()
    }

    /// The block with the inode of a file.
    fn inode_block(&self, core: &Core, id: FileId) -> Option<u64>;

    /// The block of metadata that tells where a page of a file lies; `None` if the inode does.
    fn mapped_by(&self, core: &Core, id: FileId, page: u32) -> Option<u64>;

    /// Writes what is dirty in a format that does so by itself.
    fn checkpoint(&mut self, _core: &mut Core) -> Result<(), FsError> {
        Ok(())
    }

    /// The transaction ends that has the operations up to now.
    fn close(&mut self) {}

    /// The transaction that ended is committed.
    fn committed(&mut self, _core: &mut Core) {}

    /// The blocks of a file beside those of its pages; for [`crate::METADATA`] those that no file owns and that were
    /// allocated.
    fn metadata(&self, id: FileId) -> Vec<Extent>;
}
