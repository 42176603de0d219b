//! Tests of `fathom write-cost`: its text, its files, and its refusals.

use crate::common::{fathom, names};
use crate::hints::tells;

const QUICK: &str = "write-cost model:mtron-sata7035 --block 2MiB --total 64MiB --quiet";

#[test]
fn the_result_fits_a_screen_and_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = fathom(dir.path());
        command
            .env("COLUMNS", "80")
            .args(QUICK.split(' '))
            .args(more);
        command.output().unwrap()
    };
    let out = run(&["--out", "cost"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.lines().count() <= 50, "{text}");
    for part in [
        "The model fits",
        "T_merge",
        "512 = L",
        "full merge",
        "2 MiB, as given",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let stored = names(&dir.path().join("cost"));
    assert_eq!(stored, ["report.html", "sums.txt", "write-cost.json"]);
    // The same seed gives the same results, and another directory's results are not overwritten.
    let again = run(&["--out", "again"]);
    let file = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(again.status.success());
    assert_eq!(file("cost/write-cost.json"), file("again/write-cost.json"));
    assert_eq!(file("cost/report.html"), file("again/report.html"));
}

#[test]
fn the_logical_block_comes_from_a_profile() {
    let dir = tempfile::tempdir().unwrap();
    let probe = "probe model:mtron-sata7035 --quiet --only clustered_block --out profile";
    fathom(dir.path()).args(probe.split(' ')).assert().success();
    let cost = "write-cost model:mtron-sata7035 --profile profile --total 64MiB --quiet --json";
    let out = fathom(dir.path()).args(cost.split(' ')).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["block"]["bytes"], 2 << 20, "{found:#}");
    assert_eq!(found["block"]["source"], "profile");
    assert_eq!(found["block"]["clustered_bytes"], 2 << 20);
}

#[test]
fn sizes_that_cannot_be_measured_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let on = |more: &str| format!("write-cost model:mtron-sata7035 --quiet {more}");
    tells(
        dir.path(),
        &on("--block 5000B"),
        &["`--block` has 5000B", "multiples of 4KiB"],
    );
    tells(
        dir.path(),
        &on("--block 128MiB"),
        &["needs 32 logical blocks", "--block"],
    );
    tells(
        dir.path(),
        &on("--block 2MiB --sizes 1000B"),
        &["`--sizes` has 1000B", "multiples of 512B"],
    );
    tells(
        dir.path(),
        &on("--block 2MiB --sizes 2GiB"),
        &["`--sizes` has 2GiB", "--total"],
    );
    tells(
        dir.path(),
        &on("--block 2MiB --profile x"),
        &["cannot be used with"],
    );
    tells(dir.path(), &on("--profile missing"), &["missing"]);
    tells(
        dir.path(),
        &on("--block 2MiB --destroy sda"),
        &["names a real drive"],
    );
    tells(dir.path(), "write-cost model:mtron", &["mtron-sata7035"]);
}

#[test]
fn a_file_is_not_written_without_permission() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("disk.img"), vec![7_u8; 64 << 20]).unwrap();
    let args = ["write-cost", "disk.img", "--block", "64KiB", "--yes"];
    let out = fathom(dir.path()).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success(), "{said}");
    assert!(said.contains("--destroy"), "{said}");
    let after = std::fs::read(dir.path().join("disk.img")).unwrap();
    assert!(after.iter().all(|byte| *byte == 7));
}
