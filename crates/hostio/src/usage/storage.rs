//! Finds the devices and files that share bytes with a target.

use super::loops::{Backing, Loop, loops};
use super::number::FileId;
use crate::node::{DeviceNumber, Node};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How the target stands on a device or file. This link does not count as another user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through the loop device of this name.
    Loop(String),
    /// As an array or volume. The driver holds its members exclusively and keeps its volumes apart.
    Array,
}

/// A device that shares bytes with a target.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) node: Node,
    pub(crate) way: Option<Way>,
    /// True if the target covers all of the device.
    covered: bool,
}

/// A regular file that is the target, or that is below the target.
#[derive(Clone, Debug)]
pub(crate) struct SharedFile {
    pub(crate) id: FileId,
    pub(crate) path: PathBuf,
    pub(crate) way: Option<Way>,
}

/// All devices and files that share bytes with a target, the target first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    pub(crate) devices: Vec<Shared>,
    pub(crate) files: Vec<SharedFile>,
}

impl Storage {
    /// Returns the name of the device with this number, if it shares bytes with the target.
    pub(crate) fn device(&self, number: DeviceNumber) -> Option<&str> {
        let found = self.devices.iter().find(|d| d.node.number == number)?;
        Some(&found.node.name)
    }

    /// Returns a hash that changes when the target is written to through any of these devices and files. It covers the
    /// kernel's counts of sectors written and the files' times of change. The drive that the target is a partition of, and
    /// the members of an array, are left out, because others may write to the rest of them.
    pub(crate) fn written(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let whole = |shared: &&Shared| shared.covered && shared.way != Some(Way::Array);
        for shared in self.devices.iter().filter(whole) {
            shared.node.sectors_written().hash(&mut hasher);
        }
        for metadata in self
            .files
            .iter()
            .filter_map(|file| fs::metadata(&file.path).ok())
        {
            let changed = [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ];
            (metadata.len(), changed).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Returns the path of the file with this identity, if it shares bytes with the target.
    pub(crate) fn file(&self, id: FileId) -> Option<&Path> {
        Some(&self.files.iter().find(|f| f.id == id)?.path)
    }

    /// Adds a whole device with its partitions.
    fn add_whole(&mut self, node: Node, way: Option<Way>, loops: &[Loop]) {
        let partitions = node.partitions();
        self.add(node, way, loops);
        for partition in partitions {
            self.add(partition, None, loops);
        }
    }

    /// Adds a device and the devices that it is part of or made of. Does not add partitions: those beside the target share
    /// nothing with it.
    fn add(&mut self, node: Node, way: Option<Way>, loops: &[Loop]) {
        if self.device(node.number).is_some() {
            return;
        }
        let (name, number) = (node.name.clone(), node.number);
        let (slaves, whole) = (node.slaves(), node.whole());
        let twins = twins(&node);
        self.devices.push(Shared {
            node,
            way,
            covered: true,
        });
        for twin in twins {
            self.add_whole(twin, None, loops);
        }
        if let Some(whole) = whole {
            // The drive, and other paths to it, hold more than the target.
            let before = self.devices.len();
            self.add(whole, None, loops);
            for drive in &mut self.devices[before..] {
                drive.covered = false;
            }
        }
        for slave in slaves {
            self.add(slave, Some(Way::Array), loops);
        }
        match loops
            .iter()
            .find(|l| l.number == number)
            .map(|l| &l.backing)
        {
            Some(Backing::Device(below)) => {
                if let Some(node) = Node::find(*below) {
                    self.add_whole(node, Some(Way::Loop(name)), loops);
                }
            }
            Some(Backing::File(id, path)) => self.files.push(SharedFile {
                id: *id,
                path: path.clone(),
                way: Some(Way::Loop(name)),
            }),
            _ => {}
        }
    }
}

/// Returns other paths to the same drive: whole drives with the same world-wide name and size.
fn twins(node: &Node) -> Vec<Node> {
    let Some(name) = node.world_wide_name() else {
        return Vec::new();
    };
    let whole = node.whole();
    let whole = whole.as_ref().unwrap_or(node);
    let same = |other: &Node| {
        other.number != whole.number
            && other.size_bytes() == whole.size_bytes()
            && other.world_wide_name().as_deref() == Some(name.as_str())
    };
    Node::drives().into_iter().filter(same).collect()
}

/// Returns the storage of a block device: the device, its partitions and everything below it.
pub(crate) fn of_device(node: &Node) -> Storage {
    let loops = loops();
    let mut storage = Storage::default();
    storage.add_whole(node.clone(), None, &loops);
    storage
}

/// Returns the storage of a regular file alone; only its file system knows where its blocks are.
pub(crate) fn of_file(path: &Path, metadata: &Metadata) -> Storage {
    Storage {
        devices: Vec::new(),
        files: vec![SharedFile {
            id: FileId::of(metadata),
            path: path.to_owned(),
            way: None,
        }],
    }
}
