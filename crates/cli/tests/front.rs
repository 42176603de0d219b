//! README.md shows what the command prints.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::fathom;
use std::path::Path;

#[test]
fn the_readme_shows_what_a_newcomer_sees() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let output = fathom(dir.path()).args(["probe", "--quiet"]).output();
    let printed = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(printed.contains("Cost: "), "{printed}");
    assert!(
        readme.contains(&format!("```\n{}\n```", printed.trim_end())),
        "README.md shows something else; this is what is printed now:\n{printed}"
    );
}
