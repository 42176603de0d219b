//! Tests `fathom run --ab kernel:A,kernel:B`: the kernel's scheduler of a loop device is switched and always restored.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A loop device whose scheduler is neither of the compared ones; restored on drop.
struct Disk {
    device: common::LoopDevice,
    scheduler: PathBuf,
    before: String,
}

const FOUND: &str = "mq-deadline";

impl Disk {
    fn new(dir: &Path) -> Option<Self> {
        let device = common::LoopDevice::new(dir, 32 << 20)?;
        let scheduler = PathBuf::from(format!("/sys/block/{}/queue/scheduler", device.name));
        let mut disk = Self {
            device,
            scheduler,
            before: "none".into(),
        };
        disk.before = disk.active();
        let listed = fs::read_to_string(&disk.scheduler).unwrap();
        if ["none", FOUND, "bfq"].iter().any(|s| !listed.contains(s)) {
            eprintln!("skipped: this kernel offers {listed}");
            return None;
        }
        fs::write(&disk.scheduler, FOUND).unwrap();
        Some(disk)
    }

    fn active(&self) -> String {
        let listed = fs::read_to_string(&self.scheduler).unwrap();
        let inside = listed.split('[').nth(1).unwrap();
        inside.split(']').next().unwrap().to_owned()
    }

    fn args<'a>(&'a self, jobs: &'a str, ab: &'a str) -> Vec<&'a str> {
        vec!["run", jobs, "--on", &self.device.path, "--ab", ab]
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = fs::write(&self.scheduler, &self.before);
    }
}

fn job(dir: &Path, text: &str) -> String {
    let path = dir.join("jobs.fio");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

const SHORT: &str = "[r]\nrw=randread\nioengine=libaio\niodepth=4\nio_size=4m\n";
const LONG: &str = "[r]\nrw=randread\nioengine=libaio\niodepth=4\nruntime=1h\ntime_based\n";

fn ended(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn both_schedulers_take_turns_and_the_old_one_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let jobs = job(dir.path(), SHORT);
    let mut command = common::fathom(dir.path());
    command.args(disk.args(&jobs, "kernel:none,kernel:bfq"));
    let output = command.args(["--rounds", "3"]).output().unwrap();
    let (code, printed, said) = ended(&output);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        printed.starts_with("kernel:bfq against kernel:none: 3 rounds"),
        "{printed}"
    );
    // The user must know how to restore it after a SIGKILL.
    assert!(said.contains(&format!("echo {FOUND} > ")), "{said}");
    assert_eq!(disk.active(), FOUND);
    // For a stack with one of Fathom's schedulers, the kernel's is the original one.
    let mut command = common::fathom(dir.path());
    command.args(disk.args(&jobs, "noop,kernel:bfq"));
    assert!(
        command
            .args(["--rounds", "1"])
            .output()
            .unwrap()
            .status
            .success()
    );
    assert_eq!(disk.active(), FOUND);
}

/// Starts a long comparison and waits until the scheduler is switched.
fn switched(disk: &Disk, dir: &Path) -> Child {
    let jobs = job(dir, LONG);
    let child = Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .args(disk.args(&jobs, "kernel:none,kernel:bfq"))
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while disk.active() == FOUND {
        common::pause(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_signal_puts_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    for name in ["-INT", "-TERM", "-HUP"] {
        let child = switched(&disk, dir.path());
        signal(&child, name);
        let (code, _, said) = ended(&child.wait_with_output().unwrap());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("Interrupted"), "{said}");
        assert_eq!(disk.active(), FOUND, "{name}");
    }
}

/// The second Ctrl-C ends the process immediately.
#[test]
fn impatience_puts_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    for _ in 0..5 {
        let child = switched(&disk, dir.path());
        signal(&child, "-STOP");
        signal(&child, "-INT");
        signal(&child, "-TERM");
        signal(&child, "-CONT");
        let (code, _, said) = ended(&child.wait_with_output().unwrap());
        assert!(matches!(code, Some(1 | 130)), "{code:?}: {said}");
        assert_eq!(disk.active(), FOUND);
    }
}

#[test]
fn what_cannot_be_switched_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = job(dir.path(), SHORT);
    let refused = |on: &str, ab: &str, part: &str| {
        let mut command = common::fathom(dir.path());
        let output = command
            .args(["run", &jobs, "--on", on, "--ab", ab])
            .output();
        let (code, _, said) = ended(&output.unwrap());
        let said: String = said.replace('│', " ");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(2), "{flat}");
        assert!(flat.contains(part), "{flat}");
    };
    refused(
        "model:nvme",
        "kernel:none,kernel:bfq",
        "no kernel schedules",
    );
    let here = dir.path().to_str().unwrap();
    refused(here, "kernel:none,noop", "name the block device itself");
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    refused(
        &disk.device.path,
        "kernel:none,kernel:nonesuch",
        "offers no scheduler `nonesuch`",
    );
    assert_eq!(disk.active(), FOUND);
}

/// A user other than root may read the device here, but not switch its scheduler.
#[test]
fn somebody_else_is_told_who_may() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let jobs = job(dir.path(), SHORT);
    for path in [dir.path(), Path::new(&jobs)] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // In a place that this user can access.
    let program = dir.path().join("fathom");
    fs::copy(assert_cmd::cargo::cargo_bin("fathom"), &program).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&program);
    command
        .args(disk.args(&jobs, "kernel:none,kernel:bfq"))
        .current_dir(dir.path());
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no setpriv");
        return;
    };
    let (code, _, said) = ended(&output);
    let said: String = said.replace('│', " ");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(2), "{flat}");
    assert!(
        flat.contains("no permission to switch the scheduler") && flat.contains("run as root"),
        "{flat}"
    );
    assert_eq!(disk.active(), FOUND);
}
