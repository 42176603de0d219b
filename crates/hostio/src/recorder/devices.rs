//! The numbers of the devices under a path, as the events of the kernel have them.

use crate::error::{HostError, os_error};
use crate::node::{DeviceNumber, Node};
use crate::sysfs::names_in;
use crate::usage::mount_of;
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
    /// The path cannot be read; [`HostError::Unsuitable`] if the kernel has no block device for it.
    pub fn under(path: &Path) -> Result<Self, HostError> {
        let failed = |error| os_error(path, "look at it", error);
        let found = fs::metadata(path).map_err(failed)?;
        let device = match found.file_type().is_block_device() {
            true => found.rdev(),
            false => found.dev(),
        };
        let nodes = match Node::find(DeviceNumber::of(device)) {
            Some(node) => vec![node],
            None => members(&fs::canonicalize(path).map_err(failed)?),
        };
        if nodes.is_empty() {
            return Err(HostError::Unsuitable {
                path: path.to_owned(),
                what: "the kernel has no block device for it".to_owned(),
                advice: "name the block device itself (`findmnt -T PATH` shows it)",
            });
        }
        let mut issued = BTreeSet::new();
        nodes.iter().for_each(|node| lowest(node, &mut issued));
        let queued: BTreeSet<u32> = nodes.iter().flat_map(with_whole).collect();
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

/// Returns the devices of the Btrfs that a file is in: it has a device number of its own, and may have several devices.
fn members(file: &Path) -> Vec<Node> {
    let Some(mount) = mount_of(file).filter(|mount| mount.file_system == "btrfs") else {
        return Vec::new();
    };
    let source = fs::canonicalize(&mount.source).unwrap_or_default();
    let name = source.file_name().unwrap_or_default();
    let all = Path::new("/sys/fs/btrfs");
    let mut each = names_in(all).into_iter();
    let devices = each.find_map(|id| {
        let devices = all.join(id).join("devices");
        devices.join(name).exists().then_some(devices)
    });
    let devices = devices.unwrap_or_default();
    let nodes = names_in(&devices).into_iter();
    nodes
        .filter_map(|name| Node::at(&fs::canonicalize(devices.join(name)).ok()?))
        .collect()
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
    // A partition of an array has none of its own.
    let whole = node.whole();
    let slaves = whole.as_ref().unwrap_or(node).slaves();
    if slaves.is_empty() {
        found.extend(with_whole(node));
    }
    for slave in &slaves {
        lowest(slave, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_drives_under_a_partition_of_an_array_get_its_requests() {
        let root = tempfile::tempdir().unwrap();
        let sys = fs::canonicalize(root.path()).unwrap();
        for (name, text) in [
            ("md0/dev", "9:0"),
            ("md0/md0p1/dev", "259:0"),
            ("md0/md0p1/partition", "1"),
            ("sda/dev", "8:0"),
            ("sda/sda2/dev", "8:2"),
            ("sda/sda2/partition", "2"),
            ("sdb/dev", "8:16"),
        ] {
            let path = sys.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let slaves = sys.join("md0/slaves");
        fs::create_dir(&slaves).unwrap();
        symlink(sys.join("sda/sda2"), slaves.join("sda2")).unwrap();
        symlink(sys.join("sdb"), slaves.join("sdb")).unwrap();
        let under = |name: &str| {
            let mut found = BTreeSet::new();
            lowest(&Node::at(&sys.join(name)).unwrap(), &mut found);
            found.into_iter().collect::<Vec<u32>>()
        };
        let members = [8 << 20, 8 << 20 | 2, 8 << 20 | 16];
        assert_eq!(under("md0"), members);
        assert_eq!(under("md0/md0p1"), members);
        assert_eq!(under("sda/sda2"), members[..2]);
    }
}
