//! The loop devices, and what each stands on.
//!
//! The kernel tells the path of the backing file as it was when it was set up; the driver itself is asked for the numbers
//! of the file, which stay right when it was renamed, unlinked or lies in another namespace.

use super::number::{FileId, number_of};
use crate::ioctl::{self, LoopStatus};
use crate::node::{DeviceNumber, Node};
use crate::sysfs::text;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What a loop device stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    Device(DeviceNumber),
    File(FileId, PathBuf),
}

/// A loop device that is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) name: String,
    pub(super) number: DeviceNumber,
    pub(super) backing: Backing,
}

/// Every loop device that is set up and whose backing can be found out.
pub(super) fn loops() -> Vec<Loop> {
    let of = |node: Node| {
        let path = PathBuf::from(text(&node.dir.join("loop/backing_file"))?);
        let asked = File::open(Path::new("/dev").join(&node.name))
            .ok()
            .and_then(|device| ioctl::loop_status(&device).ok());
        Some(Loop {
            backing: asked
                .and_then(|status| told(&status, &path))
                .or_else(|| seen(&path))?,
            name: node.name,
            number: node.number,
        })
    };
    Node::drives().into_iter().filter_map(of).collect()
}

/// As the driver tells.
fn told(status: &LoopStatus, path: &Path) -> Option<Backing> {
    // Of a file it is 0, or in older kernels the file system's number again (drivers/block/loop.c, loop_get_status).
    if ![0, status.device].contains(&status.rdevice) {
        return Some(Backing::Device(DeviceNumber::of(status.rdevice)));
    }
    let file = FileId(status.device, status.inode);
    (status.inode != 0).then(|| Backing::File(file, path.to_owned()))
}

/// As the path tells, where the driver may not be asked.
fn seen(path: &Path) -> Option<Backing> {
    let file = || Some(FileId::of(&fs::metadata(path).ok()?));
    number_of(path)
        .map(Backing::Device)
        .or_else(|| Some(Backing::File(file()?, path.to_owned())))
}
