//! The steps of a thread, and the reasons for which a program of file operations ends early.

use fathom_base::{Dur, Time};
use fathom_fs::{FileId, FsError};

/// The next step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Computes for a time.
    Compute(Dur),
    /// Reads in calls of `call` bytes each.
    Read {
        /// The file.
        file: FileId,
        /// The first byte.
        from: u64,
        /// Number of bytes. Bytes beyond the end of the file are not read.
        len: u64,
        /// Length of a call in bytes, which read-ahead starts from.
        call: u64,
    },
    /// Writes to the cache; pages become dirty. A write without enough room ends there and is counted.
    Write {
        /// The file.
        file: FileId,
        /// The first byte, at most the length of the file.
        from: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Writes to the drive (`O_DSYNC`) without waiting (`aio_write`), as long as at most `at_most` of the thread's
    /// writes are in flight.
    WriteThrough {
        /// The file.
        file: FileId,
        /// The first byte, at most the length of the file.
        from: u64,
        /// Number of bytes.
        len: u64,
        /// Maximum number of the thread's writes in flight, including this one; at least 1.
        at_most: u32,
    },
    /// Waits until at most `at_most` of the thread's writes to the drive are in flight.
    Settle {
        /// Maximum number of writes in flight.
        at_most: u32,
    },
    /// Waits until a file is on the drive: its data and its inode (`fsync`).
    Sync {
        /// The file.
        file: FileId,
    },
    /// Waits until everything is on the drive: data, journal, then metadata at its place (`sync`).
    SyncAll,
    /// Waits until [`crate::Host::wake`].
    Sleep,
    /// Waits until a time, or until [`crate::Host::wake`] if that is earlier.
    SleepUntil(Time),
    /// Ends the thread.
    End,
}

impl Step {
    /// Makes a read of the first `len` bytes of a file, in calls of `call` bytes.
    pub fn read(file: FileId, len: u64, call: u64) -> Self {
        let from = 0;
        Self::Read {
            file,
            from,
            len,
            call,
        }
    }

    /// Makes a write.
    pub fn write(file: FileId, from: u64, len: u64) -> Self {
        Self::Write { file, from, len }
    }
}

/// The reason for which a program ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The file system refused an operation: no room, mostly.
    #[error("the file system: {0}; use fewer or shorter files, or fill the drive less")]
    Refused(#[from] FsError),
    /// A computation would end after [`Time::END`].
    #[error(
        "a computation would end later than simulated time, which lasts for 500 years; use a shorter `operation-time` \
         and `page-time`, or a program that computes less"
    )]
    EndOfTime,
    /// A completion matches no request.
    #[error("an answer came for byte {offset}, where nothing was in flight")]
    Stray {
        /// Offset of the completion, in bytes.
        offset: u64,
    },
}
