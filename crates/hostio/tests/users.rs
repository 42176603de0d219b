//! Tests every user that does not hold a target exclusively: loop devices, processes, mappings, locks. Each must be refused,
//! whatever `destroy` names, and must be named in the refusal. Once the user is gone, the target must be writable.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.
#![allow(unsafe_code)] // One mapping, which is never read.

mod common;

use common::{Loop, Mounted, destroying, found, one, refusal, run};
use fathom_block::{Op, Request};
use fathom_hostio::{Clearance, Finding, HostConfig, HostDevice, open};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MIB: u64 = 1 << 20;

/// Returns the findings of a target that `destroy` names. It must be refused nevertheless and stay unchanged.
fn refused(path: &Path) -> Vec<Finding> {
    found(refusal(&destroying(path)))
}

/// Checks that a target is refused with such a finding among others.
#[track_caller]
fn refused_by(path: &Path, wanted: impl Fn(&Finding) -> bool) {
    let findings = refused(path);
    assert!(findings.iter().any(wanted), "{findings:?}");
}

/// A child process that runs until it is dropped.
struct Running(Child);

impl Running {
    /// Starts a process with the file as its standard input.
    fn holding(file: File) -> Self {
        let mut command = Command::new("sleep");
        command.arg("600").stdin(file);
        Self(command.spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Returns true if the finding is that this process has something open.
    fn opened(&self, finding: &Finding) -> bool {
        matches!(finding, Finding::Opened { by, .. } if by.pid == self.pid())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A file of 2 MiB on a drive.
fn file() -> (tempfile::TempDir, PathBuf) {
    let directory = common::directory();
    let path = directory.path().canonicalize().unwrap().join("precious");
    std::fs::write(&path, vec![0x17; 2 * MIB as usize]).unwrap();
    (directory, path)
}

/// Checks that a file without users can be written to.
fn writable(path: &Path) {
    let mut device = open(&destroying(path)).unwrap();
    let done = one(&mut device, Request::new(1, Op::Write, 0, 4096));
    assert_eq!(done.result, Ok(()));
}

#[test]
fn a_device_under_a_loop_device_is_refused_mounted_or_not() {
    let disk = or_skip!(Loop::attach(32 * MIB));
    let upper = or_skip!(Loop::over(&disk.device, &["-o", "8388608"]));
    let stands = Finding::LoopBacking {
        device: upper.name().into(),
        backing: disk.name().into(),
    };
    assert_eq!(refused(&disk.device), std::slice::from_ref(&stands));
    let mounted = or_skip!(Mounted::ext4(upper.path()));
    std::fs::write(mounted.at().join("precious"), "data").unwrap();
    run("sync", &[]).unwrap();
    assert_eq!(refused(&disk.device), [stands]);
    drop(mounted);
    drop(upper);
    assert!(open(&destroying(&disk.device)).is_ok());
}

/// The storage below a target is overwritten with it.
#[test]
fn a_device_over_something_that_is_used_is_refused() {
    let disk = or_skip!(Loop::attach(32 * MIB));
    let upper = or_skip!(Loop::over(&disk.device, &["-o", "8388608"]));
    let device = |name: &str| name.to_owned();
    let other = or_skip!(Loop::over(&disk.device, &[]));
    let stands = Finding::LoopBacking {
        device: device(other.name()),
        backing: device(disk.name()),
    };
    assert_eq!(refused(&upper.device), [stands]);
    drop(other);
    // A second loop device over the same file.
    let twin = or_skip!(Loop::over(&disk.file, &[]));
    let findings = refused(&upper.device);
    assert!(
        matches!(&findings[..], [Finding::LoopBacking { device, .. }] if device == twin.name()),
        "{findings:?}"
    );
    drop(twin);
    // Claimed as the kernel claims a mounted device, by a process that the scan can find.
    let claim = open(&HostConfig {
        destroy: None,
        ..destroying(&disk.device)
    });
    assert!(claim.is_err(), "the lower device has the upper one over it");
    let mounted = or_skip!(Mounted::ext4(disk.path()));
    refused_by(
        &upper.device,
        |f| matches!(f, Finding::Mounted { device, .. } if device == disk.name()),
    );
    drop(mounted);
    assert!(open(&destroying(&upper.device)).is_ok());
}

#[test]
fn a_process_that_has_a_device_open_is_named() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    // A device node with another name: the device number counts, not the name.
    let directory = common::directory();
    let node = directory.path().join("node");
    let number = run("stat", &["-c", "%Hr %Lr", disk.path()]).unwrap();
    let (major, minor) = number.split_once(' ').unwrap();
    run("mknod", &[node.to_str().unwrap(), "b", major, minor]).unwrap();
    for write in [false, true] {
        let opened = OpenOptions::new().read(true).write(write).open(&node);
        let holder = Running::holding(opened.unwrap());
        let findings = refused(&disk.device);
        let [Finding::Opened { what, by, writing }] = &findings[..] else {
            panic!("{findings:?}");
        };
        assert_eq!(
            (what.as_str(), by.pid, *writing),
            (disk.name(), holder.pid(), write)
        );
        assert_eq!(by.command, "sleep");
    }
    assert!(open(&destroying(&disk.device)).is_ok());
}

#[test]
fn a_file_that_a_process_has_open_is_refused_until_it_is_closed() {
    let (_directory, path) = file();
    let before = std::fs::read(&path).unwrap();
    let holder = Running::holding(File::open(&path).unwrap());
    // Another name of the same file (hard link).
    let link = path.with_extension("link");
    std::fs::hard_link(&path, &link).unwrap();
    for name in [&path, &link] {
        refused_by(name, |f| holder.opened(f));
    }
    assert!(before == std::fs::read(&path).unwrap());
    drop(holder);
    writable(&path);
}

#[test]
fn a_locked_file_is_refused_and_the_kind_of_lock_named() {
    let (_directory, path) = file();
    let child = Command::new("flock")
        .args(["--exclusive", "--no-fork"])
        .arg(&path)
        .args(["sleep", "600"])
        .stdin(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        println!("skipped: flock(1) is not installed");
        return;
    };
    let holder = Running(child);
    until(|| {
        std::fs::read_to_string("/proc/locks")
            .is_ok_and(|l| l.contains(&format!(" {} ", holder.pid())))
    });
    refused_by(
        &path,
        |f| matches!(f, Finding::Locked { kind, by: Some(by), .. } if kind == "flock" && by.pid == holder.pid()),
    );
    drop(holder);
    writable(&path);
}

fn until(ready: impl Fn() -> bool) {
    let waited = (0..10_000).any(|_| {
        std::thread::yield_now();
        run("sleep", &["0.01"]).unwrap();
        ready()
    });
    assert!(waited);
}

/// Like a database that maps its file and closes the descriptor.
#[test]
fn a_mapped_file_is_refused() {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let (_directory, path) = file();
    let opened = File::open(&path).unwrap();
    let len = 4096;
    // SAFETY: a new mapping at an address chosen by the kernel; nothing reads or writes it.
    let at = unsafe {
        mmap(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ,
            MapFlags::SHARED,
            &opened,
            0,
        )
        .unwrap()
    };
    drop(opened);
    let renamed = path.with_extension("renamed");
    std::fs::rename(&path, &renamed).unwrap();
    let us = std::process::id();
    refused_by(
        &renamed,
        |f| matches!(f, Finding::Mapped { by, .. } if by.pid == us),
    );
    // SAFETY: the mapping from above, which is not used any more.
    unsafe { munmap(at, len).unwrap() };
    writable(&renamed);
}

#[test]
fn one_of_two_runs_on_one_file_is_refused() {
    let (_directory, path) = file();
    let first = open(&destroying(&path)).unwrap();
    assert!(!refused(&path).is_empty());
    drop(first);
    writable(&path);
}

/// An open device is locked with flock(2), so a tool that only tries the lock, without a scan for users, must fail.
#[test]
fn a_device_is_locked_for_tools_that_ask() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    let opened = open(&destroying(&disk.device)).unwrap();
    let asked = run("flock", &["--nonblock", disk.path(), "true"]);
    assert!(
        asked.is_err(),
        "the device is not locked while it is measured"
    );
    drop(opened);
    assert!(run("flock", &["--nonblock", disk.path(), "true"]).is_ok());
}

/// Checks that a second look has such a finding among others.
#[track_caller]
fn renewed(clearance: &Clearance, wanted: impl Fn(&Finding) -> bool) {
    let findings = found(clearance.renew().unwrap_err());
    assert!(findings.iter().any(wanted), "{findings:?}");
}

/// Users that appear while the user is being asked.
#[test]
fn a_second_look_sees_what_came_in_between() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    let device = open(&destroying(&disk.device)).unwrap();
    let clearance = device.clearance().clone();
    clearance.renew().unwrap();
    // A loop device over it.
    let upper = or_skip!(Loop::over(&disk.device, &["-o", "8388608"]));
    renewed(&clearance, |f| matches!(f, Finding::LoopBacking { .. }));
    drop(upper);
    until(|| clearance.renew().is_ok());
    // A write outside the inspected ranges: the kernel's count of sectors written reveals it.
    disk.plant(5 * MIB + 12_288, &[1; 4096]);
    renewed(&clearance, |f| matches!(f, Finding::Changed { .. }));
    let device_again = {
        drop(device);
        open(&destroying(&disk.device)).unwrap()
    };
    let clearance = device_again.clearance().clone();
    // A new header: `destroy` named the device, but not with these contents.
    disk.plant(0, b"LUKS\xba\xbe");
    renewed(
        &clearance,
        |f| matches!(f, Finding::Signature(s) if s.name == "LUKS"),
    );
    // The same without the page cache, through the backing file.
    use std::os::unix::fs::FileExt;
    let below = OpenOptions::new().write(true).open(&disk.file).unwrap();
    below.write_all_at(b"XFSB", 0).unwrap();
    below.sync_all().unwrap();
    drop(below);
    renewed(
        &clearance,
        |f| matches!(f, Finding::Signature(s) if s.name == "XFS"),
    );
}

/// Checks that a second look finds a change and nothing else.
#[track_caller]
fn changed(device: &HostDevice) {
    let findings = found(device.clearance().renew().unwrap_err());
    assert!(
        matches!(findings[..], [Finding::Changed { .. }]),
        "{findings:?}"
    );
}

#[test]
fn a_file_that_was_written_to_in_between_is_refused() {
    let (_directory, path) = file();
    let device = open(&destroying(&path)).unwrap();
    device.clearance().renew().unwrap();
    std::fs::write(&path, vec![0x18; 2 * MIB as usize]).unwrap();
    changed(&device);
}

#[test]
fn a_file_that_was_removed_in_between_is_refused() {
    let (_directory, path) = file();
    let device = open(&destroying(&path)).unwrap();
    std::fs::remove_file(&path).unwrap();
    changed(&device);
}

/// The partition in use is below a loop device, and the target is another loop device over the whole drive.
#[test]
fn what_is_used_beside_the_way_to_the_target_is_refused() {
    let disk = or_skip!(Loop::attach(64 * MIB));
    if let Err(error) = run("addpart", &[disk.path(), "1", "16384", "32768"]) {
        println!("skipped: {error}");
        return;
    }
    let partition = PathBuf::from(format!("{}p1", disk.path()));
    let inner = or_skip!(Loop::over(&partition, &[]));
    let outer = or_skip!(Loop::over(&disk.device, &[]));
    refused_by(
        &outer.device,
        |f| matches!(f, Finding::LoopBacking { device, .. } if device == inner.name()),
    );
    drop(inner);
    let holder = Running::holding(File::open(&partition).unwrap());
    refused_by(&outer.device, |f| holder.opened(f));
}

/// A thread with a descriptor table of its own, or one that outlives the process's first thread.
#[test]
fn a_file_of_a_lone_thread_is_refused() {
    let (_directory, path) = file();
    let program = "import ctypes, sys, threading, time\n\
        f = open(sys.argv[1], 'r+b')\n\
        threading.Thread(target=time.sleep, args=(600,)).start()\n\
        time.sleep(0.2)\n\
        print('ready', flush=True)\n\
        ctypes.CDLL(None).syscall(60, 0)\n";
    let child = Command::new("python3")
        .args(["-c", program])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: python3 is not installed");
        return;
    };
    let mut said = [0; 6];
    std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    let holder = Running(child);
    run("sleep", &["0.3"]).unwrap();
    refused_by(&path, |f| holder.opened(f));
}

/// The file is open by its name in an overlay, where it appears as a different file.
#[test]
fn a_file_that_is_open_through_an_overlay_is_refused() {
    let directory = common::directory();
    let at = |name: &str| directory.path().join(name);
    for name in ["lower", "upper", "work", "merged"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    let path = at("upper").join("disk");
    std::fs::write(&path, vec![0x17; 2 * MIB as usize]).unwrap();
    let [lower, upper, work] =
        ["lower", "upper", "work"].map(|name| at(name).display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let merged = at("merged");
    let mount = [
        "-t",
        "overlay",
        "overlay",
        "-o",
        &options,
        merged.to_str().unwrap(),
    ];
    if let Err(error) = run("mount", &mount) {
        println!("skipped: {error}");
        return;
    }
    let holder = Running::holding(File::open(merged.join("disk")).unwrap());
    let findings = refused(&path);
    drop(holder);
    run("umount", &[merged.to_str().unwrap()]).unwrap();
    assert_eq!(findings, [Finding::HeldByOthers]);
    writable(&path);
}
