//! Dirty pages in the order of write-back: files in the order in which they became dirty, pages by offset.

use crate::files::{FileId, PageKey};
use std::collections::{BTreeMap, BTreeSet};

/// The pages to be written back.
#[derive(Clone, Debug, Default)]
pub struct DirtyList {
    /// Files by the time at which they were added.
    order: BTreeMap<u64, FileId>,
    pages: BTreeMap<FileId, Pages>,
    next: u64,
}

#[derive(Clone, Debug)]
struct Pages {
    /// The sequence number of the file.
    came: u64,
    pages: BTreeSet<u32>,
}

impl DirtyList {
    /// Returns true if no page is to be written.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Adds a page. If its file has no page in the list, the file goes behind all others.
    pub fn add(&mut self, key: PageKey) {
        let file = self.pages.entry(key.file).or_insert_with(|| {
            self.next += 1;
            self.order.insert(self.next, key.file);
            Pages {
                came: self.next,
                pages: BTreeSet::new(),
            }
        });
        file.pages.insert(key.page);
    }

    /// Removes a page if it is in the list.
    pub fn remove(&mut self, key: PageKey) {
        if let Some(file) = self.pages.get_mut(&key.file) {
            file.pages.remove(&key.page);
            if file.pages.is_empty() {
                self.forget(key.file);
            }
        }
    }

    /// Removes all pages of a file.
    pub fn forget(&mut self, file: FileId) {
        if let Some(pages) = self.pages.remove(&file) {
            self.order.remove(&pages.came);
        }
    }

    /// Moves all pages of another list behind those of this one.
    pub fn append(&mut self, other: &mut DirtyList) {
        for file in std::mem::take(&mut other.order).into_values() {
            let pages = other.pages.remove(&file).map(|file| file.pages);
            for page in pages.unwrap_or_default() {
                self.add(PageKey { file, page });
            }
        }
    }

    /// Returns the first page that may be written now.
    pub fn first(&self, may: impl Fn(PageKey) -> bool) -> Option<PageKey> {
        self.order.values().find_map(|&file| {
            let pages = self.pages.get(&file)?.pages.iter();
            let mut keys = pages.map(|&page| PageKey { file, page });
            keys.find(|&key| may(key))
        })
    }

    /// Number of consecutive pages from `first` on, at most `most`, that are in the list and may be written now.
    pub fn run(&self, first: PageKey, most: u32, may: impl Fn(PageKey) -> bool) -> u32 {
        let pages = self.pages.get(&first.file);
        let behind = pages
            .into_iter()
            .flat_map(|file| file.pages.range(first.page..));
        let expected = first.page..first.page.saturating_add(most);
        behind
            .zip(expected)
            .take_while(|&(&page, expected)| {
                let file = first.file;
                page == expected && may(PageKey { file, page })
            })
            .count() as u32
    }
}
