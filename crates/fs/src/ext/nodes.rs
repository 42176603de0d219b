//! The blocks of metadata that map a file: indirect blocks (ext2, ext3) or blocks of extents (ext4).

use crate::map::Map;
use std::collections::BTreeMap;

/// Pointers of an inode that point to data.
const DIRECT: u64 = 12;
/// Pointers of an indirect block.
const POINTERS: u64 = 1024;
/// Extents of an inode, and of a block of extents.
const IN_INODE: usize = 4;
const IN_BLOCK: usize = 340;

/// A place in the tree of a file: level (1 points to data), and the index among those of its level.
type Key = (u8, u64);

/// The blocks that map a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    blocks: BTreeMap<Key, u64>,
}

impl Nodes {
    /// The indirect blocks on the way to a page, from the one that points to data up.
    fn way(page: u64) -> Vec<Key> {
        let Some(behind) = page.checked_sub(DIRECT) else {
            return Vec::new();
        };
        let leaf = behind / POINTERS;
        let mut way = vec![(1, leaf)];
        if leaf > 0 {
            way.push((2, (leaf - 1) / POINTERS));
            if leaf > POINTERS {
                way.push((3, 0));
            }
        }
        way
    }

    /// Number of indirect blocks on the way to a page that are on no way to an earlier page.
    pub(crate) fn first_used_by(page: u64) -> u64 {
        match page.checked_sub(DIRECT) {
            Some(behind) if behind.is_multiple_of(POINTERS) => match behind / POINTERS {
                0 => 1,
                // The first one of the third level needs one of the second as well.
                leaf if leaf == 1 + POINTERS => 3,
                leaf if (leaf - 1).is_multiple_of(POINTERS) => 2,
                _ => 1,
            },
            _ => 0,
        }
    }

    /// The blocks that a file with indirect blocks needs for these pages and does not have, roots first.
    pub(crate) fn missing_indirect(&self, page: u64, blocks: u64) -> Vec<Key> {
        let mut missing = Vec::new();
        let mut at = page;
        while at < page + blocks {
            let lacking = |key: &Key| !self.blocks.contains_key(key) && !missing.contains(key);
            let lacks: Vec<Key> = Self::way(at).into_iter().rev().filter(lacking).collect();
            missing.extend(lacks);
            at = match at.checked_sub(DIRECT) {
                None => DIRECT,
                Some(behind) => DIRECT + (behind / POINTERS + 1) * POINTERS,
            };
        }
        missing
    }

    /// The blocks of extents that a file with this map needs and does not have.
    pub(crate) fn missing_extents(&self, map: &Map) -> Vec<Key> {
        let pieces = map.pieces().len();
        if pieces <= IN_INODE {
            return Vec::new();
        }
        let leaves = pieces.div_ceil(IN_BLOCK);
        let indices = if leaves > IN_INODE {
            leaves.div_ceil(IN_BLOCK)
        } else {
            0
        };
        let of = |level, count| (0..count as u64).map(move |index| (level, index));
        let all = of(2, indices).chain(of(1, leaves));
        all.filter(|key| !self.blocks.contains_key(key)).collect()
    }

    pub(crate) fn insert(&mut self, key: Key, block: u64) {
        self.blocks.insert(key, block);
    }

    /// The block that maps a page in a file with indirect blocks.
    pub(crate) fn of_page(&self, page: u64) -> Option<u64> {
        let key = Self::way(page).first().copied()?;
        self.blocks.get(&key).copied()
    }

    /// The block that holds the extent of a page.
    pub(crate) fn of_extent(&self, map: &Map, page: u32) -> Option<u64> {
        let index = map.pieces().partition_point(|piece| piece.page <= page);
        let leaf = index.saturating_sub(1) / IN_BLOCK;
        self.blocks.get(&(1, leaf as u64)).copied()
    }

    /// All blocks.
    pub(crate) fn all(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.values().copied()
    }
}
