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

use crate::files::{FileId, PageKey};
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;

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
    /// Neighbours in the list of evictable pages: the next more and the next less recently used one.
    newer: u32,
    older: u32,
}

/// The page cache.
#[derive(Clone, Debug)]
pub struct Cache {
    pages: Vec<Page>,
    vacant: Vec<u32>,
    /// The slots of each file's pages; [`NONE`] for a page that is not in memory.
    files: BTreeMap<FileId, Vec<u32>>,
    newest: u32,
    oldest: u32,
    capacity: u32,
    dirty: u32,
}

impl Cache {
    /// Creates an empty cache with a capacity in pages.
    pub fn new(capacity: u32) -> Self {
        Self {
            pages: Vec::new(),
            vacant: Vec::new(),
            files: BTreeMap::new(),
            newest: NONE,
            oldest: NONE,
            capacity,
            dirty: 0,
        }
    }

    /// Number of pages in memory.
    fn resident(&self) -> u32 {
        (self.pages.len() - self.vacant.len()) as u32
    }

    /// Number of dirty pages.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    fn find(&self, key: PageKey) -> Option<u32> {
        let place = *self.files.get(&key.file)?.get(key.page as usize)?;
        (place != NONE).then_some(place)
    }

    /// Returns the state of a page, or `None` if it is not in memory.
    pub fn get(&self, key: PageKey) -> Option<State> {
        self.find(key).map(|place| self.pages[place as usize].state)
    }

    /// Records a use of a page.
    pub fn touch(&mut self, key: PageKey) {
        if let Some(place) = self.find(key)
            && self.pages[place as usize].state.idle()
        {
            self.unlink(place);
            self.link(place);
        }
    }

    /// Changes the state of a page. A page that is not in memory is added first.
    pub fn set(&mut self, key: PageKey, change: impl FnOnce(&mut State)) {
        let place = self.find(key).unwrap_or_else(|| self.insert(key));
        let was = self.pages[place as usize].state;
        let mut state = was;
        change(&mut state);
        self.pages[place as usize].state = state;
        self.dirty = self.dirty + u32::from(state.dirty) - u32::from(was.dirty);
        if was.idle() {
            self.unlink(place);
        }
        if state.idle() {
            self.link(place);
        }
        self.shrink();
    }

    /// Drops all pages of a deleted file. Returns how many were dirty.
    pub fn forget(&mut self, file: FileId) -> u32 {
        let mut dropped = 0;
        for place in self.files.remove(&file).unwrap_or_default() {
            if place != NONE {
                let state = self.pages[place as usize].state;
                dropped += u32::from(state.dirty);
                if state.idle() {
                    self.unlink(place);
                }
                self.vacant.push(place);
            }
        }
        self.dirty -= dropped;
        dropped
    }

    /// Adds a page as an evictable one.
    fn insert(&mut self, key: PageKey) -> u32 {
        let page = Page {
            key,
            state: State::default(),
            newer: NONE,
            older: NONE,
        };
        let place = match self.vacant.pop() {
            Some(place) => {
                self.pages[place as usize] = page;
                place
            }
            None => {
                self.pages.push(page);
                (self.pages.len() - 1) as u32
            }
        };
        let places = self.files.entry(key.file).or_default();
        if places.len() <= key.page as usize {
            places.resize(key.page as usize + 1, NONE);
        }
        places[key.page as usize] = place;
        self.link(place);
        place
    }

    /// Evicts the least recently used pages until the capacity is kept or no page may be evicted.
    fn shrink(&mut self) {
        while self.resident() > self.capacity && self.oldest != NONE {
            let place = self.oldest;
            self.unlink(place);
            let key = self.pages[place as usize].key;
            if let Some(places) = self.files.get_mut(&key.file) {
                places[key.page as usize] = NONE;
            }
            self.vacant.push(place);
        }
    }

    /// Makes a page the most recently used one.
    fn link(&mut self, place: u32) {
        let behind = self.newest;
        self.pages[place as usize].newer = NONE;
        self.pages[place as usize].older = behind;
        match behind {
            NONE => self.oldest = place,
            _ => self.pages[behind as usize].newer = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let Page { newer, older, .. } = self.pages[place as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.pages[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.pages[older as usize].newer = newer,
        }
    }
}
