//! What the front of the project shows: the example of a drive file, and the list of presets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_ssd::{Spec, presets};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every key of a drive file as `section.key`.
fn keys(table: &toml::Table, prefix: &str, found: &mut BTreeSet<String>) {
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match value {
            toml::Value::Table(inner) => keys(inner, &format!("{path}."), found),
            _ => {
                found.insert(path);
            }
        }
    }
}

#[test]
fn the_example_is_a_drive_and_says_every_key() {
    let text = std::fs::read_to_string(root().join("examples/drive.toml")).unwrap();
    let spec = Spec::from_toml(&text).unwrap();
    let (mut said, mut all) = (BTreeSet::new(), BTreeSet::new());
    keys(&text.parse().unwrap(), "", &mut said);
    keys(&spec.to_toml().parse().unwrap(), "", &mut all);
    // What a preset has and the example has not would be missing here.
    for preset in presets::PRESETS {
        let resolved = Spec::from_toml(preset.toml).unwrap().to_toml();
        keys(&resolved.parse().unwrap(), "", &mut all);
    }
    assert_eq!(said, all);
}

#[test]
fn every_preset_file_is_in_the_list() {
    let listed: BTreeSet<String> = presets::PRESETS.iter().map(|p| p.name.to_owned()).collect();
    let files: BTreeSet<String> = std::fs::read_dir(root().join("crates/ssd/presets"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    assert_eq!(listed, files);
}
