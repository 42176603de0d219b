//! Free blocks by group, and first fit among them.

use std::collections::BTreeMap;

/// Blocks in a group: as many as a bitmap of one 4-KiB block has bits, 128 MiB.
pub const GROUP_BLOCKS: u64 = 32_768;
/// A piece shorter than this is taken only where no group has a longer one, as ext3 looks for a free byte in its bitmap
/// before it takes single bits (`find_next_usable_block`).
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

/// The free blocks of one group.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Where free blocks begin and how many there are.
    runs: BTreeMap<u64, u64>,
    free: u64,
}

/// The blocks of a range, in groups.
#[derive(Clone, Debug)]
pub struct Space {
    groups: Vec<Group>,
    blocks: u64,
    usable: u64,
    free: u64,
}

impl Space {
    /// `blocks` in groups of [`GROUP_BLOCKS`], the first `reserved` of each of which are never free. A rest of at most
    /// twice `reserved` at the end makes no group.
    pub fn new(blocks: u64, reserved: u64) -> Self {
        let rest = blocks % GROUP_BLOCKS;
        let blocks = if rest > 2 * reserved {
            blocks
        } else {
            blocks - rest
        };
        let group = |index: u64| {
            let start = index * GROUP_BLOCKS;
            let free = GROUP_BLOCKS.min(blocks - start) - reserved;
            let runs = BTreeMap::from([(start + reserved, free)]);
            Group { runs, free }
        };
        let groups: Vec<Group> = (0..blocks.div_ceil(GROUP_BLOCKS)).map(group).collect();
        let free = groups.iter().map(|group| group.free).sum();
        Self {
            groups,
            blocks,
            usable: free,
            free,
        }
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

    /// How many pieces the free blocks are in.
    pub fn free_pieces(&self) -> usize {
        self.groups.iter().map(|group| group.runs.len()).sum()
    }

    /// Takes `wanted` blocks, first fit from `goal` on, and appends where they are.
    ///
    /// # Errors
    /// [`Full`]; nothing is taken then.
    pub fn allocate(
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
        for least in [WORTHWHILE, 1] {
            left = self.take(first, goal, least, left, taken);
            for step in 0..self.groups() {
                let group = (first + step) % self.groups();
                left = self.take(group, 0, least, left, taken);
                if left == 0 {
                    break;
                }
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
        from: u64,
        least: u64,
        mut left: u64,
        taken: &mut Vec<Extent>,
    ) -> u64 {
        let group = &mut self.groups[group as usize];
        let mut from = from;
        while left > 0 && group.free > 0 {
            let enough = least.min(left);
            let around = group.runs.range(..from).next_back();
            let around = around.filter(|(start, blocks)| *start + **blocks >= from + enough);
            let behind = || group.runs.range(from..).find(|(_, free)| **free >= enough);
            let Some((&start, &blocks)) = around.or_else(behind) else {
                break;
            };
            let begin = start.max(from);
            let extent = Extent {
                start: begin,
                blocks: left.min(start + blocks - begin),
            };
            group.runs.remove(&start);
            if begin > start {
                group.runs.insert(start, begin - start);
            }
            if extent.end() < start + blocks {
                group
                    .runs
                    .insert(extent.end(), start + blocks - extent.end());
            }
            group.free -= extent.blocks;
            left -= extent.blocks;
            from = extent.end();
            match taken.last_mut() {
                Some(last) if last.end() == extent.start => last.blocks += extent.blocks,
                _ => taken.push(extent),
            }
        }
        left
    }

    /// Gives blocks back.
    pub fn release(&mut self, extent: Extent) {
        let mut start = extent.start;
        while start < extent.end() {
            let group = start / GROUP_BLOCKS;
            let end = extent.end().min((group + 1) * GROUP_BLOCKS);
            self.groups[group as usize].release(start, end - start);
            self.free += end - start;
            start = end;
        }
    }
}

impl Group {
    fn release(&mut self, start: u64, blocks: u64) {
        self.free += blocks;
        let (mut start, mut end) = (start, start + blocks);
        if let Some((&before, &len)) = self.runs.range(..start).next_back()
            && before + len == start
        {
            self.runs.remove(&before);
            start = before;
        }
        if let Some(len) = self.runs.remove(&end) {
            end += len;
        }
        self.runs.insert(start, end - start);
    }
}
