//! A scratch file in a directory, invisible to others and removed automatically.
//!
//! The file has no name (`O_TMPFILE`), or loses its name at once, so the kernel frees its space when the process ends in any
//! way. Its space is allocated but not written. Reads of unwritten space do not reach the drive, and first writes also
//! change the file system's metadata. A measurement therefore fills the file first, sequentially.

use crate::error::{HostError, os_error};
use crate::inspect::Inspection;
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, ftruncate, open, unlink};
use rustix::io::Errno;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Minimum size in bytes of a scratch file whose size follows from the free space.
pub(crate) const SCRATCH_BYTES_MIN: u64 = 64 << 20;
/// Maximum size in bytes of a scratch file whose size follows from the free space.
pub(crate) const SCRATCH_BYTES_MAX: u64 = 4 << 30;
/// Divisor of the free space: the file takes a quarter of it.
const FREE_PART: u64 = 4;
/// Size granularity in bytes, a multiple of every logical block size.
const UNIT_BYTES: u64 = 64 << 10;

/// Returns the size in bytes: as requested, or a quarter of the free space within the limits. The error is the free bytes
/// needed.
fn size_bytes(asked: Option<u64>, free_bytes: u64) -> Result<u64, u64> {
    let (size, needed) = match asked {
        Some(bytes) => {
            let size = bytes.div_ceil(UNIT_BYTES).max(1).saturating_mul(UNIT_BYTES);
            (size, size)
        }
        None => {
            let size = (free_bytes / FREE_PART).min(SCRATCH_BYTES_MAX);
            (size - size % UNIT_BYTES, SCRATCH_BYTES_MIN * FREE_PART)
        }
    };
    if free_bytes < needed {
        return Err(needed);
    }
    Ok(size)
}

/// Creates a scratch file in an inspected directory and returns it with its size in bytes.
pub(crate) fn create(
    directory: &Inspection,
    asked: Option<u64>,
) -> Result<(OwnedFd, u64), HostError> {
    let path = &directory.path;
    let free_bytes = directory.free_bytes.unwrap_or(0);
    let no_room = |needed_bytes| HostError::NotEnoughRoom {
        directory: path.clone(),
        free_bytes,
        needed_bytes,
    };
    let size = size_bytes(asked, free_bytes).map_err(no_room)?;
    let failed = |errno: Errno| os_error(path, "create a file in it", errno.into());
    let file = nameless(path).map_err(failed)?;
    match fallocate(&file, FallocateFlags::empty(), 0, size) {
        Ok(()) => {}
        // A file system without reservation (NFS 3, ZFS): a lack of space only shows when the preparation fills the file.
        Err(Errno::OPNOTSUPP) => ftruncate(&file, size).map_err(failed)?,
        Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => return Err(no_room(size)),
        Err(errno) => return Err(failed(errno)),
    }
    Ok((file, size))
}

fn nameless(directory: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    match open(directory, flags | OFlags::TMPFILE, mode) {
        // The errors of file systems and kernels without O_TMPFILE (open(2)).
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => named_once(directory, flags, mode),
        other => other,
    }
}

/// Creates a file and removes its name at once.
fn named_once(directory: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".fathom-scratch-{}-{number}", std::process::id());
    let path = directory.join(name);
    let file = open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
    unlink(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::inspect;
    use std::fs;

    #[test]
    fn the_size_is_a_quarter_of_the_room_within_its_limits() {
        const MIB: u64 = 1 << 20;
        assert_eq!(size_bytes(None, 1024 * MIB), Ok(256 * MIB));
        assert_eq!(size_bytes(None, 1 << 40), Ok(SCRATCH_BYTES_MAX));
        assert_eq!(size_bytes(None, 256 * MIB), Ok(64 * MIB));
        assert_eq!(size_bytes(None, 256 * MIB - 1), Err(256 * MIB));
        assert_eq!(size_bytes(None, 0), Err(256 * MIB));
        assert_eq!(size_bytes(Some(MIB), 2 * MIB), Ok(MIB));
        assert_eq!(size_bytes(Some(MIB + 1), 2 * MIB), Ok(MIB + UNIT_BYTES));
        assert_eq!(size_bytes(Some(0), 2 * MIB), Ok(UNIT_BYTES));
        assert_eq!(size_bytes(Some(3 * MIB), 2 * MIB), Err(3 * MIB));
        assert!(size_bytes(Some(u64::MAX), u64::MAX - 1).is_err());
    }

    #[test]
    fn it_has_no_name_from_the_first_moment_and_its_room_is_allocated() {
        // In the directory of the test program: the temporary directory may be in memory.
        let beside = std::env::current_exe().unwrap();
        let dir = tempfile::tempdir_in(beside.parent().unwrap()).unwrap();
        let entries = || fs::read_dir(dir.path()).unwrap().count();
        let (file, size) = create(&inspect(dir.path()).unwrap(), Some(1 << 20)).unwrap();
        assert_eq!(entries(), 0);
        let stat = rustix::fs::fstat(&file).unwrap();
        assert_eq!((stat.st_size as u64, size), (1 << 20, 1 << 20));
        assert!(stat.st_blocks * 512 >= 1 << 20);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let second = named_once(dir.path(), flags, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(entries(), 0);
        assert_eq!(rustix::fs::fstat(second).unwrap().st_nlink, 0);
    }
}
