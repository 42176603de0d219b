//! Tests README.md: the output that it shows is what the command prints, and every command in it works.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

use crate::common::{QUICK, fathom};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

#[test]
fn the_readme_shows_what_a_newcomer_sees() {
    let dir = tempfile::tempdir().unwrap();
    let output = fathom(dir.path()).args(["probe", "--quiet"]).output();
    let printed = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(printed.contains("Cost: "), "{printed}");
    assert!(
        readme().contains(&format!("```\n{}\n```", printed.trim_end())),
        "README.md shows something else; this is what is printed now:\n{printed}"
    );
}

/// Commands that this test does not run: the house tests, the library's examples (every test run compiles them, none runs
/// them), a paper (tests/reproduce.rs), a modelled platform and a plan (tests/platform.rs,
/// tests/plan.rs), and the first command of all (above).
const ELSEWHERE: [&str; 6] = [
    "cargo xtask test",
    "cargo run --release -p fathom-lab --example",
    "fathom reproduce",
    "cargo fathom probe",
    "fathom platform --model",
    "fathom plan",
];

/// Creates the files that the README's commands use: its examples, a trace, and a directory on a disk.
fn surroundings(dir: &Path) {
    let jobs = |text: String| {
        let small = text.replace("size=1g", "size=32m");
        small.replace("io_size=256m", "io_size=1m")
    };
    fs::create_dir_all(dir.join("examples")).unwrap();
    fs::create_dir_all(dir.join("mnt/data")).unwrap();
    for name in ["drive.toml", "study.toml", "file-server.fio"] {
        let text = fs::read_to_string(root().join("examples").join(name)).unwrap();
        fs::write(dir.join("examples").join(name), jobs(text)).unwrap();
    }
    fs::write(dir.join("web.spc.zst"), "0,8,512,w,0.1\n0,800,4096,r,0.2\n").unwrap();
}

/// Returns a command adapted for a test: the disk's path, a smaller amount of writes, fewer measurements.
fn smaller(command: &str) -> Vec<String> {
    let mut command = command
        .replace("/mnt/data", "mnt/data")
        .replace("--size 4GiB", "--size 64MiB --yes")
        .replace("--ab none,mq-deadline", "--ab none,mq-deadline --rounds 1");
    let few = [
        "fathom probe mnt",
        "fathom probe model:my-drive",
        "--out robust",
    ];
    if few.iter().any(|part| command.contains(part)) || command.contains("--method paper") {
        command += &format!(" --quiet --only {QUICK}");
    }
    if command.starts_with("fathom probe mnt") {
        command += " --budget 1s";
    }
    // A shell takes the quotes off; no quoted argument has a space.
    let words = command.split_whitespace();
    words
        .map(|word| word.trim_matches('\'').to_owned())
        .collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    surroundings(dir.path());
    let readme = readme();
    // Output is between fences.
    let outside = readme.split("```").step_by(2);
    let lines = outside.flat_map(str::lines);
    let commands: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| line.split('#').next().unwrap().trim())
        .filter(|line| !line.is_empty())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        if ELSEWHERE.iter().any(|start| command.starts_with(start)) {
            continue;
        }
        let args = smaller(command);
        if let [program, from, to] = args.as_slice()
            && program == "cp"
        {
            fs::copy(dir.path().join(from), dir.path().join(to)).unwrap();
            continue;
        }
        assert_eq!(args[0], "fathom", "{command}");
        let output = fathom(dir.path()).args(&args[1..]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if command.contains("/dev/sdX") {
            // There is no such drive, but the command line is right.
            assert!(said.contains("/dev/sdX"), "{command}: {said}");
            continue;
        }
        let cannot = ["direct I/O", "io_uring is not available"];
        if command.contains("/mnt/data") && cannot.iter().any(|why| said.contains(why)) {
            eprintln!("skipped: {command}: {said}");
            continue;
        }
        assert!(output.status.success(), "{command}: {said}");
    }
}
