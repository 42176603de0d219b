//! ReiserFS's allocator: first fit from the last block of the file, or from the place of its packing locality.
//!
//! A search begins at the block of the page before, or at the file's home, which the format hashes from the packing
//! locality (`dirid_groups`, `packing_groups`). It takes the first run of free blocks, to the end of the volume and then
//! from its beginning. While more than a twentieth of the volume is free, groups of which less than a tenth is free are
//! passed over, except by a file that continues there (`skip_busy`). A file that is open for writing takes 16 blocks more
//! than it needs, if they are contiguous, and keeps them until it is closed or the transaction ends. After
//! `fs/reiserfs/bitmap.c` of Linux 6.1 with its default options.
//!
//! Left out: the options that are not default, and quotas.

use super::{Allocator, Want, What};
use crate::block::{Extent, FileId, GROUP_BLOCKS};
use crate::space::Space;
use rustc_hash::FxHashMap;

/// Blocks that a file sets aside (`preallocsize` without the one that is wanted).
const SET_ASIDE: u64 = 16;
/// Of a volume with at most this share free, every group may be used.
const FULL_SHARE: u64 = 20;
/// A group with at most this share free is busy.
const BUSY_SHARE: u64 = 10;

/// ReiserFS's allocator.
#[derive(Clone, Debug, Default)]
pub struct Reiser {
    /// What files have set aside.
    files: FxHashMap<FileId, Extent>,
    set_aside: u64,
}

/// The free blocks of a group as its bitmap has them: blocks of a deletion that is not committed are clear there.
fn free_in(space: &Space, group: u64) -> u64 {
    space.free_in(group) + space.leaving_in(group)
}

/// The first run in a range of blocks, by groups (`scan_bitmap`).
fn scan(space: &Space, start: u64, finish: u64, most: u64, want: &Want) -> Option<Extent> {
    let (first, last) = (start / GROUP_BLOCKS, finish / GROUP_BLOCKS);
    let run = |group: u64| {
        let bounds = space.group(group);
        space.run(bounds.start.max(start), bounds.end(), most)
    };
    if space.free() + space.leaving() > space.blocks() / FULL_SHARE {
        let stays = want.what == What::Node || want.page > 0;
        let inside = !start.is_multiple_of(GROUP_BLOCKS);
        let idle = |group: u64| {
            let busy = free_in(space, group) <= GROUP_BLOCKS / BUSY_SHARE;
            !busy || group == first && inside && stays
        };
        let found = (first..last).filter(|&group| idle(group)).find_map(run);
        if found.is_some() {
            return found;
        }
    }
    let end = space.group(last).start.max(start);
    let found = (first..last).find_map(run);
    found.or_else(|| space.run(end, finish + 1, most))
}

impl Reiser {
    /// Takes what the file has set aside.
    fn again(&mut self, want: &Want) -> Option<Extent> {
        let kept = self.files.get_mut(&want.file)?;
        let taken = Extent::new(kept.start, kept.blocks.min(want.blocks));
        *kept = Extent::new(taken.end(), kept.blocks - taken.blocks);
        if kept.blocks == 0 {
            self.files.remove(&want.file);
        }
        self.set_aside -= taken.blocks;
        Some(taken)
    }

    fn search(&mut self, space: &mut Space, want: &Want, most: u64) -> Option<Extent> {
        let last = space.blocks().checked_sub(1)?;
        let start = want.after.unwrap_or(want.home).min(last);
        let found = scan(space, start, last, most, want);
        let found = found.or_else(|| scan(space, 0, start, most, want))?;
        space.take(found);
        Some(found)
    }

    fn drop_file(&mut self, space: &mut Space, file: FileId) {
        if let Some(kept) = self.files.remove(&file) {
            self.set_aside -= kept.blocks;
            space.release(kept);
        }
    }
}

impl Allocator for Reiser {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let data = want.what == What::Data && want.open;
        if data && let Some(taken) = self.again(want) {
            return Some(taken);
        }
        let most = want.blocks + if data { SET_ASIDE } else { 0 };
        let mut found = self.search(space, want, most);
        if found.is_none() && self.set_aside > 0 {
            self.give_back(space);
            found = self.search(space, want, want.blocks);
        }
        let found = found?;
        let taken = Extent::new(found.start, found.blocks.min(want.blocks));
        if taken.blocks < found.blocks {
            let rest = Extent::new(taken.end(), found.blocks - taken.blocks);
            self.set_aside += rest.blocks;
            self.files.insert(want.file, rest);
        }
        Some(taken)
    }

    fn closed(&mut self, space: &mut Space, file: FileId) {
        self.drop_file(space, file);
    }

    fn give_back(&mut self, space: &mut Space) {
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
        (self.files.len() * size_of::<(FileId, Extent)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(page: u32, after: Option<u64>) -> Want {
        Want {
            file: FileId(2),
            what: What::Data,
            page,
            blocks: 1,
            size: 1,
            open: true,
            home: GROUP_BLOCKS + 2048,
            after,
            extents: false,
            inode: 2,
            parent: FileId(1),
            processor: 0,
        }
    }

    #[test]
    fn a_file_keeps_what_it_set_aside_until_it_is_closed() {
        let mut space = Space::new(4 * GROUP_BLOCKS);
        let home = GROUP_BLOCKS + 2048;
        space.take(Extent::new(home + 5, 1));
        let mut reiser = Reiser::default();
        let mut take = |reiser: &mut Reiser, page, after| {
            reiser
                .allocate(&mut space, &want(page, after))
                .unwrap()
                .start
        };
        assert_eq!(take(&mut reiser, 0, None), home);
        // Four are set aside: the fifth is used.
        assert_eq!(reiser.set_aside(), 4);
        for page in 1..5 {
            let block = home + u64::from(page);
            assert_eq!(take(&mut reiser, page, Some(block - 1)), block);
        }
        assert_eq!(take(&mut reiser, 5, Some(home + 4)), home + 6);
        assert_eq!(reiser.set_aside(), 16);
        reiser.closed(&mut space, FileId(2));
        assert_eq!((reiser.set_aside(), space.is_free(home + 7)), (0, true));
    }

    #[test]
    fn a_busy_group_is_left_to_its_files() {
        let mut space = Space::new(4 * GROUP_BLOCKS);
        // 3,276 of 32,768 blocks are free: a tenth.
        space.take(Extent::new(GROUP_BLOCKS, GROUP_BLOCKS - 3276));
        let mut reiser = Reiser::default();
        let first = GROUP_BLOCKS * 2;
        let mut take = |page, after| {
            reiser
                .allocate(&mut space, &want(page, after))
                .unwrap()
                .start
        };
        assert_eq!(take(0, None), first);
        let mut other = Reiser::default();
        let block = first - 3276;
        let mut take = |page, after| {
            other
                .allocate(&mut space, &want(page, after))
                .unwrap()
                .start
        };
        assert_eq!(take(1, Some(block - 1)), block);
    }
}
