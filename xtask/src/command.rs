//! Commands that are run, and how they ended.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// A cargo command at the root of the repository.
pub(crate) fn cargo(args: &[&str]) -> Command {
    // The toolchain that runs this one; plain `cargo` where the program was started by hand.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// An example that was built with a profile.
pub(crate) fn program(profile: &str, example: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join(profile).join("examples").join(example)
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
}

impl Outcome {
    pub(crate) fn into_exit(self) -> ExitCode {
        match self {
            Outcome::Passed => ExitCode::SUCCESS,
            Outcome::Failed => ExitCode::FAILURE,
        }
    }
}

/// Runs a command with its output on the terminal.
pub(crate) fn succeeds(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(_) => Outcome::Failed,
        Err(error) => {
            eprintln!("cannot run {command:?}: {error}");
            Outcome::Failed
        }
    }
}
