//! Write-back: the choice of the dirty pages to write, and the requests in flight.

use super::flusher::Which;
use super::host::{Event, Io, Purpose};
use crate::Host;
use fathom_base::Time;
use fathom_block::Op;
use fathom_fs::cache::State;
use fathom_fs::{METADATA, PageKey};

/// Number of pages without blocks that get them at once (`MAX_WRITEPAGES_EXTENT_LEN` of ext4).
const MOST_AT_ONCE: u32 = 2048;

/// Pages to be written by one request.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: PageKey,
    pages: u32,
    /// A file system that moves pages had no room for them.
    lost: bool,
}

impl Host {
    /// Makes a page of data dirty.
    pub(super) fn soil(&mut self, key: PageKey, now: Time) {
        let dirty = self.cache.get(key).is_some_and(|state| state.dirty);
        if !dirty {
            self.totals.dirtied += 1;
            self.cache.set(key, |state| state.dirty = true);
            self.files.soil(key);
            if self.flusher.data.add(key, now) {
                self.events.push(now + self.system.expire, Event::Expire);
            }
        }
        self.cache.touch(key);
    }

    /// Number of pages that are dirty or being written.
    pub fn unwritten(&self) -> u32 {
        self.cache.dirty() + self.flusher.writing
    }

    /// Returns true if writers must wait.
    pub(super) fn is_over_limit(&self) -> bool {
        self.unwritten() > self.flusher.limit
    }

    /// Returns true if nothing is left to be written.
    pub(super) fn is_clean(&self) -> bool {
        self.flusher.is_clean() && self.journal.is_clean()
    }

    /// Issues write-backs until nothing is to be written or the window is full.
    pub(super) fn pump(&mut self, now: Time) {
        self.current = None;
        self.end_recorded(now);
        self.checkpoint(now);
        while self.flusher.in_flight < self.system.window {
            if !(self.clean(now)
                || self.commit_write(now)
                || self.write_urgent(now)
                || self.write_behind(now))
            {
                break;
            }
        }
        self.wake_for_journal(now);
    }

    /// Issues the next write-back that a thread or the journal waits for. Returns whether there was one.
    fn write_urgent(&mut self, now: Time) -> bool {
        self.write_back(Which::Checkpoint, now) || self.write_back(Which::Due, now)
    }

    /// Issues the next write-back that nothing waits for. Returns whether there was one.
    fn write_behind(&mut self, now: Time) -> bool {
        let last = self.running == 0;
        if last || self.cache.dirty() > self.flusher.background {
            if self.write_back(Which::Data, now) {
                return true;
            }
            if last && self.journal.commit.is_none() && !self.journal.is_idle() {
                self.begin_commit();
                return self.commit_write(now);
            }
            self.expire(Time::MAX);
        }
        self.write_back(Which::Metadata, now)
    }

    /// Issues the next write-back that the commit waits for. Returns whether one could be issued.
    pub(super) fn write_sealed(&mut self, now: Time) -> bool {
        self.write_back(Which::Sealed, now)
    }

    fn write_back(&mut self, which: Which, now: Time) -> bool {
        // What a commit sealed is treated as if it had been in flight when the commit began.
        let generation = match which {
            Which::Sealed => self.journal.begun - 1,
            _ => self.journal.begun,
        };
        let Some(Run { first, pages, lost }) = self.next_run(which, now) else {
            return false;
        };
        let place = self.files.run(first, pages).filter(|_| !lost);
        let Some((offset, pages)) = place else {
            self.lose(first, pages);
            return true;
        };
        let io = Io {
            purpose: Purpose::Back { generation },
            first,
            pages,
        };
        for key in io.keys() {
            self.flusher.list(which).remove(key);
            self.cache.set(key, |state| {
                state.dirty = false;
                state.writing = true;
            });
        }
        self.flusher.in_flight += 1;
        self.flusher.back_in_flight += 1;
        self.flusher.writing += io.pages;
        match first.file {
            METADATA => self.totals.metadata_written += u64::from(io.pages),
            _ => self.totals.written += u64::from(io.pages),
        }
        self.request(self.flusher_actor(), Op::Write, offset, io, now);
        true
    }

    /// The next pages of a list to be written by one request. Gives them blocks.
    fn next_run(&mut self, which: Which, now: Time) -> Option<Run> {
        let (must_wait, longest) = (self.must_wait(), self.longest_write());
        let cache = &self.cache;
        let may = |key| {
            let state = cache.get(key).unwrap_or_default();
            !(state.writing || state.loading)
        };
        let list = self.flusher.list(which);
        let first = list.first(may)?;
        let files = &self.files;
        if first.file != METADATA && files.is_homeless(first) {
            if must_wait {
                return None;
            }
            let volume = &files.mount.volume;
            let most = match volume.moves() {
                // What is placed is written by one request.
                true => volume.run_ahead().min(u64::from(longest)) as u32,
                false => MOST_AT_ONCE,
            };
            let homeless = |key: PageKey| may(key) && files.is_homeless(key);
            let pages = list.run(first, most, homeless);
            // Without room the pages keep no block, and are lost.
            let placed = self.place(first.file, first.page, pages, now);
            if self.volume().moves() {
                let lost = placed.is_err();
                return Some(Run { first, pages, lost });
            }
        }
        let cache = &self.cache;
        let may = |key| {
            let state = cache.get(key).unwrap_or_default();
            !(state.writing || state.loading)
        };
        let pages = self.flusher.list(which).run(first, longest, may);
        let lost = false;
        Some(Run { first, pages, lost })
    }

    /// Gives up pages that found no room: the reservation was too small for what maps them.
    fn lose(&mut self, first: PageKey, pages: u32) {
        self.totals.cut_short += 1;
        self.totals.dropped += u64::from(pages);
        for page in first.page..first.page + pages {
            let key = PageKey { page, ..first };
            self.flusher.clean(key);
            self.cache.set(key, |state| state.dirty = false);
        }
        self.files.house(first.file, u64::from(pages));
    }

    /// Handles the completion of a write-back.
    pub(super) fn written(&mut self, io: Io, generation: u64) {
        self.flusher.in_flight -= 1;
        self.flusher.back_in_flight -= 1;
        self.flusher.writing -= io.pages;
        if generation < self.journal.begun {
            self.commit_done();
        }
        let Some(journal) = &mut self.journal.journal else {
            return;
        };
        for key in io.keys().filter(|key| key.file == METADATA) {
            // One that was changed since has to be written again.
            let again = |state: State| state.dirty || state.held;
            if !self.cache.get(key).is_some_and(again) {
                journal.placed(u64::from(key.page));
            }
        }
    }
}
