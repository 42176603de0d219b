//! Block allocators, one a file, behind one trait: which free blocks new data and metadata get.
//!
//! An allocator does not know what a file system writes where (that is [`crate::ext`] and [`crate::reiser`]) and never
//! moves a block that is in use. What it has set aside is not free in [`Space`], and is lost when the volume is mounted
//! again, as in a kernel.

mod apart;
mod buddy;
mod ext3;
mod ext4;
mod greedy;
mod local;
mod reclaim;
mod reiser;

pub use apart::GreedyData;
pub use ext3::Ext3;
pub use ext4::{Ext4, Ext4Settings};
pub use greedy::{GreedySpace, PAPER_ENTRY_BYTES};
pub use local::GreedyLocal;
pub use reclaim::ReclaimUnits;
pub use reiser::Reiser;

use crate::block::{Extent, FileId};
use crate::space::Space;
use std::fmt;

/// What new blocks are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Data of a file.
    Data,
    /// Entries of a directory.
    Directory,
    /// Metadata that maps a file: an indirect block, or a block of extents.
    Map,
    /// A node of a tree that holds the metadata of a file system.
    Node,
}

/// A request for new blocks.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// The file that they belong to.
    pub file: FileId,
    /// What they are for.
    pub what: What,
    /// The first page of the file that they are for.
    pub page: u32,
    /// Number of blocks, at least 1.
    pub blocks: u64,
    /// The length of the file in blocks with what is being written.
    pub size: u64,
    /// Whether the file is open for writing.
    pub open: bool,
    /// Where the format would put the file: the beginning of the inode's group, or the place of the packing locality.
    pub home: u64,
    /// The block of the nearest page before `page` that has one.
    pub after: Option<u64>,
    /// Whether the file is mapped by extents: the allocator then knows its neighbours.
    pub extents: bool,
    /// The number of the inode; in ReiserFS the packing locality.
    pub inode: u32,
    /// The directory of the file.
    pub parent: FileId,
    /// The processor that asks.
    pub processor: u32,
}

impl Want {
    /// The block where a file goes on: after the page before, or at its home.
    pub fn goal(&self) -> u64 {
        self.after.map_or(self.home, |block| block + 1)
    }
}

/// A block allocator.
pub trait Allocator: fmt::Debug + Send {
    /// Takes at least one and at most `want.blocks` blocks, contiguous. `None` if nothing is free.
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent>;

    /// Tells that blocks became free.
    fn released(&mut self, _space: &Space, _extent: Extent) {}

    /// Tells that a file is no longer open for writing.
    fn closed(&mut self, _space: &mut Space, _file: FileId) {}

    /// Tells that the sync that begins writes blocks in place.
    fn rewrites(&mut self, _extent: Extent) {}

    /// Tells that the sync has allocated all its blocks.
    fn synced(&mut self) {}

    /// Tells how many processors the machine has.
    fn runs_on(&mut self, _processors: u32) {}

    /// Frees all blocks that are set aside: before the volume is unmounted, or when nothing else is free.
    fn give_back(&mut self, _space: &mut Space) {}

    /// Number of blocks set aside.
    fn set_aside(&self) -> u64 {
        0
    }

    /// Memory that the allocator takes beside the bitmaps, in bytes.
    fn memory_bytes(&self) -> u64;
}
