//! A block device in sysfs, and the devices it is made of.

use crate::identity::{self, Identity};
use crate::sysfs::{names_in, number, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Major and minor number of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeviceNumber(pub(crate) u32, pub(crate) u32);

impl DeviceNumber {
    pub(crate) fn of(device: u64) -> Self {
        Self(rustix::fs::major(device), rustix::fs::minor(device))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim_end().split_once(':')?;
        Some(Self(major.parse().ok()?, minor.parse().ok()?))
    }
}

/// A block device in sysfs: a drive or a partition.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) number: DeviceNumber,
    pub(crate) dir: PathBuf,
}

impl Node {
    /// Finds the block device with this number.
    pub(crate) fn find(number: DeviceNumber) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", number.0, number.1);
        Self::at(&fs::canonicalize(link).ok()?)
    }

    /// Reads the block device in this sysfs directory.
    pub(crate) fn at(dir: &Path) -> Option<Self> {
        Some(Self {
            name: dir.file_name()?.to_str()?.to_owned(),
            number: DeviceNumber::parse(&fs::read_to_string(dir.join("dev")).ok()?)?,
            dir: dir.to_owned(),
        })
    }

    /// Returns every whole drive of the machine.
    pub(crate) fn drives() -> Vec<Self> {
        let named =
            |name: String| Self::at(&fs::canonicalize(Path::new("/sys/block").join(name)).ok()?);
        names_in(Path::new("/sys/block"))
            .into_iter()
            .filter_map(named)
            .collect()
    }

    /// Returns the partitions, ordered by number.
    pub(crate) fn partitions(&self) -> Vec<Node> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let parts = entries.filter(|e| e.path().join("partition").exists());
        let mut nodes: Vec<Node> = parts.filter_map(|e| Self::at(&e.path())).collect();
        nodes.sort_by_key(|n| (n.name.len(), n.name.clone()));
        nodes
    }

    /// Returns the drive of a partition; `None` for a whole drive.
    pub(crate) fn whole(&self) -> Option<Node> {
        let partition = self.dir.join("partition").exists();
        Self::at(self.dir.parent().filter(|_| partition)?)
    }

    /// Returns the kernel names of the devices built on it.
    pub(crate) fn holders(&self) -> Vec<String> {
        names_in(&self.dir.join("holders"))
    }

    /// Returns the devices it is made of (device-mapper, md).
    pub(crate) fn slaves(&self) -> Vec<Node> {
        let dir = self.dir.join("slaves");
        let nodes = names_in(&dir).into_iter();
        nodes
            .filter_map(|name| Self::at(&fs::canonicalize(dir.join(name)).ok()?))
            .collect()
    }

    /// Returns the drive's world-wide name, which is the same on every path to it, if the drive reports one.
    pub(crate) fn world_wide_name(&self) -> Option<String> {
        let drive = self.drive_dir();
        text(&drive.join("wwid")).or_else(|| text(&drive.join("device/wwid")))
    }

    /// Returns the numbers of the character devices that access the same drive without the block layer (SCSI and NVMe
    /// generic).
    pub(crate) fn character_devices(&self) -> Vec<DeviceNumber> {
        let device = self.drive_dir().join("device");
        let mut dirs = vec![device.join("scsi_generic"), device.join("bsg")];
        dirs.extend([device.join("nvme-generic"), device.clone()]);
        let of = |dir: PathBuf| {
            let generic = |name: &String| {
                name.starts_with("sg") || name.starts_with("ng") || name.contains(':')
            };
            let names = names_in(&dir).into_iter().filter(generic);
            names
                .filter_map(|name| DeviceNumber::parse(&text(&dir.join(name).join("dev"))?))
                .collect::<Vec<_>>()
        };
        dirs.into_iter().flat_map(of).collect()
    }

    /// Returns the size in bytes.
    pub(crate) fn size_bytes(&self) -> u64 {
        // sysfs counts in sectors of 512 bytes, whatever the logical block size.
        number(&self.dir.join("size"))
            .unwrap_or(0)
            .saturating_mul(512)
    }

    /// Returns the sectors of 512 bytes written since the device appeared (kernel documentation, block/stat.rst).
    pub(crate) fn sectors_written(&self) -> Option<u64> {
        let stat = text(&self.dir.join("stat"))?;
        stat.split_whitespace().nth(6)?.parse().ok()
    }

    /// Returns true if the kernel refuses writes to it.
    pub(crate) fn write_protected(&self) -> bool {
        number(&self.dir.join("ro")) == Some(1)
    }

    /// Returns how the drive is zoned, such as `host-managed`; `None` for a drive without zones (kernel documentation,
    /// ABI/stable/sysfs-block, `queue/zoned`).
    pub(crate) fn zoned(&self) -> Option<String> {
        text(&self.drive_dir().join("queue/zoned")).filter(|zoned| zoned != "none")
    }

    /// Returns the sysfs directory of the whole drive: its own, or its parent's for a partition.
    pub(crate) fn drive_dir(&self) -> &Path {
        let is_partition = self.dir.join("partition").exists();
        let parent = self.dir.parent().filter(|_| is_partition);
        parent.unwrap_or(&self.dir)
    }

    /// Returns the identity of the drive.
    pub(crate) fn identity(&self) -> Identity {
        identity::of_drive(self.drive_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_to_a_drive_are_read_from_sysfs() {
        let root = tempfile::tempdir().unwrap();
        let drive = root.path().join("sdx");
        let part = drive.join("sdx1");
        for (name, text) in [
            ("dev", "8:16\n"),
            ("device/wwid", "naa.5000c500a1b2c3d4\n"),
            ("device/scsi_generic/sg3/dev", "21:3\n"),
            ("device/bsg/0:0:0:0/dev", "250:1\n"),
            ("device/power/control", "auto\n"),
            ("sdx1/partition", "1\n"),
            ("sdx1/dev", "8:17\n"),
            ("queue/zoned", "host-managed\n"),
        ] {
            let path = drive.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let part = Node::at(&part).unwrap();
        assert_eq!(part.whole().unwrap().number, DeviceNumber(8, 16));
        assert!(part.whole().unwrap().whole().is_none());
        assert_eq!(part.zoned().as_deref(), Some("host-managed"));
        fs::write(drive.join("queue/zoned"), "none\n").unwrap();
        assert_eq!(part.zoned(), None);
        assert_eq!(
            part.world_wide_name().as_deref(),
            Some("naa.5000c500a1b2c3d4")
        );
        let characters = part.character_devices();
        assert_eq!(characters, [DeviceNumber(21, 3), DeviceNumber(250, 1)]);
    }
}
