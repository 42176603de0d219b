//! What a thread of a script does next, and why a program of files ends early.

use fathom_base::Dur;
use fathom_fs::files::{FileId, Full};

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It computes.
    Compute(Dur),
    /// It reads in calls of so many bytes each.
    Read {
        /// Which file.
        file: FileId,
        /// From which byte.
        from: u64,
        /// How many bytes; what is over the end of the file is not read.
        len: u64,
        /// Bytes of a call; reading ahead starts from it.
        call: u64,
    },
    /// It writes; pages become dirty. Where there is no room for all of it, it ends there and is counted.
    Write {
        /// Which file.
        file: FileId,
        /// From which byte, at most the file's length.
        from: u64,
        /// How many bytes.
        len: u64,
    },
    /// It writes to the drive (`O_DSYNC`) and goes on while that is done (`aio_write`), as long as at most so many of
    /// its writes are in flight.
    WriteThrough {
        /// Which file.
        file: FileId,
        /// From which byte, at most the file's length.
        from: u64,
        /// How many bytes.
        len: u64,
        /// Its writes in flight, this one included; at least 1.
        at_most: u32,
    },
    /// It waits until at most so many of its writes to the drive are in flight.
    Settle {
        /// How many.
        at_most: u32,
    },
    /// It waits until [`crate::Host::wake`].
    Sleep,
    /// It ends.
    End,
}

/// Why a program of files ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// There is no room for a directory, or for what is written to the drive at once.
    #[error("the file system is full: {0}; use fewer or shorter files, or fill the drive less")]
    Full(#[from] Full),
    /// An answer came to nothing that was asked for.
    #[error("an answer came for byte {offset}, where nothing was in flight")]
    Stray {
        /// Where, in bytes.
        offset: u64,
    },
}
