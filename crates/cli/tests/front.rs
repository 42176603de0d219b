//! README.md shows what the command answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::fathom;
use fathom_probe::Parameter;
use std::path::Path;

#[test]
fn the_readme_shows_what_a_newcomer_sees() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let output = fathom(dir.path()).args(["probe", "--quiet"]).output();
    let printed = String::from_utf8(output.unwrap().stdout).unwrap();
    // The reasons carry measured ratios and are left out.
    let why = printed.lines().find_map(|line| line.find("why"));
    let why = why.unwrap();
    let answers: Vec<String> = printed
        .lines()
        .filter(|line| {
            Parameter::ALL
                .iter()
                .any(|p| line.starts_with(&p.name().replace('_', " ")))
        })
        .map(|line| line.chars().take(why).collect())
        .collect();
    assert_eq!(answers.len(), Parameter::ALL.len(), "{printed}");
    for answer in answers {
        assert!(
            readme.contains(&format!("\n{answer}")),
            "README.md shows something else; this is what is printed now:\n{printed}"
        );
    }
}
