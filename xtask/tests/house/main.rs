//! The rules of this repository: dependencies between crates, and constructs that the sources must not contain.
//!
//! ARCHITECTURE.md explains the reason for each rule.

#![allow(clippy::unwrap_used)] // A helper that fails is a failed test.
#![allow(clippy::print_stderr)] // A test that is skipped says why.

mod arguments;
mod dependencies;
mod documents;
mod modules;
mod shape;
mod source;
mod sources;
mod toys;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate of the workspace.
struct Member {
    /// Name without `fathom-`.
    name: String,
    dir: PathBuf,
    dependencies: Vec<Dependency>,
}

struct Dependency {
    /// Name as known to cargo.
    name: String,
    /// True for a dev-dependency.
    dev: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Returns every crate of the workspace, from `cargo metadata`.
fn members() -> Vec<Member> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata failed");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let members: Vec<Member> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(member)
        .collect();
    assert!(members.len() > 1, "no workspace");
    members
}

fn member(package: &Value) -> Member {
    let name = package["name"].as_str().unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let dependencies = package["dependencies"].as_array().unwrap();
    Member {
        name: name.strip_prefix("fathom-").unwrap_or(name).to_owned(),
        dir: manifest.parent().unwrap().to_owned(),
        dependencies: dependencies
            .iter()
            .map(|dependency| Dependency {
                name: dependency["name"].as_str().unwrap().to_owned(),
                dev: dependency["kind"] == "dev",
            })
            .collect(),
    }
}

/// Returns every file below `dir` whose name ends in `.extension`, in order of path.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else {
        return found;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
