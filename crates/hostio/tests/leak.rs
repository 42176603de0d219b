//! Tests for leaked descriptors. A process of its own, so that no other test opens files meanwhile.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{config, directory};
use fathom_hostio::{HostConfig, inspect, open};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn no_descriptor_stays_open() {
    let directory = directory();
    let file = directory.path().join("file");
    std::fs::write(&file, vec![0; 65_536]).unwrap();
    let scratch = config(directory.path(), |c| c.scratch_bytes = Some(65_536));
    let misnamed = config(&file, |c| c.destroy = Some("other".into()));
    let before = descriptors();
    let held = open(&scratch).unwrap();
    assert!(descriptors() > before, "the count sees nothing");
    drop(held);
    for _ in 0..20 {
        drop(open(&scratch).unwrap());
        drop(open(&HostConfig::new(&file)).unwrap());
        assert!(open(&misnamed).is_err());
        inspect(&file).unwrap();
    }
    assert_eq!(descriptors(), before);
}
