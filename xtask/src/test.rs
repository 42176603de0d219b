//! `cargo xtask test`: runs all checks that must pass before a change is merged.
//!
//! Images of ext2, ext3 and ext4 need libext2fs, which pkg-config is asked for; without it, the feature is left out.
//!
//! Every check runs even if an earlier one failed, so that one run reports everything. The exit code is 1 if any failed.

use crate::command::{cargo, exit, succeeds};
use crate::tally::Tally;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};

/// The targets with tests. The programs in `examples` are tested as modules: clippy has compiled them as they are.
const TARGETS: [&str; 2] = ["--lib --bins --tests", "--doc"];

pub(crate) fn run() -> ExitCode {
    let mut failed = Vec::new();
    let mut check = |name: &'static str, passed: bool| {
        if !passed {
            failed.push(name);
        }
    };

    let features = features();
    check("formatting", step(&mut cargo("fmt --all -- --check")));
    let mut clippy = cargo("clippy --workspace --all-targets");
    clippy.args(features).args(["--", "-D", "warnings"]);
    check("clippy", step(&mut clippy));
    let mut doc = cargo("doc --workspace --no-deps --document-private-items");
    doc.args(features);
    check(
        "documentation",
        step(doc.env("RUSTDOCFLAGS", "-D warnings")),
    );

    let mut tally = Tally::default();
    // Failed tests are counted by name already; a further failure is a crate that did not build or a runner that crashed.
    for targets in TARGETS {
        check(
            "tests",
            tests(targets, features, &mut tally) || tally.failed() > 0,
        );
    }

    println!();
    if features.is_empty() {
        println!(
            "skipped: all tests of images of ext2, ext3 and ext4: libext2fs-dev is not installed"
        );
    }
    for (test, why) in tally.skips() {
        println!("skipped: {test}: {why}");
    }
    for name in &failed {
        println!("failed: {name}");
    }
    for name in tally.failures() {
        println!("failed: {name}");
    }
    let all = tally.failed() + failed.len();
    println!(
        "tests: {} passed, {all} failed, {} skipped",
        tally.passed(),
        tally.skipped()
    );
    exit(all == 0)
}

/// The features of the workspace whose C libraries are installed.
fn features() -> &'static [&'static str] {
    let found = Command::new("pkg-config")
        .args(["--exists", "ext2fs"])
        .status();
    match found.is_ok_and(|status| status.success()) {
        true => &["--features", "fathom-cli/ext"],
        false => &[],
    }
}

fn step(command: &mut Command) -> bool {
    announce(command);
    succeeds(command)
}

fn announce(command: &Command) {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    println!("\n== cargo {}", args.join(" "));
}

/// Runs the tests of some targets, shows the output of the test runner as it arrives, and counts. Returns true if all passed.
fn tests(targets: &str, features: &[&str], tally: &mut Tally) -> bool {
    // `--show-output`, because a skipping test says so on its own output, which is hidden if the test passes.
    let mut command = cargo("test --workspace --no-fail-fast");
    command
        .args(targets.split(' '))
        .args(features)
        .args(["--", "--show-output"]);
    announce(&command);
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("cannot run {command:?}: {error}");
            return false;
        }
    };
    if let Some(stdout) = child.stdout.take() {
        // Split as bytes, because a test may print invalid UTF-8.
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if tally.line(&line) {
                println!("{line}");
            }
        }
    }
    child.wait().is_ok_and(|status| status.success())
}
