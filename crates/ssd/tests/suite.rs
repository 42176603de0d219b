//! Every mapping with every write buffer, every striping and every way of reclaiming space passes one check suite
//! (`common/suite.rs`), and so do randomly drawn drives and all cases that once failed.
//!
//! This is the reduced form: `cargo xtask torture` cuts the power at every single flash operation, and draws drives for a
//! given time.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::case::Case;
use crate::common::suite::lists::{fast_caches, mappings_and_buffers, stripings, ways};
use crate::common::suite::{Effort, check};
use fathom_ssd::Spec;
use std::path::Path;

fn all_pass(specs: &[Spec], every: u64) {
    let failed = |(spec, seed)| check(spec, Effort { seed, every }).err();
    let failures: Vec<_> = specs.iter().zip(0..).filter_map(failed).collect();
    let told: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn every_mapping_with_every_buffer() {
    all_pass(&mappings_and_buffers(), 3);
}

#[test]
fn every_way_of_making_room_by_pages() {
    all_pass(&ways(), 67);
}

#[test]
fn every_fast_cache() {
    all_pass(&fast_caches(), 61);
}

#[test]
fn every_order_of_striping() {
    all_pass(&stripings(), 97);
}

#[test]
fn drives_drawn_at_random() {
    // Evicting whole blocks looped forever on the last block if a group waited for an erase (seed 910).
    for seed in (0..60).chain([910]) {
        let every = 5;
        if let Err(failure) = check(&Case::spec(seed), Effort { seed, every }) {
            panic!("{failure}: cargo xtask torture --drive {seed}");
        }
    }
}

/// Each case is the shortest one for a fault, which its comment explains.
#[test]
fn every_case_that_once_failed_passes() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = (std::fs::read_dir(dir).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let case = Case::from_toml(&std::fs::read_to_string(&file).unwrap());
        let outcome = case.unwrap().run();
        assert!(outcome.is_ok(), "{}: {outcome:?}", file.display());
    }
}
