//! The web server and the file server: threads that repeat a list of operations on a set of files.

mod settings;

pub(super) use settings::defaults;
pub use settings::{FileOverrides, FileSettings};

use super::gamma::{SHAPE, gamma};
use crate::program::layout;
use fathom_base::{BadValue, Bytes, Rng, Time};
use fathom_fs::{BLOCK_BYTES, FileId, Sizes};
use fathom_platform::{Counter, Failed, Host, Machine, Mount, Script, Step};
use std::collections::BTreeSet;

/// An operation of a thread's list (a `flowop`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Create the next file that does not exist, and keep it open.
    Create,
    /// Write the open file to the length that the set gives it.
    WriteWhole,
    /// Open the next file that exists.
    Open,
    /// Append to the open file.
    Append,
    /// Read the whole open file.
    ReadWhole,
    Close,
    /// Delete the next file that exists, unless it is open.
    Delete,
    /// Look up the metadata of the next file that exists.
    Stat,
    /// Append to the log.
    AppendLog,
}

use Operation as O;

const FILE_SERVER: &[Operation] = &[
    O::Create,
    O::WriteWhole,
    O::Close,
    O::Open,
    O::Append,
    O::Close,
    O::Open,
    O::ReadWhole,
    O::Close,
    O::Delete,
    O::Stat,
];

/// The personality of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Reads whole files and appends to a log.
    Web,
    /// Creates, writes, appends to, reads, deletes and stats files.
    File,
}

impl Server {
    fn list(self) -> Vec<Operation> {
        let read = [O::Open, O::ReadWhole, O::Close].repeat(10);
        match self {
            Self::Web => [read, vec![O::AppendLog]].concat(),
            Self::File => FILE_SERVER.to_vec(),
        }
    }
}

/// A file of the set, whether it exists or not.
#[derive(Clone, Copy, Debug)]
struct Entry {
    file: Option<FileId>,
    /// The length that the set gives the file, in bytes.
    size: u64,
    directory: usize,
    /// Number of threads that have the file open.
    open: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// Index of the next operation in the list.
    position: usize,
    open: Option<usize>,
    /// The step that follows the CPU time of the current operation.
    then: Option<Step>,
}

/// The threads and their set of files.
#[derive(Debug)]
pub struct FileServer {
    list: Vec<Operation>,
    entries: Vec<Entry>,
    there: BTreeSet<usize>,
    missing: BTreeSet<usize>,
    /// Where the rotations over the existing and the missing files continue.
    next_there: usize,
    next_missing: usize,
    log: FileId,
    threads: Vec<Thread>,
    call: u64,
    append: u64,
    end: Time,
    operations_left: u64,
    rng: Rng,
    operations: u64,
    /// Operations on an open file without one, because no file could be opened or created before (none existed, or all
    /// did).
    without_file: u64,
    bytes_read: u64,
    bytes_written: u64,
    ended: Time,
}

impl FileSettings {
    /// Makes the server for a drive of `capacity` bytes, ready to start.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(
        &self,
        server: Server,
        capacity: u64,
        seed: u64,
    ) -> Result<Machine<FileServer>, BadValue> {
        self.check()?;
        let directories = self.files.div_ceil(self.directory_width);
        let mut mount = layout::mount(&self.file_system, self.range, capacity, directories)?;
        let around = Sizes {
            min: Bytes(BLOCK_BYTES),
            max: Bytes((2 * self.mean_size.0).max(BLOCK_BYTES)),
        };
        layout::fill(&mut mount, self.utilisation_percent, around, seed)?;
        let mut rng = Rng::new(seed, 1);
        let entries = self.lay_out(&mut mount, &mut rng)?;
        let log = layout::place(&mut mount, 0, self.append_size.0)?;
        let of = |there: bool| {
            let numbered = entries.iter().enumerate();
            let those = numbered.filter(move |(_, entry)| entry.file.is_some() == there);
            those.map(|(number, _)| number).collect()
        };
        let script = FileServer {
            there: of(true),
            missing: of(false),
            list: server.list(),
            entries,
            next_there: 0,
            next_missing: 0,
            log,
            threads: vec![Thread::default(); self.threads as usize],
            call: self.io_size.0,
            append: self.append_size.0,
            end: Time(self.duration.0),
            operations_left: self.operations.unwrap_or(u64::MAX),
            rng,
            operations: 0,
            without_file: 0,
            bytes_read: 0,
            bytes_written: 0,
            ended: Time::ZERO,
        };
        Ok(Machine::new(script, mount, self.system.clone()))
    }

    /// Draws the lengths, and places the files that exist at the start.
    fn lay_out(&self, mount: &mut Mount, rng: &mut Rng) -> Result<Vec<Entry>, BadValue> {
        let mut entries = Vec::new();
        for number in 0..self.files {
            let size = gamma(SHAPE, self.mean_size.0 as f64, rng).max(1.0) as u64;
            let directory = (number / self.directory_width) as usize;
            let file = match rng.chance(self.preallocated_percent / 100.0) {
                true => Some(layout::place(mount, directory, size)?),
                false => None,
            };
            entries.push(Entry {
                file,
                size,
                directory,
                open: 0,
            });
        }
        Ok(entries)
    }
}

/// Returns the first number at or after `from`, and wraps around.
fn rotate(numbers: &BTreeSet<usize>, from: usize) -> Option<usize> {
    let next = numbers.range(from..).next().or_else(|| numbers.first());
    next.copied()
}

impl FileServer {
    fn pick_there(&mut self) -> Option<usize> {
        let number = rotate(&self.there, self.next_there)?;
        self.next_there = number + 1;
        Some(number)
    }

    fn open(&mut self, thread: usize, number: usize) {
        self.entries[number].open += 1;
        self.threads[thread].open = Some(number);
    }

    fn create(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<(), Failed> {
        let Some(number) = rotate(&self.missing, self.next_missing) else {
            return Ok(());
        };
        self.next_missing = number + 1;
        let file = host.create(self.entries[number].directory, now)?;
        self.entries[number].file = Some(file);
        self.missing.remove(&number);
        self.there.insert(number);
        self.open(thread, number);
        Ok(())
    }

    fn delete(&mut self, host: &mut Host, now: Time) {
        if let Some(number) = self.pick_there()
            && self.entries[number].open == 0
            && let Some(file) = self.entries[number].file.take()
        {
            host.delete(file, now);
            self.there.remove(&number);
            self.missing.insert(number);
        }
    }

    fn append(&mut self, file: FileId, host: &Host) -> Option<Step> {
        let len = self.rng.below(self.append);
        self.bytes_written += len;
        (len > 0).then(|| Step::write(file, host.size(file), len))
    }

    /// Performs the thread's next operation. Returns `None` if it causes no read or write of a file.
    fn operate(
        &mut self,
        thread: usize,
        host: &mut Host,
        now: Time,
    ) -> Result<Option<Step>, Failed> {
        let position = self.threads[thread].position;
        self.threads[thread].position = (position + 1) % self.list.len();
        let open = self.threads[thread].open;
        let open_file = open.and_then(|number| self.entries[number].file);
        Ok(match (self.list[position], open_file) {
            (O::Create, _) => {
                self.create(thread, host, now)?;
                None
            }
            (O::Open, _) => {
                if let Some(number) = self.pick_there() {
                    self.open(thread, number);
                    let file = self.entries[number].file;
                    file.into_iter().for_each(|file| host.open(file, now));
                }
                None
            }
            (O::WriteWhole, Some(file)) => {
                let len = open.map_or(0, |number| self.entries[number].size);
                self.bytes_written += len;
                Some(Step::write(file, 0, len))
            }
            (O::Append, Some(file)) => self.append(file, host),
            (O::ReadWhole, Some(file)) => {
                let len = host.size(file);
                self.bytes_read += len;
                Some(Step::read(file, len, self.call))
            }
            (O::Close, _) => {
                if let Some(number) = self.threads[thread].open.take() {
                    self.entries[number].open -= 1;
                }
                None
            }
            (O::Delete, _) => {
                self.delete(host, now);
                None
            }
            (O::Stat, _) => {
                let number = self.pick_there();
                let file = number.and_then(|number| self.entries[number].file);
                file.into_iter().for_each(|file| host.open(file, now));
                None
            }
            (O::AppendLog, _) => self.append(self.log, host),
            (O::WriteWhole | O::Append | O::ReadWhole, None) => {
                self.without_file += 1;
                None
            }
        })
    }
}

impl Script for FileServer {
    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        if let Some(step) = self.threads[thread].then.take() {
            return Ok(step);
        }
        if now >= self.end || self.operations_left == 0 {
            self.ended = self.ended.max(now);
            return Ok(Step::End);
        }
        self.operations_left -= 1;
        self.operations += 1;
        self.threads[thread].then = self.operate(thread, host, now)?;
        Ok(Step::Compute(host.operation()))
    }

    fn part(&self, now: Time) -> Option<f64> {
        Some(now.0 as f64 / self.end.0.max(1) as f64)
    }

    fn counters(&self) -> Vec<Counter> {
        let ran = self.ended.since(Time::ZERO);
        let rate = |name, value: u64, scale: f64, unit| Counter {
            name,
            value: value as f64 / scale / ran.as_secs_f64().max(1e-9),
            unit,
        };
        let moved = self.bytes_read + self.bytes_written;
        vec![
            Counter::count("operations", self.operations, ""),
            Counter::count("operations-without-file", self.without_file, ""),
            Counter::count("bytes-read", self.bytes_read, "B"),
            Counter::count("bytes-written", self.bytes_written, "B"),
            Counter::seconds("ran", ran),
            rate("operation-rate", self.operations, 1.0, "/s"),
            rate("bandwidth", moved, 1e6, "MB/s"),
        ]
    }
}
