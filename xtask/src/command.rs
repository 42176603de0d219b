//! Running commands and reporting their results.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Creates a cargo command at the root of the repository; `args` are separated by spaces.
pub(crate) fn cargo(args: &str) -> Command {
    // The toolchain that runs this program, or plain `cargo` if it was started by hand.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args.split(' ')).current_dir(root());
    command
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Returns the path of an example built with a profile.
pub(crate) fn program(profile: &str, example: &str) -> PathBuf {
    target().join(profile).join("examples").join(example)
}

/// Returns the directory that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns the standard output of a command.
///
/// # Errors
/// It cannot be run or fails.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{shown}: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{shown}: {}", output.status)),
    }
}

/// Returns the exit code of this program.
pub(crate) fn exit(passed: bool) -> ExitCode {
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Builds an example of a package with a profile. Returns true on success.
pub(crate) fn builds(package: &str, example: &str, profile: &str) -> bool {
    let args = format!("build --profile {profile} -p {package} --example {example}");
    succeeds(&mut cargo(&args))
}

/// Runs a command with its output on the terminal. Returns true on success.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run {command:?}: {error}");
            false
        }
    }
}
