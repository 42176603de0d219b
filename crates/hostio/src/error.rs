//! Errors of inspecting and opening a target, with advice for the user.

use crate::finding::Finding;
use fathom_base::Bytes;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A refusal by the safety lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Path of the target.
    pub path: PathBuf,
    /// Reasons against writing; empty if `destroy` named something else.
    pub found: Vec<Finding>,
    /// What the user can do, in a sentence.
    pub advice: String,
}

impl Refused {
    /// Creates a refusal for a target.
    pub(crate) fn of(path: &Path, found: Vec<Finding>, advice: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            found,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: refused, nothing was written", self.path.display())?;
        for (i, finding) in self.found.iter().enumerate() {
            write!(f, "{}{finding}", if i == 0 { ": " } else { "; " })?;
        }
        write!(f, ". {}", self.advice)
    }
}

impl std::error::Error for Refused {}

/// Why a target could not be inspected or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The safety lock refused.
    #[error(transparent)]
    Refused(#[from] Refused),

    /// The path does not exist.
    #[error("{}: no such file, directory or device", path.display())]
    NotFound {
        /// Path that was not found.
        path: PathBuf,
    },

    /// The operating system denies access.
    #[error("{}: no permission to {action} ({owner}); run as root or as a user who may", path.display())]
    NoPermission {
        /// Path to which access was denied.
        path: PathBuf,
        /// Intended action, such as `read`, `read and write` or `create a file in it`.
        action: &'static str,
        /// Owner, group and mode of the path.
        owner: String,
    },

    /// Not a directory, regular file or block device, or one that cannot be measured as requested.
    #[error("{}: {what}; {advice}", path.display())]
    Unsuitable {
        /// Path of the target.
        path: PathBuf,
        /// Why it is unsuitable.
        what: String,
        /// What the user can do.
        advice: &'static str,
    },

    /// The file system does not support direct I/O.
    #[error(
        "{}: the file system ({file_system}) does not do direct I/O (O_DIRECT), so the page cache would be measured \
         instead of a drive; use a directory on ext4, XFS or Btrfs, or a block device",
        path.display()
    )]
    NoDirectIo {
        /// Path of the target.
        path: PathBuf,
        /// Type of the file system, as in mountinfo.
        file_system: String,
    },

    /// Not enough space for a scratch file.
    #[error(
        "{}: {} are free, and the scratch file needs {}; free some room, or give a smaller size or another directory",
        directory.display(), Bytes(*free_bytes).human(), Bytes(*needed_bytes).human()
    )]
    NotEnoughRoom {
        /// Directory of the scratch file.
        directory: PathBuf,
        /// Free bytes for this user.
        free_bytes: u64,
        /// Free bytes that would suffice.
        needed_bytes: u64,
    },

    /// The kernel denies io_uring, or has no usable version of it.
    #[error(
        "io_uring is not available ({source}): Linux 5.11 or later is needed, with /proc/sys/kernel/io_uring_disabled \
         at 0 and, in a container, a seccomp profile that allows io_uring_setup and io_uring_enter"
    )]
    RingNotPermitted {
        /// EPERM, EACCES or ENOSYS.
        source: io::Error,
    },

    /// The queue depth is out of range.
    #[error("a queue depth of {depth} is not in 1..={max}")]
    QueueDepth {
        /// Depth as requested.
        depth: u32,
        /// Maximum depth.
        max: u32,
    },

    /// The kernel does not offer the scheduler.
    #[error(
        "{}: the kernel offers no scheduler `{name}` for it; it offers {offered}; name one of these, or load the module \
         first (`modprobe {name}`)",
        path.display()
    )]
    NoScheduler {
        /// Path of the device.
        path: PathBuf,
        /// Name as requested.
        name: String,
        /// Names of the offered schedulers.
        offered: String,
    },

    /// The kernel's tracing is not accessible.
    #[error(
        "the kernel's tracing files (tracefs) are not mounted; mount them as root first: mount -t tracefs nodev \
         /sys/kernel/tracing"
    )]
    NoTracefs,

    /// The kernel describes an event in a way that this version does not know.
    #[error("{}: {what}; this kernel's tracing cannot be read", path.display())]
    UnknownTracing {
        /// The file with the description.
        path: PathBuf,
        /// What is missing in it.
        what: &'static str,
    },

    /// An engine of a load does not work on this machine or target.
    #[error("{}: the engine {engine} is not available here: {what}; {advice}", path.display())]
    EngineUnavailable {
        /// Path of the target.
        path: PathBuf,
        /// Name of the engine.
        engine: &'static str,
        /// Why it is not available.
        what: String,
        /// What the user can do.
        advice: &'static str,
    },

    /// A thread was to run on a processor on which this process may not run.
    #[error(
        "processor {cpu} does not exist, or this process may not run on it; it may run on {allowed} (see `taskset -p`)"
    )]
    CpuNotAllowed {
        /// Number of the processor.
        cpu: u32,
        /// The allowed processors.
        allowed: String,
    },

    /// A read failed.
    #[error(
        "{}: cannot read {len} bytes at offset {offset}: {source}; the kernel's log (`dmesg`) may tell more",
        path.display()
    )]
    ReadFailed {
        /// Path of the target.
        path: PathBuf,
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: u64,
        /// Error of the operating system.
        source: io::Error,
    },

    /// A read returned less than asked for.
    #[error(
        "{}: a read of {wanted} bytes at offset {offset} returned {read}; do not shrink the target while it is measured",
        path.display()
    )]
    ShortRead {
        /// Path of the target.
        path: PathBuf,
        /// Offset in bytes.
        offset: u64,
        /// Bytes read.
        read: u64,
        /// Bytes asked for.
        wanted: u64,
    },

    /// The kernel has none of the tracepoints that are needed.
    #[error(
        "the kernel has no tracepoint {names}: it was built without it, or this user sees only a part of tracefs; use a \
         kernel with CONFIG_BLK_DEV_IO_TRACE, CONFIG_FTRACE_SYSCALLS and CONFIG_EVENT_TRACING"
    )]
    NoTracepoint {
        /// Their names.
        names: String,
    },

    /// Any other failure of the operating system.
    #[error("{}: cannot {action}: {source}", path.display())]
    Os {
        /// Path on which the action failed.
        path: PathBuf,
        /// Action that failed.
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Converts an error of the operating system.
pub(crate) fn os_error(path: &Path, action: &'static str, source: io::Error) -> HostError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => HostError::NotFound { path },
        io::ErrorKind::PermissionDenied => HostError::NoPermission {
            owner: owner_of(&path),
            path,
            action,
        },
        _ => HostError::Os {
            path,
            action,
            source,
        },
    }
}

fn owner_of(path: &Path) -> String {
    fs::metadata(path).map_or("its owner cannot be seen".to_owned(), |m| {
        let mode = m.mode() & 0o7777;
        format!("owner {}, group {}, mode {mode:04o}", m.uid(), m.gid())
    })
}
