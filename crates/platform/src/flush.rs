//! Write-back: the choice of the dirty pages to write, and the requests in flight.

use super::host::{Io, Purpose};
use crate::Host;
use fathom_base::Time;
use fathom_block::Op;
use fathom_fs::files::{BLOCK_BYTES, PageKey};

/// The list of pages to write from.
#[derive(Clone, Copy)]
enum Which {
    Sealed,
    Data,
    Metadata,
}

impl Host {
    /// Makes a page of data dirty.
    pub(super) fn soil(&mut self, key: PageKey) {
        let dirty = self.cache.get(key).is_some_and(|state| state.dirty);
        if !dirty {
            self.totals.dirtied += 1;
            self.cache.set(key, |state| state.dirty = true);
            self.flusher.data.add(key);
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
        self.flusher.data_is_clean() && self.flusher.metadata.is_empty() && self.journal.is_clean()
    }

    /// Issues write-backs until nothing is to be written or the window is full.
    pub(super) fn pump(&mut self, now: Time) {
        self.end_recorded(now);
        while self.flusher.in_flight < self.system.window {
            if !(self.commit_write(now) || self.write_behind(now)) {
                return;
            }
        }
    }

    /// Issues the next write-back that no commit waits for. Returns whether there was one.
    fn write_behind(&mut self, now: Time) -> bool {
        let last = self.running == 0;
        if last {
            self.commit_last();
            if self.commit_write(now) {
                return true;
            }
        }
        if last || self.cache.dirty() > self.flusher.background {
            if self.write_back(Which::Data, now) {
                return true;
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
        let Host {
            flusher,
            cache,
            volume,
            ..
        } = self;
        let (list, generation) = match which {
            // Treated as if it had been in flight when the commit began.
            Which::Sealed => (&mut flusher.sealed, self.journal.generation() - 1),
            Which::Data => (&mut flusher.data, self.journal.generation()),
            Which::Metadata => (&mut flusher.metadata, self.journal.generation()),
        };
        let may = |key| {
            let state = cache.get(key).unwrap_or_default();
            !(state.writing || state.loading)
        };
        let Some(first) = list.first(may) else {
            return false;
        };
        let longest = (self.system.longest_write.0 / BLOCK_BYTES) as u32;
        let Some((offset, piece)) = volume.run(first, longest) else {
            return false;
        };
        let io = Io {
            purpose: Purpose::Back { generation },
            first,
            pages: list.run(first, piece, may),
        };
        for key in io.keys() {
            list.remove(key);
            cache.set(key, |state| {
                state.dirty = false;
                state.writing = true;
            });
        }
        flusher.in_flight += 1;
        flusher.back_in_flight += 1;
        flusher.writing += io.pages;
        match which {
            Which::Metadata => self.totals.metadata_written += u64::from(io.pages),
            _ => self.totals.written += u64::from(io.pages),
        }
        self.request(self.flusher_actor(), Op::Write, offset, io, now);
        true
    }

    /// Handles the completion of a write-back.
    pub(super) fn written(&mut self, pages: u32, generation: u64) {
        self.flusher.in_flight -= 1;
        self.flusher.back_in_flight -= 1;
        self.flusher.writing -= pages;
        if generation < self.journal.generation() {
            self.commit_done();
        }
    }
}
