//! Tests `fathom capture` on loop devices: what is recorded agrees with the kernel's own counters, and the state of the
//! kernel's tracing is restored whatever happens.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::common;
use fathom_block::Op;
use fathom_trace::{Access, Options};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A loop device over a file of 64 MiB, and where tracefs is.
struct Disk {
    device: common::LoopDevice,
    tracing: PathBuf,
}

/// Returns where tracefs is mounted.
pub(crate) fn tracefs() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mounts.lines().find(|line| line.contains(" - tracefs "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

impl Disk {
    fn new(dir: &Path) -> Option<Self> {
        if !common::root() {
            eprintln!("skipped: a capture needs root");
            return None;
        }
        let Some(tracing) = tracefs() else {
            eprintln!("skipped: tracefs is not mounted");
            return None;
        };
        let device = common::LoopDevice::new(dir, 64 << 20)?;
        Some(Self { device, tracing })
    }

    /// Numbers of requests and sectors that the kernel counted: read, written.
    fn counted(&self) -> [u64; 4] {
        let stat = fs::read_to_string(format!("/sys/block/{}/stat", self.device.name)).unwrap();
        let all: Vec<u64> = stat
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        [all[0], all[2], all[4], all[6]]
    }

    /// What others see of the kernel's tracing.
    fn tracing(&self) -> Vec<String> {
        let files = [
            "trace_clock",
            "tracing_on",
            "events/block/enable",
            "set_event",
            "buffer_size_kb",
            "options/record-cmd",
        ];
        let text = |name| fs::read_to_string(self.tracing.join(name)).unwrap();
        files.map(text).to_vec()
    }

    fn instance(&self, process: u32) -> PathBuf {
        self.tracing.join(format!("instances/fathom-{process}"))
    }
}

fn capture(dir: &Path, options: &[&str], command: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .arg("capture")
        .args(options)
        .args(["--", "sh", "-c", command])
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the exit code, and the message in one line.
fn ended(output: &Output) -> (Option<i32>, String) {
    let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    let words: Vec<&str> = said.split_whitespace().collect();
    (output.status.code(), words.join(" "))
}

fn captured(dir: &Path, options: &[&str], command: &str) -> (Option<i32>, String) {
    ended(&capture(dir, options, command).wait_with_output().unwrap())
}

fn read(path: &Path) -> Vec<Access> {
    let file = fs::File::open(path).unwrap();
    let trace = fathom_trace::open_file(file, &Options::default()).unwrap();
    trace.map(Result::unwrap).collect()
}

fn sum(trace: &[Access], op: Op) -> [u64; 2] {
    let of = trace.iter().filter(|access| access.op == op);
    [of.clone().count() as u64, of.map(|a| a.len / 512).sum()]
}

#[test]
fn the_kernel_counts_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let (before, tracing) = (disk.counted(), disk.tracing());
    let device = &disk.device.path;
    let command = format!(
        "dd if=/dev/zero of={device} bs=16k count=100 seek=7 oflag=direct 2>/dev/null; \
         dd if={device} of=/dev/null bs=4k count=64 iflag=direct 2>/dev/null"
    );
    let options = ["--on", device, "--event", "dispatch", "--out", "t.parquet"];
    let (code, said) = captured(dir.path(), &options, &command);
    assert_eq!(code, Some(0), "{said}");
    let trace = read(&dir.path().join("t.parquet"));
    let after = disk.counted();
    let counted: Vec<u64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    let recorded = [sum(&trace, Op::Read), sum(&trace, Op::Write)].concat();
    assert_eq!(recorded, counted, "{said}");
    // Written by one process in order, read by another.
    let writes: Vec<&Access> = trace.iter().filter(|a| a.op == Op::Write).collect();
    let places: Vec<u64> = writes.iter().map(|a| a.offset).collect();
    assert_eq!(places, (7..107).map(|n| n * 16_384).collect::<Vec<_>>());
    assert!(writes.iter().all(|a| a.process == writes[0].process));
    assert!(said.contains("(dd): 100 requests, 1600 KiB"), "{said}");
    assert_eq!(disk.tracing(), tracing);

    let mut run = common::fathom(dir.path());
    run.args(["run", "t.parquet", "--on", "model:nvme", "--sched", "cfq"]);
    let printed = run.assert().success().get_output().stdout.clone();
    let printed = String::from_utf8(printed).unwrap();
    assert!(printed.contains("writes"), "{printed}");
}

/// Offsets count from the start of the partition, or of the drive, whichever was asked for.
#[test]
fn a_partition_has_offsets_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let device = &disk.device.path;
    let mut add = Command::new("addpart");
    let added = add.args([device, "1", "2048", "8192"]).status();
    let part = format!("{device}p1");
    if !added.is_ok_and(|status| status.success()) || !Path::new(&part).exists() {
        eprintln!("skipped: no partition can be added to a loop device here");
        return;
    }
    // Read from the drive before and in the partition, then from the partition.
    let read_at = |of: &str, sector: u64| {
        format!("dd if={of} of=/dev/null bs=512 skip={sector} count=8 iflag=direct 2>/dev/null; ")
    };
    let command = [(device, 0), (device, 2056), (&part, 16)]
        .map(|(of, sector)| read_at(of, sector))
        .concat();
    for (on, event, expected) in [
        (device, "queue", [0, 2056, 2064]),
        (device, "dispatch", [0, 2056, 2064]),
        (&part, "queue", [8, 16, 0]),
        (&part, "dispatch", [8, 16, 0]),
    ] {
        let options = ["--on", on, "--event", event, "--out", "t.parquet"];
        let (code, said) = captured(dir.path(), &options, &command);
        assert_eq!(code, Some(0), "{said}");
        let trace = read(&dir.path().join("t.parquet"));
        let mut places: Vec<u64> = trace.iter().map(|a| a.offset / 512 / 8 * 8).collect();
        places.dedup();
        let wanted: Vec<u64> = expected
            .into_iter()
            .filter(|n| *n > 0 || on == device)
            .collect();
        assert_eq!(places, wanted, "{on} {event}");
    }
    let _ = Command::new("delpart").args([device, "1"]).status();
}

/// Waits until the command of a capture has started, which it shows by a file.
fn started(dir: &Path) {
    while !dir.join("started").exists() {
        common::pause(Duration::from_millis(5));
    }
    fs::remove_file(dir.join("started")).unwrap();
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_signal_ends_the_command_and_removes_the_instance() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let command = format!(
        "dd if={} of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null; touch started; exec sleep 600",
        disk.device.path
    );
    let tracing = disk.tracing();
    for name in ["-INT", "-TERM", "-HUP"] {
        let child = capture(dir.path(), &["--on", &disk.device.path], &command);
        started(dir.path());
        let instance = disk.instance(child.id());
        assert!(instance.exists());
        signal(child.id(), name);
        let (code, said) = ended(&child.wait_with_output().unwrap());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("Interrupted"), "{said}");
        assert!(!instance.exists(), "{name}");
        assert_eq!(disk.tracing(), tracing, "{name}");
        // What was recorded until then is whole.
        let path = dir.path().join("capture.parquet");
        assert_eq!(sum(&read(&path), Op::Read), [3, 24], "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn the_next_capture_removes_what_a_killed_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let on = ["--on", &disk.device.path];
    let mut killed = capture(
        dir.path(),
        &on,
        "touch started; echo $$ > pid; exec sleep 600",
    );
    started(dir.path());
    signal(killed.id(), "-KILL");
    killed.wait().unwrap();
    let instance = disk.instance(killed.id());
    assert!(instance.exists());
    let (code, said) = captured(dir.path(), &on, "true");
    // The command requested nothing.
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("nothing was written"), "{said}");
    assert!(!instance.exists());
    assert!(!dir.path().join("capture.parquet").exists());
    while !dir.path().join("pid").exists() {
        common::pause(Duration::from_millis(5));
    }
    let sleeper = fs::read_to_string(dir.path().join("pid")).unwrap();
    signal(sleeper.trim().parse().unwrap(), "-KILL");
}

/// The command stops the reader of the kernel's buffers, so that they overflow.
#[test]
fn lost_events_are_an_error_unless_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let command = format!(
        "kill -STOP $PPID; dd if={} of=/dev/null bs=512 count=20000 iflag=direct 2>/dev/null; kill -CONT $PPID",
        disk.device.path
    );
    let options = ["--on", &disk.device.path, "--buffer", "64KiB", "--lossy"];
    let (code, said) = captured(dir.path(), &options[..4], &command);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("the kernel lost") && said.contains("--buffer"),
        "{said}"
    );
    assert!(!dir.path().join("capture.parquet").exists());
    let (code, said) = captured(dir.path(), &options, &command);
    assert_eq!(code, Some(0), "{said}");
    let lost = said.split("the kernel lost ").nth(1).unwrap();
    let lost: u64 = lost.split(' ').next().unwrap().parse().unwrap();
    let recorded = read(&dir.path().join("capture.parquet")).len() as u64;
    assert_eq!(recorded + lost, 20_000, "{said}");
}

#[test]
fn a_command_that_fails_has_a_trace_and_an_unknown_one_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let command = format!(
        "dd if={} of=/dev/null bs=4k count=2 iflag=direct 2>/dev/null; kill -SEGV $$",
        disk.device.path
    );
    let (code, said) = captured(dir.path(), &["--on", &disk.device.path], &command);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("The command failed (signal: 11"), "{said}");
    assert_eq!(read(&dir.path().join("capture.parquet")).len(), 2);
    let mut unknown = common::fathom(dir.path());
    unknown.args(["capture", "--out", "other.parquet", "--", "./nonesuch"]);
    let (code, said) = ended(&unknown.output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("cannot start ./nonesuch"), "{said}");
    assert!(!dir.path().join("other.parquet").exists());
}

/// Nothing is run if its trace could not be made.
#[test]
fn what_cannot_be_captured_is_refused_before_the_command_runs() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |prefix: &[&str], options: &[&str], part: &str| {
        let program = assert_cmd::cargo::cargo_bin("fathom");
        let mut all: Vec<&str> = prefix.to_vec();
        all.extend([program.to_str().unwrap(), "capture"]);
        all.extend(options);
        all.extend(["--", "touch", "ran"]);
        let mut command = Command::new(all[0]);
        let output = command.args(&all[1..]).current_dir(dir.path()).output();
        let (code, said) = ended(&output.unwrap());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(part), "{said}");
        assert!(!dir.path().join("ran").exists());
    };
    refused(&[], &["--out", "t.trace"], "name FILE.parquet");
    refused(&[], &["--out", "none/t.parquet"], "create it first");
    refused(&[], &["--on", "/dev/null"], "it is no block device");
    refused(&[], &["--on", "nonesuch"], "no such file");
    let Some(disk) = Disk::new(dir.path()) else {
        return;
    };
    let place = disk.tracing.to_str().unwrap();
    let hide = format!("umount {place}; exec \"$@\"");
    let without = ["unshare", "--mount", "sh", "-c", &hide, "sh"];
    refused(&without, &[], "mount -t tracefs nodev /sys/kernel/tracing");
}

/// Another user is told who may.
#[test]
fn a_user_without_permission_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    if Disk::new(dir.path()).is_none() {
        return;
    }
    // The trace could be written there.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = dir.path().join("fathom");
    fs::copy(assert_cmd::cargo::cargo_bin("fathom"), &program).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&program);
    command
        .args(["capture", "--", "true"])
        .current_dir(dir.path());
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no setpriv");
        return;
    };
    let (code, said) = ended(&output);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("create a trace instance") && said.contains("run as root"),
        "{said}"
    );
}
