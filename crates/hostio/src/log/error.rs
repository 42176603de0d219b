//! Why a drive's log could not be read, and what to do.

use std::path::PathBuf;

/// Why a drive's log could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// There is nothing that this version could ask.
    #[error("{what} cannot be asked: {why}")]
    NoLog {
        /// The drive or the kind of the target.
        what: String,
        /// The reason, with a way out if there is one.
        why: String,
    },

    /// The operating system denies access.
    #[error(
        "{}: no permission to {action}; this needs {needs}, so run as root or give the program that capability",
        node.display()
    )]
    NoPermission {
        /// Path of the device node.
        node: PathBuf,
        /// What was denied.
        action: &'static str,
        /// The right that is needed.
        needs: &'static str,
    },

    /// The drive refused a command.
    #[error("{}: the drive refused {command} (status {status:#x}); its firmware has no such log or is busy", node.display())]
    Refused {
        /// Path of the device node.
        node: PathBuf,
        /// The command.
        command: &'static str,
        /// NVMe: status code and type; ATA: SCSI status, and the status of the host adapter from bit 8.
        status: u32,
    },

    /// The drive returned data that is not the log.
    #[error("{}: the drive returned something else than {what}; nothing of it is used", node.display())]
    Garbled {
        /// Path of the device node.
        node: PathBuf,
        /// The expected data.
        what: &'static str,
    },

    /// The drive has not answered within the time, or still has not answered an earlier command.
    #[error(
        "the drive has not answered a log command for {waited_ms} ms; the command goes on, and the log is asked for again \
         only after it has ended"
    )]
    Slow {
        /// Time waited in milliseconds.
        waited_ms: u64,
    },

    /// Requests are in flight, and a log command could delay them.
    #[error("requests are in flight, and a log command could delay them; ask between requests")]
    RequestsInFlight,

    /// Any other failure of the operating system.
    #[error("{}: cannot {action}: {error}", node.display())]
    Os {
        /// Path of the device node.
        node: PathBuf,
        /// What failed.
        action: &'static str,
        /// Description of the error.
        error: String,
    },
}
