//! Why a target was not opened: what was found, and what to do.

use crate::finding::Finding;
use fathom_base::Bytes;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The safety lock's answer: what was found and what would open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The target.
    pub path: PathBuf,
    /// What speaks against writing to it; empty where `destroy` named something else.
    pub found: Vec<Finding>,
    /// What to do, in a sentence.
    pub advice: String,
}

impl Refused {
    /// A refusal of a target.
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

/// Why a target was not inspected or not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The safety lock.
    #[error(transparent)]
    Refused(#[from] Refused),

    /// There is nothing at this path.
    #[error("{}: no such file, directory or device", path.display())]
    NotFound {
        /// As given.
        path: PathBuf,
    },

    /// The operating system does not allow it.
    #[error("{}: no permission to {action} ({owner}); run as root or as a user who may", path.display())]
    NoPermission {
        /// What was to be opened.
        path: PathBuf,
        /// What was to be done: `read`, `read and write`, `create a file in it`.
        action: &'static str,
        /// Who may: owner, group and mode.
        owner: String,
    },

    /// Neither a directory, a regular file nor a block device, or one that cannot be measured as asked.
    #[error("{}: {what}; {advice}", path.display())]
    Unsuitable {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: String,
        /// What to do.
        advice: &'static str,
    },

    /// The file system does not bypass the page cache.
    #[error(
        "{}: the file system ({file_system}) does not do direct I/O (O_DIRECT), so the page cache would be measured \
         instead of a drive; use a directory on ext4, XFS or Btrfs, or a block device",
        path.display()
    )]
    NoDirectIo {
        /// The target.
        path: PathBuf,
        /// Its type, as mounted.
        file_system: String,
    },

    /// Not enough room for a scratch file.
    #[error(
        "{}: {} are free, and the scratch file needs {}; free some room, or give a smaller size or another directory",
        directory.display(), Bytes(*free_bytes).human(), Bytes(*needed_bytes).human()
    )]
    NotEnoughRoom {
        /// Where it was to be.
        directory: PathBuf,
        /// Free for this user, in bytes.
        free_bytes: u64,
        /// Free bytes that would do.
        needed_bytes: u64,
    },

    /// The kernel does not allow io_uring, or has none that can be used.
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
        /// As asked.
        depth: u32,
        /// The greatest.
        max: u32,
    },

    /// The kernel offers no scheduler of that name.
    #[error(
        "{}: the kernel offers no scheduler `{name}` for it; it offers {offered}; name one of these, or load the module \
         first (`modprobe {name}`)",
        path.display()
    )]
    NoScheduler {
        /// The device.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// What there is.
        offered: String,
    },

    /// Any other failure of the operating system.
    #[error("{}: cannot {action}: {source}", path.display())]
    Os {
        /// The target.
        path: PathBuf,
        /// What failed.
        action: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// An error of the operating system as one of ours.
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
