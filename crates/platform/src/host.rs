//! The machine below a script: its parts, the requests in flight, and the threads that wait for pages.

use super::cleaner::Cleaner;
use super::flusher::Flusher;
use super::journal::Transactions;
use super::mount::{Files, Mount};
use super::processors::Processors;
use super::task::{Job, Task, Thread};
use crate::{Counter, Failed, System};
use fathom_base::{Bytes, Dur, EventQueue, Slab, Time};
use fathom_block::program::{Done, Request};
use fathom_block::{Access, Op, Tag};
use fathom_fs::cache::{Cache, Window};
use fathom_fs::{BLOCK_BYTES, FileId, METADATA, PageKey, Volume};
use std::collections::{BTreeMap, VecDeque};

/// An event at a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A thread continues.
    Run(u32),
    /// A write to the drive is retried.
    Through(u32),
    /// A transaction has reached its age for a commit.
    Commit,
    /// Committed metadata has reached its age for write-back.
    Expire,
}

/// The waiter for a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiter {
    Thread(usize),
    Through(u32),
}

/// The purpose of a request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Load,
    /// A write-back, with the number of commits that had begun when it became due.
    Back {
        generation: u64,
    },
    /// A write to the drive by a thread.
    Through {
        thread: usize,
    },
    /// A write of the commit, or its flush.
    Log,
    /// The super block of the journal.
    Super,
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
    /// Dirty pages that a write to the drive has also cleaned.
    pub(super) taken_along: u64,
    pub(super) loaded: u64,
    pub(super) committed: u64,
    pub(super) commits: u64,
    pub(super) metadata_written: u64,
    pub(super) stalls: u64,
    /// Number of blocks that cleaning has moved.
    pub(super) cleaned: u64,
    /// Number of times that a thread waited for the journal.
    pub(super) journal_waits: u64,
    /// Number of writes that found no room.
    pub(super) cut_short: u64,
    pub(super) finished: Time,
}

/// The machine that a script acts on.
#[derive(Debug)]
pub struct Host {
    pub(super) system: System,
    pub(super) files: Files,
    pub(super) cache: Cache,
    pub(super) flusher: Flusher,
    pub(super) journal: Transactions,
    pub(super) cleaner: Cleaner,
    pub(super) threads: Vec<Thread>,
    pub(super) jobs: Slab<Job>,
    /// Threads that wait until fewer pages are dirty.
    pub(super) stalled: Vec<usize>,
    pub(super) events: EventQueue<Event>,
    /// The thread whose step or write is handled: it waits for the metadata needed. None during write-back.
    pub(super) current: Option<usize>,
    pub(super) totals: Totals,
    /// Number of threads that have not ended.
    pub(super) running: usize,
    pub(super) in_flight: BTreeMap<(Op, u64), Io>,
    waiters: BTreeMap<PageKey, Vec<Waiter>>,
    requests: Vec<VecDeque<Request>>,
    /// Maximum length of a request that the drive takes, in pages.
    most: u32,
    /// Shared with the system below, if that is modelled.
    pub(super) processors: Processors,
    /// The time of the last event.
    clock: Time,
}

impl Host {
    pub(super) fn new(mut mount: Mount, system: System, threads: usize) -> Self {
        mount.volume.runs_on(system.processors);
        let mut events = EventQueue::default();
        for thread in 0..threads {
            events.push(Time::ZERO, Event::Run(thread as u32));
        }
        Self {
            cache: Cache::new(system.pages(100.0)),
            flusher: Flusher::new(&system),
            journal: Transactions::new(&mount.volume),
            cleaner: Cleaner::default(),
            threads: vec![Thread::default(); threads],
            jobs: Slab::default(),
            stalled: Vec::new(),
            events,
            current: None,
            totals: Totals::default(),
            running: threads,
            in_flight: BTreeMap::new(),
            waiters: BTreeMap::new(),
            requests: vec![VecDeque::new(); threads + 1 + usize::from(mount.volume.moves())],
            most: u32::MAX,
            processors: Processors::new(system.processors),
            clock: Time::ZERO,
            files: Files::new(mount),
            system,
        }
    }

    /// Returns the file system.
    pub fn volume(&self) -> &Volume {
        &self.files.mount.volume
    }

    /// Returns the page cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The length of a file in bytes; 0 if it does not exist.
    pub fn size(&self, file: FileId) -> u64 {
        self.volume().size(file)
    }

    /// The computing time of one operation.
    pub fn operation(&self) -> Dur {
        self.system.operation_time
    }

    /// Number of a thread's writes to the drive in flight.
    pub fn writes_in_flight(&self, thread: usize) -> u32 {
        self.threads[thread].through
    }

    /// Wakes a sleeping thread now. Has no effect on a thread that does not sleep.
    pub fn wake(&mut self, thread: usize, now: Time) {
        if matches!(self.threads[thread].task, Task::Sleep | Task::SleepUntil(_)) {
            self.threads[thread].task = Task::Idle;
            self.events.push(now, Event::Run(thread as u32));
        }
    }

    /// Number of actors: the threads, the flusher, and the cleaner of a log-structured file system.
    pub(super) fn actors(&self) -> usize {
        self.requests.len()
    }

    /// The actor that writes back.
    pub(super) fn flusher_actor(&self) -> usize {
        self.threads.len()
    }

    /// Bounds the length of every request.
    pub(super) fn bound_requests(&mut self, longest: Bytes) {
        let most = longest.0 / BLOCK_BYTES;
        self.most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
    }

    /// Maximum length of a read, or of a write by a thread, in pages.
    pub(super) fn most(&self) -> u32 {
        self.most
    }

    /// Maximum length of a write-back or of a write of the journal, in pages.
    pub(super) fn longest_write(&self) -> u32 {
        ((self.system.longest_write.0 / BLOCK_BYTES) as u32).min(self.most)
    }

    /// Takes the next event if its time has come.
    pub(super) fn due(&mut self, now: Time) -> Option<(Time, Event)> {
        self.events.next_at().filter(|&at| at <= now)?;
        let (at, event) = self.events.pop()?;
        self.clock = self.clock.max(at);
        Some((self.clock, event))
    }

    /// The time of the next event that does not depend on a completion; `Time::MAX` if everything is done.
    pub(super) fn next_event(&self) -> Time {
        if self.is_over() {
            return Time::MAX;
        }
        self.events.next_at().unwrap_or(Time::MAX)
    }

    fn is_over(&self) -> bool {
        self.running == 0 && self.in_flight.is_empty() && self.is_clean() && !self.cleaner.is_busy()
    }

    pub(super) fn take_request(&mut self, actor: usize) -> Option<Request> {
        self.requests[actor].pop_front()
    }

    /// Issues a request.
    pub(super) fn request(&mut self, actor: usize, op: Op, offset: u64, io: Io, now: Time) {
        let access = Access::new(Time::ZERO, op, offset, u64::from(io.pages) * BLOCK_BYTES);
        let tag = Tag {
            process: actor as u32,
            sync: actor != self.flusher_actor(),
            ..Tag::default()
        };
        self.issue(actor, access, tag, io, now);
    }

    /// Issues a request with a tag of its own.
    pub(super) fn issue(&mut self, actor: usize, access: Access, tag: Tag, io: Io, now: Time) {
        let (op, offset) = (access.op, access.offset);
        self.in_flight.insert((op, offset), io);
        let request = Request {
            access,
            tag,
            asked: now,
            counts: Time::ZERO,
            data: None,
        };
        self.ask(actor, request);
    }

    /// Passes a request on for an actor.
    pub(super) fn ask(&mut self, actor: usize, request: Request) {
        self.requests[actor].push_back(request);
    }

    /// Loads the pages of a window that are not in memory, with one request for each contiguous run.
    pub(super) fn load(&mut self, actor: usize, file: FileId, window: Window, now: Time) {
        let pages = match file {
            METADATA => u32::MAX,
            file => self.size(file).div_ceil(BLOCK_BYTES) as u32,
        };
        let end = window.page.saturating_add(window.pages).min(pages);
        let mut page = window.page;
        while page < end {
            let first = PageKey { file, page };
            let wanted = (end - page).min(self.most);
            let Some((offset, most)) = self.files.run(first, wanted) else {
                // A hole: a page of zeros.
                self.cache.set(first, |_| {});
                page += 1;
                continue;
            };
            let io = |pages| Io {
                purpose: Purpose::Load,
                first,
                pages,
            };
            let absent = io(most).keys().take_while(|&k| self.cache.get(k).is_none());
            let absent = absent.count() as u32;
            if absent > 0 {
                io(absent)
                    .keys()
                    .for_each(|key| self.cache.set(key, |s| s.loading = true));
                self.totals.loaded += u64::from(absent);
                self.request(actor, Op::Read, offset, io(absent), now);
            }
            page += absent.max(1);
        }
    }

    /// Registers a waiter for a page.
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

    /// Handles the completion of a request.
    pub(super) fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), Failed> {
        let now = done.completed.max(self.clock);
        match actor > self.flusher_actor() {
            true => self.cleaned(),
            false => self.complete(done.access, now)?,
        }
        self.clock = now;
        self.pump(now);
        self.unstall(now);
        self.wake_syncers(now);
        if self.is_over() {
            self.totals.finished = now;
        }
        Ok(())
    }

    fn complete(&mut self, access: &Access, now: Time) -> Result<(), Failed> {
        let (op, offset) = (access.op, access.offset);
        let io = self.in_flight.remove(&(op, offset));
        let io = io.ok_or(Failed::Stray { offset })?;
        match io.purpose {
            Purpose::Load => {}
            Purpose::Back { generation } => self.written(io, generation),
            Purpose::Through { thread } => self.settled(thread, io.pages, now),
            Purpose::Log => self.logged(),
            Purpose::Super => self.flusher.in_flight -= 1,
        }
        if !matches!(io.purpose, Purpose::Log | Purpose::Super) {
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
            bytes("cleaned-bytes", t.cleaned),
            Counter::count("commits", t.commits, ""),
            Counter::count("stalls", t.stalls, ""),
            Counter::count("waits-for-journal", t.journal_waits, ""),
            Counter::count("writes-without-room", t.cut_short, ""),
            Counter::count(
                "allocator-memory",
                self.volume().allocator().memory_bytes(),
                "B",
            ),
            Counter::seconds("everything-written", t.finished.since(Time::ZERO)),
        ]
    }
}
