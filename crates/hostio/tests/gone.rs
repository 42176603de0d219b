//! Tests that a device which disappears while it is open fails its requests with that reason.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, destroying, one, run};
use fathom_block::{Device, IoErrorKind, Op, Request};
use fathom_hostio::{HostDevice, open};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

/// Returns the errors of a read, a write and a trim.
fn errors(device: &mut HostDevice) -> Vec<Option<IoErrorKind>> {
    let mut ops = vec![Op::Read, Op::Write];
    ops.extend(device.info().trim.then_some(Op::Trim));
    let mut outcome = |op| {
        let done = one(device, Request::new(1, op, 65_536, 65_536));
        done.result.err().map(|error| error.kind)
    };
    ops.into_iter().map(&mut outcome).collect()
}

fn all_gone(errors: &[Option<IoErrorKind>]) -> bool {
    errors.iter().all(|kind| *kind == Some(IoErrorKind::Gone))
}

/// A drive whose controller died has the size 0, as this loop device has when its file is cut to nothing.
#[test]
fn a_device_that_lost_its_storage_is_gone() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let mut device = open(&destroying(&disk.device)).unwrap();
    assert!(errors(&mut device).iter().all(Option::is_none));
    std::fs::File::options()
        .write(true)
        .open(&disk.file)
        .unwrap()
        .set_len(0)
        .unwrap();
    run("losetup", &["-c", disk.path()]).unwrap();
    let errors = errors(&mut device);
    assert!(all_gone(&errors), "{errors:?}");
    let outside = one(&mut device, Request::new(1, Op::Read, 16 * MIB, 4096));
    assert_eq!(outside.result.unwrap_err().kind, IoErrorKind::Gone);
}

/// A device that has only become shorter is still there: its last block fails, and its first does not.
#[test]
fn a_device_that_became_shorter_is_not_gone() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let mut device = open(&destroying(&disk.device)).unwrap();
    std::fs::File::options()
        .write(true)
        .open(&disk.file)
        .unwrap()
        .set_len(8 * MIB)
        .unwrap();
    run("losetup", &["-c", disk.path()]).unwrap();
    let last = one(&mut device, Request::new(1, Op::Read, 12 * MIB, 4096));
    let kind = last.result.unwrap_err().kind;
    assert!(matches!(kind, IoErrorKind::OutOfRange), "{kind}");
    assert!(errors(&mut device).iter().all(Option::is_none));
}

/// A disk in memory of the kernel's module scsi_debug; the module is unloaded on drop.
struct Debug(PathBuf);

impl Debug {
    fn load() -> Option<Self> {
        if let Err(error) = run("modprobe", &["scsi_debug", "dev_size_mb=16", "lbpu=1"]) {
            println!("skipped: no scsi_debug ({error})");
            return None;
        }
        // The disk appears some milliseconds later.
        for _ in 0..100 {
            run("sleep", &["0.02"]).unwrap();
            let names = std::fs::read_dir("/sys/block").into_iter().flatten();
            let is_ours = |dir: &PathBuf| {
                let model = std::fs::read_to_string(dir.join("device/model"));
                model.is_ok_and(|model| model.trim() == "scsi_debug")
            };
            if let Some(dir) = names.flatten().map(|e| e.path()).find(is_ours) {
                return Some(Self(dir));
            }
        }
        println!("skipped: scsi_debug has no disk");
        None
    }
}

impl Drop for Debug {
    fn drop(&mut self) {
        if let Err(error) = run("modprobe", &["-r", "scsi_debug"]) {
            println!("{error}");
        }
    }
}

#[test]
fn a_drive_that_is_pulled_out_is_gone() {
    let disk = or_skip!(Debug::load());
    let path = Path::new("/dev").join(disk.0.file_name().unwrap());
    let mut device = open(&destroying(&path)).unwrap();
    assert!(errors(&mut device).iter().all(Option::is_none));
    std::fs::write(disk.0.join("device/delete"), "1").unwrap();
    let errors = errors(&mut device);
    assert!(all_gone(&errors), "{errors:?}");
    assert_eq!(device.log(), None);
    assert!(device.log_error().is_some());
}
