//! What an error number of the kernel means for a request, and whether the device is still there.

use crate::config::HostConfig;
use crate::error::{HostError, os_error};
use crate::ioctl;
use fathom_block::{IoErrorKind, Op};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Maps an error number of the kernel to an error kind.
pub(crate) fn kind_of(errno: Errno, op: Op) -> IoErrorKind {
    match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => IoErrorKind::NoSpace,
        Errno::NODEV | Errno::NXIO | Errno::SHUTDOWN | Errno::STALE => IoErrorKind::Gone,
        // The block layer reports a failed medium as EIO, ENODATA (critical medium) or EILSEQ (integrity).
        Errno::IO | Errno::NODATA | Errno::ILSEQ | Errno::BADMSG | Errno::UCLEAN => {
            IoErrorKind::Medium
        }
        Errno::OPNOTSUPP => IoErrorKind::Unsupported,
        Errno::ROFS => IoErrorKind::ReadOnly,
        // A read hit the end of the file: another process truncated it.
        Errno::OVERFLOW if op == Op::Read => IoErrorKind::OutOfRange,
        other => IoErrorKind::Os(other.raw_os_error()),
    }
}

/// Returns true if an error of this kind may come from a device that went away. The kernel fails requests to a removed
/// device with EIO (`blk_queue_dying`, block/blk-core.c, 6.1). A controller that died leaves a device of size zero
/// (`set_capacity(disk, 0)` in drivers/nvme/host), where a read ends early, a write finds no space (block/fops.c) and a
/// discard is invalid.
pub(crate) fn may_be_gone(kind: IoErrorKind) -> bool {
    matches!(
        kind,
        IoErrorKind::Medium
            | IoErrorKind::OutOfRange
            | IoErrorKind::NoSpace
            | IoErrorKind::Unsupported
            | IoErrorKind::Os(_)
    )
}

/// Returns true if an open block device is empty now, as after the loss of its drive or of the storage behind it.
pub(crate) fn is_empty(device: impl AsFd) -> bool {
    matches!(
        ioctl::size_bytes(device),
        Ok(0) | Err(Errno::NODEV | Errno::NXIO)
    )
}

/// Returns true if the kernel no longer lists a drive in `list` (`/sys/class/block`), although it lists others.
pub(crate) fn is_unlisted(drive: &str, list: &Path) -> bool {
    let others = || std::fs::read_dir(list).is_ok_and(|mut names| names.next().is_some());
    !list.join(drive).exists() && others()
}

/// Returns the error of a ring that could not be set up.
pub(crate) fn ring_error(config: &HostConfig, source: io::Error) -> HostError {
    let refusals = [Errno::PERM, Errno::ACCESS, Errno::NOSYS].map(|e| Some(e.raw_os_error()));
    if refusals.contains(&source.raw_os_error()) {
        return HostError::RingNotPermitted { source };
    }
    os_error(&config.path, "set up io_uring for it", source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_forbids_the_ring_is_told_from_other_failures() {
        let error = |errno: Errno| ring_error(&HostConfig::new("x"), errno.into());
        for errno in [Errno::PERM, Errno::ACCESS, Errno::NOSYS] {
            let told = error(errno);
            assert!(matches!(told, HostError::RingNotPermitted { .. }));
            assert!(told.to_string().contains("io_uring_disabled"));
        }
        assert!(matches!(error(Errno::NOMEM), HostError::Os { .. }));
    }

    #[test]
    fn error_numbers_become_what_they_mean() {
        let kinds = [
            (Errno::NOSPC, IoErrorKind::NoSpace),
            (Errno::NODEV, IoErrorKind::Gone),
            (Errno::NXIO, IoErrorKind::Gone),
            (Errno::IO, IoErrorKind::Medium),
            (Errno::OPNOTSUPP, IoErrorKind::Unsupported),
            (Errno::OVERFLOW, IoErrorKind::OutOfRange),
            (Errno::TIMEDOUT, IoErrorKind::Os(110)),
        ];
        for (errno, kind) in kinds {
            assert_eq!(kind_of(errno, Op::Read), kind);
        }
    }

    /// A container without sysfs lists no drive at all, which says nothing about this one.
    #[test]
    fn a_drive_is_gone_if_the_kernel_lists_only_others() {
        let list = tempfile::tempdir().unwrap();
        assert!(!is_unlisted("sdx", list.path()));
        assert!(!is_unlisted("sdx", &list.path().join("missing")));
        std::fs::write(list.path().join("sdy"), "").unwrap();
        assert!(is_unlisted("sdx", list.path()));
        assert!(!is_unlisted("sdy", list.path()));
    }
}
