//! Tests that JSON output conforms to docs/schema and includes the schema's version.

use crate::common::{QUICK, fathom, quick_run, schema};
use std::path::Path;

const JOBS: &str =
    "[all]\nrw=randrw\nbs=4k\nsize=8m\nnumjobs=3\niodepth=4\nnumber_ios=100\nfsync=10\n";

/// Runs a command with `--json` and checks its output against the schema.
fn described(dir: &Path, name: &str, args: &str) {
    let args = args.split(' ');
    let out = fathom(dir).args(args).arg("--json").output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    let value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{name}: {e}: {said}"));
    schema::check(name, &value);
}

#[test]
fn profiles_and_their_comparison_are_described() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    quick_run(dir, "a", &[]);
    let probe = "probe model:ssd-b --quiet --method paper --only write_policy --out b";
    described(dir, "probe", probe);
    described(dir, "probe", "solve a");
    described(dir, "diff", "diff a a");
    described(dir, "diff", "diff a b");
    let accuracy = format!("accuracy --drives 2 --family narrow --quiet --only {QUICK}");
    described(dir, "accuracy", &accuracy);
    described(
        dir,
        "accuracy",
        &format!("accuracy --drives 1 --family noise --quiet --only {QUICK}"),
    );
}

#[test]
fn runs_and_their_comparison_are_described() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("jobs.fio"), JOBS).unwrap();
    let replay = "run generate:uniform --accesses 2000";
    for more in [
        "--on model:ssd-a --out a",
        "--on model:ssd-a --buffer none --seed 2 --out b",
        "--arrival processes:3:2 --sched irbw-fifo,bundle=64KiB --split pas,read=64KiB,write=64KiB",
        "--step writes-only --reshape epo,capacity=64KiB",
        "--step first,accesses=1",
    ] {
        described(dir, "run", &format!("{replay} {more}"));
    }
    described(dir, "run", "run jobs.fio --on model:ssd-a");
    described(dir, "compare", "compare a b a");
    described(
        dir,
        "ab",
        "run jobs.fio --on model:epo --ab none,mq-deadline --rounds 2",
    );
    let study = fathom(dir)
        .args(["explain", "study.toml"])
        .output()
        .unwrap()
        .stdout;
    std::fs::write(dir.join("study.toml"), study).unwrap();
    described(dir, "study", "study study.toml --out runs --quiet");
}

#[test]
fn the_cost_of_a_write_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let cost = "write-cost model:ssd-a --block 4MiB --total 64MiB --quiet --out cost";
    described(dir.path(), "write-cost", cost);
    let stored = std::fs::read(dir.path().join("cost/write-cost.json")).unwrap();
    schema::check("write-cost", &serde_json::from_slice(&stored).unwrap());
}

/// What is reached; `plan` tests what is not, and `platform` a platform.
#[test]
fn a_plan_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "plan --iops 10k --platform x5570-sas,cores=1 --quiet";
    described(dir.path(), "plan", plan);
}

#[test]
fn lists_are_described() {
    let dir = tempfile::tempdir().unwrap();
    described(dir.path(), "list", "list");
    for what in [
        "drives",
        "parameters",
        "ftls",
        "workloads",
        "steps",
        "examples",
        "platforms",
    ] {
        described(dir.path(), "list", &format!("list {what}"));
    }
}
