//! Tests that a real file and a real block device conform to the device contract.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, config, destroying, directory};
use fathom_block::conformance::{Options, check};
use fathom_hostio::{HostConfig, QueueDepth, open};

fn conforms(config: &HostConfig, keeps_bytes: bool, seed: u64) {
    let options = Options {
        seed,
        operations: 500,
        keeps_bytes,
        ..Options::default()
    };
    let report = check(&mut || open(config).unwrap(), &options);
    let report = report.unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!(report.bytes_compared > 0, keeps_bytes, "{report:?}");
}

/// Queue depths of one, a few and many.
fn conforms_at_every_depth(config: &HostConfig) {
    for (seed, queue_depth) in [(1, 1), (2, 3), (3, 32), (4, 256)] {
        let config = HostConfig {
            queue_depth: QueueDepth::Fixed(queue_depth),
            keep_data: true,
            ..config.clone()
        };
        conforms(&config, true, seed);
    }
    conforms(config, false, 5);
}

#[test]
fn a_scratch_file_conforms() {
    let directory = directory();
    conforms_at_every_depth(&config(directory.path(), |c| {
        c.scratch_bytes = Some(4 << 20)
    }));
}

#[test]
fn an_existing_file_that_is_named_conforms() {
    let directory = directory();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![0x5a; 3 << 20]).unwrap();
    conforms_at_every_depth(&destroying(&path));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 3 << 20);
}

#[test]
fn a_block_device_conforms() {
    let disk = or_skip!(Loop::attach(8 << 20));
    conforms_at_every_depth(&destroying(&disk.device));
}

#[test]
fn a_device_opened_for_reading_conforms_and_keeps_its_bytes() {
    let directory = directory();
    let path = directory.path().join("file");
    let before = vec![0x5a; 2 << 20];
    std::fs::write(&path, &before).unwrap();
    conforms(&HostConfig::new(&path), false, 6);
    assert!(before == std::fs::read(&path).unwrap());
}
