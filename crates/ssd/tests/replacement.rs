//! Replacement blocks: merges computed by hand, and power cuts with chains of every length.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::merges::{whole, write};
use crate::common::suite::life;
use crate::common::{drive, run};
use fathom_block::{Op, Request};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{MergeCounts, Spec, Ssd};

/// Blocks of eight pages that are single units, and `replacements` replacement blocks.
fn chains(replacements: u32) -> Spec {
    let mut spec = drive(MappingKind::Replacement, "whole", "none");
    spec.mapping.log_blocks = replacements;
    assert_eq!(
        spec.flash.clustered_block.0,
        8 * spec.flash.clustered_page.0
    );
    spec
}

#[test]
fn merges_are_counted_as_they_must_be() {
    let mut drive = Ssd::new(&chains(2), 1).unwrap();
    let mut expected = MergeCounts::default();
    // Units that were never written go into the data block itself, in any order.
    write(&mut drive, whole(0));
    assert_eq!(write(&mut drive, whole(1).rev()), expected);
    // All units again, in any order: the replacement block has every unit.
    expected.switch = 1;
    assert_eq!(write(&mut drive, whole(1).rev()), expected);
    // One replacement block for each of two data blocks; a third data block that is new needs none.
    let three = [(0, 0), (0, 1), (0, 2), (1, 3), (2, 5)];
    assert_eq!(write(&mut drive, three), expected);
    // A second version in the chain of block 0 needs a third replacement block. Of two equal chains, the less recently
    // written one is folded, and receives the five units that it lacks.
    (expected.partial, expected.moved_units) = (1, 5);
    assert_eq!(write(&mut drive, [(0, 0)]), expected);
    // Once more: now block 1's chain is the least recently written.
    (expected.partial, expected.moved_units) = (2, 12);
    assert_eq!(write(&mut drive, [(0, 0)]), expected);
    // Both replacement blocks belong to block 0: its own chain is the longest.
    (expected.partial, expected.moved_units) = (3, 19);
    assert_eq!(write(&mut drive, [(0, 0)]), expected);
}

#[test]
fn a_last_block_without_room_is_merged_into_a_new_one() {
    // Eight units per page, and each page is programmed once.
    let mut spec = drive(MappingKind::Replacement, "padded", "none");
    spec.mapping.log_blocks = 1;
    let (block, page) = (spec.flash.clustered_block.0, spec.flash.clustered_page.0);
    let units = block / spec.mapping.unit.unwrap().0;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let write = |drive: &mut Ssd, offset: u64, len: u64| {
        run(drive, 1, [Request::new(1, Op::Write, offset, len)]);
        drive.merges()
    };
    write(&mut drive, 0, block);
    write(&mut drive, block, block);
    assert_eq!(write(&mut drive, 1024, 1024), MergeCounts::default());
    // The other seven units of that page cannot be added: the whole block is copied to a new one.
    let full = MergeCounts {
        full: 1,
        moved_units: units,
        ..MergeCounts::default()
    };
    assert_eq!(write(&mut drive, block, page), full);
    // A whole page leaves the other pages free: units that lie elsewhere are copied in.
    let partial = MergeCounts {
        partial: 1,
        moved_units: units + units - page / 1024,
        ..full
    };
    assert_eq!(write(&mut drive, 0, page), partial);
    drive.check().unwrap();
}

#[test]
fn chains_of_every_length_survive_power_cuts() {
    let mut merges = MergeCounts::default();
    for replacements in [1, 3, 9] {
        for shape in ["whole", "parted", "padded", "lanes", "tiny", "odd"] {
            for buffer in ["none", "lru"] {
                let mut spec = drive(MappingKind::Replacement, shape, buffer);
                spec.mapping.log_blocks = replacements;
                for seed in 0..4 {
                    let drive = life(&spec, seed, 4).unwrap_or_else(|why| {
                        panic!("{}, {replacements}, seed {seed}: {why}", spec.name)
                    });
                    merges.switch += drive.merges().switch;
                    merges.partial += drive.merges().partial;
                    merges.full += drive.merges().full;
                }
            }
        }
    }
    assert!(merges.switch > 1000 && merges.partial > 1000 && merges.full > 1000);
}

#[test]
fn failing_programs_and_erases_lose_nothing() {
    for shape in ["whole", "parted", "lanes"] {
        let mut spec = drive(MappingKind::Replacement, shape, "lru");
        spec.mapping.over_provisioning_percent = 300.0;
        (spec.faults.program_fail, spec.faults.erase_fail) = (0.0005, 0.002);
        for seed in 0..4 {
            let drive = life(&spec, seed, 4)
                .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
            assert!(drive.bad_blocks() > 0, "{}", spec.name);
        }
    }
}
