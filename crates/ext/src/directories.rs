//! The directories of an image in memory: which names they have, and in which of their blocks there is room.
//!
//! A directory that has a hash index is changed by the library, which drops the index; others are changed in place.

use crate::disk::BLOCK;
use crate::entries;
use crate::error::ExtError;
use crate::image::Image;
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

/// Reads a directory.
fn load(library: &mut Library, number: u32) -> Result<Directory, ExtError> {
    let mut inode = library.read_inode(number)?;
    let mut directory = Directory {
        indexed: inode.is_indexed(),
        seed: library.checksum_seed(number, &inode),
        ..Directory::default()
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
        let block = library.block_of(number, &mut inode, page)?;
        let block = block.ok_or_else(|| ExtError::Corrupt {
            what: "a directory has a hole".into(),
        })?;
        let mut data = [0; BLOCK];
        read(library, block, &mut data)?;
        directory.add(block, &data)?;
    }
    Ok(directory)
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

impl Image {
    /// A directory.
    pub(crate) fn load(&mut self, number: u32) -> Result<&mut Directory, ExtError> {
        if !self.directories.contains_key(&number) {
            let directory = load(&mut self.library, number)?;
            self.directories.insert(number, directory);
        }
        Ok(self.directories.entry(number).or_default())
    }

    /// Enters a name. `kind` is the type of the entry (`EXT2_FT_REG_FILE` 1, directory 2, symbolic link 7).
    pub(crate) fn link(
        &mut self,
        number: u32,
        name: &[u8],
        inode: u32,
        kind: u8,
    ) -> Result<(), ExtError> {
        let directory = self.load(number)?;
        if directory.indexed {
            self.library.link(number, name, inode, i32::from(kind))?;
            self.directories.remove(&number);
            return Ok(());
        }
        let needed = entries::needs(name.len());
        let mut page = directory.parts.iter().position(|part| part.room >= needed);
        if page.is_none() {
            page = Some(self.expand(number)?);
        }
        let Self {
            library,
            directories,
            ..
        } = self;
        let Some(directory) = directories.get_mut(&number) else {
            return Ok(());
        };
        let (page, seed) = (page.unwrap_or(0), directory.seed);
        let part = &mut directory.parts[page];
        change(library, part.block, |block| {
            let entered = entries::enter(block, seed, name, inode, kind);
            part.room = entries::room(block, seed.is_some());
            entered
        })?;
        let page = page as u32;
        directory.names.insert(name.into(), Known { inode, page });
        Ok(())
    }

    /// Makes a directory longer. Returns the index of the new block.
    fn expand(&mut self, number: u32) -> Result<usize, ExtError> {
        self.library.expand(number)?;
        let mut inode = self.library.read_inode(number)?;
        let directory = self.load(number)?;
        let page = directory.parts.len();
        let block = self.library.block_of(number, &mut inode, page as u64)?;
        let block = block.ok_or_else(|| ExtError::Corrupt {
            what: "a directory has a hole".into(),
        })?;
        let mut data = [0; BLOCK];
        read(&self.library, block, &mut data)?;
        self.load(number)?.add(block, &data)?;
        Ok(page)
    }

    /// Removes a name.
    pub(crate) fn unlink(&mut self, number: u32, name: &[u8]) -> Result<(), ExtError> {
        let Some(known) = self.load(number)?.names.remove(name) else {
            return Ok(());
        };
        let Self {
            library,
            directories,
            ..
        } = self;
        let Some(directory) = directories.get_mut(&number) else {
            return Ok(());
        };
        if directory.indexed {
            return library.unlink(number, name, known.inode);
        }
        let seed = directory.seed;
        let part = &mut directory.parts[known.page as usize];
        change(library, part.block, |block| {
            let removed = entries::remove(block, seed, name);
            part.room = entries::room(block, seed.is_some());
            removed
        })?;
        Ok(())
    }
}
