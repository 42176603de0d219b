//! Tests `fathom study` and `fathom run`: interrupted and resumed studies, and wrong input.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use assert_cmd::Command;
use predicates::prelude::*;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn fathom() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
}

/// A study of 24 short runs.
const STUDY: &str = r#"
name = "small"
drive = "model:null-write-buffer"
seeds = [1, 2, 3, 4]
arrival = { closed = { outstanding = 4 } }
precondition = "filled"
[set]
"write_buffer.capacity" = "512KiB"
"write_buffer.drain" = "on-full"
[[axis]]
name = "buffer"
key = "write_buffer.policy"
values = ["fifo", "lru", "epo"]
[[workload]]
name = "random"
generate = { generator = "uniform", accesses = 1500, read-percent = 0.0, range = { len = "16MiB" } }
[[workload]]
name = "hot"
generate = { generator = "zipf", accesses = 1500, read-percent = 0.0, range = { len = "16MiB" } }
"#;
const RUNS: usize = 24;

fn study_in(dir: &Path, text: &str) -> std::path::PathBuf {
    let path = dir.join("study.toml");
    fs::write(&path, text).unwrap();
    path
}

/// Returns the finished runs of a study: name, time of writing, contents.
fn finished(out: &Path) -> Vec<(String, SystemTime, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(out.join("runs")) else {
        return Vec::new();
    };
    let mut runs: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let file = path.join("run.json");
            let written = fs::metadata(&file).ok()?.modified().ok()?;
            let name = path.file_name()?.to_string_lossy().into_owned();
            // A run that is being written does not count.
            (!name.starts_with('.')).then_some(())?;
            Some((name, written, fs::read(&file).ok()?))
        })
        .collect();
    runs.sort();
    runs
}

#[test]
fn a_study_that_was_killed_goes_on_and_ends_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let study = study_in(dir.path(), STUDY);
    let (whole, killed) = (dir.path().join("whole"), dir.path().join("killed"));
    let run = |out: &Path| {
        let mut command = fathom();
        command.arg("study").arg(&study).arg("--out").arg(out);
        command
    };
    let output = run(&whole).assert().success().get_output().clone();
    assert_eq!(finished(&whole).len(), RUNS);

    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fathom"))
        .arg("study")
        .arg(&study)
        .arg("--out")
        .arg(&killed)
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while finished(&killed).len() < 3 && child.try_wait().unwrap().is_none() {
        #[allow(clippy::disallowed_methods, reason = "waits for another process")]
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = finished(&killed);
    assert!((3..RUNS).contains(&before.len()), "{} runs", before.len());

    let resumed = run(&killed).assert().success().get_output().clone();
    let after = finished(&killed);
    for run in &before {
        assert!(after.contains(run), "{} was run again", run.0);
    }
    let contents = |runs: Vec<(String, SystemTime, Vec<u8>)>| -> Vec<(String, Vec<u8>)> {
        runs.into_iter()
            .map(|(name, _, bytes)| (name, bytes))
            .collect()
    };
    assert_eq!(contents(after), contents(finished(&whole)));
    assert_eq!(resumed.stdout, output.stdout);
    for name in ["summary.txt", "cells.csv", "report.html", "sums.txt"] {
        let read = |dir: &Path| fs::read(dir.join(name)).unwrap();
        assert_eq!(read(&whole), read(&killed), "{name}");
    }
    summary(&whole, &String::from_utf8(output.stdout).unwrap());
}

/// Checks the files beside the runs against the printed output.
fn summary(out: &Path, printed: &str) {
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("summary.txt"), printed);
    let cells = read("cells.csv");
    let lines: Vec<Vec<&str>> = cells.lines().map(|l| l.split(',').collect()).collect();
    // Two workloads with three buffers each, over four seeds, and the header.
    assert_eq!(lines.len(), 7, "{cells}");
    assert_eq!(lines[0][..3], ["workload", "buffer", "seeds"]);
    assert_eq!(lines[1][..3], ["random", "fifo", "4"]);
    let number = |line: usize, column: &str| -> f64 {
        let at = lines[0].iter().position(|name| *name == column).unwrap();
        lines[line][at].parse().unwrap()
    };
    let [low, mean, high] =
        ["low_", "", "high_"].map(|end| number(1, &format!("mean_response_{end}ns")));
    assert!(0.0 < low && low < mean && mean < high, "{cells}");
    let page = read("report.html");
    for words in [
        "random: ",
        "has the shortest mean response time",
        "write amplification",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_run_that_is_damaged_or_has_no_checksum_is_run_again_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let small = STUDY.replace("seeds = [1, 2, 3, 4]", "seeds = [1]");
    let study = study_in(dir.path(), &small);
    let run = || {
        let mut command = fathom();
        command
            .arg("study")
            .arg(&study)
            .arg("--out")
            .arg(&out)
            .assert()
            .success()
    };
    let first = run().get_output().stdout.clone();
    let whole = finished(&out);
    let names: Vec<&str> = whole.iter().map(|(name, ..)| name.as_str()).collect();
    let file = |run: usize, name: &str| out.join("runs").join(names[run]).join(name);
    // A changed digit in a figure, a run of an older version, and damaged checksums.
    let text = fs::read_to_string(file(0, "run.json")).unwrap();
    let flipped = text.replacen("\"count\": 1500", "\"count\": 1501", 1);
    assert_ne!(flipped, text);
    fs::write(file(0, "run.json"), flipped).unwrap();
    fs::remove_file(file(1, "sums.txt")).unwrap();
    fs::write(file(2, "sums.txt"), "no sums").unwrap();
    let again = run().get_output().clone();
    let said = String::from_utf8(again.stderr).unwrap();
    for (run, why) in [
        (0, "damaged"),
        (1, "no checksum"),
        (2, "sums.txt is damaged"),
    ] {
        let mut lines = said.lines();
        let told = lines.any(|line| line.contains(names[run]) && line.contains(why));
        assert!(told, "{}, {why}: {said}", names[run]);
    }
    assert_eq!(said.matches("is run again").count(), 3);
    assert_eq!(again.stdout, first);
    let contents = |runs: Vec<(String, SystemTime, Vec<u8>)>| -> Vec<Vec<u8>> {
        runs.into_iter().map(|(_, _, bytes)| bytes).collect()
    };
    assert_eq!(contents(finished(&out)), contents(whole));
    let third = run().get_output().clone();
    assert!(
        !String::from_utf8(third.stderr)
            .unwrap()
            .contains("is run again")
    );
}

#[test]
fn another_plan_under_the_same_name_is_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let small = STUDY.replace("seeds = [1, 2, 3, 4]", "seeds = [1]");
    for (text, again) in [
        (small.clone(), 6),
        (small.clone(), 0),
        (small.replace("512KiB", "1MiB"), 6),
    ] {
        let study = study_in(dir.path(), &text);
        let output = fathom()
            .arg("study")
            .arg(&study)
            .arg("--out")
            .arg(&out)
            .output()
            .unwrap();
        assert!(output.status.success());
        let told = String::from_utf8(output.stderr).unwrap();
        let kept = told.matches("(was there)").count();
        assert_eq!(told.lines().count() - kept, again, "{told}");
    }
}

#[test]
fn a_study_that_cannot_be_is_told_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to, said) in [
        (r#""epo"]"#, r#""eppo"]"#, "did you mean `epo`?"),
        (r#""512KiB""#, r#""513B""#, "write_buffer.capacity"),
        (
            "null-write-buffer",
            "null-write-bufer",
            "there is no modelled drive",
        ),
        ("seeds =", "seed =", "no key `seed` here"),
        ("values = [", "value = [", "no key `value`"),
        (
            "generator = \"zipf\"",
            "generator = \"zipff\"",
            "did you mean `zipf`?",
        ),
        (
            "name = \"hot\"",
            "name = \"random\"",
            "two runs have this name",
        ),
        (
            "seeds = [1, 2,",
            "seeds = [1, 1,",
            "the seed 1 is given twice",
        ),
        (r#""epo"]"#, r#""epo", "epo"]"#, "\"epo\" is given twice"),
        (
            "{ closed = { outstanding = 4 } }",
            "{ processes = { processes = 5000, outstanding = 4 } }",
            "most 4096 processes",
        ),
    ] {
        assert!(STUDY.contains(from), "{from}");
        let study = study_in(dir.path(), &STUDY.replace(from, to));
        let out = dir.path().join("out");
        fathom()
            .arg("study")
            .arg(&study)
            .arg("--out")
            .arg(&out)
            .assert()
            .code(2)
            .stderr(predicate::str::contains(said).and(predicate::str::contains("help:")));
        assert!(!out.exists(), "{said}: something was written");
    }
}

/// A trace in MSR's format.
const TRACE: &str = "\
128166372003061629,hm,0,Read,8192,4096,1331
128166372003071629,hm,0,Write,4096,8192,1331
128166372003081629,hm,0,Write,1048576,4096,1331
";

fn replay(dir: &Path, trace: &str, flags: &[&str]) -> assert_cmd::assert::Assert {
    let path = dir.join("trace.csv");
    fs::write(&path, trace).unwrap();
    fathom()
        .arg("run")
        .arg(&path)
        .args(["--on", "model:null-write-buffer"])
        .args(flags)
        .assert()
}

#[test]
fn a_trace_that_is_wrong_is_told_with_its_line_and_lenient_counts_it() {
    let dir = tempfile::tempdir().unwrap();
    let swapped: String = TRACE
        .lines()
        .rev()
        .map(|line| format!("{line}\n"))
        .collect();
    for (trace, said) in [
        (TRACE.replace("4096,8192", "4096,x"), "trace.csv: line 2"),
        (
            TRACE.replace("Write,4096", "Wride,4096"),
            "trace.csv: line 2",
        ),
        (swapped, "trace.csv: line 2"),
    ] {
        let strict = replay(dir.path(), &trace, &["--format", "msr"]);
        strict.code(2).stderr(predicate::str::contains(said));
        let lenient = replay(dir.path(), &trace, &["--format", "msr", "--lenient"]);
        lenient.success().stdout(predicate::str::contains("note: "));
    }
    let past_the_end = TRACE.replace("1048576", "1048576000000");
    let strict = replay(dir.path(), &past_the_end, &[]);
    strict.code(2).stderr(
        predicate::str::contains("access 3")
            .and(predicate::str::contains("past the end"))
            .and(predicate::str::contains("clip")),
    );
    let step = "clip,capacity=16MiB,past-end=drop";
    replay(dir.path(), &past_the_end, &["--step", step])
        .success()
        .stdout(predicate::str::contains("step clip: 3 in, 1 dropped"));
    replay(dir.path(), "what is this?\n", &[])
        .code(2)
        .stderr(predicate::str::contains("help:"));
}
