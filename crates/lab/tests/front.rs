//! Checks the front of the project against the code: the example of a drive file, and the lists of presets, probes, pages
//! and layers that CONTRIBUTING.md describes.

use fathom_probe::Parameter;
use fathom_ssd::{Spec, presets};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects every key of a drive file as `section.key`.
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

/// Returns a drive file with the keys and sections that are commented out.
fn uncommented(text: &str) -> String {
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let is_toml = |line: &str| match line.split_once(" = ") {
        Some((key, _)) => is_name(key),
        None => line.starts_with('[') && line.ends_with(']'),
    };
    let line = |line| match str::strip_prefix(line, "# ") {
        Some(rest) if is_toml(rest) => rest,
        _ => line,
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_is_a_drive_and_says_every_key() {
    let text = std::fs::read_to_string(root().join("examples/drive.toml")).unwrap();
    let spec = Spec::from_toml(&text).unwrap();
    let [mut said, mut all, mut shown, mut known] = [const { BTreeSet::new() }; 4];
    keys(&text.parse().unwrap(), "", &mut said);
    keys(&spec.to_toml().parse().unwrap(), "", &mut all);
    assert_eq!(said, all);
    // Keys of what this drive does not have are commented out. They are those that the model knows.
    let whole = uncommented(&text);
    let spec: Spec = fathom_base::drive_file::from_toml(&whole).unwrap();
    keys(&whole.parse().unwrap(), "", &mut shown);
    keys(&spec.to_toml().parse().unwrap(), "", &mut known);
    // A key that a preset has must also be in the example.
    let lists = [presets::PRESETS, presets::CLASSES, presets::STUDIED];
    for preset in lists.into_iter().flatten() {
        let resolved = Spec::from_toml(preset.text).unwrap().to_toml();
        keys(&resolved.parse().unwrap(), "", &mut known);
    }
    assert_eq!(shown, known);
    assert!(shown.contains("fast_cache.when_full"));
}

/// The file of a zoned drive has every key of zones, and zones as it says.
#[test]
fn the_example_of_a_zoned_drive_has_its_zones() {
    let text = std::fs::read_to_string(root().join("examples/drive-zoned.toml")).unwrap();
    let spec = Spec::from_toml(&text).unwrap();
    let (mut said, mut all) = (BTreeSet::new(), BTreeSet::new());
    keys(&text.parse().unwrap(), "", &mut said);
    keys(&spec.to_toml().parse().unwrap(), "", &mut all);
    assert!(said.is_subset(&all));
    for key in all.iter().filter(|key| key.contains("zone")) {
        assert!(said.contains(key), "{key}");
    }
    let mut drive = fathom_ssd::Ssd::new(&spec, 1).unwrap();
    let zones = fathom_block::Device::zones(&mut drive, 0, usize::MAX);
    assert_eq!(
        (zones.len(), zones[1].start, zones[1].end()),
        (16, 16 << 20, 30 << 20)
    );
}

#[test]
fn the_example_of_a_disk_says_every_key() {
    let text = std::fs::read_to_string(root().join("examples/disk.toml")).unwrap();
    let disk = fathom_model::Model::from_toml(&text).unwrap();
    let (mut said, mut all) = (BTreeSet::new(), BTreeSet::new());
    keys(&text.parse().unwrap(), "", &mut said);
    keys(&disk.to_toml().parse().unwrap(), "", &mut all);
    assert_eq!(said, all);
    // The file of a disk leaves out optional parts that it does not have.
    let optional = ["read_cache.segments", "write_cache.capacity"];
    let skews = ["mechanics.track_skew", "mechanics.cylinder_skew"];
    for key in optional.into_iter().chain(skews) {
        assert!(said.contains(key), "{key}");
    }
}

#[test]
fn every_preset_file_is_in_the_list() {
    let lists = [presets::PRESETS, presets::CLASSES, presets::STUDIED];
    let listed: BTreeSet<String> = (lists.into_iter().flatten())
        .map(|p| p.name.to_owned())
        .collect();
    let files: BTreeSet<String> = std::fs::read_dir(root().join("crates/ssd/presets"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    assert_eq!(listed, files);
}

#[test]
fn every_page_of_a_parameter_is_of_one_that_there_is() {
    let pages: BTreeSet<String> = std::fs::read_dir(root().join("docs/parameters"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let wanted = Parameter::ALL.map(|parameter| format!("{parameter}.md"));
    assert_eq!(pages, BTreeSet::from(wanted));
}

#[test]
fn every_layer_is_tried_for_conformance() {
    let block = root().join("crates/block");
    let tried = std::fs::read_to_string(block.join("tests/conformance.rs")).unwrap();
    let mut layers = 0;
    for entry in std::fs::read_dir(block.join("src/layers")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for after in text.split(" Device for ").skip(1) {
            let name = after.split(['<', ' ']).next().unwrap();
            assert!(tried.contains(&format!("{name}::new(")), "{name}");
            layers += 1;
        }
    }
    assert!(layers >= 3, "{layers} layers were found");
}
