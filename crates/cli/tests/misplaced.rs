//! Tests of the messages for a file or a directory in the place of another.

use crate::common::{fathom, quick_run};
use crate::hints::tells;

#[test]
fn a_file_or_a_run_of_another_kind_is_told_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let example = fathom(dir.path()).args(["explain", "drive.toml"]).output();
    std::fs::write(dir.path().join("drive.toml"), example.unwrap().stdout).unwrap();
    for args in [
        "study drive.toml",
        "run drive.toml",
        "run drive.toml --on model:epo",
    ] {
        tells(
            dir.path(),
            args,
            &["drive.toml is a drive file", "model:drive.toml"],
        );
    }
    let example = fathom(dir.path()).args(["explain", "study.toml"]).output();
    std::fs::write(dir.path().join("study.toml"), example.unwrap().stdout).unwrap();
    std::fs::write(dir.path().join("jobs"), "# fio\n[a]\nrw=randread\n").unwrap();
    let load = "generate = { generator = 'uniform' }";
    std::fs::write(dir.path().join("load.toml"), load).unwrap();
    for (args, is, instead) in [
        ("run study.toml", "is a study", "fathom study study.toml"),
        (
            "run generate:uniform --on study.toml",
            "is a study and no drive",
            "fathom study study.toml",
        ),
        (
            "probe model:study.toml",
            "is a study and no drive",
            "fathom study study.toml",
        ),
        (
            "convert study.toml a.parquet",
            "is a study",
            "fathom study study.toml",
        ),
        ("study load.toml", "is a workload", "fathom run load.toml"),
        ("study jobs", "is a file of jobs", "fathom run jobs"),
        (
            "study generate:uniform",
            "is a workload",
            "fathom run generate:uniform",
        ),
        ("run ssd-a", "is a drive", "--on model:ssd-a"),
        ("run model:ssd-a", "is a drive", "--on model:ssd-a"),
    ] {
        tells(dir.path(), args, &[is, instead]);
    }
    quick_run(dir.path(), "a", &[]);
    quick_run(dir.path(), "b", &[]);
    tells(
        dir.path(),
        "compare a b",
        &["fathom probe", "fathom diff a b"],
    );
    let mut replay = fathom(dir.path());
    replay.args(["run", "generate:uniform", "--accesses", "20", "--out", "c"]);
    replay.assert().success();
    tells(
        dir.path(),
        "diff c c",
        &["fathom run", "fathom compare c c"],
    );
}

#[test]
fn a_file_in_the_place_of_another_is_told_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["drive.toml", "file-server.fio"] {
        let example = fathom(dir.path()).args(["explain", name]).output();
        std::fs::write(dir.path().join(name), example.unwrap().stdout).unwrap();
    }
    std::fs::write(dir.path().join("binary.toml"), b"\xff\xfe").unwrap();
    quick_run(dir.path(), "probed", &[]);
    let mut run = fathom(dir.path());
    run.args([
        "run",
        "generate:uniform",
        "--accesses",
        "20",
        "--out",
        "ran",
    ]);
    run.assert().success();
    let needs = "run generate:uniform --sched irbw-fifo --profile";
    for (args, is, instead) in [
        (
            "probe file-server.fio",
            "is a file of jobs and no drive",
            "fathom run file-server.fio",
        ),
        (
            "diff drive.toml probed",
            "drive.toml is a drive file",
            "model:drive.toml",
        ),
        (
            &*format!("{needs} ran"),
            "ran holds a run of `fathom run`",
            "fathom probe TARGET --out DIR",
        ),
        (
            &*format!("{needs} ran/run.json"),
            "is a file of a stored run and no profile",
            "fathom report ran",
        ),
        (
            &*format!("{needs} drive.toml"),
            "drive.toml is a drive file",
            "model:drive.toml",
        ),
        (
            "report file-server.fio",
            "is a file of jobs",
            "fathom run file-server.fio",
        ),
        (
            "report probed/profile.toml",
            "is a file of a stored run",
            "fathom report probed",
        ),
        (
            "run ran/requests.parquet",
            "is a file of a stored run and no workload",
            "fathom report ran",
        ),
        (
            "study binary.toml --out out",
            "it is no text in UTF-8",
            "fathom explain study.toml",
        ),
    ] {
        tells(dir.path(), args, &[is, instead]);
    }
}

/// A scratch file of the size of a drive would be made among the results.
#[test]
fn a_stored_run_in_the_place_of_a_drive_is_told_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    quick_run(dir.path(), "probed", &[]);
    tells(
        dir.path(),
        "probe probed --size 16MiB --yes --out out",
        &[
            "probed is a stored run, and a drive is asked for",
            "fathom report probed",
        ],
    );
}
