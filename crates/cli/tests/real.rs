//! Tests real targets: existing data stays untouched, and everything made for a run is removed after it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common::{QUICK, fathom, interrupt, names, root};
use fathom_lab::store::load_record;
use fathom_probe::Step;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Returns a directory that supports direct I/O: in the build's directory, since the temporary one may be in memory.
fn disk_dir() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Returns true if this machine can measure a scratch file: with direct I/O in the directory and with io_uring.
fn measurable(dir: &Path) -> bool {
    let scratch = dir.join("try");
    fs::create_dir(&scratch).unwrap();
    let limits = ["--size", "4MiB", "--budget", "1ms", "--yes"];
    let args = [&["probe", "try", "--only", QUICK], &limits[..]].concat();
    let out = fathom(dir).args(args).output().unwrap();
    fs::remove_dir(&scratch).unwrap();
    if out.status.success() {
        return true;
    }
    let why = String::from_utf8_lossy(&out.stderr).into_owned();
    let cannot = ["direct I/O", "io_uring is not available"];
    assert!(cannot.iter().any(|reason| why.contains(reason)), "{why}");
    eprintln!("skipped: no scratch file can be measured here: {why}");
    false
}

#[test]
fn a_scratch_file_is_measured_and_leaves_nothing() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let scratch = dir.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    fs::write(scratch.join("mine"), "mine").unwrap();
    let args = [
        "probe", "scratch", "--method", "paper", "--only", QUICK, "--size", "16MiB", "--budget",
        "4s", "--out", "run",
    ];
    // The user cannot be asked and has not given `--yes`.
    let unasked = fathom(dir.path()).args(args).assert();
    unasked.code(3).stdout("").stderr(contains("--yes"));
    assert_eq!(names(dir.path()), ["scratch"]);
    let args = [&args[..], &["--yes"]].concat();
    let assert = fathom(dir.path()).args(&args).assert();
    assert
        .success()
        .stderr(contains("most").and(contains("a scratch file of 16 MiB")));
    assert_eq!(names(&scratch), ["mine"]);
    assert_eq!(names(&dir.path().join("run")).len(), 4);

    // A measurement is not overwritten.
    let again = fathom(dir.path()).args(args).assert();
    again.code(2).stderr(contains("real drive"));
    assert_eq!(names(dir.path()), ["run", "scratch"]);
}

/// Runs a read-only probe of `FILE` in `dir` and returns its answers as JSON.
fn read_only(dir: &Path, method: &str) -> serde_json::Value {
    let args = [
        "probe",
        "FILE",
        "--read-only",
        "--json",
        "--only",
        "read_buffer,prefetch",
    ];
    let args = [&args[..], &["--method", method]].concat();
    let output = fathom(dir).args(args).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let profile: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    profile["parameters"].clone()
}

/// Reads of a hole do not reach the drive, so there is nothing to conclude.
#[test]
fn of_a_sparse_file_nothing_is_said() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let file = fs::File::create(dir.path().join("FILE")).unwrap();
    file.set_len(64 << 20).unwrap();
    for method in ["robust", "paper"] {
        let answers = read_only(dir.path(), method);
        for parameter in ["read_buffer", "prefetch"] {
            let answer = &answers[parameter];
            assert_eq!(answer["verdict"], "inconclusive", "{method}: {answers}");
            let why = answer["evidence"]["reason"].as_str().unwrap();
            assert!(why.contains("in only 0 % of the places"), "{method}: {why}");
        }
    }
    // Two thirds are written, which is still not the whole range that is read.
    let bytes: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    for mebibyte in (0..64).filter(|i| i % 3 != 0) {
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, mebibyte << 20).unwrap();
    }
    file.sync_all().unwrap();
    let answers = read_only(dir.path(), "robust");
    assert_eq!(answers["prefetch"]["verdict"], "inconclusive", "{answers}");
    // The whole range: now the drive is measured.
    for mebibyte in (0..64).filter(|i| i % 3 == 0) {
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, mebibyte << 20).unwrap();
    }
    file.sync_all().unwrap();
    let answers = read_only(dir.path(), "robust");
    assert!(!answers.to_string().contains("hold data"), "{answers}");
}

/// Returns true if a step is in `steps` unchanged. An abandoned step is exempt: it is recorded anew.
fn whole(step: &Step, steps: &[Step]) -> bool {
    step.name.starts_with("abandoned") || steps.contains(step)
}

/// The schedulers for models run on a real drive unchanged.
#[test]
fn schedulers_run_over_a_scratch_file() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let scratch = dir.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    for scheduler in [
        "noop",
        "anticipatory",
        "cfq",
        "irbw-fifo-rp,bundle=1MiB",
        "bfq",
    ] {
        let args = [
            "run",
            "generate:iometer-file-server",
            "--on",
            "scratch",
            "--size",
            "8MiB",
            "--yes",
            "--step",
            "shrink,capacity=8MiB",
            "--accesses",
            "60",
            "--arrival",
            "processes:3:4",
            "--sched",
            scheduler,
            "--json",
        ];
        let output = fathom(dir.path()).args(args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scheduler}: {error}");
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let each = outcome["totals"]["processes"].as_array().unwrap();
        assert!(
            each.iter().all(|process| process["count"] == 60),
            "{each:?}"
        );
        assert_eq!((each.len(), names(&scratch).len()), (3, 0), "{scheduler}");
        let queue = &outcome["queue"];
        let given = |side: &str| queue[side]["bytes"].as_u64().unwrap();
        let asked = outcome["totals"]["all"]["bytes"].as_u64().unwrap();
        assert_eq!(given("reads") + given("writes"), asked, "{scheduler}");
    }
}

#[test]
fn an_interrupted_measurement_goes_on_and_measures_nothing_twice() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let scratch = dir.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    // Takes far longer than any of the interruptions: it reads tens of gigabytes.
    let run = [
        "probe",
        "scratch",
        "--method",
        "paper",
        "--only",
        "read_buffer,prefetch",
        "--yes",
    ];
    let args = [&run[..], &["--size", "64MiB", "--out", "run"]].concat();
    // How far a busy machine comes in a given time is unknown: interrupts later and later until steps are whole.
    let resume: &'static [&str] = &["probe", "--resume", "run", "--yes"];
    let interrupted = |mut args: &[&str], steps: usize| {
        for seconds in [1, 4, 16, 60] {
            let (code, said) = interrupt(dir.path(), args, Duration::from_secs(seconds));
            assert_eq!(code, Some(1), "{said}");
            assert!(names(&scratch).is_empty());
            let Ok(record) = load_record(&dir.path().join("run")) else {
                continue;
            };
            assert!(said.contains("fathom probe --resume run"), "{said}");
            if record.value.steps.len() > steps {
                return record.value.steps;
            }
            args = resume;
        }
        panic!("{args:?} made no more than {steps} steps in a minute");
    };
    let first = interrupted(&args, 0);
    let kept = names(&dir.path().join("run"));
    assert_eq!(kept, ["record.parquet", "sums.txt"]);
    let then = interrupted(resume, first.len());
    // Equal to the nanosecond: taken from the record and not measured again.
    let filled = |step: &&Step| step.name.ends_with("fill the new scratch file");
    let filled: Vec<_> = then
        .iter()
        .filter(filled)
        .map(|s| s.cost.bytes_written)
        .collect();
    assert_eq!(filled, [64 << 20]);
    let lost = first.iter().find(|step| !whole(step, &then));
    assert!(lost.is_none(), "{lost:?}");
}

#[test]
fn an_existing_file_is_only_read() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let file = dir.path().join("file");
    let bytes = vec![7; 4 << 20];
    fs::write(&file, &bytes).unwrap();
    let probe = |args: &[&str]| {
        let mut command = fathom(dir.path());
        command.args(["probe", "file", "--method", "paper"]);
        command.args(["--only", QUICK, "--budget", "1s"]);
        command.args(args).assert()
    };
    probe(&[])
        .success()
        .stderr(contains("Nothing will be written"));
    // Named, but without a confirmation.
    probe(&["--destroy", "file"])
        .code(3)
        .stderr(contains("nothing was written"));
    // Another file is named.
    probe(&["--destroy", "other", "--yes"])
        .code(3)
        .stderr(contains("other"));
    assert!(fs::read(&file).unwrap() == bytes, "the file was changed");
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn what_a_file_holds_is_told_before_it_is_destroyed() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let mut image = vec![0; 16 << 20];
    image[..4].copy_from_slice(b"XFSB");
    fs::write(dir.path().join("FILE"), image).unwrap();
    let args = ["probe", "FILE", "--only", QUICK, "--destroy", "FILE"];
    let assert = fathom(dir.path()).args(args).assert();
    let told = contains("it holds XFS at byte 0").and(contains(", 16 MiB, "));
    assert.code(3).stdout("").stderr(told);
}

/// Root may not see every process, where a container or a security module hides some. Here, root lacks a capability.
#[test]
fn root_is_not_told_that_root_could_see_more() {
    let dir = disk_dir();
    if !root() || !measurable(dir.path()) {
        eprintln!("skipped: only root can give up what only root has");
        return;
    }
    fs::write(dir.path().join("FILE"), vec![1; 16 << 20]).unwrap();
    let output = Command::new("setpriv")
        .arg("--bounding-set=-sys_ptrace")
        .arg(assert_cmd::cargo::cargo_bin("fathom"))
        .args(["probe", "FILE", "--only", QUICK, "--destroy", "FILE"])
        .current_dir(dir.path())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no setpriv");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("could not be seen; a container or a security module"),
        "{said}"
    );
    assert!(
        !said.contains("root can see it") && !said.contains(" 1 processes"),
        "{said}"
    );
}

#[test]
fn a_file_too_small_to_measure_in_is_refused_before_anything_is_written() {
    let dir = disk_dir();
    let before = vec![7u8; 3 << 20];
    fs::write(dir.path().join("small"), &before).unwrap();
    let run = fathom(dir.path())
        .args(["probe", "small", "--destroy", "small", "--yes"])
        .assert();
    run.code(2).stderr(contains("4 MiB"));
    assert_eq!(fs::read(dir.path().join("small")).unwrap(), before);
    assert_eq!(names(dir.path()), ["small"]);
}

#[test]
fn a_workload_that_writes_names_what_lets_it_write_to_an_existing_file() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    let bytes = vec![7; 1 << 20];
    fs::write(dir.path().join("file"), &bytes).unwrap();
    fs::write(
        dir.path().join("job.fio"),
        "[a]\nrw=randwrite\nbs=4k\nsize=1m\n",
    )
    .unwrap();
    let replay = [
        "run",
        "generate:uniform",
        "--accesses",
        "100",
        "--step",
        "wrap,capacity=1MiB",
    ];
    for command in [&replay[..], &["run", "job.fio"]] {
        let mut fathom = fathom(dir.path());
        let output = fathom.args(command).args(["--on", "file"]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let (error, help) = said.split_once("help: ").unwrap();
        assert!(error.contains("for reading only"), "{said}");
        assert!(help.contains("`--destroy`"), "{command:?}: {said}");
    }
    assert!(fs::read(dir.path().join("file")).unwrap() == bytes);
}

/// A loop device over a file with a file system in it, detached on drop.
struct Loop(PathBuf);

impl Loop {
    fn new(dir: &Path) -> Option<Self> {
        if !root() {
            eprintln!("skipped: a loop device needs root");
            return None;
        }
        let file = dir.join("image");
        fs::File::create(&file).unwrap().set_len(32 << 20).unwrap();
        let made = Command::new("mkfs.ext4").arg("-q").arg(&file).status();
        let found = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&file)
            .output();
        match (made, found) {
            (Ok(made), Ok(found)) if made.success() && found.status.success() => {
                Some(Self(String::from_utf8(found.stdout).unwrap().trim().into()))
            }
            _ => {
                eprintln!("skipped: this machine has no mkfs.ext4 or no loop device to give");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.0)
            .status();
    }
}

#[test]
fn a_block_device_with_a_file_system_is_refused() {
    let dir = disk_dir();
    let Some(device) = Loop::new(dir.path()) else {
        return;
    };
    let before = fs::read(dir.path().join("image")).unwrap();
    let probe = |args: &[&str]| {
        let mut command = fathom(dir.path());
        command.arg("probe").arg(&device.0);
        command
            .args(["--only", QUICK, "--method", "paper"])
            .args(args)
            .assert()
    };
    probe(&[])
        .code(3)
        .stdout("")
        .stderr(contains("ext").and(contains("refused")));
    probe(&["--yes"]).code(3);
    let name = device.0.to_str().unwrap().to_owned();
    probe(&["--destroy", &name])
        .code(3)
        .stderr(contains("--yes"));
    assert!(
        fs::read(dir.path().join("image")).unwrap() == before,
        "the device was changed"
    );
}

/// Probes a device with every permission that an option can give.
fn all_allowed(dir: &Path, device: &Path) -> assert_cmd::assert::Assert {
    let mut command = fathom(dir);
    command.args(["probe", "--only", QUICK, "--budget", "64MiB", "--yes"]);
    command.arg("--destroy").arg(device).arg(device).assert()
}

#[test]
fn a_device_under_a_mounted_loop_device_is_refused_with_its_name() {
    let dir = disk_dir();
    let Some(lower) = Loop::new(dir.path()) else {
        return;
    };
    let wiped = Command::new("wipefs").arg("-qa").arg(&lower.0).status();
    assert!(wiped.unwrap().success());
    let over = ["--find", "--show", "--offset", "8388608"];
    let found = Command::new("losetup").args(over).arg(&lower.0).output();
    let upper = String::from_utf8(found.unwrap().stdout).unwrap();
    let upper = Loop(upper.trim().into());
    let made = Command::new("mkfs.ext4").arg("-q").arg(&upper.0).status();
    assert!(made.unwrap().success());
    let at = dir.path().join("at");
    fs::create_dir(&at).unwrap();
    let mounted = Command::new("mount").arg(&upper.0).arg(&at).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    fs::write(at.join("precious"), vec![7; 1 << 20]).unwrap();
    let name = upper.0.file_name().unwrap().to_str().unwrap().to_owned();
    let refused = all_allowed(dir.path(), &lower.0);
    let kept = fs::read(at.join("precious")).unwrap() == vec![7; 1 << 20];
    assert!(Command::new("umount").arg(&at).status().unwrap().success());
    refused.code(3).stdout("").stderr(contains(name));
    assert!(kept, "the file was overwritten");
    let checked = Command::new("e2fsck").arg("-fn").arg(&upper.0).status();
    assert!(checked.unwrap().success(), "the file system was damaged");
}

/// Probes a device in a terminal of its own; `None` if script(1) is not installed.
fn at_a_terminal(device: &Loop) -> Option<std::process::Child> {
    let probe = format!(
        "{} probe {device} --destroy {device} --only {QUICK} --budget 64MiB",
        assert_cmd::cargo::cargo_bin("fathom").display(),
        device = device.0.display()
    );
    let script = Command::new("script")
        .args(["--quiet", "--return", "--command", &probe, "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    if script.is_err() {
        eprintln!("skipped: script(1) is not installed");
    }
    script.ok()
}

/// Returns the output up to the question.
fn until_asked(stdout: &mut impl std::io::Read) -> Vec<u8> {
    let mut said = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&said).contains("Go on?") && stdout.read(&mut byte).unwrap() > 0
    {
        said.push(byte[0]);
    }
    said
}

#[test]
fn what_comes_while_the_question_stands_is_not_destroyed() {
    use std::io::{Read, Write};
    use std::os::unix::fs::FileExt;
    let dir = disk_dir();
    let Some(device) = Loop::new(dir.path()) else {
        return;
    };
    let Some(mut script) = at_a_terminal(&device) else {
        return;
    };
    let (mut stdin, mut stdout) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let mut said = until_asked(&mut stdout);
    let disk = fs::OpenOptions::new().write(true).open(&device.0).unwrap();
    disk.write_all_at(b"LUKS\xba\xbe", 0).unwrap();
    disk.sync_all().unwrap();
    drop(disk);
    stdin.write_all(b"y\n").unwrap();
    stdout.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(script.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("LUKS"), "{said}");
    let image = fs::read(dir.path().join("image")).unwrap();
    assert_eq!(&image[..6], b"LUKS\xba\xbe");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    use std::io::{Read, Write};
    let dir = disk_dir();
    let Some(device) = Loop::new(dir.path()) else {
        return;
    };
    let before = fs::read(dir.path().join("image")).unwrap();
    let Some(mut script) = at_a_terminal(&device) else {
        return;
    };
    let (mut stdin, mut stdout) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    stdin.write_all(b"y\n").unwrap();
    let mut said = until_asked(&mut stdout);
    let before_asked = String::from_utf8_lossy(&said).contains("y\r\n");
    stdin.write_all(b"n\n").unwrap();
    stdout.read_to_end(&mut said).unwrap();
    let code = script.wait().unwrap().code();
    if !before_asked {
        eprintln!("skipped: the terminal was slower than the question");
        return;
    }
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_ne!(code, Some(0), "{said}");
    let after = fs::read(dir.path().join("image")).unwrap();
    assert!(before == after, "the device was written: {said}");
}

#[test]
fn a_limit_in_front_of_a_real_drive_stands_in_the_record() {
    let dir = disk_dir();
    if !measurable(dir.path()) {
        return;
    }
    fs::create_dir(dir.path().join("scratch")).unwrap();
    let probe = |target: &'static str, limit: &'static str| {
        let args = [
            "probe", target, "--method", "paper", "--only", QUICK, "--yes", "--out", "run",
            "--limit", limit,
        ];
        let real: &[&str] = match target {
            "scratch" => &["--size", "16MiB", "--budget", "4s"],
            _ => &[],
        };
        fathom(dir.path()).args(args).args(real).assert()
    };
    let refused = probe("model:ssd-a", "operations_per_second=500").code(2);
    refused.stderr(contains("is for real drives").and(contains("[limit]")));
    let wrong = probe("scratch", "operations_burst=500").code(2);
    wrong.stderr(contains("operations_per_second"));
    let shown = probe("scratch", "operations_per_second=500").success();
    shown.stdout(contains("behind a limit: operations_per_second=500"));
    let profile = fs::read_to_string(dir.path().join("run/profile.toml")).unwrap();
    assert!(profile.contains("operations_per_second=500"), "{profile}");
}
