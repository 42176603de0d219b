//! What to open, and how.

use crate::error::HostError;
use crate::identity::QueueLimits;
use std::path::PathBuf;

/// The longest read or write, in bytes.
pub const MAX_REQUEST_BYTES: u64 = 1 << 20;
/// The greatest queue depth.
pub(crate) const QUEUE_DEPTH_MAX: u32 = 4096;
/// What the block layer of Linux queues where a drive does not tell: `BLKDEV_DEFAULT_RQ` (include/linux/blkdev.h, 6.18).
const QUEUE_DEPTH_UNKNOWN: u32 = 128;
/// How many requests may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDepth {
    /// So many, 1 to 4096.
    Fixed(u32),
    /// As many as the kernel queues for the drive, `queue/nr_requests` in sysfs, up to 4096: "how many
    /// requests may be allocated in the block layer", for one hardware queue (Documentation/ABI/stable/sysfs-block). One
    /// thread, which all requests come from, uses the queue of the processor that it runs on. 128 where it is not known.
    Drive,
}

impl QueueDepth {
    /// In numbers, for a drive.
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

/// What to open, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// A directory (a scratch file is made in it), a regular file or a block device.
    pub path: PathBuf,
    /// Open for reading only and never write.
    pub read_only: bool,
    /// The name or serial number of a target whose contents may be destroyed; see [`crate::safety`].
    pub destroy: Option<String>,
    /// The size of the scratch file in bytes, rounded up to 64 KiB; `None` for a quarter of the free room, between
    /// 64 MiB and 4 GiB. For a directory only.
    pub scratch_bytes: Option<u64>,
    /// Requests that may be in flight.
    pub queue_depth: QueueDepth,
    /// Whether a completed read brings its bytes. Costs a copy.
    pub keep_data: bool,
    /// Of the bytes of writes that bring none.
    pub seed: u64,
}

impl HostConfig {
    /// The path with the defaults: written to as far as the safety lock allows, a queue depth of 32, no data kept.
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

    /// `nr_requests` of Documentation/ABI/stable/sysfs-block; `BLKDEV_DEFAULT_RQ` where it is not told.
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
