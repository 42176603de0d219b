//! The configuration of a load: which targets, by which engine, how many at a time, for how long.

use fathom_base::Dur;
use std::fmt;
use std::path::PathBuf;

/// The interface of the kernel that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// `pread`: the thread sleeps until its one read is done.
    Pread,
    /// `io_submit` and `io_getevents`, by system calls, without the library of this name. Buffered reads are done within
    /// `io_submit`.
    Libaio,
    /// io_uring with a registered file. Interrupts complete; the thread sleeps in `io_uring_enter`.
    IoUring,
    /// io_uring whose completions the thread polls for in the kernel (`IORING_SETUP_IOPOLL`). Direct reads only; the
    /// drive's driver must have polling queues.
    IoUringPolled,
    /// io_uring whose submissions a thread of the kernel polls for (`IORING_SETUP_SQPOLL`), one for each thread of the
    /// load. The thread of the load enters the kernel only if nothing has completed.
    IoUringSqThread,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 5] = [
        Self::Pread,
        Self::Libaio,
        Self::IoUring,
        Self::IoUringPolled,
        Self::IoUringSqThread,
    ];

    /// Returns the name that a user gives.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::Libaio => "libaio",
            Self::IoUring => "io-uring",
            Self::IoUringPolled => "io-uring-polled",
            Self::IoUringSqThread => "io-uring-sq-thread",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How reads relate to the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caching {
    /// `O_DIRECT`: reads bypass the page cache.
    Direct,
    /// Buffered reads that all go to the drive.
    ///
    /// A thread reads a list of different blocks, at most 64 MiB of them, then drops their pages from the page cache
    /// (`POSIX_FADV_DONTNEED`) and draws the next list. Dropping and drawing are not measured: neither their time, nor
    /// their processor time. Threads on one target read separate parts of it, so that no thread reads what another one
    /// has brought into the cache. `POSIX_FADV_RANDOM` switches reading ahead off.
    ///
    /// The kernel keeps pages that are dirty, mapped or in use elsewhere. [`crate::load::Usage::device_read_bytes`] tells
    /// whether every read went to the drive.
    Miss,
    /// Buffered reads that are all served from the page cache: system call and copy only. The area is read into the cache
    /// before the start.
    Hit,
}

/// The clock of latencies and stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// The processor's time stamp counter, in clocks: the trace clock `x86-tsc`. A run uses
    /// [`StampClock::Monotonic`] instead where [`crate::load::ClockFacts::usable`] is false.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds: the trace clock `mono`.
    Monotonic,
}

/// Configuration of [`crate::load::run()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadConfig {
    /// Block devices and regular files. Thread `i` reads number `i` modulo their count.
    pub targets: Vec<PathBuf>,
    /// Engine of all threads.
    pub engine: Engine,
    /// How reads relate to the page cache.
    pub caching: Caching,
    /// Length of each read in bytes. Offsets are multiples of it.
    pub block_bytes: u64,
    /// Number of reads in flight of each thread, 1 to 4096; 1 for [`Engine::Pread`].
    pub depth: u32,
    /// Maximum number of reads that one system call submits. `None`: all that can be submitted, so that a thread that finds
    /// several completions answers them with one call. 1 is what fio does by default.
    pub batch_max: Option<u32>,
    /// Number of threads, 1 to 1024.
    pub threads: u32,
    /// Processors: thread `i` runs only on number `i` modulo their count. Empty: threads run anywhere.
    pub cpus: Vec<u32>,
    /// Processor of the kernel's submission threads; `None`: anywhere that this process may run. Only for
    /// [`Engine::IoUringSqThread`].
    pub sq_cpu: Option<u32>,
    /// Time after which a submission thread without work sleeps, in milliseconds. A sleeping one must be woken by a system
    /// call.
    pub sq_idle_ms: u32,
    /// Register the buffers with the ring, so that direct reads need not pin their pages each time. Only for the io_uring
    /// engines. Off by default, because the other engines have nothing like it, and registered memory counts towards the
    /// limit of locked memory (`ulimit -l`).
    pub register_buffers: bool,
    /// Length of the part of each target that is read, from its start, in bytes. `None`: the whole target, but at most
    /// 64 MiB for [`Caching::Hit`].
    pub area_bytes: Option<u64>,
    /// Time before the measured part, with the same load.
    pub warm_up: Dur,
    /// Maximum time of the measured part, including what [`Caching::Miss`] does outside of the measured time.
    pub time_max: Dur,
    /// Maximum number of measured reads of each thread.
    pub ios_max: Option<u64>,
    /// Seed of the places.
    pub seed: u64,
    /// Clock of latencies and stamps.
    pub clock: StampClock,
    /// Maximum number of stamps that each thread keeps, of its first reads; 0 for none.
    pub stamps_max: u32,
    /// Compare the data of each read with a second, buffered read of the same place. Its cost is in all figures, so this
    /// is for tests.
    pub verify: bool,
}

impl LoadConfig {
    /// Returns the defaults for a target: one thread, one direct `pread` of 4 KiB at a time, for a second after a tenth of
    /// a second of warm-up.
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self {
            targets: vec![target.into()],
            engine: Engine::Pread,
            caching: Caching::Direct,
            block_bytes: 4096,
            depth: 1,
            batch_max: None,
            threads: 1,
            cpus: Vec::new(),
            sq_cpu: None,
            sq_idle_ms: 100,
            register_buffers: false,
            area_bytes: None,
            warm_up: Dur::ms(100),
            time_max: Dur::ms(1000),
            ios_max: None,
            seed: 0,
            clock: StampClock::Tsc,
            stamps_max: 0,
            verify: false,
        }
    }
}
