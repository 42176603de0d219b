//! `cargo xtask torture`: runs the check suite of modelled drives for a given time.
//!
//! It builds the example `torture` of the drives in release mode with all assertions, and passes its arguments on. The
//! suite is that of the tests; the example reports failures and how to reproduce them.

use crate::command::{builds, program};
use std::process::{Command, ExitCode};

const PROFILE: &str = "torture";

pub(crate) fn run(args: &[String]) -> ExitCode {
    if !builds("fathom-ssd", "torture", PROFILE) {
        return ExitCode::FAILURE;
    }
    let status = Command::new(program(PROFILE, "torture"))
        .args(args)
        .status();
    match status {
        Ok(status) => ExitCode::from(status.code().unwrap_or(1) as u8),
        Err(error) => {
            eprintln!("cannot run the example `torture`: {error}");
            ExitCode::FAILURE
        }
    }
}
