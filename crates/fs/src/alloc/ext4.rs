//! The multi-block allocator of ext4: buddies, pools for small files, and preallocation for large ones.
//!
//! A file of at most 64 KiB takes its blocks from a pool of its processor, a run of 512 blocks. A longer file that is open
//! for writing gets its size rounded up (16 KiB to 8 MiB) and set aside, without what it has already; a closed one gets
//! what it asks for. Runs are found by criteria, each over all groups from the goal's on:
//!
//! 1. for a power of two, the smallest free buddy that is large enough, in the groups whose largest buddy is smallest;
//! 2. groups whose free runs are long enough on average, those with the shortest first;
//! 3. the same with the request cut by up to three powers of two;
//! 4. any group with enough free blocks; 5. any group with a free block.
//!
//! Within a group the best of the first runs is taken. Files that are preallocated do not begin at their home but where
//! the last such file of the same number modulo the number of processors went. What is set aside is given up when the
//! file is closed. After `fs/ext4/mballoc.c` of Linux 6.18.
//!
//! Left out: RAID stripes, the choice by rotating medium, and the background discard of preallocated blocks.

use super::buddy::Group;
use super::{Allocator, Want, What};
use crate::block::{Extent, FileId, GROUP_BLOCKS};
use crate::space::Space;
use rustc_hash::FxHashMap;

mod pools;
mod search;
mod settings;

use pools::Pools;
use search::Search;
pub use settings::Ext4Settings;

/// The multi-block allocator.
#[derive(Clone, Debug)]
pub struct Ext4 {
    settings: Ext4Settings,
    groups: Vec<(u32, Group)>,
    files: FxHashMap<FileId, Vec<Preallocation>>,
    pools: Pools,
    /// The group where the last stream went, by inode modulo their number.
    streams: Vec<u64>,
    set_aside: u64,
}

/// Blocks set aside for a range of pages of a file, with those that were used.
#[derive(Clone, Debug)]
struct Preallocation {
    page: u64,
    extent: Extent,
    used: u64,
    /// One bit for each block, set if it is used.
    taken: Vec<u64>,
}

impl Preallocation {
    fn new(page: u64, extent: Extent) -> Self {
        Self {
            page,
            extent,
            used: 0,
            taken: vec![0; extent.blocks.div_ceil(64) as usize],
        }
    }

    fn is_taken(&self, index: u64) -> bool {
        self.taken[(index / 64) as usize] >> (index % 64) & 1 == 1
    }

    /// Uses blocks for pages from `page` on, at most `most`.
    fn take(&mut self, page: u64, most: u64) -> Option<Extent> {
        let extent = self.extent;
        let first = page.checked_sub(self.page)?;
        let end = extent.blocks.min(first.saturating_add(most));
        let free = (first..end).take_while(|&index| !self.is_taken(index));
        let blocks = free.count() as u64;
        for index in first..first + blocks {
            self.taken[(index / 64) as usize] |= 1 << (index % 64);
        }
        self.used += blocks;
        (blocks > 0).then(|| Extent::new(extent.start + first, blocks))
    }

    /// The blocks that are not used.
    fn rest(&self) -> Vec<Extent> {
        let mut rest: Vec<Extent> = Vec::new();
        let extent = self.extent;
        for index in (0..extent.blocks).filter(|&index| !self.is_taken(index)) {
            let block = extent.start + index;
            match rest.last_mut() {
                Some(last) if last.end() == block => last.blocks += 1,
                _ => rest.push(Extent::new(block, 1)),
            }
        }
        rest
    }
}

impl Ext4 {
    /// Begins with nothing set aside.
    pub fn new(settings: Ext4Settings) -> Self {
        let processors = settings.processors.max(1) as usize;
        Self {
            groups: Vec::new(),
            files: FxHashMap::default(),
            pools: Pools::new(processors),
            streams: vec![0; processors],
            set_aside: 0,
            settings,
        }
    }

    fn take_set_aside(&mut self, want: &Want) -> Option<Extent> {
        let ranges = self.files.get_mut(&want.file)?;
        let page = u64::from(want.page);
        let taken = ranges
            .iter_mut()
            .find_map(|range| range.take(page, want.blocks))?;
        ranges.retain(|range| range.used < range.extent.blocks);
        self.set_aside -= taken.blocks;
        Some(taken)
    }

    fn take_pooled(&mut self, want: &Want) -> Option<Extent> {
        let taken = self.pools.take(want.processor, want.blocks, want.goal())?;
        self.set_aside -= taken.blocks;
        Some(taken)
    }

    /// Searches for a run by the criteria.
    fn search(
        &mut self,
        space: &mut Space,
        want: &Want,
        goal: u64,
        exact: bool,
        blocks: u64,
    ) -> Option<Extent> {
        self.groups
            .resize(space.groups() as usize, (u32::MAX, Group::default()));
        let goal = if goal < space.blocks() { goal } else { 0 };
        if exact && space.run_at(goal, blocks) >= blocks {
            let extent = Extent::new(goal, blocks);
            space.take(extent);
            return Some(extent);
        }
        let mut search = Search {
            settings: &self.settings,
            groups: &mut self.groups,
            space,
            first: goal / GROUP_BLOCKS,
            wanted: blocks.min(GROUP_BLOCKS),
            sorted: want.extents,
        };
        let extent = search.by_criteria()?;
        space.take(extent);
        Some(extent)
    }

    /// Allocates from a new pool.
    fn pooled(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let most = self.settings.mb_group_prealloc;
        let pool = self.search(space, want, want.goal(), false, most.max(want.blocks))?;
        if pool.blocks <= want.blocks {
            return Some(pool);
        }
        self.set_aside += pool.blocks;
        let dropped = self.pools.add(want.processor, pool);
        for extent in dropped {
            self.set_aside -= extent.blocks;
            space.release(extent);
        }
        self.take_pooled(want)
    }

    /// Allocates from a new preallocation.
    fn preallocated(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let page = u64::from(want.page);
        let (start, blocks) = self.range(want);
        let stream = want.inode as usize % self.streams.len();
        let (goal, exact) = match want.after {
            Some(block) if want.extents && start == page => (block + 1, true),
            _ => (self.streams[stream] * GROUP_BLOCKS, false),
        };
        let found = self.search(space, want, goal, exact, blocks)?;
        self.streams[stream] = found.start / GROUP_BLOCKS;
        // If less was found than wanted, it is placed so that the page asked for lies in it.
        let short = found.blocks < blocks;
        let begins = if short {
            page.max(start + blocks - found.blocks).min(page)
        } else {
            start
        };
        self.set_aside += found.blocks;
        let ranges = self.files.entry(want.file).or_default();
        ranges.push(Preallocation::new(begins, found));
        self.take_set_aside(want)
    }

    /// The pages to allocate for a file: rounded up, without what it has and what is set aside for it.
    fn range(&self, want: &Want) -> (u64, u64) {
        let page = u64::from(want.page);
        let (mut start, mut blocks) = rounded(page, want.blocks, want.size);
        if want.extents && want.after.is_some() && start < page {
            blocks -= (page - start).min(blocks);
            start = page;
        }
        let ranges = self.files.get(&want.file).into_iter().flatten();
        let (mut from, mut end) = (start, start + blocks);
        for range in ranges {
            if range.page + range.extent.blocks <= page {
                from = from.max(range.page + range.extent.blocks);
            } else if range.page > page {
                end = end.min(range.page);
            }
        }
        (from, end.max(page + 1) - from)
    }

    fn drop_file(&mut self, space: &mut Space, file: FileId) {
        for range in self.files.remove(&file).unwrap_or_default() {
            for extent in range.rest() {
                self.set_aside -= extent.blocks;
                space.release(extent);
            }
        }
    }

    fn place(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        if want.what != What::Data {
            return self.search(space, want, want.goal(), false, want.blocks);
        }
        if let Some(taken) = self.take_set_aside(want) {
            return Some(taken);
        }
        let Ext4Settings {
            mb_stream_req,
            mb_group_prealloc,
            ..
        } = self.settings;
        if want.size <= mb_stream_req && mb_group_prealloc > 0 {
            return self.take_pooled(want).or_else(|| self.pooled(space, want));
        }
        match want.open {
            true => self.preallocated(space, want),
            false => self.search(space, want, want.goal(), false, want.blocks),
        }
    }
}

/// The first page and the number of pages of a rounded request (`ext4_mb_normalize_request`).
fn rounded(page: u64, blocks: u64, size: u64) -> (u64, u64) {
    let size = size.max(page + blocks);
    match size {
        0..=256 => (0, size.next_power_of_two().max(4)),
        257..=1024 => (page / 512 * 512, 512),
        1025..=2048 => (page / 1024 * 1024, 1024),
        _ if blocks <= 2048 => (page / 2048 * 2048, 2048),
        _ => (page, blocks),
    }
}

impl Allocator for Ext4 {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        if let Some(taken) = self.place(space, want) {
            return Some(taken);
        }
        self.give_back(space);
        self.place(space, want)
    }

    fn closed(&mut self, space: &mut Space, file: FileId) {
        self.drop_file(space, file);
    }

    fn runs_on(&mut self, processors: u32) {
        let processors = processors as usize;
        self.pools.grow(processors);
        if processors > self.streams.len() {
            self.streams.resize(processors, 0);
        }
    }

    fn give_back(&mut self, space: &mut Space) {
        for extent in self.pools.drain() {
            self.set_aside -= extent.blocks;
            space.release(extent);
        }
        let mut files: Vec<FileId> = self.files.keys().copied().collect();
        files.sort_unstable();
        files
            .into_iter()
            .for_each(|file| self.drop_file(space, file));
    }

    fn set_aside(&self) -> u64 {
        self.set_aside
    }

    fn memory_bytes(&self) -> u64 {
        let ranges = self.files.len() * size_of::<(FileId, Preallocation)>();
        (self.groups.len() * size_of::<(u32, Group)>() + ranges) as u64
    }
}
