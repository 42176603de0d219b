//! Constructs that the sources must not contain.

use crate::source::{Source, Which};
use crate::{files, members};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Crates whose results are a function of their arguments.
pub(crate) const PURE: [&str; 15] = [
    "base", "block", "ssd", "disksim", "hdd", "model", "iosched", "trace", "fs", "platform",
    "workload", "run", "stats", "probe", "report",
];

/// Standard library modules that a pure crate must not use: clock, files, environment, network, processes and threads.
const OUTSIDE: [&str; 6] = ["time", "fs", "env", "net", "process", "thread"];

/// Crates that may print.
const SPEAKS: [&str; 2] = ["cli", "xtask"];

/// Crates that may contain `unsafe`.
const UNSAFE: [&str; 2] = ["hostio", "ext"];

/// Returns the shipped sources of a crate, each with its path.
pub(crate) fn shipped(dir: &std::path::Path) -> Vec<(PathBuf, Source)> {
    let sources: Vec<(PathBuf, Source)> = files(&dir.join("src"), "rs")
        .into_iter()
        .map(|path| (path.clone(), Source::read(&path)))
        .collect();
    let tests: BTreeSet<PathBuf> = sources
        .iter()
        .flat_map(|(_, source)| source.test_files.clone())
        .collect();
    sources
        .into_iter()
        .filter(|(path, _)| !tests.contains(path))
        .collect()
}

#[test]
fn pure_crates_reach_for_nothing_outside() {
    for member in members() {
        if !PURE.contains(&member.name.as_str()) {
            continue;
        }
        for (path, source) in shipped(&member.dir) {
            for name in OUTSIDE {
                let lines = source.find_std(name, Which::Shipped);
                assert!(
                    lines.is_empty(),
                    "{}:{lines:?}: std::{name}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn nothing_below_the_command_line_prints() {
    for member in members() {
        if SPEAKS.contains(&member.name.as_str()) {
            continue;
        }
        for (path, source) in shipped(&member.dir) {
            for name in ["print", "println", "eprint", "eprintln", "dbg"] {
                let lines = source.find(&[name, "!"], Which::Shipped);
                assert!(lines.is_empty(), "{}:{lines:?}: {name}!", path.display());
            }
            // With an argument, it redirects the output of another program.
            for name in ["stdout", "stderr"] {
                let lines = source.find(&[name, "(", ")"], Which::Shipped);
                assert!(lines.is_empty(), "{}:{lines:?}: {name}()", path.display());
            }
        }
    }
}

#[test]
fn only_hostio_and_ext_are_unsafe() {
    for member in members() {
        if UNSAFE.contains(&member.name.as_str()) {
            continue;
        }
        for path in files(&member.dir, "rs") {
            let source = Source::read(&path);
            for name in ["unsafe", "unsafe_code"] {
                let lines = source.find(&[name], Which::All);
                assert!(lines.is_empty(), "{}:{lines:?}: {name}", path.display());
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for member in members() {
        let lib = member.dir.join("src/lib.rs");
        let main = member.dir.join("src/main.rs");
        assert!(lib.exists() || main.exists(), "{} is no crate", member.name);
        for path in files(&member.dir, "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//! "), "{} has no header", path.display());
        }
    }
}
