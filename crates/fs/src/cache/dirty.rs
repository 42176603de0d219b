//! Dirty pages in the order of write-back: files in the order in which they became dirty, pages by offset.

use crate::block::{FileId, PageKey};
use fathom_base::Time;
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
    /// When its first page became dirty.
    since: Time,
    pages: BTreeSet<u32>,
}

impl DirtyList {
    /// Returns true if no page is to be written.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Adds a page that became dirty now. If its file has no page in the list, the file goes behind all others. Returns
    /// whether it has gone there.
    pub fn add(&mut self, key: PageKey, now: Time) -> bool {
        let before = self.next;
        let file = self.pages.entry(key.file).or_insert_with(|| {
            self.next += 1;
            self.order.insert(self.next, key.file);
            Pages {
                came: self.next,
                since: now,
                pages: BTreeSet::new(),
            }
        });
        file.pages.insert(key.page);
        self.next > before
    }

    /// Returns whether a file has a page in the list.
    pub fn has(&self, file: FileId) -> bool {
        self.pages.contains_key(&file)
    }

    /// The pages of a file in the list.
    pub fn pages_of(&self, file: FileId) -> impl Iterator<Item = u32> + '_ {
        let pages = self.pages.get(&file);
        pages
            .into_iter()
            .flat_map(|file| file.pages.iter().copied())
    }

    /// The files in the list, in order.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.order.values().copied()
    }

    /// The first file, and when its first page became dirty.
    pub fn oldest(&self) -> Option<(FileId, Time)> {
        let file = *self.order.values().next()?;
        Some((file, self.pages.get(&file)?.since))
    }

    /// Moves all pages of a file behind those of this list.
    pub fn take(&mut self, other: &mut DirtyList, file: FileId) {
        let Some(of) = other.pages.get(&file).cloned() else {
            return;
        };
        other.forget(file);
        for page in of.pages {
            self.add(PageKey { file, page }, of.since);
        }
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
        while let Some((file, _)) = other.oldest() {
            self.take(other, file);
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
