//! Loop devices and their backing storage.
//!
//! sysfs shows the path of the backing file from when the loop device was set up. The driver reports the file's device and
//! inode numbers, which stay right after the file was renamed or unlinked, and in another namespace.

use super::number::{FileId, number_of};
use crate::ioctl::{self, LoopStatus};
use crate::node::{DeviceNumber, Node};
use crate::sysfs::text;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The backing storage of a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    Device(DeviceNumber),
    File(FileId, PathBuf),
}

/// A configured loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) name: String,
    pub(super) number: DeviceNumber,
    pub(super) backing: Backing,
}

/// Returns every configured loop device whose backing storage can be determined.
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

/// Returns the backing storage reported by the driver.
fn told(status: &LoopStatus, path: &Path) -> Option<Backing> {
    // For a file the number is 0, or in older kernels that of the file system (drivers/block/loop.c, loop_get_status).
    if ![0, status.device].contains(&status.rdevice) {
        return Some(Backing::Device(DeviceNumber::of(status.rdevice)));
    }
    let file = FileId(status.device, status.inode);
    (status.inode != 0).then(|| Backing::File(file, path.to_owned()))
}

/// Returns the backing storage by its path, for cases where the driver may not be queried.
fn seen(path: &Path) -> Option<Backing> {
    let file = || Some(FileId::of(&fs::metadata(path).ok()?));
    number_of(path)
        .map(Backing::Device)
        .or_else(|| Some(Backing::File(file()?, path.to_owned())))
}
