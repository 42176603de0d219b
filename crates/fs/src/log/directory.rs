//! Entries of a directory in its blocks: a hash table that grows by levels.
//!
//! Level `n` has `2^n` buckets of two blocks; a block has 214 places of 8 bytes of a name. An entry goes to the first level
//! whose bucket has room (`fs/f2fs/dir.c`). Names are not known: the hash is that of the file's number.

use crate::block::FileId;
use std::collections::BTreeMap;

const PLACES: u16 = 214;
const BUCKET: u32 = 2;
/// Levels of a directory.
const LEVELS: u32 = 24;

/// The entries of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// Places in use of each page that has some.
    used: BTreeMap<u32, u16>,
    count: u64,
}

impl Entries {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Enters a name. Returns the page; `None` if no bucket has room.
    pub(super) fn enter(&mut self, name_bytes: usize, file: FileId) -> Option<u32> {
        let places = places(name_bytes);
        let hash = file.0.wrapping_mul(0x9e37_79b1);
        let pages = (0..LEVELS).flat_map(|level| {
            let buckets = 1 << level;
            let first = BUCKET * (buckets - 1 + hash % buckets);
            first..first + BUCKET
        });
        let has_room = |page: &u32| self.used.get(page).copied().unwrap_or(0) + places <= PLACES;
        let page = { pages }.find(has_room)?;
        *self.used.entry(page).or_default() += places;
        self.count += 1;
        Some(page)
    }

    /// Removes a name from its page.
    pub(super) fn remove(&mut self, page: u32, name_bytes: usize) {
        if let Some(used) = self.used.get_mut(&page) {
            *used = used.saturating_sub(places(name_bytes));
            self.count -= 1;
        }
    }
}

fn places(name_bytes: usize) -> u16 {
    name_bytes.div_ceil(8).max(1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_grows_by_levels() {
        let mut entries = Entries::default();
        // 214 names of up to 8 bytes fill a block, two blocks the first level.
        let pages: Vec<u32> = (1..=429)
            .map(|id| entries.enter(8, FileId(id)).unwrap())
            .collect();
        assert!(pages[..214].iter().all(|&page| page == 0));
        assert!(pages[214..428].iter().all(|&page| page == 1));
        assert!([2, 4].contains(&pages[428]));
        entries.remove(0, 8);
        // One place is free in block 0: too few for a name of 9 bytes.
        assert_ne!(entries.enter(9, FileId(500)), Some(0));
        assert_eq!(entries.enter(8, FileId(501)), Some(0));
        assert!(!entries.is_empty());
    }
}
