//! Threads: their tasks, executed page by page.

use super::host::{Event, Io, Purpose, Waiter};
use super::mount::metadata;
use super::task::{Job, Reading, Task, Writing};
use crate::{Failed, Host, Step};
use fathom_base::{Dur, Time};
use fathom_block::Op;
use fathom_fs::cache::{ReadAhead, Window};
use fathom_fs::{BLOCK_BYTES, FileId, FsError, PageKey};

/// Number of pages that a thread reads or writes before it computes, checks the limit on dirty pages and lets others
/// continue (`ratelimit_pages` of Linux).
const CHUNK: u32 = 32;

/// When a thread continues.
enum Pace {
    /// At once.
    On,
    /// After computing.
    After(Dur),
    /// When it is woken.
    Wait,
}

fn pages(from: u64, end: u64) -> std::ops::Range<u32> {
    (from / BLOCK_BYTES) as u32..end.div_ceil(BLOCK_BYTES) as u32
}

impl Host {
    /// Starts a step of a thread.
    pub(super) fn begin(&mut self, thread: usize, step: Step, now: Time) {
        let task = match step {
            Step::Compute(takes) => Task::Compute(takes),
            Step::Read {
                file,
                from,
                len,
                call,
            } => self.begin_read(file, from, len, call, now),
            Step::Write { file, from, len } => {
                self.open_to_write(file, true);
                let end = from + len;
                let at = from;
                Task::Write(Writing { file, at, end })
            }
            Step::WriteThrough {
                file,
                from,
                len,
                at_most,
            } => {
                let end = from + len;
                let job = Job {
                    thread,
                    file,
                    from,
                    end,
                };
                Task::Through(job, at_most.max(1))
            }
            Step::Settle { at_most } => Task::Settle(at_most),
            Step::Sync { file } => self.begin_sync(Some(file)),
            Step::SyncAll => self.begin_sync(None),
            Step::Sleep => Task::Sleep,
            Step::SleepUntil(at) => {
                self.events.push(at.max(now), Event::Run(thread as u32));
                Task::SleepUntil(at)
            }
            Step::End => {
                self.running -= 1;
                self.totals.finished = now;
                Task::End
            }
        };
        self.threads[thread].task = task;
    }

    fn begin_read(&mut self, file: FileId, from: u64, len: u64, call: u64, now: Time) -> Task {
        if self.system.access_times {
            self.files.mount.volume.touch(file);
            self.note_changes(now);
        }
        let end = from.saturating_add(len).min(self.size(file));
        let pages = pages(from, end.max(from));
        Task::Read(Reading {
            file,
            page: pages.start,
            end: pages.end,
            from,
            call: call.max(1),
            until: end,
            ahead: ReadAhead::new((self.system.read_ahead.0 / BLOCK_BYTES) as u32),
            read: 0,
        })
    }

    /// Continues a thread until it waits. Returns true if it has finished its step.
    pub(super) fn go_on(&mut self, thread: usize, now: Time) -> Result<bool, Failed> {
        self.current = Some(thread);
        self.files
            .mount
            .volume
            .on_processor(thread as u32 % self.system.processors);
        if self.is_computing(thread, now) || self.waits_for_journal(thread) {
            return Ok(false);
        }
        loop {
            if self.awaits(thread) {
                return Ok(false);
            }
            let task = std::mem::take(&mut self.threads[thread].task);
            let (task, pace) = match task {
                Task::Idle => return Ok(true),
                Task::Compute(takes) => (Task::Idle, Pace::After(takes)),
                Task::Read(reading) => self.read(thread, reading, now),
                Task::Write(writing) => self.write(thread, writing, now)?,
                Task::Through(job, at_most) => self.through(job, at_most, now)?,
                Task::Settle(at_most) if self.threads[thread].through <= at_most => {
                    (Task::Idle, Pace::On)
                }
                Task::Sync(syncing) => match self.sync(syncing, now) {
                    None => (Task::Idle, Pace::On),
                    Some(rest) => (Task::Sync(rest), Pace::Wait),
                },
                Task::SleepUntil(at) if now >= at => (Task::Idle, Pace::On),
                Task::Settle(_) | Task::Sleep | Task::SleepUntil(_) | Task::End => {
                    (task, Pace::Wait)
                }
            };
            self.threads[thread].task = task;
            match pace {
                Pace::On | Pace::After(Dur::ZERO) => {}
                Pace::After(takes) => {
                    let at = self.compute(thread, takes, now);
                    if at > Time::END {
                        return Err(Failed::EndOfTime);
                    }
                    self.threads[thread].computes = at;
                    self.events.push(at, Event::Run(thread as u32));
                    return Ok(false);
                }
                Pace::Wait => return Ok(false),
            }
        }
    }

    /// Returns true if a thread must wait for a page.
    fn awaits(&mut self, thread: usize) -> bool {
        while let Some(&key) = self.threads[thread].awaits.last() {
            if self.cache.get(key).is_some_and(|state| state.loading) {
                self.wait_for(key, Waiter::Thread(thread));
                return true;
            }
            self.threads[thread].awaits.pop();
        }
        false
    }

    /// Makes a thread that has changed metadata wait while the journal is full. Returns true if it waits.
    fn waits_for_journal(&mut self, thread: usize) -> bool {
        if !(self.threads[thread].changed && self.must_wait()) {
            self.threads[thread].changed = false;
            return false;
        }
        self.totals.journal_waits += 1;
        self.journal.waiting.push(thread);
        true
    }

    /// Returns whether an operation that changes metadata must wait for the journal or for cleaning.
    pub(super) fn must_wait(&self) -> bool {
        self.journal.must_wait() || self.cleaner.is_busy()
    }

    /// Continues the threads that waited for the journal.
    pub(super) fn wake_for_journal(&mut self, now: Time) {
        if !self.journal.waiting.is_empty() && !self.must_wait() {
            for thread in std::mem::take(&mut self.journal.waiting) {
                self.events.push(now, Event::Run(thread as u32));
            }
        }
    }

    /// Makes the current thread wait until a page is in memory. Loads the page if necessary. Write-back loads pages
    /// without waiting for them.
    pub(super) fn need(&mut self, key: PageKey, now: Time) {
        self.load_missing(self.current.unwrap_or(self.flusher_actor()), key, now);
        if let Some(thread) = self.current
            && self.cache.get(key).is_some_and(|state| state.loading)
        {
            self.threads[thread].awaits.push(key);
        }
    }

    /// Loads a page for a thread, unless it is in memory.
    fn load_missing(&mut self, thread: usize, key: PageKey, now: Time) {
        if self.cache.get(key).is_none() {
            let (page, pages) = (key.page, 1);
            self.load(thread, key.file, Window { page, pages }, now);
        }
    }

    fn read(&mut self, thread: usize, mut task: Reading, now: Time) -> (Task, Pace) {
        while task.page < task.end && task.read < CHUNK {
            let key = PageKey {
                file: task.file,
                page: task.page,
            };
            let in_memory = self.cache.get(key);
            let window = match in_memory {
                Some(_) => task.ahead.reached(task.page),
                None if self.must_look_up(thread, key, now) => return (Task::Read(task), Pace::On),
                None => {
                    let wanted = task.wanted();
                    Some(task.ahead.missing(task.page, wanted))
                }
            };
            if let Some(window) = window {
                self.load(thread, task.file, window, now);
            }
            if in_memory.is_none_or(|state| state.loading) {
                self.need(key, now);
                return (Task::Read(task), Pace::On);
            }
            self.cache.touch(key);
            task.ahead.read(task.page);
            task.page += 1;
            task.read += 1;
        }
        let takes = self.system.page_time * u64::from(task.read);
        task.read = 0;
        let rest = task.page < task.end;
        let task = if rest { Task::Read(task) } else { Task::Idle };
        (task, Pace::After(takes))
    }

    /// Returns whether the block of metadata that maps a page is not in memory yet. Loads it.
    fn must_look_up(&mut self, thread: usize, key: PageKey, now: Time) -> bool {
        if let Some(block) = self.volume().mapped_by(key.file, key.page) {
            self.need(metadata(block), now);
        }
        !self.threads[thread].awaits.is_empty()
    }

    /// Pages that are written partially and exist on the drive: they must be read first.
    fn in_part(&self, file: FileId, from: u64, end: u64) -> impl Iterator<Item = PageKey> {
        let size = self.size(file);
        let first = (!from.is_multiple_of(BLOCK_BYTES) && from <= size).then_some(from);
        let last = (!end.is_multiple_of(BLOCK_BYTES) && end < size).then_some(end);
        first.into_iter().chain(last).map(move |byte| PageKey {
            file,
            page: (byte / BLOCK_BYTES) as u32,
        })
    }

    fn write(
        &mut self,
        thread: usize,
        mut task: Writing,
        now: Time,
    ) -> Result<(Task, Pace), Failed> {
        if task.at >= task.end {
            self.open_to_write(task.file, false);
            return Ok((Task::Idle, Pace::On));
        }
        if self.is_over_limit() {
            self.totals.stalls += 1;
            self.stalled.push(thread);
            return Ok((Task::Write(task), Pace::Wait));
        }
        let chunk = u64::from(CHUNK) * BLOCK_BYTES;
        let end = task.end.min((task.at / chunk + 1) * chunk);
        let in_part: Vec<PageKey> = self.in_part(task.file, task.at, end).collect();
        in_part.into_iter().for_each(|key| self.need(key, now));
        if !self.threads[thread].awaits.is_empty() {
            return Ok((Task::Write(task), Pace::On));
        }
        match self.grow(task.file, task.at, end, now) {
            Ok(()) => {}
            // The system call that writes fails here; the modelled programs do not check that.
            Err(Failed::Refused(FsError::Full { .. })) => {
                self.totals.cut_short += 1;
                self.open_to_write(task.file, false);
                return Ok((Task::Idle, Pace::On));
            }
            Err(error) => return Err(error),
        }
        let written = pages(task.at, end);
        let takes = self.system.page_time * u64::from(written.end - written.start);
        for page in written {
            let file = task.file;
            self.soil(PageKey { file, page }, now);
        }
        task.at = end;
        Ok((Task::Write(task), Pace::After(takes)))
    }

    fn through(&mut self, job: Job, at_most: u32, now: Time) -> Result<(Task, Pace), Failed> {
        if self.threads[job.thread].through >= at_most {
            return Ok((Task::Through(job, at_most), Pace::Wait));
        }
        self.threads[job.thread].through += 1;
        let id = self.jobs.insert(job);
        self.resume(id, now)?;
        let written = pages(job.from, job.end);
        let takes = self.system.page_time * u64::from(written.end - written.start);
        Ok((Task::Idle, Pace::After(takes)))
    }

    /// Starts a write to the drive, or waits for one of its pages that is being read or written.
    pub(super) fn resume(&mut self, id: u32, now: Time) -> Result<(), Failed> {
        let Some(&job) = self.jobs.get(id) else {
            return Ok(());
        };
        let Job {
            thread,
            file,
            from,
            end,
        } = job;
        let in_part: Vec<PageKey> = self.in_part(file, from, end).collect();
        for key in in_part {
            self.load_missing(thread, key, now);
        }
        let keys = pages(from, end).map(|page| PageKey { file, page });
        let busy = keys.clone().find(|&key| {
            let state = self.cache.get(key);
            state.is_some_and(|state| state.loading || state.writing)
        });
        if let Some(key) = busy {
            self.wait_for(key, Waiter::Through(id));
            return Ok(());
        }
        self.jobs.remove(id);
        self.current = Some(thread);
        self.grow(file, from, end, now)?;
        let all = pages(from, end);
        self.place(file, all.start, all.end - all.start, now)?;
        for key in keys {
            let dirty = self.cache.get(key).is_some_and(|state| state.dirty);
            self.totals.taken_along += u64::from(dirty);
            self.flusher.clean(key);
            self.cache.set(key, |state| {
                state.dirty = false;
                state.writing = true;
            });
        }
        self.write_pages(thread, file, pages(from, end), now);
        Ok(())
    }

    /// Issues a write of a thread to the drive, with one request for each contiguous piece.
    fn write_pages(&mut self, thread: usize, file: FileId, pages: std::ops::Range<u32>, now: Time) {
        self.threads[thread].through -= 1;
        let mut page = pages.start;
        while page < pages.end {
            let first = PageKey { file, page };
            let wanted = (pages.end - page).min(self.most());
            let Some((offset, run)) = self.files.run(first, wanted) else {
                return;
            };
            let io = Io {
                purpose: Purpose::Through { thread },
                first,
                pages: run,
            };
            self.threads[thread].through += 1;
            self.flusher.writing += run;
            self.totals.through += u64::from(run);
            self.request(thread, Op::Write, offset, io, now);
            page += run;
        }
    }

    /// Handles the completion of a thread's write to the drive.
    pub(super) fn settled(&mut self, thread: usize, pages: u32, now: Time) {
        self.flusher.writing -= pages;
        self.threads[thread].through -= 1;
        let in_flight = self.threads[thread].through;
        let goes_on = match self.threads[thread].task {
            Task::Settle(at_most) => in_flight == at_most,
            Task::Through(_, at_most) => in_flight + 1 == at_most,
            _ => false,
        };
        if goes_on {
            self.events.push(now, Event::Run(thread as u32));
        }
    }

    /// Continues the threads that waited until fewer pages are dirty.
    pub(super) fn unstall(&mut self, now: Time) {
        if !self.stalled.is_empty() && !self.is_over_limit() {
            for thread in std::mem::take(&mut self.stalled) {
                self.events.push(now, Event::Run(thread as u32));
            }
        }
    }
}
