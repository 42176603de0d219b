//! The free blocks of a volume: one bit for each block, in groups.
//!
//! A block is free if it may be allocated now. Blocks that an allocator has set aside (preallocation) and blocks of a
//! deleted file before its deletion is committed are not.

use crate::block::{Extent, GROUP_BLOCKS};

const WORD: u64 = u64::BITS as u64;
/// Words of a group.
const GROUP_WORDS: usize = (GROUP_BLOCKS / WORD) as usize;

/// The free blocks of a volume.
#[derive(Clone, Debug)]
pub struct Space {
    /// One bit for each block, set if it is free. Groups begin at whole words.
    bits: Vec<u64>,
    /// Number of free blocks of each group.
    free_in: Vec<u32>,
    /// For each group, a word before which no block is free: where a first-fit search may begin.
    first_word: Vec<u16>,
    blocks: u64,
    free: u64,
    /// Number of changes of each group, by which others know that what they derived from it is out of date.
    changes: Vec<u32>,
    /// Number of blocks of each group that become free when a deletion is committed.
    leaving_in: Vec<u32>,
    leaving: u64,
}

impl Space {
    /// Makes a volume of `blocks` free blocks.
    pub fn new(blocks: u64) -> Self {
        let groups = blocks.div_ceil(GROUP_BLOCKS) as usize;
        let mut space = Self {
            bits: vec![0; groups * GROUP_WORDS],
            free_in: vec![0; groups],
            first_word: vec![0; groups],
            blocks,
            free: 0,
            changes: vec![0; groups],
            leaving_in: vec![0; groups],
            leaving: 0,
        };
        if blocks > 0 {
            space.release(Extent::new(0, blocks));
        }
        space
    }

    /// Number of groups. The last one may be shorter.
    pub fn groups(&self) -> u64 {
        self.free_in.len() as u64
    }

    /// Number of blocks of the volume.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Number of free blocks.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Number of free blocks of a group.
    pub fn free_in(&self, group: u64) -> u64 {
        let free = self.free_in.get(group as usize);
        free.map_or(0, |&free| u64::from(free))
    }

    /// Number of blocks that are in use until a deletion is committed. A format may count them as free.
    pub fn leaving(&self) -> u64 {
        self.leaving
    }

    /// Number of such blocks of a group.
    pub fn leaving_in(&self, group: u64) -> u64 {
        let leaving = self.leaving_in.get(group as usize);
        leaving.map_or(0, |&leaving| u64::from(leaving))
    }

    /// Notes that blocks in use belong to a deletion that is not committed, or no longer do.
    pub(crate) fn set_leaving(&mut self, extent: Extent, leaving: bool) {
        let mut start = extent.start;
        while start < extent.end() {
            let group = start / GROUP_BLOCKS;
            let end = extent.end().min((group + 1) * GROUP_BLOCKS);
            let (blocks, count) = (end - start, &mut self.leaving_in[group as usize]);
            match leaving {
                true => {
                    *count += blocks as u32;
                    self.leaving += blocks;
                }
                false => {
                    *count = count.saturating_sub(blocks as u32);
                    self.leaving = self.leaving.saturating_sub(blocks);
                }
            }
            start = end;
        }
    }

    /// A number that differs when the free blocks of a group have changed.
    pub fn changes(&self, group: u64) -> u32 {
        self.changes.get(group as usize).copied().unwrap_or(0)
    }

    /// The blocks of a group.
    pub fn group(&self, group: u64) -> Extent {
        let start = group * GROUP_BLOCKS;
        Extent::new(start, GROUP_BLOCKS.min(self.blocks.saturating_sub(start)))
    }

    /// Bits of a group, set where a block is free, 64 blocks a word.
    pub fn words(&self, group: u64) -> &[u64] {
        let from = group as usize * GROUP_WORDS;
        self.bits.get(from..from + GROUP_WORDS).unwrap_or(&[])
    }

    /// Returns whether a block is free.
    pub fn is_free(&self, block: u64) -> bool {
        let word = self.bits.get((block / WORD) as usize);
        word.is_some_and(|word| word >> (block % WORD) & 1 == 1)
    }

    /// The first free block at or after `from` and before `end`.
    pub fn next_free(&self, from: u64, end: u64) -> Option<u64> {
        let end = end.min(self.blocks);
        let mut from = from;
        while from < end {
            let group = from / GROUP_BLOCKS;
            let group_end = end.min((group + 1) * GROUP_BLOCKS);
            let skipped = u64::from(self.first_word[group as usize]) * WORD;
            let start = from.max(group * GROUP_BLOCKS + skipped);
            if self.free_in[group as usize] > 0
                && let Some(found) = self.next(start, group_end, 0)
            {
                return Some(found);
            }
            from = group_end;
        }
        None
    }

    /// The first block at or after `from` that is not free; `end` if all before it are.
    pub(crate) fn next_used(&self, from: u64, end: u64) -> u64 {
        self.next(from, end, u64::MAX).unwrap_or(end)
    }

    fn next(&self, from: u64, end: u64, flip: u64) -> Option<u64> {
        let mut block = from;
        while block < end {
            let word = (self.bits[(block / WORD) as usize] ^ flip) >> (block % WORD);
            if word != 0 {
                let found = block + u64::from(word.trailing_zeros());
                return (found < end).then_some(found);
            }
            block = (block / WORD + 1) * WORD;
        }
        None
    }

    /// The first run of free blocks at or after `from` and before `end`, cut to `most` blocks.
    pub fn run(&self, from: u64, end: u64, most: u64) -> Option<Extent> {
        let start = self.next_free(from, end)?;
        let limit = end.min(self.blocks).min(start.saturating_add(most));
        Some(Extent::new(start, self.next_used(start, limit) - start))
    }

    /// The free blocks from `start` on that are contiguous, at most `most`.
    pub(crate) fn run_at(&self, start: u64, most: u64) -> u64 {
        let end = start.saturating_add(most).min(self.blocks);
        match start < end {
            true => self.next_used(start, end) - start,
            false => 0,
        }
    }

    /// Number of runs of free blocks.
    pub fn free_runs(&self) -> u64 {
        let mut before = 0;
        let begin = |&word: &u64| {
            let begins = word & !(word << 1 | before);
            before = word >> (WORD - 1);
            u64::from(begins.count_ones())
        };
        self.bits.iter().map(begin).sum()
    }

    /// Takes blocks, all of which are free.
    pub fn take(&mut self, extent: Extent) {
        self.change(extent, false);
    }

    /// Frees blocks, none of which is free.
    pub fn release(&mut self, extent: Extent) {
        self.change(extent, true);
    }

    fn change(&mut self, extent: Extent, free: bool) {
        let mut start = extent.start;
        while start < extent.end() {
            let group = start / GROUP_BLOCKS;
            let end = extent.end().min((group + 1) * GROUP_BLOCKS);
            self.mark(start, end, free);
            self.count(group as usize, start, end, free);
            start = end;
        }
    }

    fn count(&mut self, group: usize, start: u64, end: u64, free: bool) {
        let blocks = end - start;
        let within = (start % GROUP_BLOCKS / WORD) as u16;
        self.changes[group] = self.changes[group].wrapping_add(1);
        if free {
            self.free += blocks;
            self.free_in[group] += blocks as u32;
            self.first_word[group] = self.first_word[group].min(within);
            return;
        }
        self.free -= blocks;
        self.free_in[group] -= blocks as u32;
        let words = self.words(group as u64);
        let mut first = self.first_word[group];
        while usize::from(first) + 1 < words.len() && words[usize::from(first)] == 0 {
            first += 1;
        }
        self.first_word[group] = first;
    }

    /// Marks blocks of one group.
    fn mark(&mut self, start: u64, end: u64, free: bool) {
        let mut block = start;
        while block < end {
            let first = block % WORD;
            let count = (WORD - first).min(end - block);
            let mask = (u64::MAX >> (WORD - count)) << first;
            let word = &mut self.bits[(block / WORD) as usize];
            debug_assert_eq!(*word & mask, if free { 0 } else { mask }, "block {block}");
            *word = if free { *word | mask } else { *word & !mask };
            block += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_words_and_groups() {
        let mut space = Space::new(3 * GROUP_BLOCKS + 100);
        assert_eq!((space.groups(), space.free()), (4, 3 * GROUP_BLOCKS + 100));
        space.take(Extent::new(0, GROUP_BLOCKS + 70));
        assert_eq!(space.next_free(0, u64::MAX), Some(GROUP_BLOCKS + 70));
        space.take(Extent::new(GROUP_BLOCKS + 100, 1));
        let run = space.run(0, u64::MAX, u64::MAX);
        assert_eq!(run, Some(Extent::new(GROUP_BLOCKS + 70, 30)));
        assert_eq!(space.run_at(GROUP_BLOCKS + 101, 1000), 1000);
        assert_eq!(space.free_runs(), 2);
        space.take(Extent::new(GROUP_BLOCKS + 101, 2 * GROUP_BLOCKS - 1));
        assert_eq!(space.free(), 30);
        space.release(Extent::new(5, 3));
        assert_eq!(space.next_free(0, u64::MAX), Some(5));
        assert_eq!(space.next_free(8, GROUP_BLOCKS + 70), None);
        assert_eq!(space.free_in(0), 3);
    }
}
