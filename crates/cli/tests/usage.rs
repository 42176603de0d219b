//! Tests that every subcommand does what its help says, and that wrong usage and input give the right exit code and message.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common::{fathom, names, quick_run};
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use std::fs;

#[test]
fn the_help_of_every_subcommand() {
    let dir = tempfile::tempdir().unwrap();
    let commands = [
        "",
        "probe",
        "accuracy",
        "solve",
        "report",
        "diff",
        "run",
        "convert",
        "capture",
        "study",
        "compare",
        "write-cost",
        "platform",
        "plan",
        "tune",
        "twin",
        "reproduce",
        "list",
        "explain",
        "completions",
        "man",
    ];
    for command in commands {
        let out = fathom(dir.path())
            .args(command.split_whitespace())
            .arg("--help")
            .output()
            .unwrap();
        assert!(out.status.success());
        let name = format!(
            "help_{}",
            if command.is_empty() {
                "fathom"
            } else {
                command
            }
        );
        insta::assert_snapshot!(name, String::from_utf8(out.stdout).unwrap());
    }
}

#[test]
fn wrong_usage_is_2_and_says_what_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let wrong: [(&[&str], &str); 11] = [
        (
            &["probe", "--endurance", "0TB"],
            "no drive is rated for nothing",
        ),
        (&["accuracy", "--seed", "18446744073709551615"], "2^63 - 1"),
        (&[], "Usage"),
        (&["prob"], "probe"),
        (&["probe", "--method", "guess"], "robust"),
        (&["probe", "--only", "prefetch,page"], "clustered_page"),
        (
            &["probe", "--seed", "9223372036854775808"],
            "9223372036854775807",
        ),
        (&["probe", "--budget", "5"], "2GiB or 5min"),
        (&["probe", "--size", "1024"], "16KiB"),
        (&["probe", "--read-only", "--destroy", "x"], "--destroy"),
        (&["list", "things"], "drives"),
    ];
    for (args, words) in wrong {
        let assert = fathom(dir.path()).args(args).assert();
        assert.code(2).stdout("").stderr(contains(words));
    }
}

#[test]
fn what_a_record_decides_cannot_be_given_beside_resume() {
    let dir = tempfile::tempdir().unwrap();
    let fixed: [&[&str]; 6] = [
        &["model:ssd-a"],
        &["--seed", "1"],
        &["--method", "paper"],
        &["--only", "prefetch"],
        &["--size", "1GiB"],
        &["--read-only"],
    ];
    for args in fixed {
        let assert = fathom(dir.path())
            .args(["probe", "--resume", "run"])
            .args(args)
            .assert();
        assert.code(2).stderr(contains("--resume"));
    }
}

#[test]
fn lists_name_every_drive_and_parameter() {
    let dir = tempfile::tempdir().unwrap();
    let list = |what: &str| {
        fathom(dir.path())
            .args(["list", what, "--json"])
            .output()
            .unwrap()
    };
    let items = |text: &[u8]| {
        let all: serde_json::Value = serde_json::from_slice(text).unwrap();
        all["items"].clone()
    };
    let drives = items(&list("drives").stdout);
    for name in ["ssd-a", "ssd-b", "ssd-c", "ssd-d"] {
        let target = format!("model:{name}");
        let found = drives
            .as_array()
            .unwrap()
            .iter()
            .find(|d| d["name"] == name);
        assert_eq!(found.unwrap()["target"], target.as_str());
        let table = fathom(dir.path()).args(["list", "drives"]).assert();
        table.success().stdout(contains(target));
    }
    let parameters = items(&list("parameters").stdout);
    assert_eq!(
        parameters.as_array().unwrap().len(),
        fathom_probe::Parameter::ALL.len()
    );
    assert_eq!(parameters[0]["name"], "clustered_page");
    assert_eq!(parameters[0]["unit"], "B");
}

#[test]
fn a_list_of_lists_says_what_can_be_listed() {
    let dir = tempfile::tempdir().unwrap();
    let all = fathom(dir.path())
        .args(["list", "--json"])
        .assert()
        .success();
    let all: serde_json::Value = serde_json::from_slice(&all.get_output().stdout).unwrap();
    let all = all["items"].as_array().unwrap();
    assert!(all.len() > 10, "{all:?}");
    for list in all {
        let name = list["name"].as_str().unwrap();
        assert!(!list["summary"].as_str().unwrap().is_empty(), "{name}");
        let assert = fathom(dir.path()).args(["list", name]).assert();
        assert.success().stdout(contains("\n"));
        let assert = fathom(dir.path()).arg("list").assert();
        assert
            .success()
            .stdout(contains(format!("\n{name} ")).or(starts_with(name)));
    }
}

/// An installed program has no directory of examples.
#[test]
fn every_example_comes_with_the_program_and_no_help_points_to_the_sources() {
    let dir = tempfile::tempdir().unwrap();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let names = names(std::path::Path::new(sources));
    // The library's example programs are for users with its sources only.
    for name in names.iter().filter(|name| !name.ends_with(".rs")) {
        let text = fs::read_to_string(format!("{sources}/{name}")).unwrap();
        fathom(dir.path())
            .args(["explain", name])
            .assert()
            .success()
            .stdout(text);
        fathom(dir.path())
            .args(["list", "examples"])
            .assert()
            .stdout(contains(name));
    }
    fs::write(dir.path().join("wrong.toml"), "nmae = 'x'\n").unwrap();
    let asked: [&[&str]; 5] = [
        &["run", "--help"],
        &["probe", "model:missing.toml"],
        &["probe", "model:wrong.toml"],
        &["study", "wrong.toml", "--out", "out"],
        &["study", "missing.toml", "--out", "out"],
    ];
    for args in asked {
        let output = fathom(dir.path()).args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(!said.contains("examples/"), "{args:?}: {said}");
        assert!(said.contains("fathom explain"), "{args:?}: {said}");
    }
}

#[test]
fn the_endurance_may_be_petabytes() {
    let dir = tempfile::tempdir().unwrap();
    for size in ["1PiB", "1.5PB", "600TB"] {
        let args = [
            "probe",
            "--quiet",
            "--only",
            "prefetch",
            "--method",
            "paper",
            "--endurance",
            size,
        ];
        fathom(dir.path()).args(args).assert().success();
    }
}

#[test]
fn parameters_and_drives_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let explain = |name: &str| fathom(dir.path()).args(["explain", name]).assert();
    explain("write_buffer")
        .success()
        .stdout(starts_with("# write_buffer: "));
    explain("write-buffer")
        .success()
        .stdout(starts_with("# write_buffer: "));
    explain("ssd-a")
        .success()
        .stdout(contains("parameter-aware-io"));
    explain("model:ssd-a")
        .success()
        .stdout(contains("parameter-aware-io"));
    explain("buffer")
        .code(2)
        .stderr(contains("read_buffer").and(contains("write_buffer")));
    explain("sdd-a").code(2).stderr(contains("ssd-a"));
    explain("zzz").code(2).stderr(contains("fathom list"));
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let assert = fathom(dir.path()).args(["completions", shell]).assert();
        assert.success().stdout(contains("read-only"));
    }
    let man = |args: &[&str]| fathom(dir.path()).arg("man").args(args).assert();
    man(&[]).success().stdout(contains(".TH fathom 1"));
    man(&["probe"])
        .success()
        .stdout(contains(".TH fathom-probe 1").and(contains("budget")));
    man(&["guess"]).code(2);
}

#[test]
fn a_run_is_written_solved_reported_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let run = quick_run(dir.path(), "run", &["--seed", "5"]);
    assert_eq!(
        names(&run),
        ["profile.toml", "record.parquet", "report.html", "sums.txt"]
    );
    let bytes = |name: &str| fs::read(run.join(name)).unwrap();
    let (profile, html) = (bytes("profile.toml"), bytes("report.html"));
    fs::remove_file(run.join("profile.toml")).unwrap();
    fs::remove_file(run.join("report.html")).unwrap();

    let command = |args: &[&str]| fathom(dir.path()).args(args).assert();
    command(&["diff", "run", "run"])
        .code(2)
        .stderr(contains("profile.toml"));
    command(&["solve", "run"])
        .success()
        .stdout(contains("profile.toml"));
    assert_eq!(bytes("profile.toml"), profile);
    assert_eq!(bytes("report.html"), html);
    fs::remove_file(run.join("report.html")).unwrap();
    command(&["report", "run"])
        .success()
        .stdout("run/report.html\n");
    assert_eq!(bytes("report.html"), html);

    let solved = command(&["solve", "run", "--json"]).success();
    let json: serde_json::Value = serde_json::from_slice(&solved.get_output().stdout).unwrap();
    assert_eq!(json["seed"], 5);
    assert_eq!(json["target"]["name"], "model:ssd-a");
    let answer = json["parameters"]["prefetch"].as_object().unwrap();
    let keys: Vec<_> = answer.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "value", "unit", "low", "high", "verdict", "method", "evidence", "cost"
        ]
    );
    command(&["diff", "run", "run"]).success();
    command(&["diff", "run", "run", "--json"])
        .success()
        .stdout(starts_with("{"));
}

#[test]
fn profiles_that_differ_are_1() {
    let dir = tempfile::tempdir().unwrap();
    let run = quick_run(dir.path(), "left", &[]);
    let toml = fs::read_to_string(run.join("profile.toml")).unwrap();
    let mut profile: toml::Table = toml.parse().unwrap();
    for (name, verdict) in [("left", "absent"), ("right", "identified")] {
        let answer = profile["parameters"]["prefetch"].as_table_mut().unwrap();
        answer.insert("verdict".into(), verdict.into());
        if verdict == "identified" {
            answer.insert("value".into(), "read-ahead".into());
        } else {
            answer.remove("value");
        }
        fs::create_dir_all(dir.path().join(name)).unwrap();
        let path = dir.path().join(name).join("profile.toml");
        // The edited file no longer matches its checksum, so the checksums are removed.
        let _ = fs::remove_file(path.with_file_name("sums.txt"));
        fs::write(path, toml::to_string(&profile).unwrap()).unwrap();
    }
    let diff = |args: &[&str]| fathom(dir.path()).arg("diff").args(args).assert();
    diff(&["left", "right"]).code(1).stdout(contains("differs"));
    diff(&["right", "left", "--json"])
        .code(1)
        .stdout(contains("\"differs\""));
    diff(&["left", "left"]).code(0);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let program = assert_cmd::cargo::cargo_bin("fathom");
    let script = format!(
        "'{}' completions bash | true; exit ${{PIPESTATUS[0]}}",
        program.display()
    );
    let status = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(dir.path())
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn what_cannot_be_printed_is_2() {
    for args in [["--help"], ["--version"], ["list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let out = std::process::Command::new(assert_cmd::cargo::cargo_bin("fathom"))
            .args(args)
            .stdout(full.unwrap())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(said.contains("cannot write to standard output"), "{said}");
    }
}
