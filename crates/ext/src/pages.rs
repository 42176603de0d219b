//! The dirty pages of files, with their contents, in the order in which the files became dirty.
//!
//! Clean pages are kept too, as far as [`crate::clean`] allows.

use crate::clean::{Clean, Page};
use crate::disk::BLOCK;
use crate::meta::Block;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Pages whose memory is kept (16 MiB).
const MOST_SPARE: usize = 4096;

/// A file with dirty pages.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    pub(crate) pages: BTreeMap<u64, Box<Block>>,
    /// Length of the file in bytes.
    pub(crate) size: u64,
    /// The inode of its directory.
    pub(crate) parent: u32,
    /// Number of pages that may have blocks.
    pub(crate) mapped: u64,
    /// Number of dirty pages that have no block.
    homeless: u64,
    /// Tells it from an earlier file with the same inode.
    stamp: u32,
}

/// All dirty pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    files: FxHashMap<u32, Dirty>,
    /// Inode and stamp of each file in order.
    order: Vec<[u32; 2]>,
    stamp: u32,
    count: u64,
    homeless: u64,
    clean: Clean,
    /// Memory of pages that are not kept.
    spare: Vec<Box<Block>>,
}

impl Pages {
    /// Memory for a page, with any contents.
    pub(crate) fn buffer(&mut self) -> Box<Block> {
        self.spare.pop().unwrap_or_else(|| Box::new([0; BLOCK]))
    }

    /// Takes back the memory of pages.
    pub(crate) fn give_back(&mut self, buffers: impl Iterator<Item = Box<Block>>) {
        let room = MOST_SPARE - self.spare.len().min(MOST_SPARE);
        self.spare.extend(buffers.take(room));
    }

    /// The contents of a page, if they are in memory.
    pub(crate) fn get(&self, inode: u32, page: u64) -> Option<&Block> {
        let dirty = self
            .files
            .get(&inode)
            .and_then(|file| file.pages.get(&page));
        dirty
            .map(Box::as_ref)
            .or_else(|| self.clean.get(inode, page))
    }

    /// Takes a clean page that becomes dirty.
    pub(crate) fn take_clean(&mut self, inode: u32, page: u64) -> Option<Box<Block>> {
        self.clean.take(inode, page)
    }

    /// Keeps a page that was written.
    pub(crate) fn keep(&mut self, inode: u32, page: Page) {
        self.clean.keep(inode, page);
        while let Some(pages) = self.clean.shrink() {
            self.give_back(pages.into_iter().map(|page| page.data));
        }
    }

    /// Forgets the pages of a file that is deleted.
    pub(crate) fn forget(&mut self, inode: u32) {
        let dirty = self.take(inode).map(|file| file.pages);
        self.give_back(dirty.into_iter().flat_map(BTreeMap::into_values));
        let clean = self.clean.forget(inode);
        self.give_back(clean.into_iter().map(|page| page.data));
    }

    /// A file with dirty pages.
    pub(crate) fn of(&self, inode: u32) -> Option<&Dirty> {
        self.files.get(&inode)
    }

    /// A file that gets dirty pages; it has `size` bytes if it has none yet.
    pub(crate) fn make(&mut self, inode: u32, size: u64) -> &mut Dirty {
        let Self { order, stamp, .. } = self;
        self.files.entry(inode).or_insert_with(|| {
            *stamp = stamp.wrapping_add(1);
            order.push([inode, *stamp]);
            Dirty {
                size,
                mapped: size.div_ceil(BLOCK as u64),
                stamp: *stamp,
                ..Dirty::default()
            }
        })
    }

    /// Counts pages of a file that became dirty, and those of them without a block.
    pub(crate) fn count(&mut self, inode: u32, dirty: u64, homeless: u64) {
        self.count += dirty;
        self.homeless += homeless;
        if let Some(file) = self.files.get_mut(&inode) {
            file.homeless += homeless;
        }
    }

    /// Notes that all pages of a file have blocks.
    pub(crate) fn housed(&mut self, inode: u32) {
        if let Some(file) = self.files.get_mut(&inode) {
            self.homeless -= std::mem::take(&mut file.homeless);
            file.mapped = file.size.div_ceil(BLOCK as u64);
        }
    }

    /// Number of dirty pages.
    pub(crate) fn dirty(&self) -> u64 {
        self.count
    }

    /// Number of dirty pages that have no block.
    pub(crate) fn homeless(&self) -> u64 {
        self.homeless
    }

    /// The files with dirty pages, in the order in which they became dirty.
    pub(crate) fn take_order(&mut self) -> Vec<u32> {
        let order = std::mem::take(&mut self.order);
        let is_dirty = |[inode, stamp]: &[u32; 2]| {
            let file = self.files.get(inode);
            file.is_some_and(|file| file.stamp == *stamp)
        };
        let files = order.into_iter().filter(is_dirty);
        files.map(|[inode, _]| inode).collect()
    }

    /// Takes the pages of a file: they are written, or the file is deleted.
    pub(crate) fn take(&mut self, inode: u32) -> Option<Dirty> {
        let file = self.files.remove(&inode)?;
        self.count -= file.pages.len() as u64;
        self.homeless -= file.homeless;
        Some(file)
    }
}
