//! Tests `fathom reproduce`: its output and saved files, reuse of existing runs, and wrong input.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn fathom() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
}

/// Returns the shortest reproduction that fills its small buffers: 4 MiB hold 1024 pages.
fn quick(out: &Path) -> Command {
    let mut command = fathom();
    command.args(["reproduce", "epo", "--quick", "--writes", "2000", "--out"]);
    command.arg(out);
    command
}

/// Returns the first line after `heading` that begins with `begins`.
fn line_after<'a>(text: &'a str, heading: &str, begins: &str) -> &'a str {
    let (_, rest) = text.split_once(heading).unwrap();
    let mut lines = rest.lines();
    lines.find(|line| line.starts_with(begins)).unwrap()
}

/// Checks the results against the schema.
fn described(results: &Value) {
    common::schema::check("reproduce", results);
}

/// Checks "Larger pages usually give a higher throughput", on 2000 writes of each generator.
fn larger_pages(figure: &Value) {
    // A difference below 1 % does not count. A claim that was not measured states why.
    let judged = figure["judged"].as_array().unwrap().iter();
    let larger = judged.filter(|j| j["text"].as_str().unwrap().starts_with("larger pages"));
    let (mut held, mut failed) = (0, 0);
    for statement in larger {
        match (statement["number"]["mean"].as_f64(), &statement["verdict"]) {
            (Some(1.0..), verdict) => held += usize::from(verdict == "holds"),
            (Some(_), verdict) => failed += usize::from(verdict == "does-not-hold"),
            (None, verdict) => {
                assert_eq!(verdict, "cannot-be-told");
                assert!(
                    statement["why"]
                        .as_str()
                        .unwrap()
                        .contains("never was full")
                );
            }
        }
    }
    // Holds for NoCache on all three generators, and for LRU and EPO on the one that fills its buffers; fails for BPLRU,
    // which pads.
    assert_eq!((held, failed), (5, 1));
}

#[test]
fn a_quick_reproduction_says_what_was_measured_and_what_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let out = quick(dir.path()).assert().success().get_output().clone();
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    for said in [
        "Quick: without the studies",
        "At most 2000 writes of each workload.",
        "No directory of traces was given",
        "84 statements of the paper were tested on generators: ",
        "38.9 % lower",
        "holds in direction only",
        "does not hold",
        "the interval does not decide",
        "cannot be told; the runs that it needs were left out",
        "fails for",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    // Without a buffer, the time is the same at every size.
    let row = line_after(&text, "tpcc-like, mean response time (ms)", "no-cache");
    let cells: Vec<f64> = row
        .split_whitespace()
        .filter_map(|c| c.parse().ok())
        .collect();
    assert_eq!(cells.len(), 4, "{row}");
    assert!(cells.iter().all(|ms| *ms == cells[0]), "{row}");
    // 1.9 us on the channel, 105.6 us over the pins, 200 us to program.
    assert!(cells[0] >= 0.3075, "{row}");

    let results: Value =
        serde_json::from_slice(&fs::read(dir.path().join("results.json")).unwrap()).unwrap();
    described(&results);
    let panels = results["panels"].as_array().unwrap();
    let figure = |id: &str| panels.iter().find(|panel| panel["id"] == id).unwrap();
    // With so few writes, the buffers of two generators are full at 4 MiB only, so Figure 5 has nothing to compare on these
    // two.
    let on = |id: &str| {
        let charts = figure(id)["charts"].as_array().unwrap();
        charts
            .iter()
            .filter(|chart| chart["on"] == "financial1-like")
            .count()
    };
    assert_eq!((on("4"), on("5")), (3, 0));
    larger_pages(figure("5"));
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    for said in [
        "Figure 6: Elements",
        "Padding",
        "Sizes that the paper claims",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // The verdict is at the top.
    assert!(page.find("84 statements of the paper").unwrap() < page.find("<main").unwrap());

    // Existing runs are not run again and give the same results.
    let again = quick(dir.path()).assert().success().get_output().clone();
    let told = String::from_utf8(again.stderr).unwrap();
    assert_eq!(told.lines().count(), 3 * 9 * 4, "{told}");
    assert!(
        told.lines().all(|line| line.ends_with("(was there)")),
        "{told}"
    );
    assert_eq!(again.stdout, out.stdout);
}

#[test]
fn wrong_papers_and_directories_are_told() {
    fathom()
        .args(["reproduce", "epoo", "--quick"])
        .assert()
        .failure()
        .stderr(
            predicate::str::contains("there is no paper `epoo`")
                .and(predicate::str::contains("there are epo")),
        );
    fathom()
        .args([
            "reproduce",
            "epo",
            "--quick",
            "--traces",
            "/nonexistent/traces",
        ])
        .assert()
        .failure()
        .stderr(predicate::str::contains("/nonexistent/traces"));
}

#[test]
fn parts_of_traces_are_called_parts() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if !traces.is_dir() {
        eprintln!("skipped: there are no traces in {}", traces.display());
        return;
    }
    let text = fathom()
        .args([
            "reproduce",
            "epo",
            "--quick",
            "--quiet",
            "--writes",
            "300",
            "--traces",
        ])
        .arg(&traces)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("- first 10,000 requests of Financial1: a part of the trace"),
        "{text}"
    );
    assert!(text.contains("were tested on parts of traces:"), "{text}");
    assert!(!text.contains("were tested on whole traces:"), "{text}");
    // 300 writes fill no buffer, so there is no claim about one.
    assert!(
        text.contains("nothing reached the drive in one of the runs: its buffer never was full"),
        "{text}"
    );
}

#[test]
fn a_paper_that_is_data_gives_its_figures_and_what_became_of_each_statement() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("irbw");
    let output = fathom()
        .args(["reproduce", "irbw", "--quick", "--quiet", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Quick: one seed"), "{text}");
    // Our own claims in papers/irbw/expected.toml do not count as the paper's.
    let data = include_str!("../../../papers/irbw/expected.toml");
    let all = data.matches("[[figure.claim]]").count();
    let ours = data.matches("\nours = true").count();
    let counted = format!("{} statements of the paper were tested: ", all - ours);
    assert!(text.contains(&counted), "{counted}\n{text}");
    // The quick study leaves out two mappings: they are named as not run, and there is no table without rows.
    for mapping in ["FAST", "hybrid"] {
        let left_out = format!("Type A, {mapping}, read and written by the program");
        let mut lines = text.lines().filter(|line| line.contains("Not run, and"));
        assert!(lines.any(|l| l.contains(&left_out)), "{text}");
    }
    assert!(!text.contains("\nscheduler\n"), "{text}");
    let counted = format!("{ours} statements of ours, beyond the paper, were tested: ");
    assert!(ours > 0 && text.contains(&counted), "{counted}\n{text}");
    let json = std::fs::read(out.join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_slice(&json).unwrap();
    described(&results);
    let panels = results["panels"].as_array().unwrap();
    let of = |id: &str| panels.iter().find(|panel| panel["id"] == id).unwrap();
    // Every chart has a value at every point, so no run is missing.
    for panel in panels {
        for chart in panel["charts"].as_array().unwrap() {
            for line in chart["lines"].as_array().unwrap() {
                let values = line["values"].as_array().unwrap();
                assert!(
                    values.iter().any(|value| !value.is_null()),
                    "{}",
                    panel["id"]
                );
            }
        }
    }
    // Independent of the length of a run: the paper's own Figure 6, and its open question.
    for (id, statements) in [("6", 6), ("performance or fairness", 3)] {
        let judged = of(id)["judged"].as_array().unwrap();
        assert_eq!(judged.len(), statements);
        for statement in judged {
            assert_eq!(statement["verdict"], "holds", "{id}: {statement}");
        }
    }
    // The values that the paper prints are drawn beside the measured ones (Figure 11: 0.475 s under Deadline).
    let charts = of("11")["charts"].as_array().unwrap();
    let lines = charts
        .iter()
        .flat_map(|chart| chart["lines"].as_array().unwrap());
    let printed = lines.filter_map(|line| line["paper"].get(0)?.as_f64());
    assert!(printed.clone().any(|ms| ms == 475.0), "{charts:?}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Five processes that read at random"));
    assert!(page.contains("deadline, the paper"));
}
