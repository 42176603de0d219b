//! Tests the block layer above a drive on the command line: schedulers, splitters, and the profile that they use.

use crate::common::fathom;
use fathom_iosched::SCHEDULERS;
use predicates::prelude::*;
use serde_json::Value;
use std::path::Path;

/// A workload for a drive of 2 GiB; half of it is badly split for clustered pages of 16 KiB.
const LOAD: [&str; 10] = [
    "run",
    "generate:tpcc-like",
    "--accesses",
    "400",
    "--on",
    "model:ssd-a",
    "--step",
    "shrink,capacity=256MiB",
    "--arrival",
    "closed:16",
];

fn probed(dir: &Path, only: &str) {
    let args = [
        "probe",
        "model:ssd-a",
        "--quiet",
        "--out",
        "known",
        "--only",
        only,
    ];
    fathom(dir).args(args).assert().success();
}

/// Returns the JSON outcome of a run.
fn replayed(dir: &Path, more: &[&str]) -> Value {
    let output = fathom(dir)
        .args(LOAD)
        .args(more)
        .arg("--json")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{more:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_probed_drive_drives_its_own_splitter_and_every_scheduler() {
    let dir = tempfile::tempdir().unwrap();
    probed(
        dir.path(),
        "clustered_page,logical_block,read_buffer,write_buffer",
    );
    for entry in SCHEDULERS {
        let args = [
            "--sched",
            entry.name,
            "--split",
            "pasa",
            "--profile",
            "known",
        ];
        let outcome = replayed(dir.path(), &args);
        let (queue, asked) = (&outcome["queue"], &outcome["plan"]["queue"]);
        assert_eq!(asked["scheduler"]["name"], entry.name);
        // The drive's true sizes, which a probe finds: clustered pages of 16 KiB, buffers of 256 and 255 KiB.
        assert_eq!(asked["split"]["write_boundary"], "16KiB", "{asked}");
        assert_eq!(asked["split"]["read"], "256KiB", "{asked}");
        assert_eq!(asked["split"]["write"], "255KiB", "{asked}");
        let given = |side: &str, what: &str| queue[side][what].as_u64().unwrap();
        let bytes = given("reads", "bytes") + given("writes", "bytes");
        let totals = &outcome["totals"]["all"];
        assert_eq!(totals["count"], 400);
        // Exactly the requested bytes.
        assert_eq!(bytes, totals["bytes"].as_u64().unwrap(), "{}", entry.name);
        let pieces = queue["pieces"].as_u64().unwrap();
        assert!(pieces > 400, "nothing was split: {queue}");
    }
}

#[test]
fn the_terminal_says_what_the_drive_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = fathom(dir.path());
    command
        .args(LOAD)
        .args(["--sched", "deadline,read_expire=50ms", "--out", "run"]);
    let told = predicate::str::contains(
        "block layer (nopas, deadline): 400 reads and writes in 400 pieces",
    )
    .and(predicate::str::contains("aligned to 4 KiB"));
    command.assert().success().stdout(told);
    let page = std::fs::read_to_string(dir.path().join("run/report.html")).unwrap();
    assert!(
        page.contains("nopas, deadline"),
        "the page does not name the block layer"
    );
    let mut list = fathom(dir.path());
    let all = list.args(["list", "schedulers"]).output().unwrap().stdout;
    assert_eq!(
        String::from_utf8(all).unwrap().lines().count(),
        SCHEDULERS.len()
    );
}

#[test]
fn what_a_scheduler_lacks_is_named_with_the_command_that_measures_it() {
    let dir = tempfile::tempdir().unwrap();
    probed(dir.path(), "clustered_page");
    let cases: [(&[&str], &str); 6] = [
        (
            &["--sched", "irbw-fifo-rp"],
            "fathom probe --only logical_block",
        ),
        (
            &["--sched", "pai", "--profile", "known"],
            "`read_buffer` is not measured",
        ),
        (
            &["--split", "pas,read=1000B,write=4KiB"],
            "`read` is 1000 bytes",
        ),
        (&["--sched", "nope"], "it takes one of `noop`"),
        (&["--sched", "deadline,fifo=3"], "no key `fifo` here"),
        (
            &["--sched", "noop", "--depth", "0"],
            "whole number from 1 to",
        ),
    ];
    for (args, said) in cases {
        let output = fathom(dir.path()).args(LOAD).args(args).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        // Lines may be broken anywhere.
        let flat = error.replace("\n  │", "").replace("\n        ", " ");
        let flat: String = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(flat.contains(said), "{args:?}: {flat}");
    }
}
