//! Tests of the processes of a trace: in a run, under a scheduler that is fair to them, and in a converted trace.

use crate::common::fathom;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Two processes that read at once: 4711 sequentially in long requests, 12 at random in short ones.
fn trace(processes: bool) -> String {
    let mut text = "at_us,op,offset,len".to_owned();
    text += if processes { ",pid\n" } else { "\n" };
    for i in 0..200_u64 {
        let random = i * 7_919 % 4_096 * 65_536;
        for (offset, len, pid) in [(i * 262_144, 262_144, 4_711), (random, 4_096, 12)] {
            write!(text, "{},read,{offset},{len}", i * 10).unwrap();
            match processes {
                true => writeln!(text, ",{pid}").unwrap(),
                false => text.push('\n'),
            }
        }
    }
    text
}

fn run(dir: &Path, trace: &str, more: &[&str]) -> Value {
    let mut command = fathom(dir);
    command.args(["run", trace, "--on", "model:ssd-a", "--json"]);
    let output = command.args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{more:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the number in the trace, the number of accesses and the bytes of each process.
fn processes(run: &Value) -> Vec<(u64, u64, u64)> {
    let all = run["totals"]["processes"].as_array();
    let of = |process: &Value| {
        let value = |key| process[key].as_u64().unwrap();
        (value("number"), value("count"), value("bytes"))
    };
    all.map_or_else(Vec::new, |all| all.iter().map(of).collect())
}

#[test]
fn a_run_has_figures_for_each_process_of_its_trace() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), trace(true)).unwrap();
    fs::write(dir.path().join("none.csv"), trace(false)).unwrap();
    // In order of their first access, whatever the numbers are.
    let expected = [(4_711, 200, 200 << 18), (12, 200, 200 << 12)];
    for arrival in ["open", "closed:8"] {
        let more = ["--arrival", arrival];
        let found = run(dir.path(), "t.csv", &more);
        assert_eq!(processes(&found), expected, "{arrival}");
        // Without a scheduler the drive does not see the processes.
        let none = run(dir.path(), "none.csv", &more);
        assert_eq!(none["totals"]["all"], found["totals"]["all"], "{arrival}");
        assert_eq!(none["totals"].get("processes"), None);
    }
    // Processes of the arrival are not those of the trace.
    let found = run(dir.path(), "t.csv", &["--arrival", "processes:2"]);
    let first = &found["totals"]["processes"][0];
    assert_eq!((&first["count"], first.get("number")), (&400.into(), None));
}

/// A scheduler with a queue for each process serves them otherwise than one that sees a single process.
#[test]
fn a_fair_scheduler_sees_the_processes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), trace(true)).unwrap();
    fs::write(dir.path().join("none.csv"), trace(false)).unwrap();
    let mean = |trace: &str, scheduler: &str| {
        let found = run(dir.path(), trace, &["--sched", scheduler, "--depth", "1"]);
        found["totals"]["all"]["response_ns"]["mean"]
            .as_f64()
            .unwrap()
    };
    assert!((mean("t.csv", "cfq") - mean("none.csv", "cfq")).abs() > 1.0);
    assert!((mean("t.csv", "noop") - mean("none.csv", "noop")).abs() < 1e-6);
}

#[test]
fn a_converted_trace_keeps_its_processes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), trace(true)).unwrap();
    fs::write(dir.path().join("none.csv"), trace(false)).unwrap();
    for name in ["t", "none"] {
        let mut command = fathom(dir.path());
        let args = [&format!("{name}.csv"), &format!("{name}.parquet")];
        command.arg("convert").args(args).assert().success();
    }
    let direct = run(dir.path(), "t.csv", &[]);
    let again = run(dir.path(), "t.parquet", &[]);
    assert_eq!(direct["totals"], again["totals"]);
    assert_eq!(processes(&again)[0].0, 4_711);
    let none = run(dir.path(), "none.parquet", &[]);
    assert_eq!(processes(&none), []);
}
