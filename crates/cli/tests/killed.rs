//! Tests killed processes: they leave nothing that looks like a run, and the next process removes their leftovers, but never
//! those of a running process.

use crate::common::{fathom, names, pause};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Starts a run that takes a while, into `out`.
fn start(dir: &Path, out: &str) -> Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .args(["run", "generate:uniform", "--accesses", "3000000"])
        .args([
            "--on",
            "model:null-write-buffer",
            "--step",
            "wrap,capacity=64MiB",
        ])
        .args(["--out", out])
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a short workload into `out`.
fn short(dir: &Path, out: &str) {
    let mut command = fathom(dir);
    command.args(["run", "generate:uniform", "--accesses", "100"]);
    command.args([
        "--on",
        "model:null-write-buffer",
        "--step",
        "wrap,capacity=64MiB",
    ]);
    command.args(["--out", out]).assert().success();
}

fn is_left(name: &str) -> bool {
    name.starts_with(".fathom")
}

/// Waits until a process has begun to write in a directory.
fn begun(dir: &Path, child: &mut Child) {
    while !names(dir).iter().any(|name| is_left(name)) {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        pause(Duration::from_millis(2));
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_killed_process_has_left_goes_when_the_next_one_starts() {
    let dir = tempfile::tempdir().unwrap();
    for (after, out) in [(0, "run"), (30, "run"), (120, "below/run")] {
        let mut child = start(dir.path(), out);
        begun(dir.path(), &mut child);
        pause(Duration::from_millis(after));
        kill(child);
        let left = names(dir.path());
        assert!(left.iter().all(|name| is_left(name)), "{left:?}");
        assert_eq!(left.len(), 1, "the one before has gone");
    }
    short(dir.path(), "other");
    assert_eq!(names(dir.path()), ["other"]);
    // If the directory exists, the temporary data is within it.
    let mut child = start(dir.path(), "other");
    let other = dir.path().join("other");
    begun(&other, &mut child);
    kill(child);
    short(dir.path(), "other");
    let files = ["report.html", "requests.parquet", "run.json", "sums.txt"];
    assert_eq!(names(&other), files);
    // The same beside a file.
    let mut command = fathom(dir.path());
    let mut child = start(dir.path(), "run");
    begun(dir.path(), &mut child);
    kill(child);
    command.args([
        "convert",
        "generate:uniform",
        "--accesses",
        "10",
        "w.parquet",
    ]);
    command.assert().success();
    assert_eq!(names(dir.path()), ["other", "w.parquet"]);
}

#[test]
fn what_a_running_process_writes_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(dir.path(), "long");
    begun(dir.path(), &mut child);
    short(dir.path(), "short");
    assert!(names(dir.path()).iter().any(|name| is_left(name)));
    assert!(child.try_wait().unwrap().is_none(), "it ended too early");
    kill(child);
    short(dir.path(), "short");
    assert_eq!(names(dir.path()), ["short"]);
}
