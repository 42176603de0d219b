//! Tests bad input: the error names the problem and its place, and no data is lost or partially written.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common::{QUICK, fathom, names, quick_run, root};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn probe(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    fathom(dir).args(["probe", "--quiet"]).args(args).assert()
}

/// Returns the drive file of a finished run, which is complete and valid.
fn drive_file(dir: &Path) -> String {
    let run = quick_run(dir, "spec", &[]);
    let toml = fs::read_to_string(run.join("profile.toml")).unwrap();
    let profile: toml::Table = toml.parse().unwrap();
    profile["target"]["spec"].as_str().unwrap().to_owned()
}

#[test]
fn an_unknown_preset_suggests_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let assert = probe(dir.path(), &["model:sdd-a"]);
    assert
        .code(2)
        .stdout("")
        .stderr(contains("`sdd-a`").and(contains("model:ssd-a")));
    probe(dir.path(), &["model:zzzz"])
        .code(2)
        .stderr(contains("fathom list drives"));
    probe(dir.path(), &["model:"]).code(2);
}

/// As a real drive, the file would be overwritten.
#[test]
fn a_drive_file_without_its_prefix_is_no_real_drive() {
    let dir = tempfile::tempdir().unwrap();
    let drive = drive_file(dir.path());
    fs::write(dir.path().join("mine.toml"), &drive).unwrap();
    let target = ["mine.toml", "--destroy", "mine.toml", "--yes"];
    probe(dir.path(), &target)
        .code(2)
        .stderr(contains("model:mine.toml"));
    let left = fs::read_to_string(dir.path().join("mine.toml")).unwrap();
    assert_eq!(left, drive);
}

#[test]
fn a_broken_drive_file_is_named_by_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    let good = drive_file(dir.path());
    let line_of = |text: &str, part: &str| text.lines().position(|l| l.contains(part)).unwrap() + 1;
    let breaks = [
        (
            "queue_depth = ",
            "queue_depht = ",
            "host.queue_depht",
            "it takes one of",
        ),
        ("page = \"4KiB\"", "page = \"4\"", "flash.page", "16KiB"),
        ("channels = 4", "channels = 0", "flash.channels", "1 to 256"),
        (
            "kind = \"block\"",
            "kind = \"blok\"",
            "mapping.kind",
            "`block`",
        ),
        ("[flash]", "[flash", "", "expected"),
    ];
    for (from, to, key, allowed) in breaks {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, to, 1);
        fs::write(dir.path().join("drive.toml"), &bad).unwrap();
        let out = fathom(dir.path())
            .args(["probe", "model:drive.toml"])
            .output()
            .unwrap();
        let error = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{error}");
        let place = format!("drive.toml:{}: ", line_of(&bad, to));
        // The message may be wrapped.
        let plain: String = error
            .split_whitespace()
            .filter(|w| *w != "│")
            .collect::<Vec<_>>()
            .join(" ");
        let after = plain.split_once(&place).map(|(_, after)| after);
        let named = after.is_some_and(|after| after.contains(&format!("`{key}`")));
        assert!(named || key.is_empty(), "{place}{key} in {error}");
        assert!(plain.contains(allowed), "{allowed} in {error}");
    }
    fs::write(dir.path().join("drive.toml"), good).unwrap();
    probe(dir.path(), &["model:drive.toml", "--only", QUICK]).success();
}

#[test]
fn a_missing_drive_file_or_target_is_2() {
    let dir = tempfile::tempdir().unwrap();
    probe(dir.path(), &["model:no/such.toml"])
        .code(2)
        .stderr(contains("no/such.toml"));
    probe(dir.path(), &["no/such/target"])
        .code(2)
        .stderr(contains("no/such/target"));
    probe(dir.path(), &["/dev/null"])
        .code(2)
        .stderr(contains("/dev/null"));
}

#[test]
fn permission_to_destroy_is_for_real_drives() {
    let dir = tempfile::tempdir().unwrap();
    let assert = probe(dir.path(), &["model:ssd-a", "--destroy", "sdb"]);
    assert.code(2).stderr(contains("sdb"));
}

#[test]
fn a_modelled_drive_takes_another_size_if_it_fits() {
    let dir = tempfile::tempdir().unwrap();
    let assert = probe(dir.path(), &["--size", "1000B"]);
    assert.code(2).stderr(contains("--size"));
    let run = quick_run(dir.path(), "run", &["--size", "1GiB"]);
    let profile = fs::read_to_string(run.join("profile.toml")).unwrap();
    assert!(profile.contains("capacity_bytes = 1073741824"), "{profile}");
}

#[test]
fn output_over_a_file_is_refused_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "mine").unwrap();
    for out in ["file", "file/below"] {
        let assert = probe(dir.path(), &["--out", out]);
        assert
            .code(2)
            .stdout("")
            .stderr(contains("not a directory"));
    }
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"mine");
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_truncated_or_foreign_record_is_2() {
    let dir = tempfile::tempdir().unwrap();
    let run = quick_run(dir.path(), "run", &[]);
    let record = run.join("record.parquet");
    let whole = fs::read(&record).unwrap();
    let commands: [&[&str]; 3] = [
        &["solve", "run"],
        &["report", "run"],
        &["probe", "--resume", "run"],
    ];
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    let half = &whole[..whole.len() / 2];
    let fails = |bytes: &[u8], word: &str| {
        fs::write(&record, bytes).unwrap();
        for args in commands {
            let assert = fathom(dir.path()).args(args).assert();
            assert.code(2).stdout("").stderr(
                contains(word)
                    .and(contains("record.parquet"))
                    .and(contains("help")),
            );
        }
    };
    for bytes in [half, &[], b"not a record"] {
        fails(bytes, &format!("it has {} bytes", bytes.len()));
    }
    fails(&damaged, "sums.txt");
    // As written by a version without checksums.
    fs::remove_file(run.join("sums.txt")).unwrap();
    fails(half, "truncated");
    fails(&[], "truncated");
    fails(b"not a record", "no Parquet file");
    fails(&damaged, "damaged");
    for args in [["solve", "nowhere"], ["report", "nowhere"]] {
        fathom(dir.path())
            .args(args)
            .assert()
            .code(2)
            .stderr(contains("nowhere"));
    }
}

#[test]
fn without_permission_nothing_is_read_or_written() {
    let dir = tempfile::tempdir().unwrap();
    let locked = dir.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let args = ["probe", "--quiet", "--only", QUICK, "--out", "locked/run"];
    let output = if root() {
        // Root may write anywhere, so the command runs as nobody, who must have access to the program.
        let able = Command::new("setpriv").arg("--version").output().is_ok();
        if !able {
            eprintln!("skipped: running as root, and setpriv is not there to run as somebody else");
            return;
        }
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = dir.path().join("fathom");
        fs::copy(assert_cmd::cargo::cargo_bin("fathom"), &program).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command
            .arg(program)
            .args(args)
            .current_dir(dir.path())
            .output()
    } else {
        fathom(dir.path()).args(args).output()
    };
    let output = output.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("ermission denied"), "{error}");
    assert!(names(&locked).is_empty());
}

/// A tiny file system, unmounted on drop.
struct Tiny(tempfile::TempDir);

impl Tiny {
    fn new() -> Option<Self> {
        if !root() {
            eprintln!("skipped: mounting a full file system needs root");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8k", "tmpfs"])
            .arg(dir.path())
            .status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(Self(dir));
        }
        eprintln!("skipped: this machine does not let a tmpfs be mounted");
        None
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_nothing_half_written_and_the_answer_is_still_printed() {
    let Some(tiny) = Tiny::new() else { return };
    let dir = tempfile::tempdir().unwrap();
    let run = tiny.0.path().join("run");
    let assert = probe(
        dir.path(),
        &["--only", QUICK, "--out", run.to_str().unwrap()],
    );
    assert
        .code(2)
        .stdout(contains(QUICK))
        .stderr(contains("No space left"));
    assert!(names(tiny.0.path()).is_empty());
}

#[test]
fn a_line_break_in_a_path_does_not_break_a_message() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("a\nb");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("file"), vec![7; 1 << 20]).unwrap();
    let on = ["--on", "model:null-write-buffer"];
    let load = [
        "generate:uniform",
        "--accesses",
        "100",
        "--step",
        "wrap,capacity=64MiB",
    ];
    let commands: [Vec<&str>; 11] = [
        vec!["solve", "a\nb"],
        vec!["compare", "a\nb", "a\nb"],
        [&["run", "a\nb/trace"], &on[..]].concat(),
        [&["run", "a\nb/job"], &on[..]].concat(),
        vec!["study", "a\nb/study", "--out", "out"],
        vec!["probe", "model:a\nb/drive"],
        vec!["probe", "a\nb/none"],
        vec!["probe", "a\nb/file", "--only", "prefetch", "--budget", "1s"],
        [&["run", "--out", "a\nb/out"], &load[..], &on].concat(),
        [&["convert"], &load[..], &["a\nb/w.parquet"]].concat(),
        vec!["compare", "a\nb/out", "a\nb/out"],
    ];
    for command in commands {
        let output = fathom(dir.path()).args(&command).output().unwrap();
        let [out, said] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
        assert!(
            !said.contains("a\n") && !out.contains("a\n"),
            "{command:?}: {out}{said}"
        );
        let silent = command.contains(&"--out") && output.status.success();
        assert!(silent || (said + &out).contains(r"a\nb"), "{command:?}");
    }
}

/// Returns the standard error of a command that must not block, without line breaks.
fn refused(dir: &Path, args: &[&str]) -> String {
    let mut command = fathom(dir);
    let output = command.args(args).timeout(Duration::from_secs(20)).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).replace("\n  │", "");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.len() < 10_000, "{args:?}: {} bytes", said.len());
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every command that reads a text or a run, with PATH in the place of the path.
const READERS: [&[&str]; 13] = [
    &["probe", "model:./PATH.toml"],
    &["run", "generate:uniform", "--on", "model:./PATH.toml"],
    &["run", "./PATH.toml"],
    &["run", "./PATH.fio"],
    &[
        "convert",
        "program:postmark-type-a",
        "out.parquet",
        "--on",
        "model:./PATH.toml",
    ],
    &["run", "./PATH.fio", "--on", "model:ssd-a"],
    &["study", "./PATH.toml", "--out", "out"],
    &["diff", "PATH.toml", "PATH.toml"],
    &["solve", "PATH.parquet"],
    &["report", "run"],
    &["compare", "run", "run"],
    &["probe", "--resume", "run"],
    &[
        "run",
        "generate:uniform",
        "--sched",
        "irbw-fifo",
        "--profile",
        "PATH.toml",
    ],
];

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    fs::create_dir(&run).unwrap();
    let places = [
        "PATH.toml",
        "PATH.fio",
        "PATH.parquet",
        "run/run.json",
        "run/record.parquet",
        "run/sums.txt",
    ];
    let places = places.map(|name| dir.path().join(name));
    for (what, make) in [("a pipe", true), ("a character device", false)] {
        for place in &places {
            let _ = fs::remove_file(place);
            if make {
                let made = Command::new("mkfifo").arg(place).status();
                assert!(made.unwrap().success());
            } else {
                std::os::unix::fs::symlink("/dev/zero", place).unwrap();
            }
        }
        for args in READERS {
            let said = refused(dir.path(), args);
            assert!(
                said.contains(what) && said.contains("regular file"),
                "{args:?}: {said}"
            );
        }
    }
}

/// Writing the drive 1000 times would take hours.
#[test]
fn a_workload_that_cannot_be_opened_is_told_before_the_drive_is_filled() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("no-trace.spc"), "what is this?\n").unwrap();
    let fill = ["--on", "model:ssd-a", "--precondition", "random:1000"];
    for (workload, words) in [
        ("missing.spc", "cannot open missing.spc"),
        ("no-trace.spc", "no format fits"),
    ] {
        let said = refused(dir.path(), &[&["run", workload][..], &fill].concat());
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_before_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["PATH.toml", "PATH.fio"] {
        let file = fs::File::create(dir.path().join(name)).unwrap();
        file.set_len((4 << 20) + 1).unwrap();
    }
    for args in READERS {
        if args
            .iter()
            .any(|arg| arg.contains("PATH.toml") || arg.contains("PATH.fio"))
        {
            let said = refused(dir.path(), args);
            assert!(said.contains("at most 4 MiB are read"), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_long_line_makes_no_long_message() {
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(3 << 20);
    let texts = [
        format!("name = 1 # {long}\n"),
        format!("{long}\n"),
        format!("{long} = 1\n"),
        format!("[flash]\npage = \"{long}\"\n"),
        format!("[mapping]\nkind = \"{long}\"\n"),
    ];
    for text in texts {
        fs::write(dir.path().join("drive.toml"), &text).unwrap();
        fs::write(dir.path().join("jobs.fio"), format!("[a]\nrw={long}\n")).unwrap();
        let commands: [&[&str]; 5] = [
            &["probe", "model:drive.toml"],
            &["run", "./drive.toml"],
            &["study", "drive.toml", "--out", "out"],
            &["diff", "drive.toml", "drive.toml"],
            &["run", "jobs.fio", "--on", "model:ssd-a"],
        ];
        for args in commands {
            refused(dir.path(), args);
        }
    }
}

/// A trace may be read more than once.
#[test]
fn a_trace_that_is_a_pipe_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo")
        .arg(dir.path().join("trace.spc"))
        .status();
    assert!(made.unwrap().success());
    let said = refused(dir.path(), &["run", "trace.spc", "--on", "model:ssd-a"]);
    assert!(said.contains("a pipe and no regular file"), "{said}");
}

/// Files named within a study: a drive file, a job file, a profile.
#[test]
fn what_a_study_names_is_looked_at_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo")
        .arg(dir.path().join("pipe.toml"))
        .status();
    assert!(made.unwrap().success());
    let uniform = "generate = { generator = \"uniform\", accesses = 10 }";
    let queue = "[queue]\nsched = \"irbw-fifo\"";
    let studies = [
        ("drive = \"model:./pipe.toml\"", "", uniform),
        ("drive = \"model:ssd-a\"", "", "jobs = \"pipe.toml\""),
        (
            "drive = \"model:ssd-a\"\nsizes = { profile = \"pipe.toml\" }",
            queue,
            uniform,
        ),
    ];
    for (head, queue, workload) in studies {
        let study =
            format!("name = \"s\"\n{head}\n{queue}\n[[workload]]\nname = \"w\"\n{workload}\n");
        fs::write(dir.path().join("study.toml"), &study).unwrap();
        let said = refused(dir.path(), &["study", "study.toml", "--out", "out"]);
        // A path that is no regular file is treated as the directory of a run.
        let wanted = match queue {
            "" => "a pipe and no regular file",
            _ => "cannot read pipe.toml/profile.toml",
        };
        assert!(said.contains(wanted), "{study}: {said}");
    }
}
