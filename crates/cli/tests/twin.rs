//! Tests `fathom twin`: what it writes, what it refuses, and that a run serves as a drive.

use crate::common::{fathom, quick_run, schema};
use std::fs;
use std::path::Path;

/// Probes what a twin needs at least: reads, flushes, and reads during writes.
fn measured(dir: &Path) {
    let only = "parallelism,flush,queue_knee";
    fathom(dir)
        .args([
            "probe",
            "model:nvme",
            "--quiet",
            "--level",
            "quick",
            "--only",
            only,
            "--out",
            "a",
        ])
        .assert()
        .success();
}

fn failed(dir: &Path, args: &[&str]) -> String {
    let out = fathom(dir).args(args).output().unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

#[test]
fn a_twin_is_a_drive_and_its_run_serves_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    measured(dir);
    let out = fathom(dir)
        .args(["twin", "a", "--out", "a.toml", "--json"])
        .output()
        .unwrap();
    assert!(out.status.success());
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    schema::check("twin", &value);
    let file = fs::read_to_string(dir.join("a.toml")).unwrap();
    assert!(
        file.contains("# Assumed, because the record does not tell:"),
        "{file}"
    );
    let run = |on: &str| {
        let out = fathom(dir)
            .args(["run", "generate:uniform", "--accesses", "500", "--on", on])
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        (
            String::from_utf8(out.stdout).unwrap(),
            String::from_utf8(out.stderr).unwrap(),
        )
    };
    run("model:./a.toml");
    let (_, said) = run("a");
    assert!(said.contains("twin.toml (made now)"), "{said}");
    let (_, said) = run("a");
    assert!(said.contains("twin.toml (made before)"), "{said}");
    // A twin of another record is made again.
    let kept = fs::read_to_string(dir.join("a/twin.toml")).unwrap();
    fs::write(
        dir.join("a/twin.toml"),
        kept.replacen("record ", "record 1", 1),
    )
    .unwrap();
    let (_, said) = run("a");
    assert!(said.contains("made now"), "{said}");
    // An edited one is neither used nor lost.
    let edited = kept.replacen("queue_depth", " queue_depth", 1);
    fs::write(dir.join("a/twin.toml"), &edited).unwrap();
    let said = failed(
        dir,
        &["run", "generate:uniform", "--accesses", "500", "--on", "a"],
    );
    assert!(
        said.contains("was changed after it was made") && said.contains("model:./FILE"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(dir.join("a/twin.toml")).unwrap(), edited);
}

#[test]
fn a_family_without_drives_has_no_twins() {
    let dir = tempfile::tempdir().unwrap();
    let said = failed(
        dir.path(),
        &["accuracy", "--twin", "--family", "noise", "--drives", "1"],
    );
    assert!(
        said.contains("modern") && !said.contains(", noise"),
        "{said}"
    );
}

#[test]
fn what_cannot_have_a_twin_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    quick_run(dir, "paper", &[]);
    let said = failed(dir, &["twin", "paper"]);
    assert!(
        said.contains("--method paper") && said.contains("fathom probe TARGET"),
        "{said}"
    );
    fathom(dir)
        .args([
            "probe",
            "model:ssd-a",
            "--quiet",
            "--only",
            "prefetch",
            "--out",
            "little",
        ])
        .assert()
        .success();
    let said = failed(dir, &["twin", "little", "--out", "x.toml"]);
    assert!(said.contains("parallelism"), "{said}");
    assert!(!dir.join("x.toml").exists());
    let said = failed(dir, &["twin", "nothing"]);
    assert!(said.contains("nothing"), "{said}");
}
