//! `cargo xtask fuzz`: runs every fuzz target in turn, each for a number of seconds.
//!
//! It needs a nightly compiler, whose sanitizers cargo-fuzz uses, and cargo-fuzz. If one of them is missing, it prints
//! how to install it, runs nothing, and fails. Without them, `cargo test -p fathom-lab fuzz::` feeds the same functions
//! with random bytes on the stable compiler; `cargo xtask test` always does so.

use crate::command::{exit, root, succeeds};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Default time per target, in seconds.
const SECONDS: u32 = 60;

/// Directories of valid inputs, for targets that make faster progress with them.
const SEEDS: [(&str, &[&str]); 4] = [
    ("drive_file", &["crates/ssd/presets"]),
    (
        "study_file",
        &["papers/epo", "papers/irbw", "papers/parameter-aware-io"],
    ),
    ("job_file", &["examples"]),
    (
        "filebench_file",
        &["crates/workload/src/program/filebench/personalities"],
    ),
];

/// Required tools: the command that checks for each, and how to install it.
const NEEDED: [(&str, &[&str], &str); 2] = [
    (
        "a nightly compiler",
        &["+nightly", "--version"],
        "rustup toolchain install nightly",
    ),
    (
        "cargo-fuzz",
        &["+nightly", "fuzz", "--version"],
        "cargo install cargo-fuzz",
    ),
];

pub(crate) fn run(args: &[String]) -> ExitCode {
    let (seconds, wanted) = match parsed(args) {
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let known = targets(&root());
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        eprintln!(
            "there is no target `{unknown}`; there are {}",
            known.join(", ")
        );
        return ExitCode::from(2);
    }
    let missing: Vec<_> = NEEDED.iter().filter(|(_, args, _)| !runs(args)).collect();
    for (what, _, get) in &missing {
        eprintln!("{what} is missing: {get}");
    }
    if !missing.is_empty() {
        eprintln!(
            "Nothing was tried; `cargo test -p fathom-lab fuzz::` tries a little without them."
        );
        return ExitCode::FAILURE;
    }
    let chosen = if wanted.is_empty() { known } else { wanted };
    let failed: Vec<&String> = chosen
        .iter()
        .filter(|target| !fuzz(target, seconds))
        .collect();
    println!();
    for target in &failed {
        println!("failed: {target}; its input is in fuzz/artifacts/{target}");
    }
    println!(
        "fuzzed {} targets for {seconds} s each, {} failed",
        chosen.len(),
        failed.len()
    );
    exit(failed.is_empty())
}

/// Parses the number of seconds and the named targets.
fn parsed(args: &[String]) -> Result<(u32, Vec<String>), String> {
    let (mut seconds, mut targets) = (SECONDS, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            let given = args.next().ok_or("`--seconds` needs a number")?;
            seconds = given
                .parse()
                .map_err(|e| format!("`--seconds {given}`: {e}"))?;
        } else if arg.starts_with('-') {
            return Err(format!("there is no `{arg}`; there is `--seconds N`"));
        } else {
            targets.push(arg.clone());
        }
    }
    // libFuzzer takes 0 seconds for unlimited time.
    match seconds {
        0 => Err("`--seconds` must be at least 1".into()),
        _ => Ok((seconds, targets)),
    }
}

/// Returns all targets, by file name.
fn targets(root: &Path) -> Vec<String> {
    let files = std::fs::read_dir(root.join("fuzz/fuzz_targets"));
    let paths = files.into_iter().flatten().flatten().map(|f| f.path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Creates a cargo command through rustup, which accepts `+nightly`; the `CARGO` variable is the cargo of one toolchain.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(root()).env_remove("CARGO");
    command
}

fn runs(args: &[&str]) -> bool {
    let mut command = cargo(args);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a target. Returns true if no fault was found.
fn fuzz(target: &str, seconds: u32) -> bool {
    let corpus = format!("fuzz/corpus/{target}");
    if let Err(error) = std::fs::create_dir_all(root().join(&corpus)) {
        eprintln!("cannot make {corpus}: {error}");
        return false;
    }
    println!("\n== {target} for {seconds} s");
    let mut command = cargo(&["+nightly", "fuzz", "run", target, &corpus]);
    let seeds = SEEDS.iter().filter(|(name, _)| *name == target);
    command.args(seeds.flat_map(|(_, dirs)| *dirs));
    command.args(["--", &format!("-max_total_time={seconds}")]);
    succeeds(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_seconds_and_targets() {
        let parsed =
            |args: &[&str]| parsed(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(parsed(&[]), Ok((60, vec![])));
        let some = parsed(&["job_file", "--seconds", "5", "drive_file"]);
        assert_eq!(some, Ok((5, vec!["job_file".into(), "drive_file".into()])));
        for wrong in [
            &["--seconds"][..],
            &["--seconds", "x"],
            &["--seconds", "0"],
            &["--secs", "1"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }

    /// A target without a module, or a module without a target, would be tested in one place only.
    #[test]
    fn every_target_has_its_module_its_manifest_entry_and_its_test() {
        let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
        let manifest = read("fuzz/Cargo.toml");
        let (modules, test) = (read("fuzz/src/lib.rs"), read("crates/lab/tests/fuzz.rs"));
        let targets = targets(&root());
        assert!(targets.len() >= 7, "{targets:?}");
        for target in &targets {
            assert!(modules.contains(&format!("pub mod {target};")), "{target}");
            assert!(
                manifest.contains(&format!("name = \"{target}\"")),
                "{target}"
            );
            assert!(test.contains(&format!("fn {target}()")), "{target}");
        }
        assert_eq!(modules.matches("pub mod ").count(), targets.len());
        for (target, dirs) in SEEDS {
            assert!(targets.iter().any(|t| t == target), "{target}");
            assert!(dirs.iter().all(|dir| root().join(dir).is_dir()), "{dirs:?}");
        }
    }
}
