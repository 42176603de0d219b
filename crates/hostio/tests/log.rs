//! Tests what real drives report: on every drive of this machine, and on what is no drive.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, config, directory, one};
use fathom_block::{Device, Op, Request};
use fathom_hostio::{LogError, drive_log, open};
use std::path::{Path, PathBuf};

/// Returns the block devices of this machine whose name begins with one of these.
fn drives(prefixes: &[&str]) -> Vec<PathBuf> {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten();
    names
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .map(|name| Path::new("/dev").join(name))
        .collect()
}

#[test]
fn a_drive_tells_its_log_or_why_not() {
    let drives = drives(&["nvme", "sd", "vd"]);
    if drives.is_empty() {
        println!("skipped: no drive");
    }
    for drive in drives {
        match drive_log(&drive) {
            Ok(log) => {
                println!("{}: {log:?}", drive.display());
                let celsius = log.temperature_celsius;
                assert!(celsius.is_none_or(|c| (-40..=150).contains(&c)), "{log:?}");
            }
            Err(error) => {
                println!("{error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn what_is_no_drive_says_so() {
    let disk = or_skip!(Loop::attach(1 << 20));
    let error = drive_log(&disk.device).unwrap_err();
    assert!(error.to_string().contains("loop device"), "{error}");
    let error = drive_log(Path::new("/proc/self/status")).unwrap_err();
    assert!(matches!(error, LogError::NoLog { .. }), "{error}");
}

#[test]
fn an_open_device_keeps_the_reason_and_goes_on() {
    let directory = directory();
    let config = config(directory.path(), |c| c.scratch_bytes = Some(1 << 20));
    let mut device = open(&config).unwrap();
    assert_eq!(device.log_error(), None);
    device.submit(Request::new(1, Op::Read, 0, 4096)).unwrap();
    assert_eq!(device.log(), None);
    assert_eq!(device.log_error(), Some(&LogError::RequestsInFlight));
    let asked = device.drive_log();
    assert_eq!(device.log_error(), asked.as_ref().err());
    let mut done = Vec::new();
    device.wait(fathom_base::Time::MAX, &mut done);
    assert_eq!(done.len(), 1);
    assert_eq!(device.log(), asked.ok());
    let read = one(&mut device, Request::new(2, Op::Read, 0, 4096));
    assert_eq!(read.result, Ok(()));
}
