//! Mounted file systems and swap, from `/proc` (proc(5)).

use super::number::{FileId, number_of};
use super::storage::Storage;
use crate::finding::Finding;
use crate::node::DeviceNumber;
use crate::sysfs::names_in;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo` (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) number: DeviceNumber,
    pub(crate) at: PathBuf,
    pub(crate) file_system: String,
    pub(crate) source: PathBuf,
}

/// Returns the mounts in this process's namespace.
fn mounts() -> Vec<Mount> {
    mounts_of("self")
}

/// Finds the mount that a file is in, by its path without symbolic links. The device number of a file does not tell: Btrfs
/// gives each subvolume one of its own.
pub(crate) fn mount_of(path: &Path) -> Option<Mount> {
    let above = mounts()
        .into_iter()
        .filter(|mount| path.starts_with(&mount.at));
    // Of several mounts at one place, the last one is seen.
    above.max_by_key(|mount| mount.at.components().count())
}

/// Returns the mounts that a process sees.
fn mounts_of(process: &str) -> Vec<Mount> {
    let text = fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    text.lines().filter_map(parse_mount).collect()
}

/// Returns the mounts of every visible namespace, this process's first.
fn mounts_everywhere() -> Vec<Mount> {
    let namespace = |process: &str| {
        let link = format!("/proc/{process}/ns/mnt");
        fs::metadata(link).map(|m| m.ino()).ok()
    };
    let mut known: BTreeSet<u64> = namespace("self").into_iter().collect();
    let mut all = mounts();
    for process in names_in(Path::new("/proc")) {
        if namespace(&process).is_some_and(|ns| known.insert(ns)) {
            all.extend(mounts_of(&process));
        }
    }
    all
}

/// Finds the mounts of shared devices.
pub(super) fn findings(storage: &Storage) -> Vec<Finding> {
    let mut found = Vec::new();
    for mount in mounts_everywhere() {
        // A Btrfs mount has a device number of its own; its source is the device.
        let absolute = mount.source.is_absolute();
        let device = || storage.device(number_of(&mount.source)?);
        // EROFS can mount a file without a loop device.
        let file = || storage.file(FileId::of(&fs::metadata(&mount.source).ok()?));
        let used = storage
            .device(mount.number)
            .or_else(|| device().filter(|_| absolute))
            .map(str::to_owned)
            .or_else(|| Some(file().filter(|_| absolute)?.display().to_string()));
        let finding = used.map(|device| Finding::Mounted {
            device,
            at: mount.at.clone(),
        });
        found.extend(finding.filter(|finding| !found.contains(finding)));
    }
    found
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

/// Decodes the octal escapes of `/proc` (`\040` is a space).
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

/// Returns the devices and files used as swap, from the text of `/proc/swaps`.
pub(super) fn parse_swaps(text: &str) -> Vec<PathBuf> {
    let first = |line: &str| line.split_whitespace().next().map(unescape);
    text.lines().skip(1).filter_map(first).collect()
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

    /// If the root file system is on a block device, that device must be found in use.
    #[test]
    fn the_device_under_the_root_is_in_use() {
        let root = DeviceNumber::of(fs::metadata("/").unwrap().dev());
        let Some(node) = crate::node::Node::find(root) else {
            println!("skipped: the root file system is on no block device of its own");
            return;
        };
        let mounted = |f: &Finding| matches!(f, Finding::Mounted { .. });
        let storage = crate::usage::of_device(&node);
        assert!(findings(&storage).iter().any(mounted));
    }
}
