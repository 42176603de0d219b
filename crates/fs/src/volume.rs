//! A file system on a volume: its files, where they lie, and what each operation changes.
//!
//! An operation returns nothing of the drive: it notes the blocks of metadata that it changes
//! (`take_changed`), those that it frees (`take_revoked`), and leaves it to the caller to write data
//! and journal. Blocks of a deleted file are free only after [`Volume::release`]: no file system uses them before the
//! deletion is committed.

use crate::alloc::{Allocator, What};
use crate::block::{Extent, FileId, GROUP_BLOCKS, ROOT};
use crate::error::FsError;
use crate::ext::{Directory, ExtFormat, Geometry, Inodes, Nodes, Version};
use crate::journal::{Journal, Tags};
use crate::map::Map;
use crate::space::Space;

/// Longest name, in bytes.
const LONGEST_NAME: usize = 255;

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) map: Map,
    pub(crate) nodes: Nodes,
    pub(crate) bytes: u64,
    /// The number of its inode, from 0.
    pub(crate) inode: u64,
    pub(crate) parent: FileId,
    /// The block of the parent that has its entry.
    pub(crate) entry: u32,
    entries: Option<Directory>,
    pub(crate) open: bool,
}

impl File {
    fn new(inode: u64, parent: FileId, directory: bool) -> Self {
        Self {
            map: Map::default(),
            nodes: Nodes::default(),
            bytes: 0,
            inode,
            parent,
            entry: 0,
            entries: directory.then(Directory::with_block),
            open: !directory,
        }
    }
}

/// A file system.
#[derive(Debug)]
pub struct Volume {
    pub(crate) geometry: Geometry,
    pub(crate) space: Space,
    pub(crate) allocator: Box<dyn Allocator>,
    inodes: Inodes,
    pub(crate) files: Vec<Option<Box<File>>>,
    pub(crate) changed: Vec<u64>,
    revoked: Vec<u64>,
    /// Blocks of metadata that hold nothing on the drive yet.
    pub(crate) fresh: Vec<u64>,
    pub(crate) processor: u32,
}

impl Volume {
    /// Formats a volume of `blocks` blocks with an empty root directory. `allocator` is made once the free blocks are known.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub fn format(
        format: ExtFormat,
        blocks: u64,
        allocator: impl FnOnce(&Space) -> Box<dyn Allocator>,
    ) -> Result<Self, FsError> {
        let (geometry, space) = Geometry::new(format, blocks)?;
        let mut volume = Self {
            allocator: allocator(&space),
            inodes: Inodes::new(&geometry),
            files: vec![None, None],
            changed: Vec::new(),
            revoked: Vec::new(),
            fresh: Vec::new(),
            processor: 0,
            geometry,
            space,
        };
        // The root has an inode of those that the format keeps for itself.
        let mut root = Box::new(File::new(1, ROOT, true));
        volume.extend(ROOT, &mut root, 0, 1, What::Directory)?;
        volume.files[ROOT.0 as usize] = Some(root);
        volume.changed.clear();
        volume.fresh.clear();
        Ok(volume)
    }

    /// Mounts the volume again with an allocator: what the present one has set aside is given up.
    pub fn mount(&mut self, allocator: impl FnOnce(&Space) -> Box<dyn Allocator>) {
        self.allocator.give_back(&mut self.space);
        self.allocator = allocator(&self.space);
    }

    /// Tells the allocator that a sync begins that writes these pages of a file, those of them that have blocks in place.
    pub fn announce(&mut self, id: FileId, pages: impl Iterator<Item = u32>) {
        let Some(file) = self.files.get(id.0 as usize).and_then(Option::as_ref) else {
            return;
        };
        for (block, _) in pages.filter_map(|page| file.map.find(page)) {
            self.allocator.rewrites(Extent::new(block, 1));
        }
    }

    /// Tells the allocator that the sync has allocated all its blocks.
    pub fn announced(&mut self) {
        self.allocator.synced();
    }

    /// The free blocks.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The allocator.
    pub fn allocator(&self) -> &dyn Allocator {
        self.allocator.as_ref()
    }

    /// The pieces of the journal, in order; none for ext2.
    pub fn journal(&self) -> &[Extent] {
        &self.geometry.journal
    }

    pub(crate) fn file(&self, id: FileId) -> Result<&File, FsError> {
        let file = self.files.get(id.0 as usize).and_then(Option::as_ref);
        file.map(Box::as_ref).ok_or(FsError::Missing(id))
    }

    /// An empty journal; none for ext2.
    pub fn new_journal(&self) -> Option<Journal> {
        let tags = match self.geometry.format.version {
            Version::Ext2 => return None,
            Version::Ext3 => Tags::Short,
            Version::Ext4 => Tags::Long,
        };
        Some(Journal::new(self.geometry.journal.clone(), tags))
    }

    pub(crate) fn take_out(&mut self, id: FileId) -> Result<Box<File>, FsError> {
        let file = self.files.get_mut(id.0 as usize).and_then(Option::take);
        file.ok_or(FsError::Missing(id))
    }

    /// The blocks of metadata that were changed since the last call, each once, in order of place.
    pub fn take_changed(&mut self) -> Vec<u64> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// The blocks of metadata that were freed since the last call.
    pub fn take_revoked(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.revoked)
    }

    /// The blocks of metadata that were taken since the last call: nobody reads them before they are written.
    pub fn take_fresh(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.fresh)
    }

    /// Sets the processor on whose behalf the next blocks are allocated.
    pub fn on_processor(&mut self, processor: u32) {
        self.processor = processor;
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
        let of = self.file(parent)?;
        if of.entries.is_none() {
            let directory = false;
            return Err(FsError::Kind {
                file: parent,
                directory,
            });
        }
        let group = of.inode / self.geometry.inodes;
        let inode = match directory {
            false => self.inodes.take_file(group, &self.geometry, &self.space),
            true => {
                let top = parent == ROOT;
                self.inodes
                    .take_directory(group, top, &self.geometry, &self.space)
            }
        };
        let inode = inode.ok_or(FsError::NoInode(self.inodes.all()))?;
        let id = FileId(self.files.len() as u32);
        let made = self.enter(parent, name_bytes, id, inode, directory);
        if made.is_err() {
            self.inodes.release(inode, directory);
        }
        made.map(|()| id)
    }

    fn enter(
        &mut self,
        parent: FileId,
        name_bytes: usize,
        id: FileId,
        inode: u64,
        directory: bool,
    ) -> Result<(), FsError> {
        let mut file = Box::new(File::new(inode, parent, directory));
        if directory {
            self.extend(id, &mut file, 0, 1, What::Directory)?;
        }
        let mut of = self.take_out(parent)?;
        let entered = self.enter_name(parent, &mut of, name_bytes, id);
        let parent_inode = of.inode;
        self.files[parent.0 as usize] = Some(of);
        match entered {
            Ok(entry) => file.entry = entry,
            Err(error) => {
                for extent in file.map.cut(0) {
                    self.release(&[extent]);
                }
                return Err(error);
            }
        }
        self.change_inode(parent_inode);
        self.change_inode_use(inode);
        self.files.push(Some(file));
        Ok(())
    }

    /// Enters a name into a directory, which grows if it has no room.
    fn enter_name(
        &mut self,
        parent: FileId,
        of: &mut File,
        name_bytes: usize,
        id: FileId,
    ) -> Result<u32, FsError> {
        let full = FsError::Full { wanted: 1, free: 0 };
        let entries = of.entries.as_mut().ok_or(FsError::Missing(parent))?;
        let entry = match entries.enter(name_bytes, id) {
            Some(entry) => entry,
            None => {
                let page = of.map.end() as u32;
                self.extend(parent, of, page, 1, What::Directory)?;
                let entries = of.entries.as_mut().ok_or(FsError::Missing(parent))?;
                entries.add_block();
                entries.enter(name_bytes, id).ok_or(full)?
            }
        };
        self.changed
            .extend(of.map.find(entry).map(|(block, _)| block));
        Ok(entry)
    }

    pub(crate) fn change_inode(&mut self, inode: u64) {
        self.changed.push(self.geometry.inode_block(inode));
    }

    /// Notes that an inode was taken or freed.
    fn change_inode_use(&mut self, inode: u64) {
        let group = inode / self.geometry.inodes;
        self.change_inode(inode);
        self.changed.push(self.geometry.inode_bitmap(group));
        self.changed.push(self.geometry.descriptor(group));
    }

    /// Notes that blocks were taken or freed.
    pub(crate) fn change_bitmaps(&mut self, extent: Extent) {
        for group in extent.start / GROUP_BLOCKS..=(extent.end() - 1) / GROUP_BLOCKS {
            self.changed.push(self.geometry.block_bitmap(group));
            self.changed.push(self.geometry.descriptor(group));
        }
    }

    /// Sets the length of a file that grows.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn set_size(&mut self, id: FileId, bytes: u64) -> Result<(), FsError> {
        let file = self.files.get_mut(id.0 as usize).and_then(Option::as_mut);
        let file = file.ok_or(FsError::Missing(id))?;
        file.bytes = file.bytes.max(bytes);
        let inode = file.inode;
        self.change_inode(inode);
        Ok(())
    }

    /// Opens a file for writing, or closes it.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn open(&mut self, id: FileId, open: bool) -> Result<(), FsError> {
        let file = self.files.get_mut(id.0 as usize).and_then(Option::as_mut);
        file.ok_or(FsError::Missing(id))?.open = open;
        if !open {
            self.allocator.closed(&mut self.space, id);
        }
        Ok(())
    }

    /// Deletes a file or an empty directory. Returns its blocks, which stay in use until [`Volume::release`].
    ///
    /// # Errors
    /// The file does not exist, is the root, or is a directory with files.
    pub fn delete(&mut self, id: FileId) -> Result<Vec<Extent>, FsError> {
        let of = self.file(id)?;
        if id == ROOT
            || of
                .entries
                .as_ref()
                .is_some_and(|entries| !entries.is_empty())
        {
            return Err(FsError::NotEmpty(id));
        }
        self.allocator.closed(&mut self.space, id);
        let mut file = self.take_out(id)?;
        let directory = file.entries.is_some();
        if let Some(parent) = &mut self.files[file.parent.0 as usize] {
            let removed = parent
                .entries
                .as_mut()
                .and_then(|of| of.remove(file.entry, id));
            let block = removed.and_then(|entry| parent.map.find(entry));
            self.changed.extend(block.map(|(block, _)| block));
            let inode = parent.inode;
            self.change_inode(inode);
        }
        let mut extents = file.map.cut(0);
        if directory {
            let blocks = extents.iter().flat_map(|extent| extent.start..extent.end());
            self.revoked.extend(blocks);
        }
        for node in file.nodes.all() {
            self.revoked.push(node);
            extents.push(Extent::new(node, 1));
        }
        extents
            .iter()
            .for_each(|&extent| self.change_bitmaps(extent));
        self.inodes.release(file.inode, directory);
        self.change_inode_use(file.inode);
        // The list of orphans begins in the super block.
        self.changed.push(0);
        Ok(extents)
    }

    /// Frees the blocks of a deleted file.
    pub fn release(&mut self, extents: &[Extent]) {
        for &extent in extents {
            self.space.release(extent);
            self.allocator.released(&self.space, extent);
        }
    }

    /// The length of a file in bytes; 0 if it does not exist.
    pub fn size(&self, id: FileId) -> u64 {
        self.file(id).map_or(0, |file| file.bytes)
    }

    /// The block of a page, and the number of pages from it on that are contiguous there; `None` if it has none.
    pub fn find(&self, id: FileId, page: u32) -> Option<(u64, u64)> {
        self.file(id).ok()?.map.find(page)
    }

    /// All files and directories.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        let all = self.files.iter().zip(0..);
        all.filter_map(|(file, id)| file.as_ref().map(|_| FileId(id)))
    }

    /// The blocks of a file: its pages, then the blocks that map them.
    pub fn blocks(&self, id: FileId) -> Vec<Extent> {
        let Ok(file) = self.file(id) else {
            return Vec::new();
        };
        let pages = file.map.pieces().iter().map(|piece| piece.extent);
        pages
            .chain(file.nodes.all().map(|node| Extent::new(node, 1)))
            .collect()
    }

    /// Number of pieces of a file.
    pub fn pieces(&self, id: FileId) -> usize {
        self.file(id).map_or(0, |file| file.map.pieces().len())
    }
}
