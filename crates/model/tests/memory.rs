//! A drive whose tables do not fit into memory is refused. The test runs itself again with a memory limit.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::BadValue;
use fathom_base::Bytes;
use fathom_disksim::{self as ms, MsSsd};
use fathom_ssd::{Spec, SpecError, Ssd, presets};
use std::env;
use std::process::Command;

const NAME: &str = "a_drive_that_memory_does_not_hold_is_refused";
const LIMITED: &str = "FATHOM_TEST_WITH_LITTLE_MEMORY";
/// Memory limit of the second run, in KiB.
const LITTLE: u32 = 4 << 20;

#[test]
fn a_drive_that_memory_does_not_hold_is_refused() {
    if env::var_os(LIMITED).is_some() {
        return with_little_memory();
    }
    let again = format!("ulimit -v {LITTLE} && exec \"$0\" --exact {NAME}");
    let mut command = Command::new("sh");
    let command = command
        .args(["-c", &again])
        .arg(env::current_exe().unwrap());
    let output = command.env(LIMITED, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
}

fn nvme() -> Spec {
    Spec::from_toml(presets::find("nvme").unwrap().text).unwrap()
}

fn with_little_memory() {
    let mut spec = ms::Spec::default();
    spec.element.blocks_per_plane = 65_536;
    let key = |error| match error {
        SpecError::Value(BadValue { key, .. }) => key,
        other => panic!("{other}"),
    };
    assert_eq!(key(MsSsd::new(&spec).unwrap_err()), "elements");
    let mut spec = nvme();
    spec.capacity = Bytes::gib(3 << 10);
    assert_eq!(key(Ssd::new(&spec, 1).unwrap_err()), "capacity");
    assert!(Ssd::new(&nvme(), 1).is_ok());
}
