//! Naive implementations of all write buffers: vectors that are searched linearly.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_ssd::spec::WritePolicy;
use fathom_ssd::{Evicted, PageBufferSetup};

/// Pages that are evicted together: those of a request, of a block, of a run, or of one page in a queue.
#[derive(Clone, Debug)]
struct Group {
    /// The request, the block or the element.
    key: u64,
    pages: Vec<u32>,
    /// Pages written to the group since it was opened, in order.
    written: Vec<u32>,
    /// Number of pages that were written consecutively.
    in_a_row: usize,
    recent: bool,
    candidate: Option<u64>,
}

/// All groups, in order of eviction.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    setup: PageBufferSetup,
    groups: Vec<Group>,
    nominations: u64,
}

impl Naive {
    pub(crate) fn new(setup: &PageBufferSetup) -> Self {
        Self {
            setup: setup.clone(),
            groups: Vec::new(),
            nominations: 0,
        }
    }

    pub(crate) fn pages(&self) -> Vec<u32> {
        let mut pages: Vec<u32> = self.groups.iter().flat_map(|g| g.pages.clone()).collect();
        pages.sort_unstable();
        pages
    }

    pub(crate) fn holds(&self, page: u32) -> bool {
        self.groups.iter().any(|g| g.pages.contains(&page))
    }

    fn key(&self, page: u32, request: u64) -> u64 {
        let setup = &self.setup;
        match setup.policy {
            WritePolicy::Bplru | WritePolicy::LbClock => u64::from(page / setup.block_pages),
            WritePolicy::Epo => u64::from(page / setup.stride_pages % setup.elements),
            _ => request,
        }
    }

    /// Writes a page. Returns the pages evicted to make room for it, if any.
    pub(crate) fn write(&mut self, page: u32, request: u64) -> Evicted {
        if self.setup.policy == WritePolicy::NoCache {
            return Evicted {
                pages: vec![page],
                ..Evicted::default()
            };
        }
        let newest = self.groups.last().and_then(|g| g.pages.last()).copied();
        let hit = match self.setup.policy {
            WritePolicy::Fifo => newest == Some(page),
            _ => self.holds(page),
        };
        let full = self.pages().len() == self.setup.capacity_pages as usize;
        let evicted = if full && !hit {
            self.evict()
        } else {
            Evicted::default()
        };
        match self.setup.policy {
            WritePolicy::Fifo if hit => {}
            WritePolicy::Fifo | WritePolicy::Lru => {
                if hit {
                    self.take(page);
                }
                let key = self.key(page, request);
                self.join_newest(page, |g| g.key == key, key);
            }
            WritePolicy::Epo => {
                self.take(page);
                let key = self.key(page, request);
                self.open(key, page);
            }
            WritePolicy::Streams => self.stream(page),
            _ => self.write_block(page),
        }
        evicted
    }

    fn open(&mut self, key: u64, page: u32) {
        self.groups.push(Group {
            key,
            pages: vec![page],
            written: vec![page],
            in_a_row: 1,
            recent: true,
            candidate: None,
        });
    }

    fn join_newest(&mut self, page: u32, same: impl Fn(&Group) -> bool, key: u64) {
        match self.groups.last_mut() {
            Some(group) if same(group) => group.pages.push(page),
            _ => self.open(key, page),
        }
    }

    fn write_block(&mut self, page: u32) {
        let key = self.key(page, 0);
        let Some(at) = self.groups.iter().position(|g| g.key == key) else {
            self.open(key, page);
            return self.compensate();
        };
        let group = &mut self.groups[at];
        group.written.push(page);
        if !group.pages.contains(&page) {
            group.pages.push(page);
        }
        (group.recent, group.candidate) = (true, None);
        if self.setup.policy == WritePolicy::Bplru {
            let group = self.groups.remove(at);
            self.groups.push(group);
            self.compensate();
        }
    }

    /// Moves the newest block to the front if it was written from its first page to its last.
    fn compensate(&mut self) {
        let n = self.setup.block_pages;
        let newest = self.groups.last().unwrap();
        let first = newest.key as u32 * n;
        if self.setup.policy == WritePolicy::Bplru
            && newest.written.iter().copied().eq(first..first + n)
        {
            let group = self.groups.pop().unwrap();
            self.groups.insert(0, group);
        }
    }

    fn stream(&mut self, page: u32) {
        self.take(page);
        let goes_on = |g: &Group| g.written.last() == Some(&(page.wrapping_sub(1)));
        match self.groups.iter().position(goes_on) {
            Some(at) => {
                let mut group = self.groups.remove(at);
                group.pages.push(page);
                group.written.push(page);
                group.in_a_row += 1;
                self.groups.push(group);
            }
            None => self.open(0, page),
        }
        // A run that ended with the same page cannot continue.
        let (_, others) = self.groups.split_last_mut().unwrap();
        let ended = |g: &&mut Group| g.written.last() == Some(&page);
        others
            .iter_mut()
            .filter(ended)
            .for_each(|g| g.written.clear());
    }

    /// Removes the newest copy of a page.
    fn take(&mut self, page: u32) -> bool {
        let Some(at) = self.groups.iter().rposition(|g| g.pages.contains(&page)) else {
            return false;
        };
        let nominations = &mut self.nominations;
        let group = &mut self.groups[at];
        let index = group.pages.iter().rposition(|&p| p == page).unwrap();
        group.pages.remove(index);
        if group.candidate.is_some() {
            *nominations += 1;
            group.candidate = Some(*nominations);
        }
        if group.pages.is_empty() {
            self.groups.remove(at);
        }
        true
    }

    pub(crate) fn trim(&mut self, page: u32) -> bool {
        let mut any = false;
        while self.take(page) {
            any = true;
        }
        any
    }

    pub(crate) fn evict(&mut self) -> Evicted {
        let mut evicted = Evicted::default();
        match self.setup.policy {
            WritePolicy::Epo => {
                evicted.singly = true;
                for element in 0..u64::from(self.setup.elements) {
                    if let Some(at) = self.groups.iter().position(|g| g.key == element) {
                        evicted.pages.extend(self.groups.remove(at).pages);
                    }
                }
                return evicted;
            }
            WritePolicy::LbClock => {
                let at = self.candidate();
                evicted.pages = self.groups.remove(at).pages;
            }
            WritePolicy::Streams => {
                let at = self.groups.iter().position(|g| g.in_a_row >= 4);
                evicted.pages = self.groups.remove(at.unwrap_or(0)).pages;
            }
            WritePolicy::Bplru => {
                let first = self.groups[0].key as u32 * self.setup.block_pages;
                evicted.padded = Some(first..first + self.setup.block_pages);
                evicted.pages = self.groups.remove(0).pages;
            }
            _ => evicted.pages = self.groups.remove(0).pages,
        }
        evicted.pages.sort_unstable();
        evicted
    }

    /// Returns the candidate with the most pages, the first one if there are several. The hand goes round if there is no
    /// candidate.
    fn candidate(&mut self) -> usize {
        loop {
            let candidates = self.groups.iter().enumerate();
            let best = candidates
                .filter_map(|(at, g)| Some((g.candidate?, at, g.pages.len())))
                .max_by_key(|&(nomination, _, pages)| (pages, std::cmp::Reverse(nomination)));
            if let Some((_, at, _)) = best {
                return at;
            }
            for group in &mut self.groups {
                if !group.recent {
                    self.nominations += 1;
                    group.candidate = Some(self.nominations);
                }
                group.recent = false;
            }
        }
    }
}
