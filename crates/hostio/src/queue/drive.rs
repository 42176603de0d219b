//! The request queue of a drive.

use crate::error::HostError;
use crate::identity::{self, Identity};
use crate::inspect::node_of;
use crate::node::Node;
use crate::sysfs::{names_in, number, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A drive and its request queue in sysfs (`/sys/block/NAME/queue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveQueue {
    /// Kernel name of the drive, such as `nvme0n1`.
    pub name: String,
    /// Number of its device, `MAJOR:MINOR`.
    pub number: String,
    /// The kernel's count of disks when this one appeared: another disk of the same name has another one.
    pub(super) sequence: Option<u64>,
    /// Its directory in sysfs.
    pub(super) dir: PathBuf,
}

impl DriveQueue {
    /// Finds the drive at a path: of a partition the whole drive, of a file or directory the drive under its file system.
    ///
    /// # Errors
    /// [`HostError::NotFound`], [`HostError::NoPermission`], or [`HostError::Unsuitable`] if no drive is found.
    pub fn of(path: &Path) -> Result<Self, HostError> {
        let none = || HostError::Unsuitable {
            path: path.to_owned(),
            what: "sysfs shows no drive for it".to_owned(),
            advice: "name the block device itself, such as /dev/nvme0n1",
        };
        let node = node_of(path)?.ok_or_else(none)?;
        Self::at(node.drive_dir()).ok_or_else(none)
    }

    /// Reads the drive in this directory of sysfs.
    pub(super) fn at(dir: &Path) -> Option<Self> {
        let node = Node::at(dir)?;
        Some(Self {
            number: format!("{}:{}", node.number.0, node.number.1),
            sequence: number(&dir.join("diskseq")),
            name: node.name,
            dir: node.dir,
        })
    }

    /// Returns the path of an attribute of the queue.
    pub fn path_of(&self, attribute: &str) -> PathBuf {
        self.dir.join("queue").join(attribute)
    }

    /// Reads every attribute of the queue that has a value, by its name.
    pub fn attributes(&self) -> BTreeMap<String, String> {
        let names = names_in(&self.dir.join("queue")).into_iter();
        names
            .filter_map(|name| {
                let value = text(&self.path_of(&name))?;
                Some((name, value))
            })
            .collect()
    }

    /// Returns the identity of the drive.
    pub fn identity(&self) -> Identity {
        identity::of_drive(&self.dir)
    }
}
