//! Opens a path as a device, after the safety lock has agreed.

use crate::clearance::Clearance;
use crate::config::{HostConfig, MAX_REQUEST_BYTES};
use crate::device::HostDevice;
use crate::error::{HostError, os_error};
use crate::finding::Finding;
use crate::inspect::{Inspection, Kind, Look, direct_io_align};
use crate::safety::{Verdict, judge};
use crate::{exclusive, ioctl, scratch, usage};
use fathom_block::DeviceInfo;
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Block size in bytes of direct I/O on a file, where the kernel does not report one. Every file system accepts the page
/// size.
const FILE_BLOCK_BYTES: u32 = 4096;

/// Opens a real drive or file as configured, or creates a scratch file in a directory.
///
/// An existing file that `destroy` does not name is opened read-only; [`DeviceInfo::read_only`] is then true.
///
/// # Errors
/// [`HostError::Refused`] if the safety lock refuses; any other [`HostError`] if the path cannot be opened.
pub fn open(config: &HostConfig) -> Result<HostDevice, HostError> {
    let look = Look::at(&config.path)?;
    let inspection = look.inspection.clone();
    let depth = config.queue_depth.of(&inspection.identity.queue)?;
    let unsuitable = |what: String, advice| HostError::Unsuitable {
        path: config.path.clone(),
        what,
        advice,
    };
    if inspection.kind != Kind::Directory && config.scratch_bytes.is_some() {
        return Err(unsuitable(
            format!("a size was given for a {}", inspection.kind),
            "give a size for a scratch file in a directory only",
        ));
    }
    let opened = match inspection.kind {
        Kind::Directory => open_scratch(&inspection, config)?,
        Kind::File | Kind::Block => open_existing(look, config)?,
    };
    let block = u64::from(opened.block_bytes);
    let capacity_bytes = opened.size_bytes - opened.size_bytes % block;
    if capacity_bytes == 0 {
        let reason = |finding: &&Finding| matches!(finding, Finding::NoCapacity { .. });
        let reason = inspection.findings.iter().find(reason);
        let empty = || format!("it is empty ({} bytes)", opened.size_bytes);
        return Err(unsuitable(
            reason.map_or_else(empty, Finding::to_string),
            "name a file or device with room in it",
        ));
    }
    let info = DeviceInfo {
        name: opened.name,
        capacity_bytes,
        logical_block_bytes: opened.block_bytes,
        max_request_bytes: MAX_REQUEST_BYTES,
        queue_depth: depth,
        // A drive that does not report a cache may still have one.
        volatile_cache: inspection.identity.volatile_cache.unwrap_or(true),
        trim: opened.trim,
        read_only: opened.read_only,
        modelled: false,
        rotational: inspection.identity.rotational,
        ..DeviceInfo::default()
    };
    HostDevice::new(opened.file, opened.guards, info, opened.clearance, config)
}

struct Opened {
    file: OwnedFd,
    name: String,
    size_bytes: u64,
    block_bytes: u32,
    trim: bool,
    read_only: bool,
    clearance: Clearance,
    /// Descriptors kept open for the claims and locks they hold.
    guards: Vec<OwnedFd>,
}

fn open_scratch(directory: &Inspection, config: &HostConfig) -> Result<Opened, HostError> {
    let path = &config.path;
    let unsuitable = |advice| HostError::Unsuitable {
        path: path.clone(),
        what: "it is a directory".into(),
        advice,
    };
    if config.read_only {
        return Err(unsuitable(
            "a scratch file must be written before it can be read; name a file or device to measure read-only",
        ));
    }
    if config.destroy.is_some() {
        return Err(unsuitable(
            "nothing in a directory is ever destroyed; leave `destroy` out, or name a file or device",
        ));
    }
    refuse_memory(path, &directory.path)?;
    let (file, size_bytes) =
        scratch::create(directory, config.scratch_bytes).map_err(|e| explain_invalid(e, path))?;
    Ok(Opened {
        name: format!("scratch file in {}", path.display()),
        size_bytes,
        block_bytes: file_block_bytes(&file, path)?,
        trim: punches_holes(&file, size_bytes),
        read_only: false,
        clearance: Clearance::harmless(directory.clone()),
        guards: Vec::new(),
        file,
    })
}

fn open_existing(look: Look, config: &HostConfig) -> Result<Opened, HostError> {
    let target = &look.inspection;
    let destroy = config.destroy.as_deref();
    let write = !config.read_only && judge(target, destroy)? == Verdict::Write;
    let block_device = target.kind == Kind::Block;
    if !block_device {
        refuse_memory(&config.path, &target.path)?;
    }
    let (file, guards) = if write {
        let users = usage::processes(&look.storage, &[]);
        let mut target = target.clone();
        target.findings.extend(users);
        judge(&target, destroy)?;
        exclusive::open(&look).map_err(|e| explain_invalid(e, &config.path))?
    } else {
        let file = exclusive::open_to_read(target).map_err(|e| explain_invalid(e, &config.path))?;
        (file, Vec::new())
    };
    let failed = |errno: Errno| os_error(&config.path, "ask for its size", errno.into());
    let (size_bytes, block_bytes, trim) = if block_device {
        let discards = target.identity.queue.discard_max_bytes.unwrap_or(0) > 0;
        let size = ioctl::size_bytes(&file).map_err(failed)?;
        let block = ioctl::logical_block_bytes(&file).map_err(failed)?;
        (size, block, discards)
    } else {
        let size = fstat(&file).map_err(failed)?.st_size as u64;
        let block = file_block_bytes(&file, &config.path)?;
        (size, block, write && punches_holes(&file, size))
    };
    // Judge again: the target may have changed before it was claimed and locked.
    let clearance = match write {
        true => {
            let (place, own) = exclusive::ours(&file, &guards).map_err(failed)?;
            Clearance::of(target, destroy, place, own)?
        }
        false => Clearance::harmless(target.clone()),
    };
    Ok(Opened {
        name: config.path.display().to_string(),
        size_bytes,
        block_bytes,
        trim: trim && write,
        read_only: !write,
        clearance,
        guards,
        file,
    })
}

fn no_direct_io(path: &Path) -> HostError {
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mount = usage::mount_of(&resolved);
    HostError::NoDirectIo {
        path: path.to_owned(),
        file_system: mount.map_or("of an unknown type".into(), |mount| mount.file_system),
    }
}

/// Turns EINVAL into [`HostError::NoDirectIo`]: open(2) returns it on a file system without O_DIRECT.
pub(crate) fn explain_invalid(error: HostError, path: &Path) -> HostError {
    match &error {
        HostError::Os { source, .. }
            if source.raw_os_error() == Some(Errno::INVAL.raw_os_error()) =>
        {
            no_direct_io(path)
        }
        _ => error,
    }
}

/// Refuses memory file systems. Newer kernels accept O_DIRECT there and ignore it.
///
/// # Errors
/// [`HostError::NoDirectIo`].
pub fn refuse_memory(given: &Path, resolved: &Path) -> Result<(), HostError> {
    // <linux/magic.h>: TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC
    const MEMORY: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
    let kind = rustix::fs::statfs(resolved).map(|s| s.f_type as u64 & 0xffff_ffff);
    match kind {
        Ok(kind) if MEMORY.contains(&kind) => Err(no_direct_io(given)),
        _ => Ok(()),
    }
}

/// Returns the unit of direct I/O on an open file, in bytes.
pub(crate) fn file_block_bytes(file: &OwnedFd, path: &Path) -> Result<u32, HostError> {
    use rustix::fd::AsRawFd;
    let open_file = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    match direct_io_align(&open_file) {
        Some(0) => Err(no_direct_io(path)),
        Some(align) => Ok(align.max(512)),
        None => Ok(FILE_BLOCK_BYTES),
    }
}

/// Returns true if the file system can punch holes. Tried beyond the end of the file, where there are no blocks to lose.
fn punches_holes(file: &OwnedFd, size_bytes: u64) -> bool {
    let behind = size_bytes.next_multiple_of(u64::from(FILE_BLOCK_BYTES));
    let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, mode, behind, u64::from(FILE_BLOCK_BYTES)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{QUEUE_DEPTH_MAX, QueueDepth};

    #[test]
    fn a_queue_depth_out_of_range_is_refused() {
        for queue_depth in [0, QUEUE_DEPTH_MAX + 1] {
            let config = HostConfig {
                queue_depth: QueueDepth::Fixed(queue_depth),
                ..HostConfig::new(".")
            };
            let error = open(&config).map(|_| ()).unwrap_err();
            assert!(matches!(error, HostError::QueueDepth { depth, .. } if depth == queue_depth));
        }
    }

    #[test]
    fn a_memory_file_system_is_named() {
        let mount = usage::mount_of(Path::new("/dev/shm"));
        if mount.is_none_or(|mount| mount.file_system != "tmpfs") {
            println!("skipped: /dev/shm is no tmpfs");
            return;
        }
        let error = open(&HostConfig::new("/dev/shm")).map(|_| ()).unwrap_err();
        assert!(matches!(error, HostError::NoDirectIo { .. }), "{error}");
        assert!(error.to_string().contains("tmpfs"), "{error}");
    }

    #[test]
    fn a_directory_is_neither_read_only_nor_destroyed() {
        let read_only = HostConfig {
            read_only: true,
            ..HostConfig::new(".")
        };
        let destroy = HostConfig {
            destroy: Some(".".into()),
            ..HostConfig::new(".")
        };
        for config in [read_only, destroy] {
            let error = open(&config).map(|_| ()).unwrap_err();
            assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
        }
    }
}
