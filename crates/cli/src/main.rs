//! The `fathom` command: parses the arguments, calls the crates that do the work, and prints.
//!
//! Data goes to standard output, progress and warnings to standard error. Exit codes: 0 success, 1 a negative result
//! (profiles that differ, an interrupted run), 2 wrong usage or input, 3 refused for safety.

mod args;
mod cmd;
mod drawn;
mod failure;
mod file_kind;
mod input;

mod names;
mod out;
mod progress;
mod screen;
mod watch;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Wrong usage ends the process here with code 2, help and version with code 0.
    let cli = args::Cli::parse();
    match cmd::run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => out::failure(&failure),
    }
}
