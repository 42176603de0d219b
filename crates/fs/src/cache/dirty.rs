//! Dirty pages in the order in which they are written: files as they became dirty, pages by offset.

use crate::files::{FileId, PageKey};
use std::collections::{BTreeMap, BTreeSet};

/// Pages to be written.
#[derive(Clone, Debug, Default)]
pub struct DirtyList {
    /// Files by when they came.
    order: BTreeMap<u64, FileId>,
    pages: BTreeMap<FileId, Pages>,
    next: u64,
}

#[derive(Clone, Debug)]
struct Pages {
    /// When the file came.
    came: u64,
    pages: BTreeSet<u32>,
}

impl DirtyList {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Adds a page, its file behind all others if it has none here.
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

    /// Takes a page out, if it is here.
    pub fn remove(&mut self, key: PageKey) {
        if let Some(file) = self.pages.get_mut(&key.file) {
            file.pages.remove(&key.page);
            if file.pages.is_empty() {
                self.forget(key.file);
            }
        }
    }

    /// Takes all pages of a file out.
    pub fn forget(&mut self, file: FileId) {
        if let Some(pages) = self.pages.remove(&file) {
            self.order.remove(&pages.came);
        }
    }

    /// Everything of another list, behind what is here.
    pub fn append(&mut self, other: &mut DirtyList) {
        for file in std::mem::take(&mut other.order).into_values() {
            let pages = other.pages.remove(&file).map(|file| file.pages);
            for page in pages.unwrap_or_default() {
                self.add(PageKey { file, page });
            }
        }
    }

    /// The first page that may be written now.
    pub fn first(&self, may: impl Fn(PageKey) -> bool) -> Option<PageKey> {
        self.order.values().find_map(|&file| {
            let pages = self.pages.get(&file)?.pages.iter();
            let mut keys = pages.map(|&page| PageKey { file, page });
            keys.find(|&key| may(key))
        })
    }

    /// How many pages, from `first` on and at most `most`, are here one behind the other and may be written now.
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
