//! Numbers that identify files and devices.

use crate::node::DeviceNumber;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A file system's device number and an inode number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(pub(crate) u64, pub(crate) u64);

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// Returns the number of the block device at a path.
pub(super) fn number_of(path: &Path) -> Option<DeviceNumber> {
    let metadata = fs::metadata(path).ok()?;
    let block = metadata.file_type().is_block_device();
    block.then(|| DeviceNumber::of(metadata.rdev()))
}
