//! Tests the state in which a run finds its drive, and how it is reported.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

fn fathom(args: &[&str]) -> Output {
    let output = common::fathom(&std::env::temp_dir())
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

fn outcome(on: &str, more: &[&str]) -> Value {
    let what = ["run", "generate:uniform", "--accesses", "500"];
    let args = [&what, &["--on", on, "--json"][..], more].concat();
    serde_json::from_slice(&fathom(&args).stdout).unwrap()
}

/// A filled drive serves all reads from programmed flash, and must move data once it is overwritten.
#[test]
fn a_run_begins_on_a_filled_drive_unless_told_otherwise() {
    let usual = outcome("model:nvme", &[]);
    assert_eq!(usual["plan"]["precondition"], "filled");
    assert_eq!(usual.get("warnings"), None);
    assert_eq!(outcome("model:nvme", &["--precondition", "filled"]), usual);
    let fresh = outcome("model:nvme", &["--precondition", "fresh"]);
    assert_eq!(fresh["plan"]["precondition"], "fresh");
    let warning = fresh["warnings"][0].as_str().unwrap();
    assert!(warning.contains("--precondition filled"), "{warning}");
    let mean = |outcome: &Value| {
        outcome["totals"]["reads"]["response_ns"]["mean"]
            .as_f64()
            .unwrap()
    };
    // A read of unwritten data does not wait for the flash array, which takes tens of microseconds.
    assert!(mean(&fresh) + 20_000.0 < mean(&usual), "{fresh} {usual}");
}

/// DiskSim's drive begins full, and a disk's response depends on the position of its arm.
#[test]
fn drives_that_are_never_empty_are_taken_as_they_are() {
    for on in ["model:ms-ssd", "model:seagate-barracuda-iv"] {
        let usual = outcome(on, &[]);
        assert_eq!(usual["plan"]["precondition"], "as-is", "{on}");
        assert_eq!(usual.get("warnings"), None, "{on}");
    }
}

#[test]
fn the_state_and_its_warning_stand_on_the_page_and_in_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let kept = |state: &str| {
        let out = dir.path().join(state).display().to_string();
        let on = [
            "run",
            "generate:uniform",
            "--accesses",
            "500",
            "--on",
            "model:nvme",
        ];
        fathom(&[&on, &["--precondition", state, "--out", &out][..]].concat());
        let read = |name: &str| fs::read_to_string(Path::new(&out).join(name)).unwrap();
        (read("run.json"), read("report.html"))
    };
    for (state, words, warns) in [
        ("fresh", "fresh", true),
        ("filled", "written once in order", false),
    ] {
        let (run, page) = kept(state);
        assert!(
            run.contains(&format!("\"precondition\": \"{state}\"")),
            "{run}"
        );
        assert!(page.contains(words), "{state}");
        for text in [run, page] {
            assert_eq!(text.contains("The drive began empty"), warns, "{state}");
        }
    }
}

/// 161 GiB: filling it by requests takes seconds, or minutes in a debug build.
#[test]
fn a_large_drive_is_filled_at_once() {
    let outcome = outcome("model:epo", &["--arrival", "closed:8"]);
    assert_eq!(outcome["plan"]["precondition"], "filled");
    assert!(outcome["work"]["host_bytes_written"].as_u64() < Some(1 << 30));
}

#[test]
fn a_buffer_that_a_drive_does_not_have_is_said_with_its_size() {
    let told = |buffer: &str, on: &str| {
        let args = [
            "run",
            "generate:uniform",
            "--accesses",
            "500",
            "--buffer",
            buffer,
        ];
        let output = fathom(&[&args, &["--on", on][..]].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let added = |text: &str| text.contains("model:epo has no write buffer");
    let usual = told("epo", "model:epo");
    assert!(
        added(&usual) && usual.contains("one of 8MiB with the policy epo"),
        "{usual}"
    );
    let large = told("epo,capacity=32MiB", "model:epo");
    assert!(added(&large) && large.contains("one of 32MiB"), "{large}");
    assert!(!added(&told("lru", "model:ssd-a")) && !added(&told("none", "model:epo")));
    let wrong = ["--on", "model:epo", "--buffer", "epo,size=1MiB"];
    let args = [&["run", "generate:uniform"][..], &wrong].concat();
    let output = common::fathom(&std::env::temp_dir())
        .args(args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("size"),
        "{output:?}"
    );
}

const VERIFIED: &str =
    "[w]\nrw=randwrite\nbs=4k\nsize=2m\nverify=crc32c\niodepth=8\nioengine=libaio\n";

/// Every command that runs jobs keeps the data that they verify.
#[test]
fn jobs_that_verify_run_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    fs::write(path("jobs.fio"), VERIFIED).unwrap();
    fs::write(
        path("jobs.toml"),
        "name = \"verified\"\njobs = \"jobs.fio\"\n",
    )
    .unwrap();
    let (jobs, trace, study) = (path("jobs.toml"), path("asked.trace"), path("study.toml"));
    let played = fathom(&["run", &jobs, "--on", "model:nvme", "--json"]);
    let played: Value = serde_json::from_slice(&played.stdout).unwrap();
    assert_eq!(played["totals"]["writes"]["count"], 512);
    assert_eq!(played["totals"]["reads"]["bytes"], 2 << 20);
    fathom(&["convert", &jobs, "--on", "model:nvme", &trace]);
    let text =
        "name = \"s\"\ndrive = \"model:nvme\"\n[[workload]]\nname = \"v\"\njobs = \"jobs.fio\"\n";
    fs::write(&study, text).unwrap();
    fathom(&["study", &study, "--out", &path("study"), "--quiet"]);
}
