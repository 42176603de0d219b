//! Tests every command that writes on a full disk: it must report the cause, leave no partial file or new directory behind,
//! and keep everything that was there before.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common;
use crate::common::{fathom, names, quick_run, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tiny file system, unmounted on drop.
struct Tiny(tempfile::TempDir);

impl Tiny {
    fn new(size: &str) -> Option<Self> {
        if !root() {
            eprintln!("skipped: mounting a full file system needs root");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let size = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(dir.path())
            .status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(Self(dir));
        }
        eprintln!("skipped: this machine does not let a tmpfs be mounted");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the file system.
    fn fill(&self) {
        let mut file = fs::File::create(self.path().join("filling")).unwrap();
        while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// Runs a command that must fail because of the full disk. Returns its message on one line.
fn fails(dir: &Path, args: &[&str]) -> String {
    let output = fathom(dir).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).replace("\n  │", "");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains("No space left on device"), "{args:?}: {said}");
    assert!(said.contains("make room"), "{args:?}: {said}");
    said
}

const LOAD: [&str; 3] = ["generate:uniform", "--accesses", "20000"];
const ON: [&str; 6] = [
    "--on",
    "model:null-write-buffer",
    "--size",
    "64MiB",
    "--step",
    "wrap,capacity=64MiB",
];
const STUDY: &str = r#"
name = "small"
drive = "model:null-write-buffer"
arrival = { closed = { outstanding = 4 } }
requests = true
[[workload]]
name = "random"
generate = { generator = "uniform", accesses = 20000, read-percent = 0.0, range = { len = "16MiB" } }
"#;
const JOB: &str = "[a]\nrw=randread\nbs=4k\nsize=16m\nio_size=64m\n";

#[test]
fn everything_with_an_out_directory_tells_a_full_disk_and_leaves_nothing() {
    let Some(tiny) = Tiny::new("32k") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("study.toml"), STUDY).unwrap();
    fs::write(dir.path().join("job.fio"), JOB).unwrap();
    let small = [
        "run",
        "generate:uniform",
        "--accesses",
        "100",
        "--out",
        "small",
    ];
    let mut command = fathom(dir.path());
    command.args([&small[..], &ON].concat()).assert().success();
    let out = tiny.path().join("below/run").display().to_string();
    let on = ["--on", "model:null-write-buffer"];
    let commands: [Vec<&str>; 5] = [
        [&["run"][..], &LOAD, &ON].concat(),
        vec!["study", "study.toml"],
        [&["run", "job.fio"][..], &on].concat(),
        [
            &["run", "job.fio", "--ab", "none,noop", "--rounds", "1"][..],
            &on,
        ]
        .concat(),
        vec!["compare", "small", "small"],
    ];
    for command in commands {
        fails(dir.path(), &[&command[..], &["--out", &out]].concat());
        assert!(
            names(tiny.path()).is_empty(),
            "{command:?}: {:?}",
            names(tiny.path())
        );
    }
    assert_eq!(names(dir.path()), ["job.fio", "small", "study.toml"]);
}

#[test]
fn a_trace_that_does_not_fit_is_told_and_the_old_one_stays() {
    let Some(tiny) = Tiny::new("128k") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    for name in ["w.parquet", "w.trace"] {
        let file = tiny.path().join(name);
        let path = file.display().to_string();
        fails(dir.path(), &[&["convert"][..], &LOAD, &[&path]].concat());
        assert!(names(tiny.path()).is_empty());
        fs::write(&file, "old").unwrap();
        fails(dir.path(), &[&["convert"][..], &LOAD, &[&path]].concat());
        assert_eq!(names(tiny.path()), [name]);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn what_is_written_again_on_a_full_disk_is_as_it_was() {
    let Some(tiny) = Tiny::new("16m") else { return };
    let run: PathBuf = quick_run(tiny.path(), "run", &[]);
    tiny.fill();
    let whole = |path: &Path| -> Vec<(String, Vec<u8>)> {
        let read = |name: String| (name.clone(), fs::read(path.join(&name)).unwrap());
        names(path).into_iter().map(read).collect()
    };
    let before = whole(&run);
    for command in ["solve", "report"] {
        fails(tiny.path(), &[command, "run"]);
        assert!(whole(&run) == before, "{command}");
    }
    assert_eq!(names(tiny.path()), ["filling", "run"]);
}

const PROBE: [&str; 7] = [
    "probe",
    "--quiet",
    "--only",
    common::QUICK,
    "--method",
    "paper",
    "--out",
];

/// With space for the record and the profile, for the record alone, and for nothing.
#[test]
fn a_measurement_whose_report_does_not_fit_keeps_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let whole = quick_run(dir.path(), "whole", &[]);
    let pages = |names: &[&str]| -> u64 {
        let len = |name| fs::metadata(whole.join(name)).unwrap().len();
        names.iter().map(|name| len(*name).div_ceil(4096)).sum()
    };
    let kept = ["record.parquet", "profile.toml"];
    for (kept, command) in [(&kept[..], "report"), (&kept[..1], "solve")] {
        // The checksums take a page.
        let room = 4096 * (pages(kept) + 1);
        let Some(tiny) = Tiny::new(&room.to_string()) else {
            return;
        };
        let out = tiny.path().join("run");
        let shown = out.display().to_string();
        let said = fails(dir.path(), &[&PROBE[..], &[&shown]].concat());
        let command_told = format!("fathom{command}{shown}");
        assert!(
            said.contains("report.html could not be written") || command == "solve",
            "{said}"
        );
        assert!(said.replace(' ', "").contains(&command_told), "{said}");
        let mut there: Vec<&str> = [kept, &["sums.txt"]].concat();
        there.sort_unstable();
        assert_eq!(names(&out), there);
        // With enough space, the command named in the message writes the rest, and every file has its checksum.
        let resized = Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(tiny.path())
            .status();
        assert!(resized.unwrap().success());
        fathom(dir.path())
            .args([command, &shown])
            .assert()
            .success()
            .stderr("");
        let read = |dir: &Path| {
            names(dir)
                .into_iter()
                .map(|n| fs::read(dir.join(n)).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&out), names(&whole));
        assert!(read(&out) == read(&whole), "{command}");
    }
    let Some(tiny) = Tiny::new("8192") else {
        return;
    };
    let out = tiny.path().join("run").display().to_string();
    fails(dir.path(), &[&PROBE[..], &[&out]].concat());
    assert!(names(tiny.path()).is_empty(), "{:?}", names(tiny.path()));
}

/// A report of an older run must not remain beside a newer record.
#[test]
fn an_older_report_does_not_stay_beside_a_newer_record() {
    let Some(tiny) = Tiny::new("16m") else { return };
    let run = quick_run(tiny.path(), "run", &[]);
    tiny.fill();
    let filling = fs::OpenOptions::new()
        .write(true)
        .open(tiny.path().join("filling"))
        .unwrap();
    let len = filling.metadata().unwrap().len();
    filling
        .set_len(len - fs::metadata(run.join("record.parquet")).unwrap().len() - (64 << 10))
        .unwrap();
    fails(tiny.path(), &[&PROBE[..], &["run", "--seed", "9"]].concat());
    assert_eq!(names(&run), ["profile.toml", "record.parquet", "sums.txt"]);
    let profile = fs::read_to_string(run.join("profile.toml")).unwrap();
    assert!(profile.contains("seed = 9"), "{profile}");
}
