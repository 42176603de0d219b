//! Users inside the kernel, as shown by sysfs, configfs and `/proc/swaps`.

use super::loops::{Backing, loops};
use super::mounts::parse_swaps;
use super::number::{FileId, number_of};
use super::storage::{Shared, Storage, Way};
use crate::finding::Finding;
use crate::sysfs::names_in;
use std::fs;
use std::path::{Path, PathBuf};

/// Attributes with the path of a kernel driver's backing storage; `*` stands for any name. Not all of these drivers hold the
/// storage exclusively.
const PATHS: &[(&str, &str)] = &[
    ("zram", "/sys/block/*/backing_dev"),
    (
        "the NVMe target",
        "/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path",
    ),
    (
        "the SCSI target",
        "/sys/kernel/config/target/core/*/*/udev_path",
    ),
    (
        "a USB gadget",
        "/sys/kernel/config/usb_gadget/*/functions/*/*/file",
    ),
];

/// Finds swap, holders, loop devices, Btrfs members and exported targets.
pub(super) fn findings(storage: &Storage) -> Vec<Finding> {
    let mut found = Vec::new();
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let swaps = parse_swaps(&swaps);
    found.extend(
        swaps
            .iter()
            .filter_map(|path| used(storage, path))
            .map(|device| Finding::Swap { device }),
    );
    let held = storage
        .devices
        .iter()
        .filter(|shared| shared.way != Some(Way::Array));
    for Shared { node, .. } in held {
        let holders = node.holders().into_iter().chain(btrfs_over(&node.name));
        found.extend(holders.map(|holder| Finding::Held {
            device: node.name.clone(),
            holder,
        }));
    }
    found.extend(loops_over(storage));
    for (driver, pattern) in PATHS {
        let paths = expand(Path::new("/"), pattern)
            .into_iter()
            .filter_map(|attribute| {
                let path = fs::read_to_string(attribute).ok()?;
                used(storage, Path::new(path.trim()))
            });
        found.extend(paths.map(|device| Finding::Held {
            device,
            holder: (*driver).to_owned(),
        }));
    }
    found
}

/// Returns the name of the shared device or file at a path.
fn used(storage: &Storage, path: &Path) -> Option<String> {
    if !path.is_absolute() {
        return None;
    }
    if let Some(number) = number_of(path) {
        return storage.device(number).map(str::to_owned);
    }
    let id = FileId::of(&fs::metadata(path).ok()?);
    Some(storage.file(id)?.display().to_string())
}

/// Returns the mounted Btrfs that a device is a member of. A Btrfs mount names only one of its devices.
fn btrfs_over(device: &str) -> Option<String> {
    let all = Path::new("/sys/fs/btrfs");
    let uuids = names_in(all).into_iter();
    let mut with = uuids.filter(|uuid| all.join(uuid).join("devices").join(device).exists());
    with.next().map(|uuid| format!("the Btrfs {uuid}"))
}

fn loops_over(storage: &Storage) -> Vec<Finding> {
    let over = |backing: &Backing| match backing {
        Backing::Device(number) => {
            let shared = storage.devices.iter().find(|d| d.node.number == *number)?;
            Some((shared.node.name.clone(), shared.way.as_ref()))
        }
        Backing::File(id, _) => {
            let shared = storage.files.iter().find(|f| f.id == *id)?;
            Some((shared.path.display().to_string(), shared.way.as_ref()))
        }
    };
    let mut found = Vec::new();
    for of in loops() {
        if let Some((backing, way)) = over(&of.backing)
            && way != Some(&Way::Loop(of.name.clone()))
        {
            found.push(Finding::LoopBacking {
                device: of.name,
                backing,
            });
        }
    }
    found
}

/// Returns every existing path below `root` that matches a pattern; `*` stands for a whole name.
fn expand(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    parts.fold(vec![root.to_owned()], |paths, part| {
        let next = |path: PathBuf| match part {
            "*" => names_in(&path)
                .into_iter()
                .map(|name| path.join(name))
                .collect(),
            name => vec![path.join(name)],
        };
        let found: Vec<PathBuf> = paths.into_iter().flat_map(next).collect();
        found.into_iter().filter(|path| path.exists()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_what_is_there() {
        let root = tempfile::tempdir().unwrap();
        let file = root
            .path()
            .join("config/nvmet/subsystems/a/namespaces/1/device_path");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "/dev/sdx\n").unwrap();
        let found = expand(
            root.path(),
            "/config/nvmet/subsystems/*/namespaces/*/device_path",
        );
        assert_eq!(found, [file]);
        assert!(expand(root.path(), "/config/*/x").is_empty());
    }
}
