//! The configuration of [`crate::open`]: which target, and how to open it.

use crate::error::HostError;
use crate::identity::QueueLimits;
use std::path::PathBuf;

/// Maximum length of a read or write, in bytes.
pub const MAX_REQUEST_BYTES: u64 = 1 << 20;
/// Maximum queue depth.
pub(crate) const QUEUE_DEPTH_MAX: u32 = 4096;
/// Queue depth where the drive reports none: the block layer's default, `BLKDEV_DEFAULT_RQ` (include/linux/blkdev.h, 6.18).
const QUEUE_DEPTH_UNKNOWN: u32 = 128;
/// Maximum number of requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDepth {
    /// This number of requests, 1 to 4096.
    Fixed(u32),
    /// The kernel's queue size for the drive, `queue/nr_requests` in sysfs, up to 4096: "how many requests may be allocated
    /// in the block layer", for one hardware queue (Documentation/ABI/stable/sysfs-block). All requests come from one
    /// thread, which uses the queue of the processor it runs on. 128 where the size is unknown.
    Drive,
}

impl QueueDepth {
    /// Returns the depth as a number, for a drive with these limits.
    pub(crate) fn of(self, limits: &QueueLimits) -> Result<u32, HostError> {
        let max = QUEUE_DEPTH_MAX;
        match self {
            Self::Fixed(depth) if !(1..=max).contains(&depth) => {
                Err(HostError::QueueDepth { depth, max })
            }
            Self::Fixed(depth) => Ok(depth),
            Self::Drive => Ok(limits
                .requests
                .map_or(QUEUE_DEPTH_UNKNOWN, |n| n.clamp(1, u64::from(max)) as u32)),
        }
    }
}

/// Configuration of [`crate::open`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Path of a directory (a scratch file is created in it), a regular file or a block device.
    pub path: PathBuf,
    /// Open read-only and never write.
    pub read_only: bool,
    /// The name or serial number of a target whose contents may be destroyed; see [`crate::safety`].
    pub destroy: Option<String>,
    /// Size of the scratch file in bytes, rounded up to 64 KiB. `None` takes a quarter of the free space, between 64 MiB and
    /// 4 GiB. Valid for a directory only.
    pub scratch_bytes: Option<u64>,
    /// Maximum number of requests in flight.
    pub queue_depth: QueueDepth,
    /// Return the data of completed reads. Costs a copy per read.
    pub keep_data: bool,
    /// Seed of the generated data, used by writes that carry none.
    pub seed: u64,
}

impl HostConfig {
    /// Returns the defaults for a path: writes as far as the safety lock allows, queue depth 32, read data not kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            read_only: false,
            destroy: None,
            scratch_bytes: None,
            queue_depth: QueueDepth::Fixed(32),
            keep_data: false,
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nr_requests` is described in Documentation/ABI/stable/sysfs-block; `BLKDEV_DEFAULT_RQ` applies where it is missing.
    #[test]
    fn the_depth_of_a_drive_is_what_the_kernel_queues_for_it() {
        let of = |requests| {
            let limits = QueueLimits {
                requests,
                ..QueueLimits::default()
            };
            QueueDepth::Drive.of(&limits).unwrap()
        };
        assert_eq!([Some(64), Some(1023), None].map(of), [64, 1023, 128]);
        assert_eq!([Some(0), Some(1 << 40)].map(of), [1, QUEUE_DEPTH_MAX]);
    }
}
