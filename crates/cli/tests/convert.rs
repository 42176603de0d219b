//! Tests `fathom convert`: the trace contains the requests that a drive would have received.

use crate::common;
use crate::common::{fathom, names};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::path::Path;

/// Returns the results of a workload on a small drive.
fn replayed(dir: &Path, args: &[&str]) -> Value {
    let output = fathom(dir)
        .arg("run")
        .args(args)
        .args(["--on", "model:null-write-buffer", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

const LOAD: [&str; 7] = [
    "generate:uniform",
    "--accesses",
    "3000",
    "--step",
    "writes-only",
    "--step",
    "wrap,capacity=64MiB",
];
const BUFFER: [&str; 2] = ["--reshape", "epo,capacity=1MiB,elements=8"];

#[test]
fn one_is_singular() {
    let dir = tempfile::tempdir().unwrap();
    let one = ["generate:uniform", "--accesses", "1"];
    let mut command = fathom(dir.path());
    let assert = command.arg("convert").args(one).arg("w.parquet").assert();
    assert.success().stdout(contains("1 access in w.parquet"));
    let on = [
        "--on",
        "model:ssd-a",
        "--sched",
        "noop",
        "--arrival",
        "processes:1",
    ];
    let assert = fathom(dir.path()).arg("run").args(one).args(on).assert();
    let said =
        contains("1 process with 1 outstanding").and(contains("1 read or write in 1 piece,"));
    assert.success().stdout(said);
}

#[test]
fn a_workload_through_a_buffer_is_the_same_at_once_and_by_way_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let at_once = replayed(dir.path(), &[&LOAD[..], &BUFFER].concat());
    assert!(at_once["totals"]["all"]["count"].as_u64().unwrap() > 500);
    for file in ["w.parquet", "w.trace"] {
        let mut command = fathom(dir.path());
        command.arg("convert").args(LOAD).args(BUFFER).arg(file);
        command.assert().success().stdout(contains(file));
        let by_file = replayed(dir.path(), &[file]);
        // A trace begins with its first access, but the buffer fills before that.
        assert_eq!(
            by_file["totals"]["all"]["response_ns"], at_once["totals"]["all"]["response_ns"],
            "{file}"
        );
        assert_eq!(by_file["work"], at_once["work"], "{file}");
    }
    let text = std::fs::read_to_string(dir.path().join("w.trace")).unwrap();
    let count = at_once["totals"]["all"]["count"].as_u64().unwrap();
    assert_eq!(text.lines().count() as u64, count);
}

#[test]
fn what_cannot_be_written_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let convert = |args: &[&str]| {
        let mut command = fathom(dir.path());
        command.arg("convert").args(args);
        command.assert().code(2)
    };
    convert(&["generate:uniform", "w.txt"]).stderr(contains("FILE.parquet"));
    // This read reaches the buffer after writes have left it.
    let reads = ["generate:uniform", "--accesses", "100", "w.trace"];
    convert(&[&reads[..], &BUFFER].concat()).stderr(contains("writes-only"));
    convert(&[&reads[..], &["--reshape", "lru,size=1"]].concat()).stderr(contains("`size`"));
    convert(&["generate:uniform", "nowhere/w.parquet"]).stderr(contains("nowhere"));
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_program_becomes_a_trace_that_can_be_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let program = "program:filebench-oltp";
    let file = dir.path().join("small.toml");
    let text = "name = \"oltp\"\nprogram = { program = \"filebench-oltp\", duration = \"50ms\" }\n";
    std::fs::write(&file, text).unwrap();
    let run = |args: &[&str]| {
        let mut command = common::fathom(dir.path());
        command.args(args).output().unwrap()
    };
    let made = run(&[
        "convert",
        "small.toml",
        "oltp.parquet",
        "--on",
        "model:ssd-a",
    ]);
    assert!(made.status.success(), "{made:?}");
    let played = run(&["run", "oltp.parquet", "--on", "model:ssd-a", "--json"]);
    assert!(played.status.success(), "{played:?}");
    let outcome: serde_json::Value = serde_json::from_slice(&played.stdout).unwrap();
    let told = String::from_utf8(made.stdout).unwrap();
    let count = outcome["totals"]["all"]["count"].as_u64().unwrap();
    assert!(
        told.starts_with(&format!("{count} accesses")),
        "{told} and {count}"
    );
    // A program needs a drive that answers.
    let refused = run(&["convert", program, "oltp.parquet"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The number counts before the steps, as that of a generator does.
#[test]
fn a_number_of_accesses_takes_the_first_of_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = fathom(dir.path());
    let load = ["generate:uniform", "--accesses", "500", "w.trace"];
    command.arg("convert").args(load).assert().success();
    let whole = replayed(dir.path(), &["w.trace", "--step", "wrap,capacity=64MiB"]);
    assert_eq!(whole["totals"]["all"]["count"], 500);
    let steps = ["--step", "wrap,capacity=64MiB", "--step", "writes-only"];
    let first = replayed(
        dir.path(),
        &[&["w.trace", "--accesses", "100"], &steps[..]].concat(),
    );
    let count = first["totals"]["all"]["count"].as_u64().unwrap();
    assert!((20..80).contains(&count), "{count}");
}
