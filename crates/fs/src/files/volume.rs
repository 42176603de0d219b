//! A file system on a range of a drive: groups, directories, files and a journal.

use super::fill::{self, Fill, Sizes};
use super::space::{Full, Space};
use crate::block::{BLOCK_BYTES, Extent, FileId, GROUP_BLOCKS, METADATA, PageKey};
use fathom_base::{Bytes, Rng};
use std::collections::{BTreeMap, BTreeSet};

/// Number of metadata blocks at the beginning of a group: two bitmaps, and an inode of 128 bytes for every 8 KiB of the
/// group (`mke2fs` 1.40).
const GROUP_METADATA: u64 = 2 + INODES_PER_GROUP / INODES_PER_BLOCK;
const INODES_PER_GROUP: u64 = GROUP_BLOCKS * BLOCK_BYTES / 8192;
const INODES_PER_BLOCK: u64 = BLOCK_BYTES / 128;
/// Number of directory entries in a block, for names of about a dozen characters.
const ENTRIES_PER_BLOCK: u64 = 200;
/// Minimum size of a volume, in bytes.
pub const LEAST_BYTES: u64 = 16 << 20;

/// A contiguous piece of a file.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The first page of the file in this piece.
    page: u32,
    extent: Extent,
}

#[derive(Clone, Debug)]
struct File {
    pieces: Vec<Piece>,
    pages: u32,
    bytes: u64,
    directory: usize,
    /// The index of its entry in the directory.
    slot: u64,
    /// Its group, and the index of its inode in the group.
    inode: (u64, u64),
}

#[derive(Clone, Debug)]
struct Directory {
    file: FileId,
    group: u64,
    slots: Numbers,
}

/// An allocator of numbers that returns the lowest free one.
#[derive(Clone, Debug, Default)]
struct Numbers {
    next: u64,
    free: BTreeSet<u64>,
}

impl Numbers {
    fn take(&mut self) -> u64 {
        self.free.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// The pages of metadata that an operation changes.
pub type Touched = Vec<PageKey>;

/// The result of a deletion.
#[derive(Clone, Debug)]
pub struct Deleted {
    /// The metadata that it changes.
    pub touched: Touched,
    /// The blocks of the file, for [`Volume::release`].
    pub extents: Vec<Extent>,
}

/// A file system on a range of a drive: groups, directories, files and a journal.
#[derive(Clone, Debug)]
pub struct Volume {
    /// The first byte of the range.
    start: u64,
    space: Space,
    files: BTreeMap<FileId, File>,
    directories: Vec<Directory>,
    /// The inodes of each group.
    inodes: Vec<Numbers>,
    journal: FileId,
    next: u32,
}

/// Number of pages of the journal for a file system of `blocks` blocks (`ext2fs_default_journal_size` of e2fsprogs).
fn journal_pages(blocks: u64) -> u64 {
    match blocks {
        0..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..1_048_576 => 16_384,
        _ => 32_768,
    }
}

impl Volume {
    /// Lays out `len` bytes from byte `start` with empty directories. The range is cut to whole groups, except for a
    /// shorter last group.
    ///
    /// # Errors
    /// [`Full`] if there is no room for the journal and the directories, as for less than [`LEAST_BYTES`].
    pub fn new(start: Bytes, len: Bytes, directories: usize) -> Result<Self, Full> {
        let end = start.0.saturating_add(len.0) / BLOCK_BYTES * BLOCK_BYTES;
        let first = start.0.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES);
        let space = Space::new(end.saturating_sub(first) / BLOCK_BYTES, GROUP_METADATA);
        let mut volume = Self {
            start: first,
            files: BTreeMap::new(),
            directories: Vec::new(),
            inodes: vec![Numbers::default(); space.groups() as usize],
            space,
            journal: METADATA,
            next: METADATA.0 + 1,
        };
        if end.saturating_sub(first) < LEAST_BYTES {
            let (wanted, free) = (LEAST_BYTES / BLOCK_BYTES, volume.space.free());
            return Err(Full { wanted, free });
        }
        volume.journal = volume.enter(0, 0);
        let pages = journal_pages(volume.space.blocks());
        volume.grow(volume.journal, pages * BLOCK_BYTES)?;
        let groups = volume.space.groups();
        for index in 0..directories.max(1) as u64 {
            let group = index * groups / directories.max(1) as u64;
            let file = volume.enter(volume.directories.len(), group);
            volume.grow(file, BLOCK_BYTES)?;
            let slots = Numbers::default();
            volume.directories.push(Directory { file, group, slots });
        }
        Ok(volume)
    }

    /// Fills the range with files in random groups until `share` (0 to 1) of the blocks outside the metadata is used,
    /// to within one file. The free blocks are fragmented.
    pub fn fill(&mut self, share: f64, sizes: Sizes, rng: &mut Rng) {
        let files = fill::fill(&mut self.space, share, sizes, rng).unwrap_or_default();
        let counts = fill::by_group(&self.space, &files);
        for (inodes, files) in self.inodes.iter_mut().zip(counts) {
            inodes.next += files;
        }
    }

    /// Like [`Volume::fill`], with files in random directories. Returns these files.
    ///
    /// # Errors
    /// [`Full`] if a directory must grow and cannot.
    pub fn fill_with(
        &mut self,
        share: f64,
        sizes: Sizes,
        rng: &mut Rng,
    ) -> Result<Vec<FileId>, Full> {
        fill::fill(self, share, sizes, rng)
    }

    /// Number of directories; they are numbered from 0.
    pub fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Returns the block allocator, with the used and free space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the journal and its number of pages.
    pub fn journal(&self) -> (FileId, u32) {
        (self.journal, self.pages(self.journal))
    }

    fn enter(&mut self, directory: usize, group: u64) -> FileId {
        let id = FileId(self.next);
        self.next += 1;
        let group = self.roomy(group);
        let inode = (group, self.inodes[group as usize].take());
        let file = File {
            pieces: Vec::new(),
            pages: 0,
            bytes: 0,
            directory,
            slot: 0,
            inode,
        };
        self.files.insert(id, file);
        id
    }

    /// The first group from `group` on, wrapping around, that has free inodes and blocks; `group` if there is none.
    fn roomy(&self, group: u64) -> u64 {
        let groups = self.space.groups();
        let mut others = (0..groups).map(|step| (group + step) % groups);
        let roomy = others.find(|&other| {
            let inodes = &self.inodes[other as usize];
            let left = inodes.next < INODES_PER_GROUP || !inodes.free.is_empty();
            left && self.space.free_in(other) > 0
        });
        roomy.unwrap_or(group)
    }

    /// Creates an empty file in a directory. Returns it with the metadata that this changes: the inode bitmap and
    /// table, the directory's block and, if the directory grows, the metadata of its growth.
    ///
    /// # Errors
    /// [`Full`] if the directory must grow and cannot.
    pub fn create(&mut self, directory: usize) -> Result<(FileId, Touched), Full> {
        let directory = directory % self.directories.len();
        let Directory {
            file: dir_file,
            group,
            ..
        } = self.directories[directory];
        let slot = self.directories[directory].slots.take();
        let mut touched = Vec::new();
        let needs = (slot / ENTRIES_PER_BLOCK + 1) * BLOCK_BYTES;
        if needs > self.size(dir_file) {
            match self.grow(dir_file, needs) {
                Ok(changed) => touched = changed,
                Err(full) => {
                    self.directories[directory].slots.free.insert(slot);
                    return Err(full);
                }
            }
        }
        let id = self.enter(directory, group);
        if let Some(file) = self.files.get_mut(&id) {
            file.slot = slot;
        }
        touched.extend(self.entry_pages(id));
        Ok((id, touched))
    }

    /// The pages of the inode's bitmap and table block, and of the directory's block.
    fn entry_pages(&self, id: FileId) -> Touched {
        let Some(file) = self.files.get(&id) else {
            return Vec::new();
        };
        let bitmap = metadata_page(file.inode.0, 1);
        let directory = self.directories.get(file.directory).map(|d| PageKey {
            file: d.file,
            page: (file.slot / ENTRIES_PER_BLOCK) as u32,
        });
        [Some(bitmap), self.inode_page(id), directory]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the page of the inode table that holds a file's inode.
    pub fn inode_page(&self, id: FileId) -> Option<PageKey> {
        let (group, index) = self.files.get(&id)?.inode;
        let block = index % INODES_PER_GROUP / INODES_PER_BLOCK;
        Some(metadata_page(group, 2 + block))
    }

    /// Extends a file to at least `bytes` bytes. Returns the bitmaps that this changes.
    ///
    /// # Errors
    /// [`Full`]; the file is unchanged.
    pub fn grow(&mut self, id: FileId, bytes: u64) -> Result<Touched, Full> {
        let Some(file) = self.files.get_mut(&id) else {
            return Ok(Vec::new());
        };
        let wanted = bytes
            .div_ceil(BLOCK_BYTES)
            .saturating_sub(u64::from(file.pages));
        let mut extents = Vec::new();
        if wanted > 0 {
            let last = file.pieces.last().map(|piece| piece.extent.end());
            let goal = last.unwrap_or(file.inode.0 * GROUP_BLOCKS);
            self.space.allocate(goal, wanted, &mut extents)?;
        }
        let mut touched = Vec::new();
        for extent in extents {
            touched.push(metadata_page(extent.start / GROUP_BLOCKS, 0));
            let page = file.pages;
            file.pages += extent.blocks as u32;
            match file.pieces.last_mut() {
                Some(last) if last.extent.end() == extent.start => {
                    last.extent.blocks += extent.blocks;
                }
                _ => file.pieces.push(Piece { page, extent }),
            }
        }
        file.bytes = file.bytes.max(bytes);
        Ok(touched)
    }

    /// Deletes a file. Its blocks stay allocated until they are released.
    pub fn delete(&mut self, id: FileId) -> Option<Deleted> {
        let mut touched = self.entry_pages(id);
        let file = self.files.remove(&id)?;
        let extents: Vec<Extent> = file.pieces.iter().map(|piece| piece.extent).collect();
        for extent in &extents {
            let groups = extent.start / GROUP_BLOCKS..=(extent.end() - 1) / GROUP_BLOCKS;
            touched.extend(groups.map(|group| metadata_page(group, 0)));
        }
        self.inodes[file.inode.0 as usize].free.insert(file.inode.1);
        if let Some(directory) = self.directories.get_mut(file.directory) {
            directory.slots.free.insert(file.slot);
        }
        Some(Deleted { touched, extents })
    }

    /// Frees the blocks of a deleted file.
    pub fn release(&mut self, extents: &[Extent]) {
        for &extent in extents {
            self.space.release(extent);
        }
    }

    /// The length of a file in bytes; 0 if it does not exist.
    pub fn size(&self, id: FileId) -> u64 {
        self.files.get(&id).map_or(0, |file| file.bytes)
    }

    /// The length of a file in pages; 0 if it does not exist.
    pub fn pages(&self, id: FileId) -> u32 {
        self.files.get(&id).map_or(0, |file| file.pages)
    }

    /// The extents of a file, in file order.
    pub fn extents(&self, id: FileId) -> impl Iterator<Item = Extent> + '_ {
        let pieces = self.files.get(&id).map(|file| file.pieces.as_slice());
        pieces.unwrap_or_default().iter().map(|piece| piece.extent)
    }

    /// All files and directories, and the journal.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + '_ {
        self.files.keys().copied()
    }

    /// Returns the byte offset of a page on the drive and the number of pages from it on that are contiguous there, at
    /// most `most`. `None` if the page does not exist.
    pub fn run(&self, key: PageKey, most: u32) -> Option<(u64, u32)> {
        let (block, pages) = if key.file == METADATA {
            let page = u64::from(key.page);
            let (group, index) = (page / GROUP_METADATA, page % GROUP_METADATA);
            (group * GROUP_BLOCKS + index, GROUP_METADATA - index)
        } else {
            let pieces = &self.files.get(&key.file)?.pieces;
            let after = pieces.partition_point(|piece| piece.page <= key.page);
            let piece = pieces.get(after.checked_sub(1)?)?;
            let within = u64::from(key.page - piece.page);
            let left = piece.extent.blocks.checked_sub(within);
            (piece.extent.start + within, left.filter(|&left| left > 0)?)
        };
        let pages = pages.min(u64::from(most)) as u32;
        Some((self.start + block * BLOCK_BYTES, pages))
    }
}

/// Adds files in random directories.
impl Fill for Volume {
    type File = FileId;

    fn space(&self) -> &Space {
        Volume::space(self)
    }

    fn add(&mut self, sizes: Sizes, rng: &mut Rng) -> Result<FileId, Full> {
        let directory = rng.below(self.directories() as u64) as usize;
        let (file, _) = self.create(directory)?;
        let room = Volume::space(self).free() * BLOCK_BYTES;
        self.grow(file, sizes.draw(rng).min(room))?;
        Ok(file)
    }

    fn remove(&mut self, file: FileId) {
        if let Some(deleted) = self.delete(file) {
            self.release(&deleted.extents);
        }
    }
}

fn metadata_page(group: u64, index: u64) -> PageKey {
    PageKey {
        file: METADATA,
        page: (group * GROUP_METADATA + index) as u32,
    }
}
