//! `cargo xtask guided`: builds `fathom` guided by a profile of its own runs (profile-guided optimisation).
//!
//! The program is built twice: first one that counts how often each of its branches is taken, then, with these counts, the
//! one to use. The counts come from some runs on modelled drives. Results do not depend on it: both builds print and write
//! the same. Needs `llvm-profdata` of the compiler's own version, which is in the component `llvm-tools` of the toolchain.

use crate::command::{cargo, output, succeeds, target};
use crate::dist::{PROFILE, Programs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The runs whose branches are counted: the loops that large runs spend their time in. Other mixes and lengths than those of
/// `cargo xtask whole`.
const RUNS: &str = "
run generate:uniform --accesses 400000 --on model:epo --precondition fresh --arrival closed:24
run generate:uniform --accesses 400000 --on model:epo --arrival closed:24
run generate:uniform --accesses 200000 --on model:epo --precondition fresh --arrival closed:24 --sched mq-deadline
run generate:uniform --accesses 200000 --on model:epo --precondition fresh --arrival closed:24 --out recorded
run generate:uniform --accesses 300000 --on model:epo --size 2GiB --set mapping.over_provisioning_percent=14 --precondition random:1.5 --arrival closed:24
convert generate:uniform --accesses 200000 uniform.trace
run uniform.trace --on model:epo --arrival closed:24
run uniform.trace --on model:ms-ssd --arrival closed:24
";

/// What is built. One command, so that both programs share their crates: counts are of a crate with its features.
const PROGRAMS: &str = "-p fathom-cli --bin fathom -p fathom-model --example performance";

/// Builds the programs and prints where they lie.
pub(crate) fn run() -> ExitCode {
    match build() {
        Ok(programs) => {
            println!("built: {}", programs.fathom().display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the programs to measure: those of the last `cargo xtask guided`, or built as usual.
///
/// # Errors
/// There are none, or they do not build.
pub(crate) fn chosen(guided: bool) -> Result<Programs, String> {
    match guided {
        true => programs(),
        false => Programs::built(),
    }
}

fn programs() -> Result<Programs, String> {
    let built = Programs::in_dir(directory("program").join(host()?).join(PROFILE));
    match built.fathom().exists() {
        true => Ok(built),
        false => Err("there is no guided build: run `cargo xtask guided`".to_owned()),
    }
}

fn build() -> Result<Programs, String> {
    let tool = profdata()?;
    let counts = directory("counts");
    emptied(&counts)?;
    built(
        "counting",
        &format!("-Cprofile-generate={}", counts.display()),
    )?;
    let counting = Programs::in_dir(directory("counting").join(host()?).join(PROFILE));
    play(&counting.fathom(), &directory("runs"))?;
    let merged = directory("merged.profdata");
    let mut merge = Command::new(tool);
    merge.arg("merge").arg("-o").arg(&merged).arg(&counts);
    if !succeeds(&mut merge) {
        return Err("the counts cannot be merged".to_owned());
    }
    built("program", &format!("-Cprofile-use={}", merged.display()))?;
    programs()
}

/// A directory or file of this command.
fn directory(name: &str) -> PathBuf {
    target().join("guided").join(name)
}

fn emptied(dir: &Path) -> Result<(), String> {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// Builds the programs with a flag for the compiler. A named target keeps the flag from macros and build scripts.
fn built(name: &str, flag: &str) -> Result<(), String> {
    let mut build = cargo(&format!("build --profile {PROFILE} {PROGRAMS} --target"));
    build.arg(host()?).arg("--target-dir").arg(directory(name));
    match succeeds(build.env("CARGO_ENCODED_RUSTFLAGS", flag)) {
        true => Ok(()),
        false => Err(format!("the programs do not build with {flag}")),
    }
}

/// Runs the commands whose branches are counted, in a directory of their own.
fn play(fathom: &Path, dir: &Path) -> Result<(), String> {
    emptied(dir)?;
    for line in RUNS.lines().filter(|line| !line.is_empty()) {
        println!("    Counting {line}");
        let mut command = Command::new(fathom);
        command.args(line.split(' ')).current_dir(dir);
        if !succeeds(command.stdout(Stdio::null()).stderr(Stdio::null())) {
            return Err(format!("`fathom {line}` fails"));
        }
    }
    fs::remove_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// The name of this machine's target.
fn host() -> Result<String, String> {
    let said = output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "`rustc -vV` names no host".to_owned())
}

/// The path of `llvm-profdata`.
fn profdata() -> Result<PathBuf, String> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib").join(host()?);
    let tool = libraries.join("bin/llvm-profdata");
    match tool.exists() {
        true => Ok(tool),
        false => Err(format!(
            "{} is missing: run `rustup component add llvm-tools`",
            tool.display()
        )),
    }
}

#[test]
fn a_run_that_fails_is_named() {
    let dir = std::env::temp_dir().join(format!("fathom-guided-{}", std::process::id()));
    assert_eq!(play(Path::new("true"), &dir), Ok(()));
    assert!(!dir.exists());
    let error = play(Path::new("false"), &dir).unwrap_err();
    assert!(error.starts_with("`fathom run generate:uniform"), "{error}");
    fs::remove_dir_all(&dir).unwrap();
}
