//! A workload as the language describes it: sets of files, threads and their operations, as plain data.

use super::amount::Amount;
use fathom_base::Dur;

/// A workload, checked: every name is resolved, and every operation finds its file open or closed as it needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The sets of files.
    pub file_sets: Vec<FileSet>,
    /// The threads; those of one definition stand together.
    pub threads: Vec<Threads>,
    /// Events per second (`eventgen rate`); 0 switches the limits off.
    pub event_rate: u64,
    /// Time after which the threads end at their next operation (`run`).
    pub duration: Dur,
    /// When the run ends before its time.
    pub quit: Quit,
}

/// When a run ends before its time (`set mode quit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quit {
    /// Only where an operation finds no file, which is an early stop (`timeout`).
    Timeout,
    /// When all threads have ended, each where it finds no file or its count is reached (`alldone`).
    AllDone,
    /// When the first thread has ended so (`firstdone`).
    FirstDone,
}

/// A set of files (`define fileset`, `define file`).
#[derive(Clone, Debug, PartialEq)]
pub struct FileSet {
    /// The name.
    pub name: String,
    /// Number of files, 1 to 2^24.
    pub entries: u64,
    /// Length of each file in bytes.
    pub size: Amount,
    /// Files per directory, at least 1.
    pub directory_width: u64,
    /// Percentage of the files that exist at the start, 0 to 100.
    pub preallocated_percent: f64,
}

/// Threads that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Threads {
    /// The name of the process.
    pub process: String,
    /// The name of the thread.
    pub thread: String,
    /// Number of threads: instances of the process times those of the thread.
    pub instances: u64,
    /// Those of them that are in one instance of the process.
    pub in_process: u64,
    /// The operations, which each thread repeats in this order.
    pub flowops: Vec<Flowop>,
}

/// An operation of a thread. Fields that a kind does not use have their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Flowop {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: String,
    /// The line of the text.
    pub line: usize,
    /// Index of the set that files are taken from (`filesetname`).
    pub set: Option<usize>,
    /// The file descriptor, 0 to 127 (`fd`).
    pub fd: u8,
    /// The descriptor whose file gives the length of a whole write (`srcfd`); 0 for none but descriptor 0.
    pub source: u8,
    /// Whether files are used in turn, each with a descriptor of its own (`opennext`).
    pub rotates: bool,
    /// Bytes of a call; 0 for the whole file (`iosize`).
    pub io_size: Amount,
    /// The part of the file in use, in bytes; 0 for all of it (`workingset`).
    pub working_set: u64,
    /// Whether offsets are drawn (`random`).
    pub random: bool,
    /// Whether a file that this opens is written to the drive at once (`dsync`).
    pub synchronous: bool,
    /// Number of repetitions (`iters`).
    pub iterations: Amount,
    /// The kind's number: loops, seconds, posts or a limit (`value`).
    pub value: Amount,
    /// Posts beyond those asked for (`highwater`).
    pub high_water: u64,
    /// Whether a post waits until it is allowed (`blocking`).
    pub blocking: bool,
    /// The name of the operation that this counts or posts to (`target`).
    pub target: Option<String>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens the next file that exists.
    OpenFile,
    /// Creates the next file that does not exist, and opens it.
    CreateFile,
    /// Closes a file.
    CloseFile,
    /// Reads `iosize` bytes, at random or from where the last call ended.
    Read,
    /// Reads a whole file.
    ReadWholeFile,
    /// Writes `iosize` bytes, at random or from where the last call ended.
    Write,
    /// Writes a whole file: as many calls of `iosize` bytes as cover it, but a single shorter one.
    WriteWholeFile,
    /// Appends `iosize` bytes.
    AppendFile,
    /// Appends less than `iosize` bytes, drawn uniformly.
    AppendFileRand,
    /// Deletes a file that nobody has open.
    DeleteFile,
    /// Reads the attributes of a file.
    StatFile,
    /// Waits until a file is on the drive.
    Fsync,
    /// Begins a write of `iosize` bytes at random.
    AioWrite,
    /// Waits for half of the thread's writes in flight, at least one.
    AioWait,
    /// Computes: a nanosecond for each of `value` loops.
    Hog,
    /// Waits for `value` seconds.
    Delay,
    /// Allows `value` posts and waits for them.
    SemBlock,
    /// Posts `value` times to each semaphore of its target.
    SemPost,
    /// Waits for an event.
    EventLimit,
    /// Waits for an event for each MiB moved since the last time.
    BwLimit,
    /// Waits for an event for each read and write since the last time.
    IopsLimit,
    /// Waits for an event for each operation since the last time.
    OpsLimit,
    /// Ends the thread when `value` operations are done.
    FinishOnCount,
    /// Ends the thread when more than `value` bytes were moved.
    FinishOnBytes,
}
