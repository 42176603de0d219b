//! Tests the pages of workload runs and `fathom compare`.

use crate::common::{fathom, names};
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs a short workload on a small drive, into `dir/name`.
fn run(dir: &Path, name: &str, more: &[&str]) {
    let mut command = fathom(dir);
    command.args(["run", "generate:uniform", "--accesses", "2000"]);
    command.args(["--on", "model:null-write-buffer", "--size", "64MiB"]);
    command.args(["--step", "wrap,capacity=64MiB", "--out", name]);
    command.args(more).assert().success();
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let output = fathom(dir).arg("compare").args(args).arg("--json").output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

#[test]
fn runs_are_put_side_by_side_access_by_access() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "lru", &["--buffer", "lru"]);
    run(dir.path(), "none", &[]);
    assert_eq!(
        names(&dir.path().join("lru")),
        ["report.html", "requests.parquet", "run.json", "sums.txt"]
    );
    let assert = fathom(dir.path())
        .args(["compare", "none", "lru", "--out", "page"])
        .assert();
    assert
        .success()
        .stdout(starts_with("base: none\n").and(contains("write_buffer.policy: (absent) -> lru")))
        .stdout(contains("\"pairs\":"))
        .stderr("");
    let page = fs::read_to_string(dir.path().join("page/report.html")).unwrap();
    assert!(page.contains("<h1>2 runs side by side</h1>"));
    assert!(
        page.contains("<th scope=\"row\">write_buffer.policy</th><td>(absent)</td><td>lru</td>")
    );

    let told = json(dir.path(), &["none", "lru"]);
    let side = |run: usize, name: &str| -> Value {
        let sides = told["runs"][run]["sides"].as_array().unwrap();
        sides.iter().find(|s| s["side"] == name).unwrap().clone()
    };
    assert_eq!(side(0, "all")["ratio"], Value::Null);
    let (base, other) = (side(0, "writes"), side(1, "writes"));
    let mean = |side: &Value| side["figures"]["response_ns"]["mean"].as_f64().unwrap();
    let ratio = &other["ratio"];
    let off = ratio["value"].as_f64().unwrap() / (mean(&other) / mean(&base)) - 1.0;
    assert!(off.abs() < 1e-9, "{ratio}");
    // A buffer completes a write immediately; flash takes hundreds of microseconds.
    assert_eq!(
        (&ratio["verdict"], &ratio["basis"]),
        (&"faster".into(), &"pairs".into())
    );
    let bound = |end: &str| ratio[end].as_f64().unwrap();
    assert!(bound("low") < bound("value") && bound("value") < bound("high"));

    // Without the accesses, the same runs count as independent.
    fs::remove_file(dir.path().join("lru/requests.parquet")).unwrap();
    let alone = json(dir.path(), &["none", "lru"]);
    let sides = alone["runs"][1]["sides"].as_array().unwrap();
    assert!(sides.iter().all(|s| s["ratio"]["basis"] == "independent"));
}

#[test]
fn stacks_are_put_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "runs/none", &["--precondition", "filled"]);
    for sched in ["noop", "irbw-fifo,bundle=4MiB"] {
        let name = format!("runs/{}", &sched[..4]);
        let more = ["--sched", sched, "--precondition", "filled"];
        run(dir.path(), &name, &more);
    }
    let runs = ["runs/none", "runs/noop", "runs/irbw"];
    let mut command = fathom(dir.path());
    let assert = command
        .arg("compare")
        .args(runs)
        .args(["--out", "page"])
        .assert();
    let told = assert.success().get_output().stdout.clone();
    let told = String::from_utf8(told).unwrap();
    let row = |name: &str| {
        let mut lines = told.lines().filter(|line| line.starts_with(name));
        let line = lines.next().unwrap_or_else(|| panic!("no {name}: {told}"));
        line[name.len()..].split_whitespace().collect::<Vec<_>>()
    };
    // The names lack the common directory, and runs without a block layer show nothing of one.
    assert!(
        told.lines()
            .any(|line| line.split_whitespace().eq(["none", "noop", "irbw"]))
    );
    assert_eq!(row("reads and writes asked for"), ["-", "2000", "2000"]);
    assert_eq!(row("bundles of writes")[..2], ["-", "-"]);
    assert_eq!(row("written by the host").len(), 6);
    let page = fs::read_to_string(dir.path().join("page/report.html")).unwrap();
    for id in [
        "waiting",
        "sizes-reads",
        "sizes-writes",
        "bundles",
        "erases",
    ] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("What the block layer did") && page.contains("What the drive did"));
}

#[test]
fn a_run_beside_itself_is_the_same_and_differs_in_nothing() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &[]);
    let assert = fathom(dir.path()).args(["compare", "a", "b"]).assert();
    let assert = assert.success().stderr("");
    assert.stdout(contains("  nothing\n").and(contains("the same")));
    // With a file instead of the directory, the accesses beside it are not read.
    let told = json(dir.path(), &["a/run.json", "b/run.json"]);
    let ratio = &told["runs"][1]["sides"][0]["ratio"];
    assert_eq!(ratio["verdict"], "no_difference");
    assert_eq!(ratio["basis"], "independent");
}

#[test]
fn runs_that_cannot_be_compared_fairly_are_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "seed", &["--seed", "1"]);
    run(dir.path(), "closed", &["--arrival", "closed:4"]);
    run(dir.path(), "load", &["--step", "writes-only"]);
    let assert = fathom(dir.path())
        .args(["compare", "a", "seed", "closed", "load"])
        .assert();
    assert
        .success()
        .stderr(
            contains("warning: seed: the seeds differ")
                .and(contains("warning: closed: the accesses were handed over"))
                .and(contains("warning: load: the workloads differ")),
        )
        .stdout(contains("plan.seed: 0 -> 1").and(contains("plan.arrival: open -> closed:4")));
    let told = json(dir.path(), &["a", "closed", "seed"]);
    // The same accesses played differently are still pairs; different accesses are not.
    assert_eq!(told["runs"][1]["sides"][0]["ratio"]["basis"], "pairs");
    assert_eq!(told["runs"][2]["sides"][0]["ratio"]["basis"], "independent");
}

#[test]
fn the_page_of_a_run_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "run", &["--precondition", "filled"]);
    let page = dir.path().join("run/report.html");
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.contains("uniform on model:null-write-buffer"));
    for figure in ["response", "throughput", "amplification", "distribution"] {
        assert!(written.contains(&format!("id=\"{figure}\"")), "{figure}");
    }
    fs::remove_file(&page).unwrap();
    let assert = fathom(dir.path()).args(["report", "run"]).assert();
    assert.success().stdout("run/report.html\n");
    assert_eq!(fs::read_to_string(&page).unwrap(), written);
}

#[test]
fn what_is_no_run_is_2_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "run", &[]);
    let file = dir.path().join("run/run.json");
    let whole = fs::read_to_string(&file).unwrap();
    // As written by a version without checksums.
    fs::remove_file(dir.path().join("run/sums.txt")).unwrap();
    let fails = |text: Option<&str>, words: &[&str]| {
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let assert = fathom(dir.path()).args(["compare", "run", "run"]).assert();
        let said = String::from_utf8(assert.code(2).stdout("").get_output().stderr.clone());
        // Line breaks may separate the words.
        let said = said.unwrap().replace("\n  │", "");
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    };
    let lines = whole.lines().count();
    // Cut within a line.
    let cut = whole[..whole.len() / 2].trim_end();
    let at = format!("line {}", cut.lines().count());
    assert!(lines > cut.lines().count());
    fails(Some(cut), &["fathom::run::damaged", &at, "column"]);
    let wrong = whole.replacen("\"count\": 2000", "\"count\": -5", 1);
    assert_ne!(wrong, whole);
    fails(Some(&wrong), &["fathom::run::damaged", "-5", "line"]);
    fails(Some("{\"a\": 1}"), &["fathom::run::not_a_run", "plan"]);
    fails(Some("PAR1"), &["fathom::run::not_a_run", "JSON"]);
    let newer = whole.replacen("\"format\": 1", "\"format\": 2", 1);
    fails(Some(&newer), &["fathom::run::newer", "format 2"]);
    fails(None, &["fathom::run::missing", "fathom run --out"]);
    let assert = fathom(dir.path()).args(["compare", "run", "gone"]).assert();
    assert.code(2);
    fathom(dir.path()).args(["compare", "run"]).assert().code(2);
}

#[test]
fn a_digit_that_changed_is_told_and_a_run_without_sums_is_read_with_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "run", &[]);
    let file = dir.path().join("run/run.json");
    let whole = fs::read_to_string(&file).unwrap();
    let flipped = whole.replacen("\"count\": 2000", "\"count\": 2001", 1);
    assert_ne!(flipped, whole);
    fs::write(&file, flipped).unwrap();
    let compare = || fathom(dir.path()).args(["compare", "run", "run"]).assert();
    compare().code(2).stdout("").stderr(
        contains("run.json is damaged")
            .and(contains("sums.txt"))
            .and(contains("help")),
    );
    fs::write(&file, &whole).unwrap();
    compare().success().stderr("");
    fs::remove_file(dir.path().join("run/sums.txt")).unwrap();
    compare().success().stderr(
        contains("warning: run/run.json has no checksum")
            .and(contains("warning: run/requests.parquet has no checksum")),
    );
}

#[test]
fn damaged_accesses_are_told_and_done_without() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "run", &[]);
    let file = dir.path().join("run/requests.parquet");
    let whole = fs::read(&file).unwrap();
    // Damage in the first page of the first column and in the footer, and a truncated file.
    for (at, len) in [
        (4, whole.len()),
        (whole.len() - 72, whole.len()),
        (0, whole.len() / 2),
    ] {
        let mut bytes = whole[..len].to_vec();
        for byte in bytes.iter_mut().skip(at).take(64) {
            *byte ^= 0x5a;
        }
        fs::write(&file, bytes).unwrap();
        let assert = fathom(dir.path()).args(["compare", "run", "run"]).assert();
        let assert = assert.success().stdout(contains("base: run"));
        assert.stderr(contains("requests.parquet is damaged"));
    }
}
