//! The middle one of the three stages of `epo` IV.A: requests go through a write buffer, and what leaves it is a
//! new stream of requests, which can be kept as a trace and fed to any drive.
//!
//! A request that leaves has the time of the one that made room necessary, and the number of its *batch*: what
//! left together. Without a buffer, requests go on whole. What is in the buffer at the end stays there, as in the
//! paper, unless it is drained. Where a policy pads a block, the reads that it needs stand before the write.
//!
//! Pages are taken one by one, in order: a page that is in the buffer is replaced, and one that is not makes room
//! first where there is none. A request that is larger than the buffer therefore leaves in pieces, and a page
//! that waits to be replaced may leave before its turn comes.
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
    /// When it arrives.
    pub at: Time,
    /// The first page.
    pub page: u32,
    /// How many; none is no write. What would lie beyond page `u32::MAX - 1` is left out.
    pub pages: u32,
}

/// A request that left the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reshaped {
    /// When it arrives at the drive: with the write that made room necessary.
    pub at: Time,
    /// [`Op::Write`], or [`Op::Read`] of what pads a block.
    pub op: Op,
    /// The first page.
    pub page: u32,
    /// How many.
    pub pages: u32,
    /// What left together has one number; batches are numbered from 0.
    pub batch: u64,
    /// Pages of room that the buffer has again once this is done; none of a read, and none without a buffer.
    pub frees: u32,
}

/// A page took room in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The write that it belongs to, counted from 1.
    pub write: u64,
    /// When that write arrived.
    pub at: Time,
}

/// What went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Writes that came.
    pub requests: u64,
    /// Their pages.
    pub pages: u64,
    /// Pages that replaced one in the buffer.
    pub hits: u64,
    /// Times that something left.
    pub batches: u64,
    /// How many batches had that many pages of the buffer's.
    pub batch_pages: BTreeMap<u32, u64>,
    /// Pages that left the buffer; what it still holds is `pages - hits - evicted_pages`.
    pub evicted_pages: u64,
    /// Pages written, those that pad blocks included.
    pub pages_written: u64,
    /// Pages read to pad blocks.
    pub pages_read: u64,
}

/// The writes of `I` as they leave a buffer.
#[derive(Clone, Debug)]
pub struct Reshape<I> {
    writes: I,
    buffer: PageBuffer,
    whole: bool,
    drain: bool,
    /// The time of the write at hand, and its pages that are still to come.
    now: Time,
    pages: Range<u32>,
    evicted: Evicted,
    ready: VecDeque<Reshaped>,
    /// Pages that took room since it was last asked, where that is wanted.
    taken: Option<Vec<Taken>>,
    counters: Counters,
}

impl<I: Iterator<Item = PageWrite>> Reshape<I> {
    /// `writes` through an empty buffer. With `drain`, what it holds at the end leaves with the last write's time.
    ///
    /// # Errors
    /// [`PageBufferError`] for a buffer that cannot be.
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

    /// What has gone through so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// From now on, notes which pages take room, for [`Reshape::taken`].
    pub fn note_taken(&mut self) {
        self.taken.get_or_insert_default();
    }

    /// The pages that took room since it was asked last, in order; none unless [`Reshape::note_taken`] was called.
    pub fn taken(&mut self) -> impl Iterator<Item = Taken> {
        self.taken.iter_mut().flat_map(|taken| taken.drain(..))
    }

    /// What the buffer holds now.
    pub fn buffer(&self) -> &PageBuffer {
        &self.buffer
    }

    /// One page, or the next write, or the next batch after the end; false where nothing is left to do.
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

    /// No buffer: the write goes on as it came.
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

    /// What has left as requests.
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
