//! Shared helpers of the command's tests.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

pub(crate) mod schema;

use assert_cmd::Command;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Returns the command in a directory of its own, so that it writes nowhere else, without the terminal's colours and width,
/// in a UTF-8 locale.
pub(crate) fn fathom(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("fathom").unwrap();
    command.current_dir(dir).env("NO_COLOR", "1");
    command.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

/// A loop device over a new file of `bytes` bytes; detached on drop.
pub(crate) struct LoopDevice {
    /// Its path.
    pub(crate) path: String,
    /// Its name in /sys/block.
    pub(crate) name: String,
}

impl LoopDevice {
    /// Attaches one. Says why if there is none.
    pub(crate) fn new(dir: &Path, bytes: u64) -> Option<Self> {
        if !root() {
            eprintln!("skipped: a loop device needs root");
            return None;
        }
        let file = dir.join("disk");
        std::fs::File::create(&file)
            .unwrap()
            .set_len(bytes)
            .unwrap();
        let mut attach = std::process::Command::new("losetup");
        let attached = attach.args(["--find", "--show"]).arg(&file).output();
        let Some(attached) = attached.ok().filter(|out| out.status.success()) else {
            eprintln!("skipped: this machine has no loop device to give");
            return None;
        };
        let path = String::from_utf8(attached.stdout).unwrap();
        let path = path.trim().to_owned();
        Some(Self {
            name: path.trim_start_matches("/dev/").to_owned(),
            path,
        })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let mut detach = std::process::Command::new("losetup");
        let _ = detach.arg("-d").arg(&self.path).status();
    }
}

/// Returns true if the tests run as root. Several tests require root, others require a normal user.
pub(crate) fn root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout == b"0\n")
}

/// Returns the names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Creates a finished run of one quick parameter in `dir/name`.
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

/// Runs `args` in `dir` and interrupts it after a while. Returns its exit code and its standard error.
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

/// Runs `args` in `dir` and interrupts it once it has printed `word` to standard error. Returns its exit code, its standard
/// output and its standard error.
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
    // The rest goes into a pipe, which must be read before it is full.
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
