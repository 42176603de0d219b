//! The numbers of the devices under a path, as the events of the kernel have them.

use crate::error::{HostError, os_error};
use crate::node::{DeviceNumber, Node};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// The devices under a path, as major * 2^20 + minor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoDevices {
    /// Those that the program's I/O enters, as the device and its whole drive.
    pub queued: Vec<u32>,
    /// Those whose drivers get the requests: the same, or the devices under a mapped device or an array.
    pub issued: Vec<u32>,
}

impl IoDevices {
    /// Finds the devices under a block device or a file.
    ///
    /// # Errors
    /// The path cannot be read; [`HostError::Unsuitable`] if the kernel has no block device for it, as with Btrfs, which has
    /// device numbers of its own.
    pub fn under(path: &Path) -> Result<Self, HostError> {
        let found = fs::metadata(path).map_err(|error| os_error(path, "look at it", error))?;
        let device = match found.file_type().is_block_device() {
            true => found.rdev(),
            false => found.dev(),
        };
        let node = Node::find(DeviceNumber::of(device));
        let node = node.ok_or_else(|| HostError::Unsuitable {
            path: path.to_owned(),
            what: "the kernel has no block device for it".to_owned(),
            advice: "name the block device itself (`findmnt -T PATH` shows it)",
        })?;
        let mut issued = BTreeSet::new();
        lowest(&node, &mut issued);
        let queued = with_whole(&node);
        Ok(Self {
            queued: queued.into_iter().collect(),
            issued: issued.into_iter().collect(),
        })
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> Vec<u32> {
        let all: BTreeSet<u32> = self.queued.iter().chain(&self.issued).copied().collect();
        all.into_iter().collect()
    }
}

fn packed(node: &Node) -> u32 {
    let DeviceNumber(major, minor) = node.number;
    major << 20 | minor
}

/// Requests of a partition are ones of its drive, and the kernel has changed over time where it says so.
fn with_whole(node: &Node) -> BTreeSet<u32> {
    let whole = node.whole();
    [node]
        .into_iter()
        .chain(whole.as_ref())
        .map(packed)
        .collect()
}

fn lowest(node: &Node, found: &mut BTreeSet<u32>) {
    let slaves = node.slaves();
    if slaves.is_empty() {
        found.extend(with_whole(node));
    }
    for slave in &slaves {
        lowest(slave, found);
    }
}
