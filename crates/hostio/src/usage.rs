//! Who uses a block device: mounts, swap and other drivers, as `/proc` and sysfs tell.

use crate::identity::{DeviceNumber, Node};
use crate::safety::Finding;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo` (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) number: DeviceNumber,
    pub(crate) at: PathBuf,
    pub(crate) file_system: String,
    pub(crate) source: PathBuf,
}

/// The mounts of this process' namespace.
pub(crate) fn mounts() -> Vec<Mount> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let mut right = right.split(' ');
    Some(Mount {
        number: DeviceNumber::parse(left.get(2)?)?,
        at: unescape(left.get(4)?),
        file_system: right.next()?.to_owned(),
        source: unescape(right.next()?),
    })
}

/// Undoes the octal escapes of `/proc` (`\040` is a space).
fn unescape(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let octal = text
            .get(i + 1..i + 4)
            .and_then(|d| u8::from_str_radix(d, 8).ok());
        match (bytes[i], octal) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                i += 4;
            }
            (byte, _) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    std::ffi::OsString::from_vec(out).into()
}

/// What is used as swap: devices and files.
fn swaps() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    parse_swaps(&text)
}

fn parse_swaps(text: &str) -> Vec<PathBuf> {
    let first = |line: &str| line.split_whitespace().next().map(unescape);
    text.lines().skip(1).filter_map(first).collect()
}

fn number_of(path: &Path) -> Option<DeviceNumber> {
    let metadata = fs::metadata(path).ok()?;
    let block = metadata.file_type().is_block_device();
    block.then(|| DeviceNumber::of(metadata.rdev()))
}

/// Everything that uses a device or one of its partitions, and that it has partitions.
pub(crate) fn of_device(node: &Node) -> Vec<Finding> {
    let partitions = node.partitions();
    let mut found = Vec::new();
    let mounts = mounts();
    let swaps = swaps();
    for part in std::iter::once(node).chain(&partitions) {
        // A Btrfs mount has a number of its own; its source is the device.
        let on_it = |m: &&Mount| {
            m.number == part.number
                || m.source.is_absolute() && number_of(&m.source) == Some(part.number)
        };
        found.extend(mounts.iter().filter(on_it).map(|m| Finding::Mounted {
            device: part.name.clone(),
            at: m.at.clone(),
        }));
        found.extend(part.holders().into_iter().map(|holder| Finding::Held {
            device: part.name.clone(),
            holder,
        }));
        let swap_on_it = swaps.iter().any(|s| number_of(s) == Some(part.number));
        found.extend(swap_on_it.then(|| Finding::Swap {
            device: part.name.clone(),
        }));
    }
    if !partitions.is_empty() {
        let partitions = partitions.into_iter().map(|p| p.name).collect();
        found.push(Finding::Partitioned { partitions });
    }
    found
}

/// Whether a regular file is swap, or under a loop device.
pub(crate) fn of_file(metadata: &fs::Metadata) -> Vec<Finding> {
    let same = |path: &Path| {
        fs::metadata(path).is_ok_and(|m| (m.dev(), m.ino()) == (metadata.dev(), metadata.ino()))
    };
    let mut found = Vec::new();
    found.extend(swaps().iter().filter(|s| same(s)).map(|s| Finding::Swap {
        device: s.display().to_string(),
    }));
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file"));
        if backing.is_ok_and(|file| same(Path::new(file.trim_end_matches('\n')))) {
            let device = entry.file_name().to_string_lossy().into_owned();
            found.push(Finding::LoopBacking { device });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_line_is_read_with_its_escapes_and_optional_fields() {
        let line = r"36 35 98:0 /mnt1 /mnt/my\040disk\134x rw,noatime master:1 shared:2 - ext3 /dev/ro\011ot rw";
        let mount = parse_mount(line).unwrap();
        assert_eq!(mount.number, DeviceNumber(98, 0));
        assert_eq!(mount.at, Path::new(r"/mnt/my disk\x"));
        assert_eq!(mount.file_system, "ext3");
        assert_eq!(mount.source, Path::new("/dev/ro\tot"));
        for bad in ["", "36 35 98:0", "36 35 x:0 / / rw - ext3 /dev/x rw", " - "] {
            assert_eq!(parse_mount(bad), None, "{bad}");
        }
    }

    #[test]
    fn swaps_are_read_without_their_header() {
        let text =
            "Filename\t\tType\t\tSize\n/dev/sda2 partition 8 0 -2\n/my\\040swap file 8 0 -3\n";
        let expected: [PathBuf; 2] = ["/dev/sda2".into(), "/my swap".into()];
        assert_eq!(parse_swaps(text), expected);
    }

    /// Wherever the root file system lies on a block device, that device is in use.
    #[test]
    fn the_device_under_the_root_is_in_use() {
        let root = DeviceNumber::of(fs::metadata("/").unwrap().dev());
        let Some(node) = Node::find(root) else {
            println!("skipped: the root file system is on no block device of its own");
            return;
        };
        let mounted = |f: &Finding| matches!(f, Finding::Mounted { .. });
        assert!(of_device(&node).iter().any(mounted));
    }
}
