//! Pages that are the same in memory and in the image: those that were written last.
//!
//! If there are too many, all pages of the file that was written longest ago are forgotten.

use crate::meta::Block;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Pages that are kept (64 MiB).
const MOST: usize = 16_384;

/// A page with its index in the file.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) page: u64,
    pub(crate) data: Box<Block>,
}

/// The clean pages.
#[derive(Debug, Default)]
pub(crate) struct Clean {
    /// For each inode its pages, in no order: they are few.
    files: FxHashMap<u32, Vec<Page>>,
    order: VecDeque<u32>,
    count: usize,
}

impl Clean {
    /// Keeps a page that was written.
    pub(crate) fn keep(&mut self, inode: u32, page: Page) {
        self.count += 1;
        let pages = self.files.entry(inode).or_default();
        if pages.is_empty() {
            self.order.push_back(inode);
        }
        pages.push(page);
    }

    /// The contents of a page.
    pub(crate) fn get(&self, inode: u32, page: u64) -> Option<&Block> {
        let pages = self.files.get(&inode)?;
        let found = pages.iter().find(|kept| kept.page == page)?;
        Some(&found.data)
    }

    /// Takes a page that becomes dirty.
    pub(crate) fn take(&mut self, inode: u32, page: u64) -> Option<Box<Block>> {
        let pages = self.files.get_mut(&inode)?;
        let at = pages.iter().position(|kept| kept.page == page)?;
        self.count -= 1;
        Some(pages.swap_remove(at).data)
    }

    /// Forgets a file. Returns the memory of its pages.
    pub(crate) fn forget(&mut self, inode: u32) -> Vec<Page> {
        let pages = self.files.remove(&inode).unwrap_or_default();
        self.count -= pages.len();
        pages
    }

    /// Forgets a file if there are too many pages.
    pub(crate) fn shrink(&mut self) -> Option<Vec<Page>> {
        if self.count <= MOST {
            return None;
        }
        let inode = self.order.pop_front()?;
        Some(self.forget(inode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::BLOCK;

    fn page(page: u64, value: u8) -> Page {
        let data = Box::new([value; BLOCK]);
        Page { page, data }
    }

    #[test]
    fn the_file_written_longest_ago_is_forgotten() {
        let mut clean = Clean::default();
        clean.keep(12, page(0, 1));
        clean.keep(13, page(7, 2));
        for index in 0..MOST as u64 - 2 {
            clean.keep(14, page(index, 3));
        }
        assert!(clean.shrink().is_none());
        clean.keep(13, page(8, 4));
        assert_eq!(clean.shrink().map(|pages| pages.len()), Some(1));
        assert!(clean.get(12, 0).is_none() && clean.shrink().is_none());
        assert_eq!(clean.get(13, 7).map(|data| data[0]), Some(2));
        assert!(clean.take(13, 7).is_some() && clean.get(13, 7).is_none());
        assert_eq!(clean.forget(13).len(), 1);
    }
}
