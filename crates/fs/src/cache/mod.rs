//! A page cache: the pages of files in memory, their states, and the order of eviction.
//!
//! Pages have 4 KiB and are evicted in LRU order. A page that is being loaded, is dirty, is held by the journal or is
//! being written is not evicted. If no other page is left, the cache exceeds its capacity; the limit on dirty pages
//! prevents that. The end of a write-back counts as a use of the page. The cache stores no data and models neither the
//! drive nor time: `fathom_platform` reads and writes for it.

mod dirty;
mod read_ahead;

pub use dirty::DirtyList;
pub use read_ahead::{ReadAhead, Window};

use crate::block::{FileId, METADATA, PageKey};
use fathom_base::Slab;
use fathom_base::links::{Links, List, NONE};
use rustc_hash::FxHashMap;

/// The state of a page in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The page is being read.
    pub loading: bool,
    /// The page differs from the drive and may be written.
    pub dirty: bool,
    /// The page differs from the drive and must not be written before the journal is.
    pub held: bool,
    /// The page is being written.
    pub writing: bool,
}

impl State {
    /// Returns true if the page may be evicted.
    fn idle(self) -> bool {
        self == State::default()
    }
}

#[derive(Clone, Copy, Debug)]
struct Page {
    key: PageKey,
    state: State,
}

/// The page cache.
#[derive(Clone, Debug)]
pub struct Cache {
    pages: Slab<Page>,
    /// The slots of each file's pages; [`NONE`] for a page that is not in memory.
    files: FxHashMap<FileId, Vec<u32>>,
    /// The slots of the pages of metadata in memory: few of the blocks of a volume hold some.
    metadata: FxHashMap<u32, u32>,
    /// The evictable pages in order of use.
    evictable: List,
    links: Links,
    capacity: u32,
    dirty: u32,
}

impl Cache {
    /// Creates an empty cache with a capacity in pages.
    pub fn new(capacity: u32) -> Self {
        Self {
            pages: Slab::default(),
            files: FxHashMap::default(),
            metadata: FxHashMap::default(),
            evictable: List::default(),
            links: Links::default(),
            capacity,
            dirty: 0,
        }
    }

    /// Number of dirty pages.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    fn find(&self, key: PageKey) -> Option<u32> {
        if key.file == METADATA {
            return self.metadata.get(&key.page).copied();
        }
        let place = *self.files.get(&key.file)?.get(key.page as usize)?;
        (place != NONE).then_some(place)
    }

    /// Returns the state of a page, or `None` if it is not in memory.
    pub fn get(&self, key: PageKey) -> Option<State> {
        Some(self.pages.get(self.find(key)?)?.state)
    }

    /// Records a use of a page.
    pub fn touch(&mut self, key: PageKey) {
        if let Some(place) = self.find(key)
            && self.pages.get(place).is_some_and(|page| page.state.idle())
        {
            self.links.renew(&mut self.evictable, place);
        }
    }

    /// Changes the state of a page. A page that is not in memory is added first.
    pub fn set(&mut self, key: PageKey, change: impl FnOnce(&mut State)) {
        let place = self.find(key).unwrap_or_else(|| self.insert(key));
        let Some(page) = self.pages.get_mut(place) else {
            return;
        };
        let was = page.state;
        change(&mut page.state);
        let state = page.state;
        self.dirty = self.dirty + u32::from(state.dirty) - u32::from(was.dirty);
        if was.idle() {
            self.links.detach(&mut self.evictable, place);
        }
        if state.idle() {
            self.links.append(&mut self.evictable, place);
        }
        self.shrink();
    }

    /// Drops all pages of a deleted file. Returns how many were dirty.
    pub fn forget(&mut self, file: FileId) -> u32 {
        let mut dropped = 0;
        for place in self.files.remove(&file).unwrap_or_default() {
            if let Some(Page { state, .. }) = self.pages.remove(place) {
                dropped += u32::from(state.dirty);
                if state.idle() {
                    self.links.detach(&mut self.evictable, place);
                }
            }
        }
        self.dirty -= dropped;
        dropped
    }

    /// Drops a page whose content is of no use any more. One that is being read or written stays, and is not dirty.
    pub fn discard(&mut self, key: PageKey) {
        let Some(state) = self.get(key) else {
            return;
        };
        self.set(key, |state| (state.dirty, state.held) = (false, false));
        if state.loading || state.writing {
            return;
        }
        if let Some(place) = self.find(key) {
            self.pages.remove(place);
            self.links.detach(&mut self.evictable, place);
            self.unlink(key);
        }
    }

    fn unlink(&mut self, key: PageKey) {
        if key.file == METADATA {
            self.metadata.remove(&key.page);
        } else if let Some(places) = self.files.get_mut(&key.file) {
            places[key.page as usize] = NONE;
        }
    }

    /// Adds a page as an evictable one.
    fn insert(&mut self, key: PageKey) -> u32 {
        let state = State::default();
        let place = self.pages.insert(Page { key, state });
        if key.file == METADATA {
            self.metadata.insert(key.page, place);
        } else {
            let places = self.files.entry(key.file).or_default();
            if places.len() <= key.page as usize {
                places.resize(key.page as usize + 1, NONE);
            }
            places[key.page as usize] = place;
        }
        self.links.append(&mut self.evictable, place);
        place
    }

    /// Evicts the least recently used pages until the capacity is kept or no page may be evicted.
    fn shrink(&mut self) {
        while self.pages.len() > self.capacity as usize
            && let Some(Page { key, .. }) = self.pages.remove(self.evictable.oldest)
        {
            let place = self.evictable.oldest;
            self.links.detach(&mut self.evictable, place);
            self.unlink(key);
        }
    }
}
