//! A directory in memory: which names it has, and in which of its blocks there is room. Its blocks are changed in place.

use crate::disk::BLOCK;
use crate::entries;
use crate::error::ExtError;
use crate::library::{Library, disk_error};
use crate::meta::Block;
use rustc_hash::FxHashMap;

/// An entry in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) inode: u32,
    /// Index of the block with the entry.
    page: u32,
}

/// A new entry: its inode and type (`EXT2_FT_REG_FILE` 1, directory 2, symbolic link 7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEntry {
    pub(crate) inode: u32,
    pub(crate) kind: u8,
}

/// A block of a directory.
#[derive(Clone, Copy, Debug)]
struct Part {
    block: u64,
    /// Bytes of the longest entry that fits.
    room: usize,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    pub(crate) names: FxHashMap<Box<[u8]>, Known>,
    parts: Vec<Part>,
    indexed: bool,
    /// What check sums of its blocks begin with.
    seed: Option<u32>,
}

impl Directory {
    /// Reads a directory.
    pub(crate) fn load(library: &mut Library, number: u32) -> Result<Self, ExtError> {
        let inode = library.read_inode(number)?;
        let mut directory = Self {
            indexed: inode.is_indexed(),
            seed: library.checksum_seed(number, &inode),
            ..Self::default()
        };
        if directory.indexed {
            for entry in library.entries(number)? {
                let (inode, page) = (entry.inode, 0);
                let known = Known { inode, page };
                directory.names.insert(entry.name.into_boxed_slice(), known);
            }
            return Ok(directory);
        }
        for page in 0..inode.size() / BLOCK as u64 {
            directory.add_page(library, number, page)?;
        }
        Ok(directory)
    }

    /// Whether it has a hash index: only the library can change it then.
    pub(crate) fn is_indexed(&self) -> bool {
        self.indexed
    }

    /// Number of blocks.
    pub(crate) fn pages(&self) -> usize {
        self.parts.len()
    }

    /// The first block with room for a name.
    pub(crate) fn room(&self, name: &[u8]) -> Option<usize> {
        let needed = entries::needs(name.len());
        self.parts.iter().position(|part| part.room >= needed)
    }

    /// Takes account of a block that the directory has on the disk.
    pub(crate) fn add_page(
        &mut self,
        library: &mut Library,
        number: u32,
        page: u64,
    ) -> Result<(), ExtError> {
        let mut inode = library.read_inode(number)?;
        let block = library.block_of(number, &mut inode, page)?;
        let block = block.ok_or_else(|| ExtError::Corrupt {
            what: "a directory has a hole".into(),
        })?;
        let mut data = [0; BLOCK];
        read(library, block, &mut data)?;
        self.add(block, &data)
    }

    /// Enters a name into a block that has room for it.
    pub(crate) fn enter(
        &mut self,
        library: &Library,
        page: usize,
        name: &[u8],
        entry: NewEntry,
    ) -> Result<(), ExtError> {
        let (seed, inode) = (self.seed, entry.inode);
        let Some(part) = self.parts.get_mut(page) else {
            return Ok(());
        };
        change(library, part.block, |block| {
            let gap = entries::enter(block, seed, name, inode, entry.kind);
            // If it was not the longest gap, that is as it was.
            if gap == Some(part.room) {
                part.room = entries::room(block, seed.is_some());
            }
            gap.is_some()
        })?;
        let page = page as u32;
        self.names.insert(name.into(), Known { inode, page });
        Ok(())
    }

    /// Removes a name.
    pub(crate) fn remove(&mut self, library: &Library, name: &[u8]) -> Result<(), ExtError> {
        let seed = self.seed;
        let known = self.names.remove(name);
        let Some(part) = known.and_then(|known| self.parts.get_mut(known.page as usize)) else {
            return Ok(());
        };
        change(library, part.block, |block| {
            let gap = entries::remove(block, seed, name);
            part.room = part.room.max(gap.unwrap_or(0));
            debug_assert_eq!(part.room, entries::room(block, seed.is_some()));
            gap.is_some()
        })?;
        Ok(())
    }

    fn add(&mut self, block: u64, data: &Block) -> Result<(), ExtError> {
        let page = self.parts.len() as u32;
        let summed = self.seed.is_some();
        if !entries::is_sound(data, self.seed) {
            let what = format!("block {block} of a directory");
            return Err(ExtError::Corrupt { what });
        }
        for (name, inode) in entries::names(data, summed) {
            if !matches!(name, b"." | b"..") {
                self.names.insert(name.into(), Known { inode, page });
            }
        }
        let room = entries::room(data, summed);
        self.parts.push(Part { block, room });
        Ok(())
    }
}

fn read(library: &Library, block: u64, data: &mut Block) -> Result<(), ExtError> {
    let mut shared = library.shared().borrow_mut();
    let shared = &mut *shared;
    let read = shared
        .meta
        .read(shared.disk.as_mut(), block * BLOCK as u64, data);
    read.map_err(|source| disk_error("read a directory", source))
}

/// Changes a block of a directory in the cache. Returns what `change` does.
fn change(
    library: &Library,
    block: u64,
    change: impl FnOnce(&mut Block) -> bool,
) -> Result<bool, ExtError> {
    let mut shared = library.shared().borrow_mut();
    let shared = &mut *shared;
    let changed = shared.meta.change(shared.disk.as_mut(), block, change);
    changed.map_err(|source| disk_error("read a directory", source))
}
