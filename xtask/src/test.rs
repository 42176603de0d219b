//! `cargo xtask test`: everything that must hold before a change lands, in one command.
//!
//! Every check runs even where an earlier one failed, so that one run tells all. Exit code 1 if any failed.

use crate::command::{cargo, exit, succeeds};
use crate::tally::Tally;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};

pub(crate) fn run() -> ExitCode {
    let mut failed = Vec::new();
    let mut check = |name: &'static str, passed: bool| {
        if !passed {
            failed.push(name);
        }
    };

    check("formatting", step(&mut cargo("fmt --all -- --check")));
    let mut clippy = cargo("clippy --workspace --all-targets -- -D warnings");
    check("clippy", step(&mut clippy));
    let mut doc = cargo("doc --workspace --no-deps --document-private-items");
    check(
        "documentation",
        step(doc.env("RUSTDOCFLAGS", "-D warnings")),
    );

    let mut tally = Tally::default();
    // A failed test is counted by name already; what else fails is a crate that did not build or a runner that died.
    check("tests", tests(&mut tally) || tally.failed() > 0);

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
    exit(all == 0)
}

fn step(command: &mut Command) -> bool {
    announce(command);
    succeeds(command)
}

fn announce(command: &Command) {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
    println!("\n== cargo {}", args.join(" "));
}

/// Runs every test, shows what the test runner prints as it comes, and counts; whether all passed.
fn tests(tally: &mut Tally) -> bool {
    // `--show-output`, because a test that skips says so on its own output, which is hidden where it passes.
    let mut command = cargo("test --workspace --no-fail-fast -- --show-output");
    announce(&command);
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("cannot run {command:?}: {error}");
            return false;
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
    child.wait().is_ok_and(|status| status.success())
}
