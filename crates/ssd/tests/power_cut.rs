//! The power is cut at a random flash operation. No durable data is lost, no data appears that was never written, and the
//! drive continues to work. `suite.rs` cuts the power at every n-th operation.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::life;
use crate::common::{BUFFERS, KINDS, SHAPES, drive, drives};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{Counters, MergeCounts};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_durable_is_lost(seed in any::<u64>(), which in 0..drives().len(), cuts in 1u32..6) {
        let spec = &drives()[which];
        let ended = life(spec, seed, cuts);
        ended.map_err(|why| TestCaseError::fail(format!("{}: {why}", spec.name)))?;
    }
}

/// The same with fixed seeds; checks that every way of reclaiming space occurs.
#[test]
fn every_way_of_making_room_is_met() {
    for kind in KINDS {
        let (mut merges, mut counters) = (MergeCounts::default(), Counters::default());
        for shape in SHAPES {
            for (i, buffer) in BUFFERS.into_iter().enumerate() {
                let spec = drive(kind, shape, buffer);
                let seed = i as u64;
                let drive = life(&spec, seed, 3)
                    .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
                let (m, c) = (drive.merges(), drive.counters());
                merges.switch += m.switch;
                merges.partial += m.partial;
                merges.full += m.full;
                merges.collected += m.collected;
                counters.stalls += c.stalls;
                counters.erases += c.erases;
            }
        }
        let met = match kind {
            kind if kind.is_paged() => vec![merges.collected],
            // Partial merges occur for the last of its log blocks only.
            MappingKind::Hybrid => vec![merges.switch, merges.full, merges.collected],
            _ => vec![merges.switch, merges.partial, merges.full],
        };
        assert!(met.iter().all(|&n| n > 500), "{merges:?}");
        assert!(
            counters.stalls > 1000 && counters.erases > 10_000,
            "{counters:?}"
        );
    }
}
