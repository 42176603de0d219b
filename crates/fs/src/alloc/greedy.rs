//! Greedy-Space (`greedy-space` section IV.B): all new blocks come from one open logical block until it is full, then
//! from the one with the most free blocks.
//!
//! A logical block is the unit of the drive whose rewriting costs least: its size is a parameter of a profile. Logical
//! blocks count from the beginning of the drive. Of those with equally many free blocks, the lowest is taken; the paper
//! does not say which. Within a logical block, blocks are taken in ascending order, those freed meanwhile included.

use super::{Allocator, Want};
use crate::block::Extent;
use crate::space::Space;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Bytes of an entry of the paper's implementation (`greedy-space` Table I).
pub const PAPER_ENTRY_BYTES: u64 = 36;

/// Greedy-Space.
#[derive(Clone, Debug)]
pub struct GreedySpace {
    /// Blocks of a logical block.
    blocks: u64,
    /// Blocks between the last boundary of a logical block before the volume and the volume's beginning.
    offset: u64,
    /// Number of free blocks of each logical block.
    free: Vec<u32>,
    /// Those with free blocks, by their number.
    order: BTreeSet<(u32, Reverse<u32>)>,
    open: u32,
}

impl GreedySpace {
    /// Takes account of the free blocks. `blocks` is the size of a logical block, at least 1, and `offset` the number of
    /// blocks between a boundary of logical blocks and the beginning of the volume.
    pub fn new(space: &Space, blocks: u64, offset: u64) -> Self {
        let blocks = blocks.clamp(1, u64::from(u32::MAX));
        let offset = offset % blocks;
        let mut greedy = Self {
            blocks,
            offset,
            free: vec![0; (space.blocks() + offset).div_ceil(blocks) as usize],
            order: BTreeSet::new(),
            open: 0,
        };
        let mut from = 0;
        while let Some(run) = space.run(from, space.blocks(), u64::MAX) {
            greedy.change(run, true);
            from = run.end();
        }
        greedy.open = greedy.emptiest().unwrap_or(0);
        greedy
    }

    /// Number of logical blocks.
    pub fn logical_blocks(&self) -> usize {
        self.free.len()
    }

    /// The logical block that new blocks come from, and its number of free blocks.
    fn open(&self) -> (u32, u32) {
        (self.open, self.free_of(self.open))
    }

    /// Number of free blocks of a logical block.
    pub(super) fn free_of(&self, index: u32) -> u32 {
        self.free.get(index as usize).copied().unwrap_or(0)
    }

    /// The logical blocks that blocks lie in.
    pub(super) fn indices(&self, extent: Extent) -> std::ops::RangeInclusive<u32> {
        let index = |block: u64| ((block + self.offset) / self.blocks) as u32;
        index(extent.start)..=index(extent.end() - 1)
    }

    /// Takes the first free blocks of a logical block.
    pub(super) fn take_from(&mut self, space: &mut Space, index: u32, most: u64) -> Option<Extent> {
        let (start, end) = self.extent(index);
        let run = space.run(start, end, most)?;
        space.take(run);
        self.change(run, false);
        Some(run)
    }

    /// Notes that another one has taken blocks.
    pub(super) fn taken(&mut self, extent: Extent) {
        self.change(extent, false);
    }

    fn emptiest(&self) -> Option<u32> {
        self.order.last().map(|&(_, Reverse(index))| index)
    }

    /// The logical block with the most free blocks of those that are not among some; `None` if no other has any.
    pub(super) fn emptiest_but(&self, not: &[u32]) -> Option<u32> {
        let all = self.order.iter().rev().map(|&(_, Reverse(index))| index);
        all.into_iter().find(|index| !not.contains(index))
    }

    /// The blocks of the volume in a logical block.
    fn extent(&self, index: u32) -> (u64, u64) {
        let end = (u64::from(index) + 1) * self.blocks - self.offset;
        (end.saturating_sub(self.blocks), end)
    }

    /// Adds or subtracts blocks that are free or taken.
    fn change(&mut self, extent: Extent, free: bool) {
        let mut start = extent.start;
        while start < extent.end() {
            let index = ((start + self.offset) / self.blocks) as u32;
            let end = extent.end().min(self.extent(index).1);
            let count = &mut self.free[index as usize];
            if *count > 0 {
                self.order.remove(&(*count, Reverse(index)));
            }
            let blocks = (end - start) as u32;
            *count = match free {
                true => *count + blocks,
                false => *count - blocks,
            };
            if *count > 0 {
                self.order.insert((*count, Reverse(index)));
            }
            start = end;
        }
    }
}

impl Allocator for GreedySpace {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        if self.open().1 == 0 {
            self.open = self.emptiest()?;
        }
        self.take_from(space, self.open, want.blocks)
    }

    fn released(&mut self, _space: &Space, extent: Extent) {
        self.change(extent, true);
    }

    fn memory_bytes(&self) -> u64 {
        let entry = size_of::<(u32, Reverse<u32>)>() + size_of::<u32>();
        (self.free.len() * entry) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;
    use crate::block::FileId;

    fn want(blocks: u64) -> Want {
        Want {
            file: FileId(2),
            what: What::Data,
            page: 0,
            blocks,
            size: blocks,
            open: false,
            home: 0,
            after: None,
            extents: false,
            inode: 0,
            parent: FileId(1),
            processor: 0,
        }
    }

    #[test]
    fn the_open_block_is_filled_before_the_emptiest_is_opened() {
        // Logical blocks of 8 with a boundary 3 blocks before the volume: 5, 8, 8, 8 blocks.
        let mut space = Space::new(29);
        space.take(Extent::new(5, 2));
        let mut greedy = GreedySpace::new(&space, 8, 3);
        assert_eq!(greedy.logical_blocks(), 4);
        let mut take = |space: &mut Space, blocks| greedy.allocate(space, &want(blocks));
        assert_eq!(take(&mut space, 5), Some(Extent::new(13, 5)));
        assert_eq!(take(&mut space, 5), Some(Extent::new(18, 3)));
        assert_eq!(take(&mut space, 20), Some(Extent::new(21, 8)));
        assert_eq!(take(&mut space, 20), Some(Extent::new(7, 6)));
        space.release(Extent::new(14, 6));
        greedy.released(&space, Extent::new(14, 6));
        let mut take = |space: &mut Space, blocks| greedy.allocate(space, &want(blocks));
        // The six that were freed are more than the five of the first logical block.
        assert_eq!(take(&mut space, 20), Some(Extent::new(14, 6)));
        assert_eq!(take(&mut space, 20), Some(Extent::new(0, 5)));
        assert_eq!(take(&mut space, 1), None);
    }
}
