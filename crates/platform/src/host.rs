//! The machine below a script: what it is made of, what is in flight, and who waits for what.

use super::flusher::Flusher;
use super::journal::Journal;
use super::task::{Job, Thread};
use crate::{Counter, Failed, System};
use fathom_base::{Dur, EventQueue, Slab, Time};
use fathom_block::program::{Done, Request};
use fathom_block::{Access, Op, Tag};
use fathom_fs::cache::{Cache, Window};
use fathom_fs::files::{BLOCK_BYTES, FileId, PageKey, Volume};
use std::collections::{BTreeMap, VecDeque};

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A thread goes on.
    Run(u32),
    /// A write to the drive may be tried again.
    Through(u32),
    /// A transaction is old enough.
    Commit,
    /// Metadata was committed long enough ago.
    Expire,
}

/// Who waits for a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiter {
    Thread(usize),
    Through(u32),
}

/// What a request in flight is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Load,
    /// Write-back, and how many commits had begun when it was due.
    Back {
        generation: u64,
    },
    /// Of a thread that writes to the drive.
    Through {
        thread: usize,
    },
    Log,
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Io {
    pub(super) purpose: Purpose,
    pub(super) first: PageKey,
    pub(super) pages: u32,
}

impl Io {
    pub(super) fn keys(self) -> impl Iterator<Item = PageKey> {
        let PageKey { file, page } = self.first;
        (page..page + self.pages).map(move |page| PageKey { file, page })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) dirtied: u64,
    pub(super) written: u64,
    pub(super) through: u64,
    pub(super) dropped: u64,
    /// Dirty pages that a write to the drive took along.
    pub(super) taken_along: u64,
    pub(super) loaded: u64,
    pub(super) committed: u64,
    pub(super) commits: u64,
    pub(super) metadata_written: u64,
    pub(super) stalls: u64,
    /// Writes that found no room.
    pub(super) cut_short: u64,
    pub(super) finished: Time,
}

/// What a script acts on.
#[derive(Debug)]
pub struct Host {
    pub(super) system: System,
    pub(super) volume: Volume,
    pub(super) cache: Cache,
    pub(super) flusher: Flusher,
    pub(super) journal: Journal,
    pub(super) threads: Vec<Thread>,
    pub(super) jobs: Slab<Job>,
    /// Threads that wait until less is dirty.
    pub(super) stalled: Vec<usize>,
    pub(super) events: EventQueue<Event>,
    /// Whose step or write it is: who waits for metadata.
    pub(super) current: usize,
    pub(super) totals: Totals,
    /// Threads that have not ended.
    pub(super) running: usize,
    pub(super) in_flight: BTreeMap<(Op, u64), Io>,
    waiters: BTreeMap<PageKey, Vec<Waiter>>,
    requests: Vec<VecDeque<Request>>,
    /// When each processor is free.
    processors: Vec<Time>,
    /// The time of the last event.
    clock: Time,
}

impl Host {
    pub(super) fn new(volume: Volume, system: System, threads: usize) -> Self {
        let mut events = EventQueue::default();
        for thread in 0..threads {
            events.push(Time::ZERO, Event::Run(thread as u32));
        }
        Self {
            cache: Cache::new(system.pages(100.0)),
            flusher: Flusher::new(&system),
            journal: Journal::new(&volume),
            threads: vec![Thread::default(); threads],
            jobs: Slab::default(),
            stalled: Vec::new(),
            events,
            current: 0,
            totals: Totals::default(),
            running: threads,
            in_flight: BTreeMap::new(),
            waiters: BTreeMap::new(),
            requests: vec![VecDeque::new(); threads + 1],
            processors: vec![Time::ZERO; system.processors.max(1) as usize],
            clock: Time::ZERO,
            volume,
            system,
        }
    }

    /// The files.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The length of a file in bytes; 0 for none.
    pub fn size(&self, file: FileId) -> u64 {
        self.volume.size(file)
    }

    /// What computing for one operation takes.
    pub fn operation(&self) -> Dur {
        self.system.operation_time
    }

    /// How many threads there are, and the flusher.
    pub(super) fn actors(&self) -> usize {
        self.requests.len()
    }

    /// Who writes back.
    pub(super) fn flusher_actor(&self) -> usize {
        self.requests.len() - 1
    }

    /// The next event, if its time has come.
    pub(super) fn due(&mut self, now: Time) -> Option<(Time, Event)> {
        self.events.next_at().filter(|&at| at <= now)?;
        let (at, event) = self.events.pop()?;
        self.clock = self.clock.max(at);
        Some((self.clock, event))
    }

    /// When something happens next without an answer; never where everything is done.
    pub(super) fn next_event(&self) -> Time {
        if self.is_over() {
            return Time::MAX;
        }
        self.events.next_at().unwrap_or(Time::MAX)
    }

    fn is_over(&self) -> bool {
        self.running == 0 && self.in_flight.is_empty() && self.is_clean()
    }

    pub(super) fn take_request(&mut self, actor: usize) -> Option<Request> {
        self.requests[actor].pop_front()
    }

    /// Puts a request into flight.
    pub(super) fn request(&mut self, actor: usize, op: Op, offset: u64, io: Io, now: Time) {
        let len = u64::from(io.pages) * BLOCK_BYTES;
        let access = Access {
            at: Time::ZERO,
            op,
            offset,
            len,
            disk: 0,
        };
        let tag = Tag {
            process: actor as u32,
            sync: actor != self.flusher_actor(),
            fua: false,
            direct: false,
        };
        self.in_flight.insert((op, offset), io);
        self.requests[actor].push_back(Request {
            access,
            tag,
            asked: now,
            counts: Time::ZERO,
            data: None,
        });
    }

    /// Asks for the pages of a window that are not in memory, in one request for what lies in one piece.
    pub(super) fn load(&mut self, actor: usize, file: FileId, window: Window, now: Time) {
        let pages = if file == fathom_fs::files::METADATA {
            window.page + window.pages
        } else {
            self.volume.pages(file)
        };
        let end = window.page.saturating_add(window.pages).min(pages);
        let mut page = window.page;
        while page < end {
            let first = PageKey { file, page };
            let piece = self.volume.run(first, end - page);
            let (offset, most) = piece.unwrap_or((0, 1));
            let io = |pages| Io {
                purpose: Purpose::Load,
                first,
                pages,
            };
            let absent = io(most).keys().take_while(|&k| self.cache.get(k).is_none());
            let absent = absent.count() as u32;
            if absent > 0 && piece.is_some() {
                io(absent)
                    .keys()
                    .for_each(|key| self.cache.set(key, |s| s.loading = true));
                self.totals.loaded += u64::from(absent);
                self.request(actor, Op::Read, offset, io(absent), now);
            }
            page += absent.max(1);
        }
    }

    /// A page is awaited.
    pub(super) fn wait_for(&mut self, key: PageKey, waiter: Waiter) {
        self.waiters.entry(key).or_default().push(waiter);
    }

    fn wake_waiters(&mut self, key: PageKey, now: Time) {
        for waiter in self.waiters.remove(&key).unwrap_or_default() {
            let event = match waiter {
                Waiter::Thread(thread) => Event::Run(thread as u32),
                Waiter::Through(job) => Event::Through(job),
            };
            self.events.push(now, event);
        }
    }

    /// When a computation that is wanted now is done, on the processor that is free first.
    pub(super) fn compute(&mut self, takes: Dur, now: Time) -> Time {
        let Some(processor) = self.processors.iter_mut().min() else {
            return now + takes;
        };
        *processor = (*processor).max(now) + takes;
        *processor
    }

    /// A request is done.
    pub(super) fn done(&mut self, done: Done<'_>) -> Result<(), Failed> {
        let (op, offset) = (done.access.op, done.access.offset);
        let now = done.completed.max(self.clock);
        let io = self.in_flight.remove(&(op, offset));
        let io = io.ok_or(Failed::Stray { offset })?;
        match io.purpose {
            Purpose::Load => {}
            Purpose::Back { generation } => self.written(io.pages, generation),
            Purpose::Through { thread } => self.settled(thread, io.pages, now),
            Purpose::Log => self.logged(),
        }
        if io.purpose != Purpose::Log {
            for key in io.keys() {
                if self.cache.get(key).is_some() {
                    self.cache.set(key, |state| match op {
                        Op::Read => state.loading = false,
                        _ => state.writing = false,
                    });
                }
                self.wake_waiters(key, now);
            }
        }
        self.clock = now;
        self.pump(now);
        self.unstall(now);
        if self.is_over() {
            self.totals.finished = now;
        }
        Ok(())
    }

    pub(super) fn counters(&self) -> Vec<Counter> {
        let t = &self.totals;
        let bytes = |name, pages: u64| Counter::count(name, pages * BLOCK_BYTES, "B");
        vec![
            bytes("cache-read-bytes", t.loaded),
            bytes("dirtied-bytes", t.dirtied),
            bytes("written-back-bytes", t.written),
            bytes("written-through-bytes", t.through),
            bytes("dropped-bytes", t.dropped),
            bytes("taken-along-bytes", t.taken_along),
            bytes("journal-metadata-bytes", t.committed),
            bytes("metadata-written-bytes", t.metadata_written),
            Counter::count("commits", t.commits, ""),
            Counter::count("stalls", t.stalls, ""),
            Counter::count("writes-without-room", t.cut_short, ""),
            Counter::seconds("everything-written", t.finished.since(Time::ZERO)),
        ]
    }
}
