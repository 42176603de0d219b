//! `cargo xtask test`: everything that must hold before a change lands, in one command.
//!
//! Every check runs even where an earlier one failed, so that one run tells all. Exit code 1 if any failed.

use crate::command::{Outcome, cargo, succeeds};
use crate::tally::Tally;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};

pub(crate) fn run() -> ExitCode {
    let mut failed = Vec::new();
    let mut check = |name: &'static str, outcome: Outcome| {
        if outcome == Outcome::Failed {
            failed.push(name);
        }
    };

    check(
        "formatting",
        step(&mut cargo(&["fmt", "--all", "--", "--check"])),
    );
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--"]);
    check("clippy", step(clippy.args(["-D", "warnings"])));
    let mut doc = cargo(&[
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    check(
        "documentation",
        step(doc.env("RUSTDOCFLAGS", "-D warnings")),
    );

    let mut tally = Tally::default();
    let tests = tests(&mut tally);
    // A failed test is counted by name already; this is a crate that did not build or a runner that died.
    let broken = tests == Outcome::Failed && tally.failed() == 0;
    check(
        "tests",
        if broken {
            Outcome::Failed
        } else {
            Outcome::Passed
        },
    );

    println!();
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
    match all {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn step(command: &mut Command) -> Outcome {
    announce(command);
    succeeds(command)
}

fn announce(command: &Command) {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    println!("\n== cargo {}", args.join(" "));
}

/// Runs every test, shows what the test runner prints as it comes, and counts.
fn tests(tally: &mut Tally) -> Outcome {
    // `--show-output`, because a test that skips says so on its own output, which is hidden where it passes.
    let mut command = cargo(&[
        "test",
        "--workspace",
        "--no-fail-fast",
        "--",
        "--show-output",
    ]);
    announce(&command);
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("cannot run {command:?}: {error}");
            return Outcome::Failed;
        }
    };
    if let Some(stdout) = child.stdout.take() {
        // Split as bytes: a test may print what is no UTF-8.
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if tally.line(&line) {
                println!("{line}");
            }
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Outcome::Passed,
        _ => Outcome::Failed,
    }
}
