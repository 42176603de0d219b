//! Tests that the attributes of a loop device's request queue are changed, refused and restored by the kernel as
//! documented (Documentation/ABI/stable/sysfs-block).

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, directory};
use fathom_hostio::{DriveQueue, QueueChange, Setting};
use std::fs;
use std::path::Path;

fn wanted(all: &[(&str, &str)]) -> Vec<Setting> {
    let all = all.iter();
    all.map(|(attribute, value)| Setting {
        attribute: attribute.to_string(),
        value: value.to_string(),
    })
    .collect()
}

fn says(drive: &DriveQueue, attribute: &str) -> String {
    let text = fs::read_to_string(drive.path_of(attribute)).unwrap();
    text.trim().to_owned()
}

#[test]
fn a_loop_device_gets_its_old_values_back() {
    let Some(disk) = Loop::attach(1 << 20) else {
        return;
    };
    let drive = DriveQueue::of(Path::new(disk.path())).unwrap();
    assert_eq!(drive.name, disk.name());
    let journals = directory();
    let names = ["scheduler", "nr_requests", "read_ahead_kb", "wbt_lat_usec"];
    let before = names.map(|name| says(&drive, name));
    let ahead = match before[2].as_str() {
        "512" => "256",
        _ => "512",
    };
    let all = wanted(&[
        ("read_ahead_kb", ahead),
        ("nr_requests", "8"),
        ("scheduler", "mq-deadline"),
    ]);
    if !before[0].contains("mq-deadline") {
        println!("skipped: this kernel offers {}", before[0]);
        return;
    }
    let change = QueueChange::prepare(&drive, &all, journals.path()).unwrap();
    let refused = change.apply().unwrap();
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(says(&drive, "read_ahead_kb"), ahead);
    assert_eq!(says(&drive, "nr_requests"), "8");
    change.undo().unwrap();
    assert_eq!(names.map(|name| says(&drive, name)), before);
    change.apply().unwrap();
    drop(change);
    assert_eq!(names.map(|name| says(&drive, name)), before);
    assert_eq!(fs::read_dir(journals.path()).unwrap().count(), 0);
}

/// A value that the kernel refuses is named with what can be done, and the others are set.
#[test]
fn what_the_kernel_refuses_is_told_and_the_rest_is_set() {
    let Some(disk) = Loop::attach(1 << 20) else {
        return;
    };
    let drive = DriveQueue::of(Path::new(disk.path())).unwrap();
    let journals = directory();
    let before = says(&drive, "read_ahead_kb");
    let ahead = if before == "512" { "256" } else { "512" };
    // No loop device has so many tags, and no request is so long.
    let all = wanted(&[
        ("scheduler", "none-such"),
        ("nr_requests", "99999999"),
        ("max_sectors_kb", "2147483647"),
        ("read_ahead_kb", ahead),
    ]);
    let change = QueueChange::prepare(&drive, &all, journals.path()).unwrap();
    let refused = change.apply().unwrap();
    let names: Vec<&str> = refused.iter().map(|r| r.attribute.as_str()).collect();
    assert_eq!(
        names,
        ["scheduler", "nr_requests", "max_sectors_kb"],
        "{refused:?}"
    );
    // The kernel says nothing about some of them, and keeps the old value.
    let told = |error: &str| error.contains("Invalid argument") || error.contains("kept the old");
    assert!(
        refused.iter().all(|r| !r.help.is_empty() && told(&r.error)),
        "{refused:?}"
    );
    let set = change.changes();
    assert_eq!(set.len(), 1);
    assert_eq!(set[0], ["read_ahead_kb", &before, ahead].map(str::to_owned));
    assert!(change.apply().unwrap().is_empty(), "it is not tried again");
    change.restore().unwrap();
    assert_eq!(says(&drive, "read_ahead_kb"), before);
}

#[test]
fn the_drive_under_a_file_is_found_or_said_to_be_unseen() {
    let dir = directory();
    match DriveQueue::of(dir.path()) {
        Ok(drive) => assert!(drive.path_of("").is_dir(), "{drive:?}"),
        Err(error) => assert!(
            error.to_string().contains("sysfs shows no drive"),
            "{error}"
        ),
    }
    assert!(DriveQueue::of(Path::new("/nonexistent/fathom")).is_err());
    assert!(DriveQueue::of(Path::new("/dev/null")).is_err());
}
