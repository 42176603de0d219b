//! The page-mapped log over block-mapped data, merge by merge: all counts are computed by hand from the rules in the
//! module's header, for blocks of eight pages.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::merges::{PAGE, spec, whole, write};
use crate::common::run;
use fathom_base::Bytes;
use fathom_block::{Op, Request};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{MergeCounts, Ssd};

/// Creates a drive whose data blocks are all written.
fn full_drive(kind: MappingKind, log_blocks: u32) -> Ssd {
    let mut drive = Ssd::new(&spec(kind, log_blocks), 1).unwrap();
    write(&mut drive, (0..16).flat_map(whole));
    drive
}

/// Returns full merges, victims whose units were copied within the log, and units moved. Checks that there were no other
/// merges since the sequential fill.
fn counts(merges: MergeCounts) -> (u64, u64, u64) {
    assert_eq!((merges.switch, merges.partial), (16, 0));
    (merges.full, merges.collected, merges.moved_units)
}

#[test]
fn a_log_block_filled_in_order_is_switched() {
    let mut drive = full_drive(MappingKind::Hybrid, 3);
    let merges = write(&mut drive, (0..16).flat_map(whole));
    let expected = MergeCounts {
        switch: 32,
        ..MergeCounts::default()
    };
    assert_eq!(merges, expected);
}

#[test]
fn a_log_block_in_order_of_two_data_blocks_is_merged_with_both() {
    let mut drive = full_drive(MappingKind::Hybrid, 1);
    let halves = (4..8).map(|p| (0, p)).chain((0..4).map(|p| (1, p)));
    assert_eq!(counts(write(&mut drive, halves)), (0, 0, 0));
    assert_eq!(counts(write(&mut drive, [(2, 0)])), (2, 0, 16));
}

#[test]
fn more_than_half_a_block_is_merged_and_half_is_copied() {
    // The log block holds valid pages of five blocks in the first case, of four in the second.
    let mut drive = full_drive(MappingKind::Hybrid, 1);
    write(&mut drive, [0, 1, 2, 3, 4, 4, 4, 4].map(|b| (b, 1)));
    assert_eq!(counts(write(&mut drive, [(5, 1)])), (5, 0, 40));
    let mut drive = full_drive(MappingKind::Hybrid, 1);
    write(&mut drive, [0, 1, 2, 3, 3, 3, 3, 3].map(|b| (b, 1)));
    assert_eq!(counts(write(&mut drive, [(5, 1)])), (0, 1, 4));
}

#[test]
fn a_unit_has_one_second_chance_for_every_write() {
    // Log block A is completely valid, B holds two valid pages: B is cleaned, and its two pages are copied to C.
    let mut drive = full_drive(MappingKind::Hybrid, 2);
    let a = (1..8).map(|p| (0, p)).chain([(1, 1)]);
    let b = [2, 2, 2, 2, 2, 2, 3, 3].map(|b| (b, 1));
    write(&mut drive, a.chain(b));
    assert_eq!(counts(write(&mut drive, [(4, 1)])), (0, 1, 2));
    // C holds the pages of 2 and 3, four of block 4, and block 3's page again. When C is cleaned, block 2's page has been
    // copied once already and its block is merged; the pages of 3 (written since) and 4 are copied to D.
    write(&mut drive, [4, 4, 4, 4, 3].map(|b| (b, 1)));
    assert_eq!(counts(write(&mut drive, [(5, 1)])), (1, 2, 12));
    // D holds the pages of 4 and 3, which have been copied once, and six of block 5: two merges, and block 5's page is
    // copied.
    write(&mut drive, [(5, 1); 5]);
    assert_eq!(counts(write(&mut drive, [(6, 1)])), (3, 3, 29));
}

#[test]
fn the_block_being_filled_is_completed_where_it_is_the_only_one() {
    let mut spec = spec(MappingKind::Hybrid, 1);
    (spec.mapping.unit, spec.mapping.partial_program) = (Some(Bytes::kib(1)), true);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    write(&mut drive, whole(0));
    // 29 of the 32 units of block 0 in order; there is room for only three of the four units of a page of block 1. Three
    // units complete the log block.
    write(&mut drive, whole(0).take(7));
    run(
        &mut drive,
        1,
        [Request::new(1, Op::Write, 7 * PAGE, PAGE / 4)],
    );
    let merges = write(&mut drive, [(1, 1)]);
    let expected = MergeCounts {
        switch: 1,
        partial: 1,
        moved_units: 3,
        ..MergeCounts::default()
    };
    assert_eq!(merges, expected);
}

/// One page of each of four data blocks, written in turn. With two logs, FAST has one for these pages and merges all four
/// blocks for every eight writes. Here each log block holds only stale pages when it is reclaimed, and costs one erase.
#[test]
fn a_few_hot_pages_cost_fast_a_merge_each_and_a_page_mapped_log_nothing() {
    let hot = |n: u64| (0..n).map(|i| (i % 4, 1));
    let mut fast = full_drive(MappingKind::Fast, 2);
    assert_eq!(counts(write(&mut fast, hot(81))), (40, 0, 320));
    let mut hybrid = full_drive(MappingKind::Hybrid, 2);
    assert_eq!(counts(write(&mut hybrid, hot(81))), (0, 0, 0));
}
