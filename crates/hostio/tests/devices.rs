//! The devices under a path, as the events of the kernel have them. A program of its own, because mounting starts others.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, Mounted, run};
use fathom_hostio::{IoDevices, inspect};
use std::fs;
use std::path::Path;

/// A Btrfs has a device number of its own, and its files are on all of its devices.
#[test]
fn a_file_in_btrfs_is_on_its_devices() {
    let each = or_skip!(Loop::attach(128 << 20));
    let other = or_skip!(Loop::attach(128 << 20));
    let args = ["-q", "-f", "-d", "raid0", each.path(), other.path()];
    if let Err(error) = run("mkfs.btrfs", &args) {
        println!("skipped: {error}");
        return;
    }
    let mounted = or_skip!(Mounted::mount(each.path()));
    let file = mounted.at().join("file");
    fs::write(&file, [7; 4096]).unwrap();
    let found = IoDevices::under(&file).unwrap();
    let number = |device: &Path| IoDevices::under(device).unwrap().issued;
    let mut both = [number(&each.device), number(&other.device)].concat();
    both.sort_unstable();
    assert_eq!((&found.queued, &found.issued), (&both, &both));
    let seen = inspect(&file).unwrap();
    assert_eq!(seen.file_system.as_deref(), Some("btrfs"));
}
