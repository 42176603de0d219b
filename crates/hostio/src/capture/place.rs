//! The devices of a capture: which events belong to it, and where a request is on its device.

use crate::error::{HostError, os_error};
use crate::node::{DeviceNumber, Node};
use crate::sysfs::number;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// The device that a capture was asked for.
#[derive(Clone, Debug)]
pub(super) struct Target {
    name: String,
    /// Number of the device, as in the events.
    dev: u32,
    /// Numbers that the events of the device may have.
    devs: Vec<u32>,
    /// First and last sector on the drive.
    first: u64,
    end: u64,
    /// Number of the whole drive.
    whole: u32,
}

fn packed(DeviceNumber(major, minor): DeviceNumber) -> u32 {
    major << 20 | minor
}

impl Target {
    /// Finds a block device.
    pub(super) fn of(path: &Path) -> Result<Self, HostError> {
        let unsuitable = |what: &str| HostError::Unsuitable {
            path: path.to_owned(),
            what: what.to_owned(),
            advice: "name a block device, such as /dev/nvme0n1 (`findmnt -T PATH` shows the one under a file)",
        };
        let found = fs::metadata(path).map_err(|error| os_error(path, "look at it", error))?;
        if !found.file_type().is_block_device() {
            return Err(unsuitable("it is no block device"));
        }
        let node = Node::find(DeviceNumber::of(found.rdev()));
        let node = node.ok_or_else(|| unsuitable("the kernel has no drive for it"))?;
        let dev = packed(node.number);
        let (first, sectors) = match node.whole() {
            Some(_) => (
                number(&node.dir.join("start")).unwrap_or(0),
                node.size_bytes() / 512,
            ),
            None => (0, u64::MAX),
        };
        let whole = node.whole();
        let parts = node.partitions();
        let others = whole.iter().chain(&parts).map(|other| packed(other.number));
        Ok(Self {
            dev,
            devs: [dev].into_iter().chain(others).collect(),
            first,
            end: first.saturating_add(sectors),
            whole: whole.as_ref().map_or(dev, |whole| packed(whole.number)),
            name: node.name,
        })
    }

    /// Returns the condition on events of the device.
    pub(super) fn filter(&self) -> String {
        let each = self.devs.iter().map(|dev| format!("dev == {dev}"));
        each.collect::<Vec<_>>().join(" || ")
    }

    /// Returns the first sector on the device of a request of the drive, if the request is one of the device.
    fn sector(&self, dev: u32, sector: u64, sectors: u32) -> Option<u64> {
        let on = dev == self.dev || self.devs.contains(&dev);
        // A flush has no place: it is one of the partition if it names it.
        if sectors == 0 {
            return (on && (dev == self.dev || self.dev == self.whole)).then_some(0);
        }
        let inside = (self.first..self.end).contains(&sector);
        (on && inside).then(|| sector - self.first)
    }
}

/// A request's device and its place on it.
pub(super) struct Place {
    /// Device, as major * 2^20 + minor.
    pub(super) disk: u32,
    /// First sector, from the device's start.
    pub(super) sector: u64,
}

/// Finds the place of requests: on the target, or on the whole drive of each.
#[derive(Debug)]
pub(super) struct Places {
    target: Option<Target>,
    /// The drive of each device seen.
    drives: BTreeMap<u32, (u32, String)>,
}

impl Places {
    pub(super) fn new(target: Option<Target>) -> Self {
        let known = target.iter().map(|t| (t.dev, (t.dev, t.name.clone())));
        Self {
            drives: known.collect(),
            target,
        }
    }

    /// Returns the place of a request; `None` if it is none of the target. The kernel gives sectors from the start of the
    /// drive, also for a partition.
    pub(super) fn place(&mut self, dev: u32, sector: u64, sectors: u32) -> Option<Place> {
        if let Some(target) = &self.target {
            let sector = target.sector(dev, sector, sectors)?;
            let disk = target.dev;
            return Some(Place { disk, sector });
        }
        let drive = self.drives.entry(dev).or_insert_with(|| drive_of(dev));
        let disk = drive.0;
        Some(Place { disk, sector })
    }

    /// Returns the name of a device.
    pub(super) fn name(&self, disk: u32) -> String {
        let mut drives = self.drives.values();
        let named = drives.find(|(number, _)| *number == disk);
        named.map_or_else(
            || format!("{}:{}", disk >> 20, disk & 0xf_ffff),
            |(_, name)| name.clone(),
        )
    }
}

/// Returns the whole drive of a device, with its name.
fn drive_of(dev: u32) -> (u32, String) {
    let (major, minor) = (dev >> 20, dev & 0xf_ffff);
    match Node::find(DeviceNumber(major, minor)) {
        Some(node) => {
            let drive = node.whole().unwrap_or(node);
            (packed(drive.number), drive.name)
        }
        None => (dev, format!("{major}:{minor}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVE: u32 = 8 << 20;

    fn target(dev: u32, devs: &[u32], first: u64, end: u64) -> Target {
        Target {
            name: "sdx".into(),
            dev,
            devs: devs.to_vec(),
            first,
            end,
            whole: DRIVE,
        }
    }

    #[test]
    fn a_partition_has_its_own_places() {
        let part = target(DRIVE + 1, &[DRIVE + 1, DRIVE], 2048, 4096);
        assert_eq!(part.filter(), "dev == 8388609 || dev == 8388608");
        assert_eq!(part.sector(DRIVE + 1, 2048, 8), Some(0));
        assert_eq!(part.sector(DRIVE, 4088, 8), Some(2040));
        assert_eq!(part.sector(DRIVE, 4096, 8), None);
        assert_eq!(part.sector(DRIVE, 0, 8), None);
        // A flush of the partition, and one of the drive.
        assert_eq!(part.sector(DRIVE + 1, u64::MAX, 0), Some(0));
        assert_eq!(part.sector(DRIVE, u64::MAX, 0), None);
    }

    #[test]
    fn a_drive_has_the_requests_of_its_partitions() {
        let drive = target(DRIVE, &[DRIVE, DRIVE + 1], 0, u64::MAX);
        assert_eq!(drive.sector(DRIVE + 1, 2048, 8), Some(2048));
        assert_eq!(drive.sector(DRIVE + 1, u64::MAX, 0), Some(0));
        assert_eq!(drive.sector(DRIVE + 16, 0, 8), None);
    }
}
