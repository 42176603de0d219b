//! Tests of `fathom plan`: its text, its answer against a run, and what it refuses.

use crate::common::{fathom, schema};
use crate::hints::tells;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn printed(dir: &Path, args: &str) -> (Option<i32>, String) {
    let out = fathom(dir).args(args.split(' ')).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{args}");
    (out.status.code(), String::from_utf8(out.stdout).unwrap())
}

/// The text ends with a run that shows the rate: it does.
#[test]
fn a_plan_is_shown_and_a_run_reaches_it() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "plan --iops 200k --platform x5570-sas,cores=3 --quiet";
    let (code, text) = printed(dir.path(), plan);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("plan", text);
    let (_, check) = text.split_once("reads.toml:\n").unwrap();
    let (reads, run) = check.split_once("and run it:\n").unwrap();
    fs::write(dir.path().join("reads.toml"), reads).unwrap();
    let run = run.trim().strip_prefix("fathom ").unwrap();
    // A slow machine is told the progress, on standard error.
    let out = fathom(dir.path()).args(run.split(' ')).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let text = String::from_utf8(out.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words
        .windows(4)
        .find(|words| words[1..] == ["accesses", "a", "second,"]);
    let rate: f64 = at.unwrap_or_else(|| panic!("{text}"))[0].parse().unwrap();
    assert!((200_000.0..210_000.0).contains(&rate), "{rate}");
}

/// 23,000 drives of 44,000 reads a second, more than are modelled.
#[test]
fn a_rate_that_is_not_reached_is_1() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "plan --iops 1G --platform x5570-sas --quiet";
    let (code, json) = printed(dir.path(), &format!("{plan} --json"));
    assert_eq!(code, Some(1));
    let found: Value = serde_json::from_str(&json).unwrap();
    schema::check("plan", &found);
    assert_eq!(found["takes"], Value::Null);
    assert_eq!(found["sensitivity"], Value::Array(Vec::new()));
    let why = found["unreached"]["why"].as_str().unwrap();
    assert!(
        why.contains("it takes at least 22,") && why.ends_with("the search ends at 256"),
        "{why}"
    );
    let (code, text) = printed(dir.path(), plan);
    assert_eq!(code, Some(1));
    assert!(text.contains(&format!("Not reached: {why}.")), "{text}");
}

#[test]
fn what_makes_no_question_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&str]); 13] = [
        ("--iops 0", &["--iops", "from 1 to 1G"]),
        ("--iops 1e12", &["--iops", "from 1 to 1G"]),
        ("--iops 5m", &["--iops", "250k or 1.5M"]),
        ("--iops 5 --drive model:nvm", &["did you mean model:nvme?"]),
        ("--iops 5 --drive sda", &["sda"]),
        ("--iops 5 --bs 512 --drive model:nvme", &["no unit", "512B"]),
        (
            "--iops 5 --bs 512B --drive model:nvme",
            &["no read of 512B", "multiples of 4KiB", "`--bs`"],
        ),
        (
            "--iops 5 --bs 1MiB --drive model:nvme",
            &["no read of 1MiB", "up to 128KiB"],
        ),
        ("--iops 5 --bs 2MiB", &["`--bs 2MiB`", "to 1MiB"]),
        (
            "--iops 5 --latency-max 0us",
            &["--latency-max", "above zero"],
        ),
        ("--iops 5 --latency-max 5", &["--latency-max", "no unit"]),
        (
            "--iops 5 --platform x5570-sas,cores=2,cores=3",
            &["`cores=3`", "set twice"],
        ),
        (
            "--iops 5 --platform x5570-sas,cores=",
            &["`cores=`", "no value"],
        ),
    ];
    for (args, says) in cases {
        let platform = if args.contains("--platform") {
            ""
        } else {
            " --platform x5570-sas"
        };
        tells(dir.path(), &format!("plan {args}{platform}"), says);
    }
    tells(dir.path(), "plan --iops 5", &["--platform <PLATFORM>"]);
}
