//! The free blocks of an image, filled from its bitmaps, and the allocator that all new blocks come from.

use crate::error::ExtError;
use fathom_base::Bytes;
use fathom_fs::alloc::{Allocator, Want, What};
use fathom_fs::{BLOCK_BYTES, Extent, FileId, FileSystem, Policy, Space};
use std::collections::BTreeSet;

/// Blocks of a group.
pub(crate) const GROUP_BLOCKS: u64 = 8 * BLOCK_BYTES;

/// The allocators by name: those of `fathom_fs::Policy` without that of the log-structured file system.
pub const ALLOCATORS: [&str; 7] = [
    Policy::Ext3.name(),
    Policy::Ext4.name(),
    Policy::GreedySpace.name(),
    Policy::GreedyData.name(),
    Policy::GreedyLocal.name(),
    Policy::Reiser.name(),
    Policy::ReclaimUnits.name(),
];
/// A logical block has fewer blocks.
const MOST_BLOCKS: u64 = 1 << 20;

/// Makes an allocator for the free blocks of an image.
pub type MakeAllocator = Box<dyn FnOnce(&Space) -> Box<dyn Allocator>>;

/// Returns what makes an allocator of [`ALLOCATORS`]. `logical_block_bytes` is the logical block of Greedy-Space or the
/// reclaim unit, below 4 GiB.
///
/// # Errors
/// [`ExtError::UnknownAllocator`]; [`ExtError::LogicalBlock`].
pub fn allocator(name: &str, logical_block_bytes: u64) -> Result<MakeAllocator, ExtError> {
    let blocks = logical_block_bytes / BLOCK_BYTES;
    if !(1..MOST_BLOCKS).contains(&blocks) || !logical_block_bytes.is_multiple_of(BLOCK_BYTES) {
        return Err(ExtError::LogicalBlock {
            bytes: logical_block_bytes,
            block: BLOCK_BYTES,
        });
    }
    let policy = name.parse().ok();
    let policy = policy.filter(|&policy| policy != Policy::Logs);
    let policy = policy.ok_or_else(|| ExtError::UnknownAllocator {
        name: name.into(),
        known: &ALLOCATORS,
    })?;
    let chosen = FileSystem {
        allocator: Some(policy),
        logical_block: Some(Bytes(logical_block_bytes)),
        ..FileSystem::default()
    };
    Ok(Box::new(move |space: &Space| chosen.allocator(space)))
}

/// The free blocks and who takes them.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) space: Space,
    pub(crate) allocator: Box<dyn Allocator>,
    /// Groups whose bitmap of blocks has changed.
    pub(crate) changed: BTreeSet<u32>,
    /// Blocks that were freed since the last commit: they stay in use until the next.
    pub(crate) freed: Vec<u64>,
    /// What the library allocates for at present.
    pub(crate) what: What,
    extents: bool,
}

impl Allocation {
    /// `free` are the bitmaps of all groups, one bit for each block that is in use, of 4 KiB each.
    pub(crate) fn new(blocks: u64, bitmaps: &[u8], make: MakeAllocator, extents: bool) -> Self {
        let mut space = Space::new(blocks);
        for run in used_runs(bitmaps, blocks) {
            space.take(run);
        }
        Self {
            allocator: make(&space),
            space,
            changed: BTreeSet::new(),
            freed: Vec::new(),
            what: What::Map,
            extents,
        }
    }

    /// Takes a block for metadata near a goal.
    pub(crate) fn metadata(&mut self, inode: u32, page: u64, goal: u64) -> Option<u64> {
        let want = Want {
            file: FileId(inode),
            what: self.what,
            page: page as u32,
            blocks: 1,
            size: page + 1,
            open: false,
            home: goal,
            after: None,
            extents: self.extents,
            inode,
            parent: FileId(inode),
            processor: 0,
        };
        let taken = self.allocator.allocate(&mut self.space, &want)?;
        Some(taken.start)
    }

    /// Notes that the bitmap says otherwise of a block than before.
    pub(crate) fn noted(&mut self, block: u64, in_use: bool) {
        self.changed.insert((block / GROUP_BLOCKS) as u32);
        if !in_use {
            self.freed.push(block);
        }
    }

    /// Notes that a file is no longer open for writing.
    pub(crate) fn close(&mut self, file: FileId) {
        self.allocator.closed(&mut self.space, file);
    }

    /// Blocks that may be taken, what the allocator has set aside included.
    pub(crate) fn available(&self) -> u64 {
        self.space.free() + self.allocator.set_aside()
    }

    /// Makes the freed blocks free: their deletion is committed.
    pub(crate) fn release(&mut self) {
        let mut freed = std::mem::take(&mut self.freed);
        freed.sort_unstable();
        for run in Extent::runs(&freed) {
            self.space.release(run);
            self.allocator.released(&self.space, run);
        }
    }
}

fn used_runs(bitmaps: &[u8], blocks: u64) -> Vec<Extent> {
    let mut runs: Vec<Extent> = Vec::new();
    let mut add = |start: u64, count: u64| Extent::new(start, count).add_to(&mut runs);
    for (index, &byte) in bitmaps.iter().enumerate() {
        let first = index as u64 * 8;
        match byte {
            0 => {}
            0xff if first + 8 <= blocks => add(first, 8),
            _ => {
                let bits = (0..8).filter(|bit| byte >> bit & 1 == 1 && first + bit < blocks);
                bits.for_each(|bit| add(first + bit, 1));
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_the_set_bits() {
        let bitmap = [0xff, 0x01, 0x00, 0xf0, 0x0f, 0xff];
        let runs = used_runs(&bitmap, 44);
        let expected = [(0, 9), (28, 8), (40, 4)].map(|(at, len)| Extent::new(at, len));
        assert_eq!(runs, expected);
    }

    #[test]
    fn a_logical_block_is_a_multiple_of_the_block() {
        for bytes in [0, 100, 4095, 6000, 4 << 30] {
            let refused = allocator("greedy-space", bytes).err();
            assert!(matches!(refused, Some(ExtError::LogicalBlock { .. })));
        }
        for name in ["best-fit", "log-structured"] {
            let unknown = allocator(name, 4096).err().unwrap();
            assert!(unknown.to_string().contains("greedy-local"), "{unknown}");
        }
    }
}
