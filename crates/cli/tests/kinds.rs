//! Tests output directories of several kinds: none overwrites another, and a misplaced one is named with its kind.

use crate::common;
use crate::common::{names, quick_run};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;

const STUDY: &str = r#"
name = "one"
drive = "model:null-write-buffer"
[[workload]]
name = "uniform"
generate = { generator = "uniform", accesses = 20, range = { len = "1MiB" } }
"#;

/// Returns the command, with unwrapped messages.
fn fathom(dir: &Path) -> Command {
    let mut command = common::fathom(dir);
    command.env("COLUMNS", "400");
    command
}

fn succeeds(dir: &Path, args: &[&str]) {
    fathom(dir).args(args).assert().success();
}

fn run(out: &str) -> Vec<&str> {
    let args = ["run", "generate:uniform", "--accesses", "20", "--out", out];
    args.to_vec()
}

/// Returns every file of a directory with its contents.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let files = names(dir)
        .into_iter()
        .filter(|name| dir.join(name).is_file());
    files
        .map(|name| (name.clone(), fs::read(dir.join(name)).unwrap()))
        .collect()
}

#[test]
fn two_kinds_do_not_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("study.toml"), STUDY).unwrap();
    fs::write(
        dir.join("jobs.fio"),
        "[a]\nrw=randread\nsize=1m\nnumber_ios=20\n",
    )
    .unwrap();
    let compare = |out| vec!["compare", "a", "run", "--out", out];
    let study = |out| vec!["study", "study.toml", "--quiet", "--out", out];
    let turns = |out| {
        vec![
            "run",
            "jobs.fio",
            "--ab",
            "none,noop",
            "--rounds",
            "2",
            "--out",
            out,
        ]
    };
    let probe = |out| vec!["probe", "--quiet", "--only", "prefetch", "--out", out];
    succeeds(dir, &run("a"));
    quick_run(dir, "probe", &[]);
    for args in [
        run("run"),
        study("study"),
        turns("turns"),
        compare("comparison"),
    ] {
        succeeds(dir, &args);
    }
    for (there, is) in [
        ("run", "a run of `fathom run`"),
        ("probe", "a run of `fathom probe`"),
        ("turns", "a run of `fathom run --ab`"),
        ("study", "a study"),
        ("comparison", "a comparison"),
    ] {
        let before = contents(&dir.join(there));
        for (kind, args) in [
            ("run", run(there)),
            ("probe", probe(there)),
            ("turns", turns(there)),
            ("study", study(there)),
            ("comparison", compare(there)),
        ] {
            if kind == there {
                continue;
            }
            let said = contains(format!("{there} holds {is}")).and(contains("another directory"));
            fathom(dir)
                .args(&args)
                .assert()
                .code(2)
                .stdout("")
                .stderr(said);
        }
        assert_eq!(contents(&dir.join(there)), before, "{there}");
    }
    // A set of the same kind replaces the existing one.
    for args in [
        run("run"),
        study("study"),
        turns("turns"),
        compare("comparison"),
    ] {
        succeeds(dir, &args);
    }
}

#[test]
fn a_file_that_the_sums_name_is_said_to_be_missing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(dir, &run("run"));
    quick_run(dir, "probe", &[]);
    let tells = |args: &[&str], name: &str, code: i32| {
        let said = format!("{name} is missing, and sums.txt beside it names it");
        fathom(dir)
            .args(args)
            .assert()
            .code(code)
            .stderr(contains(said));
    };
    fs::remove_file(dir.join("run/requests.parquet")).unwrap();
    tells(&["compare", "run", "run"], "run/requests.parquet", 0);
    fs::remove_file(dir.join("run/run.json")).unwrap();
    tells(&["compare", "run", "run"], "run/run.json", 2);
    tells(&["report", "run"], "run/run.json", 2);
    fs::remove_file(dir.join("probe/profile.toml")).unwrap();
    tells(&["diff", "probe", "probe"], "probe/profile.toml", 2);
    tells(&["report", "probe"], "probe/profile.toml", 0);
    fs::remove_file(dir.join("probe/record.parquet")).unwrap();
    tells(&["solve", "probe"], "probe/record.parquet", 2);
    tells(&["report", "probe"], "probe/record.parquet", 2);
}

#[test]
fn runs_of_two_kinds_are_not_sent_from_one_command_to_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(dir, &run("run"));
    quick_run(dir, "probe", &[]);
    for args in [
        ["compare", "run", "probe"],
        ["compare", "probe", "run"],
        ["diff", "run", "probe"],
        ["diff", "probe", "run"],
    ] {
        let said = contains("one kind cannot be compared")
            .and(contains("fathom diff run").not())
            .and(contains("fathom compare probe").not());
        fathom(dir).args(args).assert().code(2).stderr(said);
    }
    let three = ["compare", "probe", "probe", "probe"];
    let two = contains("fathom diff probe probe\n");
    fathom(dir).args(three).assert().code(2).stderr(two);
}

#[test]
fn a_set_of_another_kind_is_named_to_a_command_that_reads_one() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("study.toml"), STUDY).unwrap();
    succeeds(dir, &run("run"));
    succeeds(dir, &["study", "study.toml", "--quiet", "--out", "study"]);
    for (args, said) in [
        (
            &["solve", "run"][..],
            "run holds a run of `fathom run`, and `fathom solve` takes",
        ),
        (
            &["probe", "--resume", "run"],
            "run holds a run of `fathom run`, and `fathom probe --resume` takes",
        ),
        (
            &["report", "study"],
            "study holds a study, and `fathom report` takes",
        ),
    ] {
        fathom(dir)
            .args(args)
            .assert()
            .code(2)
            .stderr(contains(said));
    }
}
