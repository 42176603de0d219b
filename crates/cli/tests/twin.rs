//! Tests `fathom twin`: what it writes, what it refuses, and that a run serves as a drive.

use crate::common::{fathom, quick_run, root, schema};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

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
    // A mistake is told before a twin is made.
    for more in [["--platform", "spam"], ["--sched", "spam"]] {
        let args = ["run", "generate:uniform", "--on", "a"];
        let said = failed(dir, &[&args[..], &more].concat());
        assert!(said.contains("spam"), "{said}");
        assert!(!dir.join("a/twin.toml").exists(), "{more:?}");
    }
    let (_, said) = run("a");
    assert!(said.contains("twin.toml (made now)"), "{said}");
    let (_, said) = run("a");
    let quick = "warning: the run is of the quick level";
    assert!(
        said.contains("twin.toml (made before)") && said.contains(quick),
        "{said}"
    );
    // A twin of another record is made again.
    let kept = fs::read_to_string(dir.join("a/twin.toml")).unwrap();
    fs::write(
        dir.join("a/twin.toml"),
        kept.replacen("record ", "record 1", 1),
    )
    .unwrap();
    let (_, said) = run("a");
    assert!(said.contains("made now"), "{said}");
    // Written in its place, it is the kept one.
    let out = fathom(dir)
        .args(["twin", "a", "--out", "a/twin.toml"])
        .output()
        .unwrap();
    assert!(out.status.success());
    assert_eq!(fs::read_to_string(dir.join("a/twin.toml")).unwrap(), kept);
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

/// It would be read without end.
#[test]
fn a_kept_twin_that_is_a_link_to_a_device_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    measured(dir);
    std::os::unix::fs::symlink("/dev/zero", dir.join("a/twin.toml")).unwrap();
    let said = failed(
        dir,
        &["run", "generate:uniform", "--accesses", "500", "--on", "a"],
    );
    assert!(said.contains("a character device"), "{said}");
}

/// Where the twin cannot be kept, it is made in memory. Root may write anywhere, so the command runs as nobody.
#[test]
fn a_run_that_cannot_be_written_serves_as_a_drive_and_a_job_of_its_size_fits() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "probe model:nvme --quiet --level quick --only parallelism,flush --out a";
    let made = fathom(dir).args(args.split(' ')).assert();
    made.success();
    let text = fs::read_to_string(dir.join("a/profile.toml")).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("capacity_bytes"))
        .unwrap();
    let whole = line.split(' ').next_back().unwrap();
    let job = format!("[j]\nrw=randread\nbs=4k\nsize={whole}\nnumber_ios=200\n");
    fs::write(dir.join("j.fio"), job).unwrap();
    for (path, mode) in [(dir.to_owned(), 0o755), (dir.join("a"), 0o555)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = match root() {
        false => fathom(dir),
        true if Command::new("setpriv").arg("--version").output().is_err() => {
            eprintln!("skipped: running as root, and setpriv is not there to run as somebody else");
            return;
        }
        true => {
            let program = dir.join("fathom");
            fs::copy(assert_cmd::cargo::cargo_bin("fathom"), &program).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(program).current_dir(dir);
            assert_cmd::Command::from_std(command)
        }
    };
    let out = command
        .args(["run", "j.fio", "--on", "a"])
        .output()
        .unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{said}");
    assert_eq!(said.matches("made now and not kept").count(), 1, "{said}");
    assert!(said.contains("ermission denied"), "{said}");
    assert!(!dir.join("a/twin.toml").exists());
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
    let said = failed(dir, &["twin", "model:nvme"]);
    assert!(said.contains("fathom probe model:nvme --out DIR"), "{said}");
    // A place that cannot be is told before the record is looked at, which here says too little.
    let said = failed(dir, &["twin", "little", "--out", "away/x.toml"]);
    assert!(
        said.contains("away") && !said.contains("parallelism"),
        "{said}"
    );
    let before = fs::read(dir.join("little/profile.toml")).unwrap();
    let said = failed(dir, &["twin", "little", "--out", "little/profile.toml"]);
    assert!(said.contains("a file of a stored run"), "{said}");
    assert_eq!(fs::read(dir.join("little/profile.toml")).unwrap(), before);
    let args = ["run", "generate:uniform", "--on", "little/record.parquet"];
    let said = failed(dir, &args);
    assert!(said.contains("`--on little` plays on the twin"), "{said}");
}
