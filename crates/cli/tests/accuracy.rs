//! Tests `fathom accuracy`: its data, its exit code, and a single drive of a campaign.

use crate::common::{fathom, interrupt_when};
use serde_json::Value;
use std::fs;

fn json(args: &[&str]) -> (Option<i32>, Value) {
    let dir = tempfile::tempdir().unwrap();
    let out = fathom(dir.path()).args(args).output().unwrap();
    let value = serde_json::from_slice(&out.stdout).unwrap();
    (out.status.code(), value)
}

/// The answers for the first drives include a right and a wrong one, independent of the probes' quality: the paper's rule
/// for the read buffer mistakes noise for an edge.
#[test]
fn a_campaign_as_json_and_as_text() {
    let quick = [
        "accuracy",
        "--quiet",
        "--drives",
        "2",
        "--only",
        "read_buffer,prefetch",
    ];
    let (code, whole) =
        json(&[&quick[..], &["--json", "--method", "both", "--thin", "64"]].concat());
    let tallies = whole["tallies"].as_array().unwrap();
    assert_eq!(tallies.len(), 2);
    assert_eq!(whole["answers"].as_array().unwrap().len(), 2 * 2 * 2);
    let robust = &tallies[0]["all"];
    assert_eq!(tallies[0]["method"], "robust");
    let count = |key: &str| robust[key].as_f64().unwrap();
    let kept = count("found") >= 0.97 * count("identifiable")
        && count("wrong") <= 0.01 * count("identified");
    assert_eq!(code, Some(i32::from(!kept)));
    for answer in whole["answers"].as_array().unwrap() {
        assert!(answer["estimate"]["cost"]["device_ns"].as_u64().unwrap() > 0);
        let sight = answer["truth"]["sight"].as_str().unwrap();
        assert!(["identifiable", "faint", "hidden", "missing"].contains(&sight));
    }
    for drive in whole["drives"].as_array().unwrap() {
        assert!(drive["axes"]["mapping"].is_string(), "{drive}");
    }

    let dir = tempfile::tempdir().unwrap();
    let out = fathom(dir.path()).args(quick).output().unwrap();
    assert_eq!(out.status.code(), code);
    assert!(out.stderr.is_empty(), "quiet");
    let text = String::from_utf8(out.stdout).unwrap();
    let read_buffer = text.lines().find(|l| l.starts_with("read_buffer")).unwrap();
    let found = &tallies[0]["parameters"]["read_buffer"]["found"];
    assert!(
        text.contains("Drives 0 to 1 of seed 1, family wide"),
        "{text}"
    );
    assert!(read_buffer.contains(&format!(" {found}/")), "{text}");
    assert!(
        text.contains(if kept { "Kept." } else { "Not kept." }),
        "{text}"
    );
}

/// Each method answers its own parameters of the same drives.
#[test]
fn all_methods_are_judged_by_the_same_truth() {
    let args = [
        "accuracy",
        "--quiet",
        "--family",
        "modern",
        "--drives",
        "1",
        "--method",
        "all",
        "--thin",
        "64",
        "--only",
        "queue_knee,trim",
    ];
    let (_, whole) = json(&[&args[..], &["--json"]].concat());
    let answers = whole["answers"].as_array().unwrap();
    let of = |answer: &Value| {
        let name = |key: &str| answer[key].as_str().unwrap().to_owned();
        (name("method"), name("parameter"))
    };
    let wanted = [
        ("robust", "queue_knee"),
        ("robust", "trim"),
        ("knee-95", "queue_knee"),
    ];
    let wanted = wanted.map(|(method, of)| (method.to_owned(), of.to_owned()));
    assert_eq!(answers.iter().map(of).collect::<Vec<_>>(), wanted);
    assert_eq!(answers[0]["truth"], answers[2]["truth"]);
    let dir = tempfile::tempdir().unwrap();
    let out = fathom(dir.path()).args(args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("\nqueue_knee: knee-95 "), "{text}");
}

#[test]
fn a_drive_alone_is_shown_with_its_answers() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["accuracy", "--drive", "3", "--only", "prefetch", "--family"];
    for family in ["wide", "narrow", "noise"] {
        let out = fathom(dir.path()).args(args).arg(family).output().unwrap();
        assert!(out.status.code().is_some_and(|code| code < 2), "{family}");
        let text = String::from_utf8(out.stdout).unwrap();
        let answers = text.split("# What was answered:").nth(1).unwrap();
        assert!(answers.contains("prefetch (robust): "), "{text}");
    }
}

/// No table without rows, and no option without effect.
#[test]
fn a_campaign_that_measures_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |args: &[&str]| {
        let out = fathom(dir.path())
            .arg("accuracy")
            .args(args)
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty(), "{args:?}");
        let said = String::from_utf8(out.stderr).unwrap();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = refused(&["--method", "snia-pts", "--only", "trim"]);
    assert!(said.contains("snia-pts") && said.contains("trim"), "{said}");
    let only = said.split("--only ").nth(1).unwrap();
    let answers: Vec<&str> = only.split([',', ' ']).collect();
    assert!(!answers.contains(&"trim"), "{said}");
    let said = refused(&["--method", "cliff-70"]);
    assert!(
        said.contains("`wide`") && said.contains("fast_cache"),
        "{said}"
    );
    let said = refused(&["--thin", "16", "--only", "prefetch", "--drives", "1"]);
    assert!(
        said.contains("--thin 16") && said.contains("both"),
        "{said}"
    );
}

#[test]
fn noise_is_shown_in_words_with_the_command_that_probes_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = fathom(dir.path())
        .args([
            "accuracy", "--family", "noise", "--seed", "3", "--show", "1",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        !text.contains('{') && !text.contains("NoiseTarget"),
        "{text}"
    );
    let line = text
        .lines()
        .find(|l| l.contains("fathom accuracy --family noise --seed 3 --drive 1"));
    assert!(line.is_some(), "{text}");
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert!(lines.all(|line| line.starts_with('#')), "{text}");
}

#[test]
fn a_shown_drive_answers_as_it_did_in_the_campaign() {
    let dir = tempfile::tempdir().unwrap();
    let shown = fathom(dir.path())
        .args(["accuracy", "--seed", "3", "--show", "1"])
        .output()
        .unwrap();
    let toml = String::from_utf8(shown.stdout).unwrap();
    fs::write(dir.path().join("drive.toml"), &toml).unwrap();
    let line = toml.lines().find(|l| l.contains("fathom probe")).unwrap();
    let command: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
    let probed = fathom(dir.path())
        .args(&command[1..])
        .args(["--quiet", "--json", "--only", "prefetch"])
        .output()
        .unwrap();
    let profile: Value = serde_json::from_slice(&probed.stdout).unwrap();
    let (_, campaign) = json(&[
        "accuracy", "--quiet", "--seed", "3", "--skip", "1", "--drives", "1", "--only", "prefetch",
        "--json",
    ]);
    let estimate = &campaign["answers"][0]["estimate"];
    let alone = &profile["parameters"]["prefetch"];
    for key in ["verdict", "evidence", "cost"] {
        assert_eq!(estimate[key], alone[key], "{key}");
    }
}

/// The finished drives are counted, and a run of the same drives alone gives the same results.
#[test]
fn an_interrupted_campaign_keeps_the_drives_that_were_finished() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "accuracy", "--family", "narrow", "--method", "paper", "--thin", "64", "--only",
        "prefetch", "--drives", "60",
    ];
    let (code, text, said) = interrupt_when(dir.path(), &args, "3 of");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Interrupted: "), "{said}");
    let head = text.lines().next().unwrap();
    assert!(head.contains(" of 60 drives were finished"), "{text}");
    assert!(text.contains("\nprefetch  "), "{text}");
    let (code, text, _) = interrupt_when(dir.path(), &[&args[..], &["--json"]].concat(), "3 of");
    assert_eq!(code, Some(1));
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(whole["interrupted"], true);
    let drives = whole["drives"].as_array().unwrap();
    assert!(drives.len() >= 3 && drives.len() == whole["answers"].as_array().unwrap().len());
    let last = drives.last().unwrap()["drive"].to_string();
    let alone = [&args[..9], &["--json", "--quiet", "--drive", &last]].concat();
    let (_, alone) = json(&alone);
    assert_eq!(alone["interrupted"], false);
    assert_eq!(
        alone["answers"][0],
        *whole["answers"].as_array().unwrap().last().unwrap()
    );
}

#[test]
fn wrong_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        ["--drives", "0"],
        ["--thin", "0"],
        ["--method", "every"],
        ["--family", "all"],
    ] {
        let run = fathom(dir.path()).arg("accuracy").args(args).assert();
        run.code(2).stdout("");
    }
    let both = ["accuracy", "--show", "1", "--drives", "2"];
    fathom(dir.path()).args(both).assert().code(2);
    let both = ["accuracy", "--drive", "1", "--skip", "2"];
    fathom(dir.path()).args(both).assert().code(2);
}
