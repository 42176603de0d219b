//! Passes requests through a write buffer and emits the evicted data as a new stream of requests. This is the middle of
//! the three stages of `epo` IV.A. The stream can be kept as a trace and fed to any drive.
//!
//! An emitted request has the time of the write that made room necessary, and the number of its eviction *batch*.
//! Without a buffer, requests pass unchanged. Data that is in the buffer at the end stays there, as in the paper,
//! unless the buffer is drained. If a policy pads a block, the reads for it come before the write.
//!
//! Pages are processed one by one, in order. A page that is in the buffer is replaced; for any other page, room is made
//! first if there is none. So a request larger than the buffer leaves in pieces, and a page that waits to be replaced
//! may be evicted before its turn.
//!
//! It does not answer reads (the paper filters them out before), and keeps no data.

use super::WritePolicy;
use super::pages::{Evicted, PageBuffer, PageBufferError, Setup, Stored};
use fathom_base::Time;
use fathom_block::Op;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A write of whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Time of arrival.
    pub at: Time,
    /// First page.
    pub page: u32,
    /// Number of pages. A write of 0 pages is ignored. Pages beyond `u32::MAX - 1` are left out.
    pub pages: u32,
}

/// A request that was emitted by the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reshaped {
    /// Time of arrival at the drive: that of the write that made room necessary.
    pub at: Time,
    /// [`Op::Write`], or [`Op::Read`] for pages that pad a block.
    pub op: Op,
    /// First page.
    pub page: u32,
    /// Number of pages.
    pub pages: u32,
    /// Number of the eviction batch, counted from 0.
    pub batch: u64,
    /// Number of pages of room that the buffer gets back when the request is done. It is 0 for a read and without a
    /// buffer.
    pub frees: u32,
}

/// A page that took room in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The write that the page belongs to, counted from 1.
    pub write: u64,
    /// Time of arrival of that write.
    pub at: Time,
}

/// Counters of a [`Reshape`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of writes received, without those of 0 pages.
    pub requests: u64,
    /// Number of pages of these writes.
    pub pages: u64,
    /// Number of pages that replaced one in the buffer.
    pub hits: u64,
    /// Number of eviction batches.
    pub batches: u64,
    /// Number of batches by their number of pages from the buffer.
    pub batch_pages: BTreeMap<u32, u64>,
    /// Number of pages evicted. The buffer still holds `pages - hits - evicted_pages`.
    pub evicted_pages: u64,
    /// Number of pages written, including those that pad blocks.
    pub pages_written: u64,
    /// Number of pages read to pad blocks.
    pub pages_read: u64,
}

/// Iterator over the requests that a write buffer emits for the writes of `I`.
#[derive(Clone, Debug)]
pub struct Reshape<I> {
    writes: I,
    buffer: PageBuffer,
    whole: bool,
    drain: bool,
    /// Time of the current write, and its pages that are still to be stored.
    now: Time,
    pages: Range<u32>,
    evicted: Evicted,
    ready: VecDeque<Reshaped>,
    /// Pages that took room since the last call of [`Reshape::taken`], if that is wanted.
    taken: Option<Vec<Taken>>,
    counters: Counters,
}

impl<I: Iterator<Item = PageWrite>> Reshape<I> {
    /// Passes `writes` through an empty buffer. With `drain`, the rest of the buffer is emitted at the end, with the
    /// time of the last write.
    ///
    /// # Errors
    /// [`PageBufferError`] if a parameter of the buffer is out of range.
    pub fn new(writes: I, setup: &Setup, drain: bool) -> Result<Self, PageBufferError> {
        Ok(Self {
            writes,
            buffer: PageBuffer::new(setup)?,
            whole: setup.policy == WritePolicy::NoCache,
            drain,
            now: Time::ZERO,
            pages: 0..0,
            evicted: Evicted::default(),
            ready: VecDeque::new(),
            taken: None,
            counters: Counters::default(),
        })
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Starts to record the pages that take room, for [`Reshape::taken`].
    pub fn note_taken(&mut self) {
        self.taken.get_or_insert_default();
    }

    /// Returns the pages that took room since the last call, in order. There are none unless [`Reshape::note_taken`]
    /// was called.
    pub fn taken(&mut self) -> impl Iterator<Item = Taken> {
        self.taken.iter_mut().flat_map(|taken| taken.drain(..))
    }

    /// Returns the buffer with its present content.
    pub fn buffer(&self) -> &PageBuffer {
        &self.buffer
    }

    /// Stores one page, or takes the next write, or evicts the next batch after the end. Returns false if nothing is
    /// left to do.
    fn step(&mut self) -> bool {
        if let Some(page) = self.pages.next() {
            self.store(page);
            return true;
        }
        let Some(PageWrite { at, page, pages }) = self.writes.next() else {
            let left = self.drain && self.buffer.evict(&mut self.evicted);
            if left {
                self.emit();
            }
            return left;
        };
        self.now = at;
        self.pages = page..page.saturating_add(pages);
        self.counters.requests += u64::from(!self.pages.is_empty());
        if self.whole && !self.pages.is_empty() {
            self.forward();
        }
        true
    }

    fn store(&mut self, page: u32) {
        let number = self.counters.requests;
        let stored = self.buffer.write(page, number, &mut self.evicted);
        self.counters.pages += 1;
        self.counters.hits += u64::from(stored == Stored::Replaced);
        if let Some(taken) = self.taken.as_mut().filter(|_| stored == Stored::New) {
            let at = self.now;
            taken.push(Taken { write: number, at });
        }
        if !self.evicted.pages.is_empty() {
            self.emit();
        }
    }

    /// Passes a write on unchanged: there is no buffer.
    fn forward(&mut self) {
        let pages = std::mem::replace(&mut self.pages, 0..0);
        let n = pages.end - pages.start;
        self.counters.pages += u64::from(n);
        self.count_batch(n);
        self.push(Op::Write, pages, 0);
        self.counters.batches += 1;
    }

    fn count_batch(&mut self, pages: u32) {
        *self.counters.batch_pages.entry(pages).or_default() += 1;
        self.counters.evicted_pages += u64::from(pages);
    }

    /// Emits the evicted pages as requests.
    fn emit(&mut self) {
        let evicted = std::mem::take(&mut self.evicted);
        self.count_batch(evicted.pages.len() as u32);
        match &evicted.padded {
            Some(block) => {
                let mut from = block.start;
                for &page in &evicted.pages {
                    self.push(Op::Read, from..page, 0);
                    from = page.saturating_add(1);
                }
                self.push(Op::Read, from..block.end, 0);
                let frees = evicted.pages.len() as u32;
                self.push(Op::Write, block.clone(), frees);
            }
            None => {
                let joins = |a: &u32, b: &u32| !evicted.singly && a.checked_add(1) == Some(*b);
                for run in evicted.pages.chunk_by(joins) {
                    let first = run.first().copied().unwrap_or_default();
                    let pages = run.len() as u32;
                    self.push(Op::Write, first..first.saturating_add(pages), pages);
                }
            }
        }
        self.counters.batches += 1;
        self.evicted = evicted;
    }

    fn push(&mut self, op: Op, range: Range<u32>, frees: u32) {
        if range.is_empty() {
            return;
        }
        let pages = range.end - range.start;
        let count = match op {
            Op::Read => &mut self.counters.pages_read,
            _ => &mut self.counters.pages_written,
        };
        *count += u64::from(pages);
        self.ready.push_back(Reshaped {
            at: self.now,
            op,
            page: range.start,
            pages,
            batch: self.counters.batches,
            frees,
        });
    }
}

impl<I: Iterator<Item = PageWrite>> Iterator for Reshape<I> {
    type Item = Reshaped;

    fn next(&mut self) -> Option<Reshaped> {
        while self.ready.is_empty() && self.step() {}
        self.ready.pop_front()
    }
}
