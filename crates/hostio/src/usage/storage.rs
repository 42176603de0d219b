//! Which devices and files share bytes with a target.

use super::loops::{Backing, Loop, loops};
use super::number::FileId;
use crate::node::{DeviceNumber, Node};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What stands on a device or file on the way to the target, and is no other user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The loop device of that name.
    Loop(String),
    /// An array or a volume: its driver holds its members exclusively and keeps its volumes apart.
    Array,
}

/// A device that shares bytes with a target.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) node: Node,
    pub(crate) way: Option<Way>,
    /// Whether the target covers all of it.
    covered: bool,
}

/// A regular file that is the target, or that the target stands on.
#[derive(Clone, Debug)]
pub(crate) struct SharedFile {
    pub(crate) id: FileId,
    pub(crate) path: PathBuf,
    pub(crate) way: Option<Way>,
}

/// Every device and file that shares bytes with a target; the target first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    pub(crate) devices: Vec<Shared>,
    pub(crate) files: Vec<SharedFile>,
}

impl Storage {
    /// The name of the device of that number, if it shares bytes with the target.
    pub(crate) fn device(&self, number: DeviceNumber) -> Option<&str> {
        let found = self.devices.iter().find(|d| d.node.number == number)?;
        Some(&found.node.name)
    }

    /// A number that changes when anything is written to the target, through whatever shares its bytes: sectors written, by
    /// the kernel's count, and times of change. What holds more than the target counts for nothing here, for others may
    /// write to that.
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

    /// The path of the file of that number, likewise.
    pub(crate) fn file(&self, id: FileId) -> Option<&Path> {
        Some(&self.files.iter().find(|f| f.id == id)?.path)
    }

    /// All of a device: its partitions, too.
    fn add_whole(&mut self, node: Node, way: Option<Way>, loops: &[Loop]) {
        let partitions = node.partitions();
        self.add(node, way, loops);
        for partition in partitions {
            self.add(partition, None, loops);
        }
    }

    /// A device, and what it is a part or made of; its partitions only where they are asked for, since those beside the
    /// target share nothing with it.
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
            let number = whole.number;
            let known = self.device(number).is_some();
            self.add(whole, None, loops);
            let added = self
                .devices
                .iter_mut()
                .find(|d| d.node.number == number && !known);
            added.into_iter().for_each(|drive| drive.covered = false);
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

/// Other paths to the same drive: whole drives of its name and size that no array has joined.
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

/// What shares bytes with a block device: it and its partitions, and whatever lies below it.
pub(crate) fn of_device(node: &Node) -> Storage {
    let loops = loops();
    let mut storage = Storage::default();
    storage.add_whole(node.clone(), None, &loops);
    storage
}

/// A regular file alone: where its blocks lie is its file system's business.
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
