//! Tests that output for people follows the terminal's width and character set, and that output for programs does not.

use crate::common::{QUICK, fathom, quick_run};
use std::collections::BTreeSet;
use std::path::Path;

const JOBS: &str =
    "[all]\nrw=randrw\nbs=4k\nsize=8m\nnumjobs=3\niodepth=4\nnumber_ios=200\nioengine=libaio\n";
const STUDY: &str = r#"
name = "two"
about = "Two lengths of queue on one drive, to see what a table of a study looks like where there is little room for it."
drive = "model:null-write-buffer"
[set]
"write_buffer.capacity" = "512KiB"
"write_buffer.drain" = "on-full"
[[axis]]
name = "buffer"
key = "write_buffer.policy"
values = ["fifo", "lru"]
[[workload]]
name = "uniform"
generate = { generator = "uniform", accesses = 300, range = { len = "16MiB" } }
"#;

/// Returns the output of a command, with or without a given width.
fn printed(dir: &Path, args: &[&str], columns: Option<&str>, locale: &str) -> String {
    let mut command = fathom(dir);
    command.args(args).env("LC_ALL", locale);
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Creates two probe runs, two workload runs, jobs and a study. Returns the commands that print a table.
fn prepared(dir: &Path) -> Vec<Vec<&'static str>> {
    quick_run(dir, "a", &[]);
    quick_run(dir, "b", &["model:ssd-b"]);
    for (name, buffer) in [("lru", "lru"), ("epo", "none")] {
        let mut command = fathom(dir);
        let args = [
            "run",
            "generate:uniform",
            "--accesses",
            "2000",
            "--out",
            name,
        ];
        command
            .args(args)
            .args(["--buffer", buffer])
            .assert()
            .success();
    }
    std::fs::write(dir.join("jobs.fio"), JOBS).unwrap();
    std::fs::write(dir.join("study.toml"), STUDY).unwrap();
    vec![
        vec!["solve", "a"],
        vec!["probe", "--quiet", "--method", "paper", "--only", QUICK],
        vec!["diff", "a", "b"],
        vec!["compare", "lru", "epo"],
        vec![
            "run",
            "generate:uniform",
            "--accesses",
            "2000",
            "--arrival",
            "processes:3:2",
            "--sched",
            "bfq",
        ],
        vec!["run", "jobs.fio", "--on", "model:epo"],
        vec![
            "run",
            "jobs.fio",
            "--on",
            "model:epo",
            "--ab",
            "none,mq-deadline",
            "--rounds",
            "3",
        ],
        vec!["study", "study.toml", "--out", "runs"],
        vec![
            "accuracy", "--drives", "1", "--family", "narrow", "--only", QUICK, "--quiet",
        ],
        vec!["list", "workloads"],
        vec!["list"],
        vec!["explain", QUICK],
        vec!["explain", "cfq"],
    ]
}

fn words(text: &str) -> BTreeSet<&str> {
    let ruled = |word: &&str| !word.starts_with('─');
    text.split_whitespace().filter(ruled).collect()
}

/// `COLUMNS`: POSIX, Environment Variables, 8.3.
#[test]
fn no_line_is_wider_than_the_terminal_and_no_word_is_broken() {
    let dir = tempfile::tempdir().unwrap();
    for args in prepared(dir.path()) {
        let wide = printed(dir.path(), &args, None, "C.UTF-8");
        assert!(!wide.is_empty(), "{args:?}");
        let text = printed(dir.path(), &args, Some("60"), "C.UTF-8");
        for line in text.lines().filter(|line| !line.starts_with("    ")) {
            assert!(line.chars().count() <= 60, "{args:?}: {line}\n{text}");
        }
        let new: Vec<&str> = words(&text).difference(&words(&wide)).copied().collect();
        // Bars of the timeline depend on the width, so they are exempt.
        let told = |word: &&str| !word.starts_with(['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']);
        let new: Vec<&str> = new.into_iter().filter(told).collect();
        assert!(new.is_empty(), "{args:?}: {new:?}\n{text}");
    }
}

/// locale(7): `LC_ALL`, `LC_CTYPE` and `LANG` define the terminal's character set; the locale C has ASCII.
#[test]
fn the_locale_c_is_given_ascii() {
    let dir = tempfile::tempdir().unwrap();
    for args in prepared(dir.path()) {
        let text = printed(dir.path(), &args, Some("80"), "C");
        assert!(text.is_ascii(), "{args:?}: {text}");
    }
    for variable in ["LC_CTYPE", "LANG"] {
        let mut command = fathom(dir.path());
        command.env_remove("LC_ALL").env_remove("LC_CTYPE");
        let out = command.args(["solve", "a"]).env(variable, "C").output();
        assert!(out.unwrap().stdout.is_ascii(), "{variable}");
    }
    let wrong = fathom(dir.path())
        .args(["run", "generate:none"])
        .env("LC_ALL", "C")
        .output();
    assert!(wrong.unwrap().stderr.is_ascii());
}

#[test]
fn what_is_for_programs_has_no_width() {
    let dir = tempfile::tempdir().unwrap();
    quick_run(dir.path(), "a", &[]);
    for args in [
        &["solve", "a", "--json"][..],
        &["explain", "drive.toml"],
        &["completions", "bash"],
    ] {
        let narrow = printed(dir.path(), args, Some("20"), "C");
        assert_eq!(
            narrow,
            printed(dir.path(), args, None, "C.UTF-8"),
            "{args:?}"
        );
    }
}

#[test]
fn a_log_is_told_progress_in_plain_lines() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "run",
        "generate:uniform",
        "--accesses",
        "20000",
        "--precondition",
        "filled",
    ];
    let out = fathom(dir.path())
        .args(args)
        .args(["--on", "model:ssd-a"])
        .output()
        .unwrap();
    assert!(out.status.success());
    // On a slow machine there is progress output.
    let said = String::from_utf8(out.stderr).unwrap();
    let plain = |c: char| c == '\n' || !c.is_control();
    assert!(said.chars().all(plain), "{said:?}");
}
