//! What the tests of the command share.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod schema;

use assert_cmd::Command;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The command, in a directory of its own so that nothing lands elsewhere, without colours or width of a terminal,
/// in a locale that has every character.
pub(crate) fn fathom(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("fathom").unwrap();
    command.current_dir(dir).env("NO_COLOR", "1");
    command.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

/// Whether this is root, who may do everything; several tests need it, others cannot have it.
pub(crate) fn root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout == b"0\n")
}

/// The names in a directory, in order.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A finished run of one quick parameter, in `dir/name`.
pub(crate) fn quick_run(dir: &Path, name: &str, more: &[&str]) -> PathBuf {
    let mut command = fathom(dir);
    command.args([
        "probe", "--quiet", "--method", "paper", "--only", QUICK, "--out", name,
    ]);
    command.args(more).assert().success();
    dir.join(name)
}

/// A parameter that takes little time.
pub(crate) const QUICK: &str = "prefetch";

/// Runs `args` in `dir` and interrupts it after a while; its exit code and what it said on standard error.
pub(crate) fn interrupt(dir: &Path, args: &[&str], after: Duration) -> (Option<i32>, String) {
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .args(args)
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    pause(after);
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

/// Runs `args` in `dir` and interrupts it once it has said `word` on standard error; its exit code, what it printed and what it
/// said.
pub(crate) fn interrupt_when(
    dir: &Path,
    args: &[&str],
    word: &str,
) -> (Option<i32>, String, String) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("fathom"))
        .args(args)
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains(word) {
        said += &(lines.next().unwrap().unwrap() + "\n");
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    // What it prints goes into a pipe, which has to be read before it is full.
    let rest =
        std::thread::spawn(move || lines.map(|line| line.unwrap() + "\n").collect::<String>());
    let output = child.wait_with_output().unwrap();
    said += &rest.join().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), printed, said)
}

#[allow(
    clippy::disallowed_methods,
    reason = "the moment of an interruption is arbitrary"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
