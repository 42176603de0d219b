//! Opens a target for exclusive use.
//!
//! A block device is claimed with `O_EXCL`, as a mount does (open(2)). The block device under a loop device is claimed as
//! well, because the loop driver does not claim it. Device and file are locked with flock(2), which other runs of Fathom,
//! udev and the mkfs tools respect. If another process holds a lease, the opening fails instead of making the holder give it
//! up.
//!
//! For a regular file, the last check asks the kernel for a write lease. It grants one only if the file is not open
//! elsewhere: in a process that cannot be seen, through a loop device over another name of it, or in transit through a
//! socket.

use crate::clock::pause;
use crate::error::{HostError, Refused, os_error};
use crate::finding::Finding;
use crate::inspect::{Inspection, Kind, Look, Place};
use crate::ioctl;
use crate::usage::Way;
use rustix::fd::{AsRawFd as _, OwnedFd, RawFd};
use rustix::fs::{
    FlockOperation, Mode, OFlags, fcntl_getfl, fcntl_setfl, flock, fstat, open as open_at,
};
use rustix::io::Errno;
use std::path::Path;

/// Number of attempts to lock, and the pause between them in milliseconds. udev holds a lock while it probes a changed
/// drive.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE_MS: u32 = 50;

/// Opens for reading and writing with direct I/O, claims and locks. Returns the file, and the descriptors that must stay
/// open beside it.
pub(crate) fn open(look: &Look) -> Result<(OwnedFd, Vec<OwnedFd>), HostError> {
    let target = &look.inspection;
    let guards = claim_below(look)?;
    let mut flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if target.kind == Kind::Block {
        flags |= OFlags::EXCL;
    }
    // O_NONBLOCK for the opening only: io_uring would fail requests that have to wait on such a file.
    let opened = open_at(&target.path, flags | OFlags::NONBLOCK, Mode::empty());
    let failed = |errno: Errno| os_error(&target.path, "read and write", errno.into());
    let file = match opened {
        Err(Errno::BUSY) => return Err(in_use(target, claimed(&target.path))),
        Err(Errno::AGAIN) => return Err(in_use(target, locked(target, "a lease"))),
        // The file is a running program or a swap file.
        Err(Errno::TXTBSY) => return Err(in_use(target, locked(target, "a running program"))),
        opened => opened.map_err(failed)?,
    };
    let set = fcntl_getfl(&file).and_then(|now| fcntl_setfl(&file, now - OFlags::NONBLOCK));
    set.map_err(failed)?;
    lock(&file, target)?;
    if target.kind == Kind::File && ioctl::held_by_others(&file) {
        return Err(in_use(target, Finding::HeldByOthers));
    }
    Ok((file, guards))
}

/// Opens for reading with direct I/O. Claims and locks nothing, because reading disturbs no other user.
pub(crate) fn open_to_read(target: &Inspection) -> Result<OwnedFd, HostError> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open_at(&target.path, flags, Mode::empty())
        .map_err(|errno| os_error(&target.path, "read", errno.into()))
}

/// Returns the identity of the open file, and the numbers of our own descriptors.
pub(crate) fn ours(file: &OwnedFd, guards: &[OwnedFd]) -> Result<(Place, Vec<RawFd>), Errno> {
    let stat = fstat(file)?;
    let own = std::iter::once(file).chain(guards).map(|fd| fd.as_raw_fd());
    let place = Place(stat.st_dev, stat.st_ino, stat.st_rdev);
    Ok((place, own.collect()))
}

/// Claims the block devices under a loop device.
fn claim_below(look: &Look) -> Result<Vec<OwnedFd>, HostError> {
    let below = look.storage.devices.iter();
    let below = below.filter(|shared| matches!(shared.way, Some(Way::Loop(_))));
    below
        .map(|shared| {
            let path = Path::new("/dev").join(&shared.node.name);
            let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
            open_at(&path, flags, Mode::empty()).map_err(|errno| match errno {
                Errno::BUSY => in_use(&look.inspection, claimed(&path)),
                errno => os_error(&path, "claim it", errno.into()),
            })
        })
        .collect()
}

fn lock(file: &OwnedFd, target: &Inspection) -> Result<(), HostError> {
    for _ in 0..LOCK_TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {}
            // On a file system without locks (ENOLCK, EOPNOTSUPP) no other process can hold one either.
            _ => return Ok(()),
        }
        pause(LOCK_PAUSE_MS);
    }
    Err(in_use(target, locked(target, "flock")))
}

fn claimed(path: &Path) -> Finding {
    let name = path.file_name().unwrap_or(path.as_os_str());
    Finding::Claimed {
        device: name.to_string_lossy().into_owned(),
    }
}

fn locked(target: &Inspection, kind: &str) -> Finding {
    Finding::Locked {
        what: target.path.display().to_string(),
        kind: kind.to_owned(),
        by: None,
    }
}

fn in_use(target: &Inspection, finding: Finding) -> HostError {
    let advice = "Stop what uses it, or measure it read-only; no option overrides this";
    Refused::of(&target.path, vec![finding], advice).into()
}
