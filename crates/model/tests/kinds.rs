//! A drive file must state its kind; nothing is guessed.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_model::{Model, catalog, find};

#[test]
fn every_drive_is_read_and_written_with_its_kind() {
    for preset in catalog() {
        let model = Model::from_toml(preset.text).unwrap();
        let written = model.to_toml();
        let kind = preset.text.lines().find(|line| line.starts_with("kind = "));
        assert!(written.lines().any(|line| Some(line) == kind), "{written}");
        assert_eq!(
            Model::from_toml(&written).unwrap(),
            model,
            "{}",
            preset.name
        );
    }
}

#[test]
fn every_name_is_one_drive() {
    let mut names: Vec<&str> = catalog().map(|preset| preset.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    assert!(find("floppy").is_none());
}

#[test]
fn a_file_without_its_kind_is_refused_with_the_kinds() {
    let refused = |text: &str| Model::from_toml(text).unwrap_err().to_string();
    let disk = find("hitachi-7k160").unwrap().text;
    for (found, text) in [
        ("`kind` is missing", disk.replace("kind = \"hdd\"\n", "")),
        ("`kind` is \"tape\"", disk.replace("\"hdd\"", "\"tape\"")),
        ("`kind` is missing", String::new()),
    ] {
        let message = refused(&text);
        assert!(message.starts_with(found), "{message}");
        for kind in ["ssd", "disksim", "hdd"] {
            assert!(message.contains(&format!("\"{kind}\" (")), "{message}");
        }
    }
    // A disk file that claims to be a solid state drive has unknown keys.
    let message = refused(&disk.replace("\"hdd\"", "\"ssd\""));
    assert!(message.starts_with("line "), "{message}");
    assert!(refused("kind = [").starts_with("line 1"));
}
