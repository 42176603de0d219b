//! The targets of a load, opened read-only, and their errors.

use super::config::{Caching, Engine, LoadConfig};
use super::offsets::Part;
use crate::error::{HostError, os_error};
use crate::ioctl;
use crate::sysfs::number;
use crate::target::{explain_invalid, file_block_bytes, refuse_memory};
use fathom_base::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, Stat, fadvise, fstat, major, minor, open, stat};
use rustix::io::{Errno, pread};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Part of a target that is read without a given area if all of it has to be in memory, in bytes.
const HIT_BYTES_MAX: u64 = 64 << 20;
/// Unit of a buffered read from a file, in bytes.
const BUFFERED_BLOCK_BYTES: u32 = 512;
/// Length of a read that fills the page cache, in bytes.
const FILL_BYTES: usize = 1 << 20;

/// A target that can be read as configured.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    caching: Caching,
    engine: Engine,
    /// Length of a read in bytes.
    pub(super) block_bytes: u32,
    /// The part that is read.
    pub(super) part: Part,
}

impl Target {
    /// Checks that a target can be read as configured.
    ///
    /// # Errors
    /// The target cannot be opened, or does not fit the configuration.
    pub(super) fn check(path: &Path, config: &LoadConfig) -> Result<Self, HostError> {
        let mut target = Self {
            path: path.to_owned(),
            caching: config.caching,
            engine: config.engine,
            block_bytes: config.block_bytes as u32,
            part: Part::whole(0, config.block_bytes),
        };
        let file = target.open()?;
        let failed = |errno: Errno| os_error(path, "ask for its size", errno.into());
        let stat = fstat(&file).map_err(failed)?;
        let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let (size_bytes, unit_bytes) = match is_block {
            true => (
                ioctl::size_bytes(&file).map_err(failed)?,
                ioctl::logical_block_bytes(&file).map_err(failed)?,
            ),
            false => (stat.st_size as u64, target.unit_of_file(&file)?),
        };
        if !config.block_bytes.is_multiple_of(u64::from(unit_bytes)) {
            let what = format!(
                "{} bytes are no whole blocks of {unit_bytes}",
                config.block_bytes
            );
            let advice = "give a multiple of the block size as the length of a read";
            return Err(target.unsuitable(what, advice));
        }
        target.part = Part::whole(target.area_bytes(size_bytes, config)?, config.block_bytes);
        if config.engine == Engine::IoUringPolled {
            target.check_polling(&stat, is_block)?;
        }
        Ok(target)
    }

    /// Returns the length of the part to read, in bytes.
    fn area_bytes(&self, size_bytes: u64, config: &LoadConfig) -> Result<u64, HostError> {
        let hit = config.caching == Caching::Hit;
        let most = if hit { HIT_BYTES_MAX } else { u64::MAX };
        let area = config.area_bytes.unwrap_or(most).min(size_bytes);
        // Every thread needs a block of its own where they read separate parts.
        let sharing = match config.caching {
            Caching::Miss => u64::from(config.threads),
            _ => 1,
        };
        let least = config.block_bytes * sharing;
        if area >= least {
            return Ok(area);
        }
        let what = format!(
            "the part to read has {}, and the load needs at least {}",
            Bytes(area).human(),
            Bytes(least).human()
        );
        Err(self.unsuitable(
            what,
            "name a larger target or area, or give a smaller length of a read",
        ))
    }

    fn unit_of_file(&self, file: &OwnedFd) -> Result<u32, HostError> {
        match self.caching {
            Caching::Direct => file_block_bytes(file, &self.path),
            Caching::Miss | Caching::Hit => Ok(BUFFERED_BLOCK_BYTES),
        }
    }

    /// Refuses polling where the driver would not poll. Kernels before 6.11 accept such reads, and complete them by
    /// interrupt.
    fn check_polling(&self, stat: &Stat, is_block: bool) -> Result<(), HostError> {
        if self.caching != Caching::Direct {
            let what = "polled reads must be direct".to_owned();
            return Err(self.unavailable(what, "choose direct reads or another engine"));
        }
        let device = if is_block { stat.st_rdev } else { stat.st_dev };
        let node = format!("/sys/dev/block/{}:{}", major(device), minor(device));
        // A partition has no queue of its own.
        let queues = ["queue", "../queue"].map(|dir| Path::new(&node).join(dir).join("io_poll"));
        match queues.iter().find_map(|path| number(path)) {
            Some(0) => Err(self.no_polling()),
            _ => Ok(()),
        }
    }

    fn no_polling(&self) -> HostError {
        let what =
            "the drive's driver has no polling queues (queue/io_poll in sysfs is 0)".to_owned();
        self.unavailable(
            what,
            "give the driver some when it starts: nvme.poll_queues=N or virtio_blk.poll_queues=N; most other drivers, and md, have \
             none",
        )
    }

    /// Opens the target for reading.
    ///
    /// # Errors
    /// It does not exist, is no file or block device, may not be read, or cannot be read directly.
    pub(super) fn open(&self) -> Result<OwnedFd, HostError> {
        let path = &self.path;
        let failed = |errno: Errno| os_error(path, "read", errno.into());
        // Before it is opened: opening a pipe waits for its writer, and a directory has no direct I/O.
        let kind = FileType::from_raw_mode(stat(path).map_err(failed)?.st_mode);
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            let what = "it is neither a regular file nor a block device".to_owned();
            return Err(self.unsuitable(what, "name a file or a drive to read"));
        }
        if self.caching == Caching::Direct && kind == FileType::RegularFile {
            refuse_memory(path, path)?;
        }
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        flags.set(OFlags::DIRECT, self.caching == Caching::Direct);
        // A measurement leaves no traces; only the owner of a file may ask for that.
        let quietly = open(path, flags | OFlags::NOATIME, Mode::empty());
        let opened = match quietly {
            Err(Errno::PERM) => open(path, flags, Mode::empty()),
            other => other,
        };
        let file = opened
            .map_err(failed)
            .map_err(|error| explain_invalid(error, path))?;
        if self.caching != Caching::Direct {
            fadvise(&file, 0, None, Advice::Random).map_err(failed)?;
        }
        Ok(file)
    }

    /// Drops the pages of a part from the page cache.
    pub(super) fn drop_cached(&self, file: &OwnedFd, part: Part) -> Result<(), HostError> {
        let len = NonZeroU64::new(part.bytes());
        let dropped = fadvise(file, part.offset(), len, Advice::DontNeed);
        dropped.map_err(|errno| os_error(&self.path, "drop its pages from the cache", errno.into()))
    }

    /// Reads a part into the page cache.
    pub(super) fn fill_cache(&self, file: &OwnedFd) -> Result<(), HostError> {
        let mut piece = vec![0; FILL_BYTES];
        let (mut at, end) = (self.part.offset(), self.part.offset() + self.part.bytes());
        while at < end {
            let most = (end - at).min(FILL_BYTES as u64) as usize;
            match pread(file, &mut piece[..most], at) {
                Ok(0) => return Err(self.bad_read(at, 0)),
                Ok(read) => at += read as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(at, errno)),
            }
        }
        Ok(())
    }

    fn unsuitable(&self, what: String, advice: &'static str) -> HostError {
        HostError::Unsuitable {
            path: self.path.clone(),
            what,
            advice,
        }
    }

    fn unavailable(&self, what: String, advice: &'static str) -> HostError {
        HostError::EngineUnavailable {
            path: self.path.clone(),
            engine: self.engine.name(),
            what,
            advice,
        }
    }

    /// Returns the error of a queue that cannot be made.
    pub(super) fn no_queue(&self, errno: Errno) -> HostError {
        let (what, advice) = match (errno, self.engine) {
            (Errno::NOSYS, Engine::Libaio) => (
                "the kernel has no asynchronous I/O (CONFIG_AIO), or a seccomp profile forbids io_setup",
                "choose another engine",
            ),
            (Errno::AGAIN, Engine::Libaio) => (
                "all programs together have as many reads in flight as the kernel allows",
                "raise /proc/sys/fs/aio-max-nr, or give a smaller depth",
            ),
            (Errno::NOSYS, _) => (
                "the kernel has no io_uring, or a seccomp profile forbids io_uring_setup",
                "use Linux 5.11 or later and, in a container, a seccomp profile that allows it",
            ),
            (Errno::PERM | Errno::ACCESS, _) => (
                "this user may not use it (the sysctl kernel.io_uring_disabled, or a seccomp profile)",
                "set kernel.io_uring_disabled to 0; in a container allow io_uring_setup in its seccomp profile",
            ),
            (Errno::NOMEM, _) => (
                "there is not enough memory, or its buffers exceed the limit of locked memory",
                "raise `ulimit -l`, give a smaller depth, or do not register buffers",
            ),
            (Errno::INVAL, _) => (
                "the kernel does not know the settings of its ring",
                "use a newer kernel, or choose another engine",
            ),
            _ => {
                let what = std::io::Error::from(errno).to_string();
                return self.unavailable(what, "choose another engine");
            }
        };
        self.unavailable(what.to_owned(), advice)
    }

    /// Returns the error of a call of the engine.
    pub(super) fn refused(&self, errno: Errno) -> HostError {
        os_error(&self.path, "submit reads or wait for them", errno.into())
    }

    /// Returns the error of a read.
    pub(super) fn failed(&self, offset: u64, errno: Errno) -> HostError {
        if self.engine == Engine::IoUringPolled && errno == Errno::OPNOTSUPP {
            return self.no_polling();
        }
        HostError::ReadFailed {
            path: self.path.clone(),
            offset,
            len: u64::from(self.block_bytes),
            source: errno.into(),
        }
    }

    /// Returns the error of a read with this result: a negative error number, or too few bytes.
    pub(super) fn bad_read(&self, offset: u64, result: i32) -> HostError {
        if result < 0 {
            return self.failed(offset, Errno::from_raw_os_error(-result));
        }
        HostError::ShortRead {
            path: self.path.clone(),
            offset,
            read: u64::from(result.unsigned_abs()),
            wanted: u64::from(self.block_bytes),
        }
    }
}
