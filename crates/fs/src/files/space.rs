//! The block allocator: free blocks in a bitmap, by group, and a first-fit search among them.

use crate::block::{Extent, GROUP_BLOCKS};

/// A shorter free run is taken only if the group has no longer one after the goal. Likewise, ext3 looks for a free byte
/// in the group's bitmap before it takes single bits (`find_next_usable_block`).
const WORTHWHILE: u64 = 8;

/// The error of an allocation that exceeds the free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} blocks of 4 KiB are wanted and {free} are free")]
pub struct Full {
    /// Number of blocks wanted.
    pub wanted: u64,
    /// Number of free blocks.
    pub free: u64,
}

/// The free blocks of one group.
#[derive(Clone, Debug)]
struct Group {
    free: u64,
    /// For each length from 1 to [`WORTHWHILE`]: a block before which no free run is that long, or [`NOWHERE`] if there
    /// is none in the group. Spares the first-fit search the short runs that it has already passed.
    none_before: [u64; WORTHWHILE as usize],
}

const NOWHERE: u64 = u64::MAX;
const WORD: u64 = u64::BITS as u64;

/// The blocks of a range, in groups.
#[derive(Clone, Debug)]
pub struct Space {
    /// One bit for each block, set if it is free. Groups begin at whole words.
    bits: Vec<u64>,
    groups: Vec<Group>,
    blocks: u64,
    usable: u64,
    free: u64,
}

impl Space {
    /// Creates `blocks` free blocks in groups of [`GROUP_BLOCKS`]. The first `reserved` blocks of each group are never
    /// free. A remainder of at most twice `reserved` at the end is dropped.
    pub(super) fn new(blocks: u64, reserved: u64) -> Self {
        let rest = blocks % GROUP_BLOCKS;
        let blocks = if rest > 2 * reserved {
            blocks
        } else {
            blocks - rest
        };
        let group = |index| Group {
            free: 0,
            none_before: [index * GROUP_BLOCKS; WORTHWHILE as usize],
        };
        let groups = blocks.div_ceil(GROUP_BLOCKS);
        let mut space = Self {
            bits: vec![0; (groups * GROUP_BLOCKS / WORD) as usize],
            groups: (0..groups).map(group).collect(),
            blocks,
            usable: 0,
            free: 0,
        };
        for group in 0..groups {
            let start = group * GROUP_BLOCKS + reserved;
            let end = blocks.min((group + 1) * GROUP_BLOCKS);
            space.release(Extent {
                start,
                blocks: end - start,
            });
        }
        space.usable = space.free;
        space
    }

    /// Number of groups.
    pub fn groups(&self) -> u64 {
        self.groups.len() as u64
    }

    /// Number of blocks, including the reserved ones.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Number of blocks that files can use.
    pub fn usable(&self) -> u64 {
        self.usable
    }

    /// Number of free blocks.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Number of free blocks in a group.
    pub(super) fn free_in(&self, group: u64) -> u64 {
        self.groups
            .get(group as usize)
            .map_or(0, |group| group.free)
    }

    /// Number of runs of free blocks.
    pub fn free_pieces(&self) -> usize {
        let mut before = 0;
        let begin = |&word: &u64| {
            let begins = word & !(word << 1 | before);
            before = word >> (WORD - 1);
            begins.count_ones() as usize
        };
        self.bits.iter().map(begin).sum()
    }

    /// Allocates `wanted` blocks, first fit from `goal` on, and appends their extents to `taken`.
    ///
    /// # Errors
    /// [`Full`]; nothing is allocated then.
    pub(super) fn allocate(
        &mut self,
        goal: u64,
        wanted: u64,
        taken: &mut Vec<Extent>,
    ) -> Result<(), Full> {
        if wanted > self.free {
            let free = self.free;
            return Err(Full { wanted, free });
        }
        let first = (goal / GROUP_BLOCKS).min(self.groups() - 1);
        let mut left = wanted;
        for step in 0..=self.groups() {
            // The last step visits the first group again, from its beginning.
            let group = (first + step) % self.groups();
            let from = if step == 0 { goal } else { 0 };
            for least in [WORTHWHILE, 1] {
                left = self.take(group, from, least, left, taken);
            }
            if left == 0 {
                break;
            }
        }
        self.free -= wanted;
        Ok(())
    }

    /// Allocates up to `left` blocks in a group from `from` on, in runs of at least `least` blocks or of all that is
    /// left. Returns how many are still wanted.
    fn take(
        &mut self,
        group: u64,
        mut from: u64,
        least: u64,
        mut left: u64,
        taken: &mut Vec<Extent>,
    ) -> u64 {
        while left > 0 && self.groups[group as usize].free > 0 {
            let Some(extent) = self.find(group, from, least.min(left), left) else {
                break;
            };
            self.mark(extent, false);
            self.groups[group as usize].free -= extent.blocks;
            left -= extent.blocks;
            from = extent.end();
            match taken.last_mut() {
                Some(last) if last.end() == extent.start => last.blocks += extent.blocks,
                _ => taken.push(extent),
            }
        }
        left
    }

    /// Finds the first free run at or after `from` in a group with at least `enough` blocks (at most [`WORTHWHILE`]),
    /// cut to `most` blocks.
    fn find(&mut self, group: u64, from: u64, enough: u64, most: u64) -> Option<Extent> {
        let known = self.groups[group as usize].none_before[enough as usize - 1];
        if known == NOWHERE {
            return None;
        }
        let end = (group + 1) * GROUP_BLOCKS;
        let mut start = from.max(known);
        let found = loop {
            start = self.next(start, end, true);
            if start >= end {
                break None;
            }
            let run_end = self.next(start, end.min(start.saturating_add(most)), false);
            if run_end - start >= enough {
                let blocks = run_end - start;
                break Some(Extent { start, blocks });
            }
            start = run_end;
        };
        if from <= known {
            let first = found.map_or(NOWHERE, |extent| extent.start);
            self.groups[group as usize].none_before[enough as usize - 1] = first;
        }
        found
    }

    /// The first block at or after `from` that is free, or used if `free` is false; `end` if there is none before it.
    fn next(&self, from: u64, end: u64, free: bool) -> u64 {
        let flip = if free { 0 } else { u64::MAX };
        let mut block = from;
        while block < end {
            let word = (self.bits[(block / WORD) as usize] ^ flip) >> (block % WORD);
            if word != 0 {
                return end.min(block + u64::from(word.trailing_zeros()));
            }
            block = (block / WORD + 1) * WORD;
        }
        end
    }

    fn mark(&mut self, extent: Extent, free: bool) {
        let mut block = extent.start;
        while block < extent.end() {
            let first = block % WORD;
            let count = (WORD - first).min(extent.end() - block);
            let mask = (u64::MAX >> (WORD - count)) << first;
            let word = &mut self.bits[(block / WORD) as usize];
            *word = if free { *word | mask } else { *word & !mask };
            block += count;
        }
    }

    /// Frees the blocks of an extent.
    pub fn release(&mut self, extent: Extent) {
        self.mark(extent, true);
        self.free += extent.blocks;
        let mut start = extent.start;
        while start < extent.end() {
            let index = start / GROUP_BLOCKS;
            let end = extent.end().min((index + 1) * GROUP_BLOCKS);
            let group = &mut self.groups[index as usize];
            group.free += end - start;
            // A run that becomes long enough by this extent begins less than `WORTHWHILE` blocks before it.
            let earliest = start.saturating_sub(WORTHWHILE).max(index * GROUP_BLOCKS);
            for known in &mut group.none_before {
                *known = (*known).min(earliest);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_fit_prefers_pieces_that_are_worth_it() {
        let mut space = Space::new(GROUP_BLOCKS, 0);
        let mut all = Vec::new();
        space.allocate(0, GROUP_BLOCKS, &mut all).unwrap();
        let free = |space: &mut Space, start, blocks| space.release(Extent { start, blocks });
        free(&mut space, 10, 3);
        free(&mut space, 100, 20);
        free(&mut space, 200, 8);
        let mut taken = Vec::new();
        space.allocate(0, 24, &mut taken).unwrap();
        let at = |start, blocks| Extent { start, blocks };
        assert_eq!(taken, [at(100, 20), at(200, 4)]);
        taken.clear();
        space.allocate(0, 7, &mut taken).unwrap();
        assert_eq!(taken, [at(10, 3), at(204, 4)]);
        assert!(space.allocate(0, 1, &mut taken).is_err());
    }
}
