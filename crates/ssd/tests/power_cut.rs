//! The power is cut at a random flash operation, and at every one; nothing durable is lost, nothing comes back
//! that was never written, and the drive goes on working.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/torture.rs"]
mod torture;

use common::{BUFFERS, KINDS, SHAPES, drive, drives};
use fathom_base::Rng;
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{Counters, MergeCounts, Spec};
use proptest::prelude::*;
use torture::Torture;

/// Work, cut, recover, several times; then work without a cut.
fn life(spec: &Spec, seed: u64, cuts: u32) -> Result<(MergeCounts, Counters), String> {
    let mut t = Torture::new(spec, seed);
    let mut rng = Rng::new(seed, 101);
    let depth = if rng.chance(0.3) { 1 } else { 32 };
    for _ in 0..cuts {
        let most = if rng.chance(0.2) { 8 } else { 1500 };
        let at = t.drive.counters().flash_ops + 1 + rng.below(most);
        assert!(t.drive.cut_power_after(at));
        t.work(1500, depth)?;
        while !t.drive.is_powered() {
            // Sometimes the power goes again while the drive is looking for what it has.
            let again = rng.chance(0.3);
            if again {
                let at = t.drive.counters().flash_ops + 1 + rng.below(30);
                t.drive.cut_power_after(at);
            }
            t.recover()?;
        }
    }
    t.drive.cut_power_after(u64::MAX);
    t.work(600, depth)?;
    t.verify()?;
    Ok((t.drive.merges(), t.drive.counters()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_durable_is_lost(seed in any::<u64>(), which in 0..drives().len(), cuts in 1u32..6) {
        let spec = &drives()[which];
        life(spec, seed, cuts).map_err(|why| TestCaseError::fail(format!("{}: {why}", spec.name)))?;
    }
}

/// The same with fixed seeds; and all that makes room does happen.
#[test]
fn every_way_of_making_room_is_met() {
    for kind in KINDS {
        let (mut merges, mut counters) = (MergeCounts::default(), Counters::default());
        for shape in SHAPES {
            for (i, buffer) in BUFFERS.into_iter().enumerate() {
                let spec = drive(kind, shape, buffer);
                // Mappings are looked at with the plain buffers; the others have little to do with them.
                let seeds = if i < 6 { 4 } else { 1 };
                for seed in 0..seeds {
                    let (m, c) = life(&spec, seed, 3)
                        .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
                    merges.switch += m.switch;
                    merges.partial += m.partial;
                    merges.full += m.full;
                    merges.collected += m.collected;
                    counters.stalls += c.stalls;
                    counters.erases += c.erases;
                }
            }
        }
        let met = match kind {
            kind if kind.is_paged() => vec![merges.collected],
            // Partial merges are for the last of its log blocks alone.
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

/// A short life, cut at the n-th flash operation, and again a few operations later.
fn cut_at(spec: &Spec, n: u64) -> Result<bool, String> {
    let mut t = Torture::new(spec, 5);
    t.drive.cut_power_after(n);
    t.work(100, 8)?;
    let cut = !t.drive.is_powered();
    let mut later = 1 + n % 7;
    while !t.drive.is_powered() {
        t.drive
            .cut_power_after(t.drive.counters().flash_ops + later);
        t.recover()?;
        t.work(20, 8)?;
        later *= 5;
    }
    t.drive.cut_power_after(u64::MAX);
    t.work(60, 8)?;
    t.verify()?;
    Ok(cut)
}

#[test]
fn the_power_may_be_cut_at_every_flash_operation() {
    for kind in KINDS {
        for (shape, buffer) in [
            ("whole", "none"),
            ("padded", "fifo"),
            ("lanes", "lru"),
            ("tiny", "none"),
            ("lanes", "epo battery"),
            ("whole", "bplru"),
        ] {
            let spec = drive(kind, shape, buffer);
            let mut n = 1;
            while cut_at(&spec, n).unwrap_or_else(|why| panic!("{} at {n}: {why}", spec.name)) {
                n += 1;
            }
            assert!(n > 50, "{}: only {n} operations", spec.name);
        }
    }
}
