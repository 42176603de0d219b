//! Tests that Ctrl-C at any moment leaves a record, and that `--resume` derives the same profile from it as an uninterrupted
//! run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common;
use crate::common::{fathom, interrupt, names};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::time::Duration;

/// Long enough to be interrupted, short enough to be repeated.
const RUN: [&str; 7] = [
    "probe",
    "--only",
    "clustered_page,read_buffer,prefetch",
    "--method",
    "paper",
    "--seed",
    "11",
];

#[test]
fn interrupted_and_resumed_equals_uninterrupted() {
    let summary = resumes_as_if_never_cut(&RUN, &[60, 500]);
    insta::assert_snapshot!("summary", summary);
}

#[test]
fn a_robust_run_resumes_to_the_same_bytes() {
    let parameters = "clustered_block,read_buffer,write_buffer,map_reach,stalls";
    let run = ["probe", "model:ssd-c", "--seed", "11", "--only", parameters];
    resumes_as_if_never_cut(&run, &[600]);
}

/// Interrupts a run at these moments (ms), resumes it, and compares every file with the uninterrupted run's. Returns its
/// standard output.
fn resumes_as_if_never_cut(run: &[&str], moments: &[u64]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let begin = fathom(dir.path())
        .args(run)
        .args(["--out", "whole"])
        .output()
        .unwrap();
    assert!(begin.status.success());
    let whole = |name: &str| fs::read(dir.path().join("whole").join(name)).unwrap();
    let mut interrupted = 0;
    for (i, &ms) in moments.iter().enumerate() {
        let out = format!("cut{i}");
        let args = [run, &["--out", &out]].concat();
        let (code, said) = interrupt(dir.path(), &args, Duration::from_millis(ms));
        if code == Some(0) {
            // The run ended before the interruption.
            continue;
        }
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(&format!("fathom probe --resume {out}")),
            "{said}"
        );
        let kept = names(&dir.path().join(&out));
        assert_eq!(kept, ["record.parquet", "sums.txt"]);
        interrupted += 1;

        fathom(dir.path()).args(["solve", &out]).assert().success();
        let resume = fathom(dir.path())
            .args(["probe", "--quiet", "--resume", &out])
            .assert();
        resume.success();
        for name in ["record.parquet", "profile.toml", "report.html"] {
            let resumed = fs::read(dir.path().join(&out).join(name)).unwrap();
            assert!(resumed == whole(name), "{name} after {ms} ms");
        }
    }
    assert!(
        interrupted > 0,
        "no run lasted long enough to be interrupted"
    );
    String::from_utf8(begin.stdout).unwrap()
}

#[test]
fn without_out_the_record_lands_in_the_current_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (code, said) = interrupt(dir.path(), &RUN, Duration::from_millis(60));
    if code == Some(0) {
        eprintln!("skipped: the run ended before it could be interrupted");
        return;
    }
    let kept = "fathom-model-ssd-a.interrupted";
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains(&format!("fathom probe --resume {kept}")),
        "{said}"
    );
    assert_eq!(names(dir.path()), [kept]);
    let resume = fathom(dir.path())
        .args(["probe", "--resume", kept, "--out", "done"])
        .assert();
    resume.success().stdout(contains("done"));
    let left = names(&dir.path().join(kept));
    assert_eq!(left, ["record.parquet", "sums.txt"]);
    assert_eq!(names(&dir.path().join("done")).len(), 4);
}

#[test]
fn a_finished_run_is_answered_again() {
    let dir = tempfile::tempdir().unwrap();
    let run = common::quick_run(dir.path(), "run", &[]);
    let profile = fs::read(run.join("profile.toml")).unwrap();
    let resume = fathom(dir.path())
        .args(["probe", "--resume", "run"])
        .assert();
    resume
        .success()
        .stderr(contains("came to its end").and(contains("measuring").not()));
    assert_eq!(fs::read(run.join("profile.toml")).unwrap(), profile);
}
