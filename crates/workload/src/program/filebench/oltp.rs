//! Transaction processing: readers, writers and a log writer, which semaphores keep in step.
//!
//! Each semaphore is a pair, as filebench makes it with System V semaphores. A post decrements the permitted posts
//! (`highwater` plus the number asked for) and increments the posts made. A writer adds the number it asks for to the
//! permitted posts, and waits until that many posts were made. A reader posts to the log writer, then to every writer
//! in turn.

use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, Rng, Time, want};
use fathom_fs::{BLOCK_BYTES, FileId, FileSystem, Sizes};
use fathom_platform::{Counter, Failed, Host, Machine, Script, Step, System};

settings! {
    /// The settings of transaction processing, and of the machine that it runs on.
    OltpSettings, OltpOverrides {
        /// Number of data files (`nfiles`).
        files: u64,
        /// Length of each data file (`filesize`).
        file_size: Bytes,
        /// Length of the log (`logfilesize`).
        log_size: Bytes,
        /// Number of processes that read (`nshadows`).
        shadows: u64,
        /// Number of processes that write (`ndbwriters`).
        writers: u64,
        /// Bytes per read and write of data (`iosize`).
        io_size: Bytes,
        /// Bytes per write of the log.
        log_io_size: Bytes,
        /// Writes per batch of a writer (`iters`).
        batch: u64,
        /// Writes in flight per writer. The default is one per file, because the C library serves an open file with one
        /// thread; this is an assumption.
        writes_in_flight: u32,
        /// CPU time of a reader after each read (`usermode=200000`). Assumes 1 ns per loop.
        shadow_time: Dur,
        /// CPU time of a writer after each batch (10,000 loops). Assumes 1 ns per loop.
        writer_time: Dur,
        /// Time after which all processes end at their next operation.
        duration: Dur,
        /// Number of reads and writes after which the processes end, if that is earlier.
        operations: Option<u64>,
        /// Utilisation of the drive before the files are laid out, in percent; 0 is an empty drive.
        utilisation_percent: f64,
        /// The part of the drive that the file system uses; the whole drive if omitted.
        range: Option<Range>,
        /// The file system.
        file_system: FileSystem,
        /// The machine.
        system: System,
    }
}

#[derive(Clone, Debug)]
struct Semaphore {
    /// Number of posts permitted.
    room: u64,
    posted: u64,
    /// Number of posts that the owner takes at a time.
    value: u64,
    /// True if the owner sleeps.
    awaited: bool,
    /// Threads that sleep until a post is permitted.
    posters: Vec<usize>,
}

impl Semaphore {
    fn new(value: u64, room: u64) -> Self {
        Self {
            room,
            posted: 0,
            value,
            awaited: false,
            posters: Vec::new(),
        }
    }
}

/// The next action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A reader reads, or a writer issues the write with this index in its batch.
    Work(u64),
    /// A reader computes, or a writer has computed and asks for posts.
    Think,
    /// A reader posts to the semaphore with this index.
    Post(usize),
    /// A writer waits for its posts.
    Await,
    /// A writer waits for half of its writes in flight; the log writer waits for its write.
    Settle,
}

/// The processes: thread 0 writes the log, then come the writers, then the readers.
#[derive(Debug)]
pub struct Oltp {
    settings: OltpSettings,
    files: Vec<FileId>,
    log: FileId,
    at: Vec<At>,
    /// Index of the file that each thread uses next (`opennext`).
    turn: Vec<usize>,
    semaphores: Vec<Semaphore>,
    over: bool,
    rng: Rng,
    reads: u64,
    writes: u64,
    log_writes: u64,
    ended: Time,
}

impl OltpSettings {
    /// Makes the processes for a drive of `capacity` bytes, ready to start.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Machine<Oltp>, BadValue> {
        self.check()?;
        let mut mount = layout::mount(&self.file_system, self.range, capacity, 1)?;
        let around = Sizes {
            min: Bytes(BLOCK_BYTES),
            max: Bytes(2 * self.file_size.0),
        };
        layout::fill(&mut mount, self.utilisation_percent, around, seed)?;
        let mut place = |bytes: Bytes| layout::place(&mut mount, 0, bytes.0);
        let files: Result<Vec<FileId>, _> =
            (0..self.files).map(|_| place(self.file_size)).collect();
        let (files, log) = (files?, place(self.log_size)?);
        let threads = 1 + self.writers as usize + self.shadows as usize;
        // `value=3200,highwater=1000` for the log writer, `value=1000,highwater=2000` for a writer.
        let mut semaphores = vec![Semaphore::new(3_200, 1_000)];
        semaphores.resize(1 + self.writers as usize, Semaphore::new(1_000, 2_000));
        let script = Oltp {
            files,
            log,
            at: vec![At::Work(0); threads],
            turn: vec![0; threads],
            semaphores,
            over: false,
            rng: Rng::new(seed, 1),
            reads: 0,
            writes: 0,
            log_writes: 0,
            ended: Time::ZERO,
            settings: self.clone(),
        };
        Ok(Machine::new(script, mount, self.system.clone()))
    }

    fn check(&self) -> Result<(), BadValue> {
        self.system.check()?;
        layout::check_positive(&[
            (self.files, "files"),
            (self.shadows, "shadows"),
            (self.writers, "writers"),
            (self.io_size.0, "io-size"),
            (self.log_io_size.0, "log-io-size"),
            (self.batch, "batch"),
            (u64::from(self.writes_in_flight), "writes-in-flight"),
            (self.duration.0, "duration"),
        ])?;
        for (value, key) in [
            (self.files, "files"),
            (self.shadows, "shadows"),
            (self.writers, "writers"),
        ] {
            want(value < 1 << 15, key, value, || "must be below 32768".into())?;
        }
        want(
            self.file_size.0 >= self.io_size.0 && self.file_size.0 < 1 << 42,
            "file-size",
            self.file_size,
            || "must be at least `io-size` and below 4TiB".into(),
        )?;
        want(
            self.log_size.0 >= self.log_io_size.0 && self.log_size.0 < 1 << 42,
            "log-size",
            self.log_size,
            || "must be at least `log-io-size` and below 4TiB".into(),
        )?;
        layout::check_utilisation(self.utilisation_percent)
    }
}

impl Oltp {
    /// Draws a multiple of `len` at which `len` bytes fit in `size`.
    fn offset(&mut self, size: Bytes, len: Bytes) -> u64 {
        self.rng.below(size.0 / len.0) * len.0
    }

    fn next_file(&mut self, thread: usize) -> FileId {
        let file = self.files[self.turn[thread]];
        self.turn[thread] = (self.turn[thread] + 1) % self.files.len();
        file
    }

    /// Ends the thread, and wakes all others so that they end as well.
    fn end(&mut self, host: &mut Host, now: Time) -> Step {
        if !self.over {
            self.over = true;
            (0..self.at.len()).for_each(|thread| host.wake(thread, now));
        }
        self.ended = self.ended.max(now);
        Step::End
    }

    fn reader(&mut self, thread: usize, host: &mut Host, now: Time) -> Step {
        match self.at[thread] {
            At::Work(_) => {
                self.at[thread] = At::Think;
                self.reads += 1;
                let file = self.next_file(thread);
                let (size, len) = (self.settings.file_size, self.settings.io_size);
                Step::Read {
                    file,
                    from: self.offset(size, len),
                    len: len.0,
                    call: len.0,
                }
            }
            At::Think => {
                self.at[thread] = At::Post(0);
                Step::Compute(self.settings.shadow_time)
            }
            At::Post(to) if to < self.semaphores.len() => self.post(thread, to, host, now),
            _ => {
                self.at[thread] = At::Work(0);
                Step::Compute(host.operation())
            }
        }
    }

    fn post(&mut self, thread: usize, to: usize, host: &mut Host, now: Time) -> Step {
        let semaphore = &mut self.semaphores[to];
        if semaphore.room == 0 {
            semaphore.posters.push(thread);
            return Step::Sleep;
        }
        semaphore.room -= 1;
        semaphore.posted += 1;
        if semaphore.awaited && semaphore.posted >= semaphore.value {
            semaphore.awaited = false;
            host.wake(to, now);
        }
        self.at[thread] = At::Post(to + 1);
        Step::Compute(Dur::ZERO)
    }

    fn writer(&mut self, thread: usize, host: &mut Host, now: Time) -> Step {
        let is_log = thread == 0;
        let batch = if is_log { 1 } else { self.settings.batch };
        match self.at[thread] {
            At::Work(done) if done < batch => {
                self.at[thread] = At::Work(done + 1);
                self.write(thread)
            }
            At::Work(_) if is_log => {
                self.at[thread] = At::Settle;
                Step::Settle { at_most: 0 }
            }
            At::Work(_) => {
                self.at[thread] = At::Think;
                Step::Compute(self.settings.writer_time)
            }
            // The log writer waits for its write and then for posts. A writer first waits for posts.
            At::Settle if is_log => self.ask_for(thread, host, now),
            At::Think => self.ask_for(thread, host, now),
            At::Await => self.receive(thread, host),
            At::Settle | At::Post(_) => {
                self.at[thread] = At::Work(0);
                Step::Compute(Dur::ZERO)
            }
        }
    }

    fn write(&mut self, thread: usize) -> Step {
        let (file, size, len) = if thread == 0 {
            self.log_writes += 1;
            (self.log, self.settings.log_size, self.settings.log_io_size)
        } else {
            self.writes += 1;
            let file = self.next_file(thread);
            (file, self.settings.file_size, self.settings.io_size)
        };
        Step::WriteThrough {
            file,
            from: self.offset(size, len),
            len: len.0,
            at_most: self.settings.writes_in_flight,
        }
    }

    /// Permits the posts that a writer asks for, and wakes the threads that wait to post.
    fn ask_for(&mut self, thread: usize, host: &mut Host, now: Time) -> Step {
        self.at[thread] = At::Await;
        let semaphore = &mut self.semaphores[thread];
        semaphore.room += semaphore.value;
        for poster in std::mem::take(&mut semaphore.posters) {
            host.wake(poster, now);
        }
        Step::Compute(Dur::ZERO)
    }

    fn receive(&mut self, thread: usize, host: &Host) -> Step {
        let semaphore = &mut self.semaphores[thread];
        if semaphore.posted < semaphore.value {
            semaphore.awaited = true;
            return Step::Sleep;
        }
        semaphore.posted -= semaphore.value;
        if thread == 0 {
            self.at[thread] = At::Work(0);
            return Step::Compute(Dur::ZERO);
        }
        self.at[thread] = At::Settle;
        let in_flight = host.writes_in_flight(thread);
        let at_most = in_flight.saturating_sub((in_flight / 2).max(1));
        Step::Settle { at_most }
    }
}

impl Script for Oltp {
    fn threads(&self) -> usize {
        self.at.len()
    }

    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        let done = self.reads + self.writes + self.log_writes;
        let enough = self.settings.operations.is_some_and(|most| done >= most);
        if self.over || enough || now >= Time(self.settings.duration.0) {
            return Ok(self.end(host, now));
        }
        Ok(match thread < self.semaphores.len() {
            true => self.writer(thread, host, now),
            false => self.reader(thread, host, now),
        })
    }

    fn part(&self, now: Time) -> Option<f64> {
        Some(now.0 as f64 / self.settings.duration.0.max(1) as f64)
    }

    fn counters(&self) -> Vec<Counter> {
        let ran = self.ended.since(Time::ZERO);
        let seconds = ran.as_secs_f64().max(1e-9);
        let (io, log) = (self.settings.io_size.0, self.settings.log_io_size.0);
        let (read, written) = (self.reads * io, self.writes * io + self.log_writes * log);
        vec![
            Counter::count("reads", self.reads, ""),
            Counter::count("writes", self.writes, ""),
            Counter::count("log-writes", self.log_writes, ""),
            Counter::count("bytes-read", read, "B"),
            Counter::count("bytes-written", written, "B"),
            Counter::seconds("ran", ran),
            Counter {
                name: "bandwidth",
                value: (read + written) as f64 / 1e6 / seconds,
                unit: "MB/s",
            },
        ]
    }
}
