//! The lock of a drive: one process at a time changes its settings, wherever it writes its journal.

use super::drive::DriveQueue;
use crate::error::{HostError, os_error};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;

/// The lock of the directory of a drive's queue in sysfs. The kernel releases it when the process ends.
#[derive(Debug)]
pub(super) struct DriveLock {
    _held: File,
}

impl DriveLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`HostError::Unsuitable`] if another process has it, [`HostError::NotFound`] if the drive is gone.
    pub(super) fn take(drive: &DriveQueue) -> Result<Self, HostError> {
        let queue = drive.path_of("");
        let held = match File::open(&queue) {
            Ok(held) => held,
            Err(_) if !queue.exists() => return Err(HostError::NotFound { path: queue }),
            Err(error) => return Err(os_error(&queue, "lock it", error)),
        };
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _held: held }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(HostError::Unsuitable {
                path: queue,
                what: "another process is changing the settings of this drive".into(),
                advice: "wait until it has ended",
            }),
            Err(errno) => Err(os_error(&queue, "lock it", errno.into())),
        }
    }
}
