//! Greedy-Space with locality: new blocks go first to logical blocks that the sync rewrites anyway.
//!
//! The write cost model of `greedy-space` section III charges a merge for each logical block that a sync touches, and a
//! transfer for each block. A logical block with blocks that are rewritten in place is merged in any case, so new blocks
//! in its free space cost no further merge. They are taken from the one with the most free blocks until it is full, then
//! from the next, and from the open logical block of Greedy-Space when none is left. The paper leaves locality for the
//! future (section VI); this answer is ours. It needs delayed allocation: before that, nothing is known of the sync.

use super::{Allocator, GreedySpace, Want};
use crate::block::Extent;
use crate::space::Space;
use std::collections::BTreeSet;

/// Greedy-Space with locality.
#[derive(Clone, Debug)]
pub struct GreedyLocal {
    greedy: GreedySpace,
    /// Logical blocks that the sync rewrites and that may have free blocks.
    rewritten: BTreeSet<u32>,
    /// The one of them that new blocks come from.
    filled: Option<u32>,
}

impl GreedyLocal {
    /// Takes account of the free blocks; see [`GreedySpace::new`].
    pub fn new(space: &Space, blocks: u64, offset: u64) -> Self {
        Self {
            greedy: GreedySpace::new(space, blocks, offset),
            rewritten: BTreeSet::new(),
            filled: None,
        }
    }

    /// The rewritten logical block to fill, with free blocks.
    fn fill(&mut self) -> Option<u32> {
        if let Some(index) = self.filled.filter(|&index| self.greedy.free_of(index) > 0) {
            return Some(index);
        }
        let greedy = &self.greedy;
        self.rewritten.retain(|&index| greedy.free_of(index) > 0);
        let emptiest = self.rewritten.iter().rev().copied();
        self.filled = emptiest.max_by_key(|&index| greedy.free_of(index));
        self.filled
    }
}

impl Allocator for GreedyLocal {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        match self.fill() {
            Some(index) => self.greedy.take_from(space, index, want.blocks),
            None => self.greedy.allocate(space, want),
        }
    }

    fn rewrites(&mut self, extent: Extent) {
        let indices = self.greedy.indices(extent);
        self.rewritten.extend(indices);
    }

    fn synced(&mut self) {
        self.rewritten.clear();
        self.filled = None;
    }

    fn released(&mut self, space: &Space, extent: Extent) {
        self.greedy.released(space, extent);
    }

    fn memory_bytes(&self) -> u64 {
        let set = self.rewritten.len() * size_of::<u32>();
        self.greedy.memory_bytes() + set as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;
    use crate::block::FileId;

    #[test]
    fn blocks_that_are_rewritten_are_filled_first_and_only_for_one_sync() {
        let want = Want {
            file: FileId(2),
            what: What::Data,
            page: 0,
            blocks: 100,
            size: 100,
            open: false,
            home: 0,
            after: None,
            extents: true,
            inode: 0,
            parent: FileId(1),
            processor: 0,
        };
        // Four logical blocks of 8 with 8, 2, 3 and 8 free blocks.
        let mut space = Space::new(32);
        space.take(Extent::new(8, 6));
        space.take(Extent::new(19, 5));
        let mut local = GreedyLocal::new(&space, 8, 0);
        local.rewrites(Extent::new(9, 1));
        local.rewrites(Extent::new(20, 1));
        let mut take = |local: &mut GreedyLocal| local.allocate(&mut space, &want);
        assert_eq!(take(&mut local), Some(Extent::new(16, 3)));
        assert_eq!(take(&mut local), Some(Extent::new(14, 2)));
        assert_eq!(take(&mut local), Some(Extent::new(0, 8)));
        local.synced();
        local.rewrites(Extent::new(0, 1));
        assert_eq!(take(&mut local), Some(Extent::new(24, 8)));
        assert_eq!(take(&mut local), None);
    }
}
