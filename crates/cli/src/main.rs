//! The `fathom` command: reads its arguments, calls what does the work, and prints.
//!
//! Data goes to standard output, progress and warnings go to standard error. Exit codes: 0 done, 1 a negative result
//! (profiles that differ, a run that was interrupted), 2 usage or input, 3 refused for safety.

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
    // Wrong usage ends here with code 2, help and version with code 0.
    let cli = args::Cli::parse();
    match cmd::run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => out::failure(&failure),
    }
}
