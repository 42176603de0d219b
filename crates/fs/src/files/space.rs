//! Free blocks in a bitmap, by group, and first fit among them.

/// The block of the file system and the page of the cache, in bytes.
pub const BLOCK_BYTES: u64 = 4096;
/// Blocks in a group: as many as a bitmap of one 4-KiB block has bits, 128 MiB.
pub(super) const GROUP_BLOCKS: u64 = 32_768;
/// A piece shorter than this is taken only where the group has no longer one behind the goal, as ext3 looks for a free
/// byte in the group's bitmap before it takes single bits (`find_next_usable_block`).
const WORTHWHILE: u64 = 8;

/// Blocks that lie one behind the other, counted from the beginning of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first one.
    pub start: u64,
    /// How many, at least one.
    pub blocks: u64,
}

impl Extent {
    /// The first block after it.
    pub fn end(self) -> u64 {
        self.start + self.blocks
    }
}

/// Less is free than is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} blocks of 4 KiB are wanted and {free} are free")]
pub struct Full {
    /// Blocks wanted.
    pub wanted: u64,
    /// Blocks free.
    pub free: u64,
}

/// What is known of the free blocks of one group.
#[derive(Clone, Debug)]
struct Group {
    free: u64,
    /// For each length from 1 to [`WORTHWHILE`]: no run before this block is as long; [`NOWHERE`] for none in the group.
    /// Keeps first fit from looking through the same short runs again.
    none_before: [u64; WORTHWHILE as usize],
}

const NOWHERE: u64 = u64::MAX;
const WORD: u64 = u64::BITS as u64;

/// The blocks of a range, in groups.
#[derive(Clone, Debug)]
pub struct Space {
    /// A bit for each block, set where it is free. Groups begin at whole words.
    bits: Vec<u64>,
    groups: Vec<Group>,
    blocks: u64,
    usable: u64,
    free: u64,
}

impl Space {
    /// `blocks` in groups of [`GROUP_BLOCKS`], the first `reserved` of each of which are never free. A rest of at most
    /// twice `reserved` at the end makes no group.
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

    /// How many groups.
    pub fn groups(&self) -> u64 {
        self.groups.len() as u64
    }

    /// All blocks, those that are never free included.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Blocks that files can have.
    pub fn usable(&self) -> u64 {
        self.usable
    }

    /// Blocks that no file has.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Blocks of a group that no file has.
    pub(super) fn free_in(&self, group: u64) -> u64 {
        self.groups
            .get(group as usize)
            .map_or(0, |group| group.free)
    }

    /// How many pieces the free blocks are in.
    pub fn free_pieces(&self) -> usize {
        let mut before = 0;
        let begin = |&word: &u64| {
            let begins = word & !(word << 1 | before);
            before = word >> (WORD - 1);
            begins.count_ones() as usize
        };
        self.bits.iter().map(begin).sum()
    }

    /// Takes `wanted` blocks, first fit from `goal` on, and appends where they are.
    ///
    /// # Errors
    /// [`Full`]; nothing is taken then.
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
            // The last one is the first one again, from its beginning.
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

    /// Takes up to `left` blocks from `from` on in a group, in pieces of at least `least` or all that is left, and
    /// tells what is still wanted.
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

    /// The first `enough` (at most [`WORTHWHILE`]) free blocks or more, up to `most`, at or behind `from` in a group.
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

    /// The first block from `from` on that is free, or is not; `end` where none is before it.
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

    /// Gives blocks back.
    pub fn release(&mut self, extent: Extent) {
        self.mark(extent, true);
        self.free += extent.blocks;
        let mut start = extent.start;
        while start < extent.end() {
            let index = start / GROUP_BLOCKS;
            let end = extent.end().min((index + 1) * GROUP_BLOCKS);
            let group = &mut self.groups[index as usize];
            group.free += end - start;
            // A run that it makes longer may begin as many blocks before it as such a run has.
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
