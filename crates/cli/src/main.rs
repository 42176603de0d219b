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
use failure::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match args::Cli::try_parse() {
        Ok(cli) => cmd::run(cli.command),
        // Help and version, which the parser prints.
        Err(asked) if !asked.use_stderr() => out::printed(asked.print()).map(|()| Exit::Done),
        Err(wrong) => wrong.exit(),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => out::failure(&failure),
    }
}
