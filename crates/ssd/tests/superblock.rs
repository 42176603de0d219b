//! Superblocks, merge by merge: all counts are computed by hand from the rules of the paper (Kang et al., EMSOFT 2006),
//! for blocks of eight pages and superblocks of four blocks.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::merges::{PAGES, spec, whole, write};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{MergeCounts, Ssd};

/// Four superblocks in one group, which share `u_blocks` U-blocks.
fn drive(u_blocks: u32) -> Ssd {
    Ssd::new(&spec(MappingKind::Superblock, u_blocks), 1).unwrap()
}

fn counts(merges: MergeCounts) -> (u64, u64, u64, u64) {
    (
        merges.switch,
        merges.partial,
        merges.full,
        merges.moved_units,
    )
}

#[test]
fn blocks_rewritten_in_order_are_switched() {
    let mut drive = drive(1);
    assert_eq!(
        write(&mut drive, (0..16).flat_map(whole)),
        MergeCounts::default()
    );
    // Every block that is started needs the U-block, and the block that it replaces is completely stale.
    let merges = write(&mut drive, (0..16).flat_map(whole));
    assert_eq!(counts(merges), (15, 0, 0, 0));
}

#[test]
fn pages_of_a_block_may_lie_in_any_block_of_its_superblock() {
    // The pages of four blocks in turn: the first page of each, then the second, and so on. The D-blocks receive them in
    // this order, and when the pages are written again in the same order, they become stale block by block.
    let mut drive = drive(1);
    let across = |i: u64| (i % 4, i / 4);
    write(&mut drive, (0..4 * PAGES).map(across));
    let merges = write(&mut drive, (0..4 * PAGES).map(across));
    assert_eq!(counts(merges), (3, 0, 0, 0));
    // With block mapping, which has one log per data block, the same writes would cause full merges.
}

#[test]
fn what_is_valid_completes_the_u_block_if_it_fits() {
    let mut drive = drive(1);
    write(&mut drive, (0..16).flat_map(whole));
    // Five pages of block 0 are in the U-block of its superblock, which has room for the other three. Block 4 is in
    // another superblock and needs the U-block.
    write(&mut drive, (0..5).map(|p| (0, p)));
    assert_eq!(counts(write(&mut drive, [(4, 0)])), (0, 1, 0, 3));
    // One page of block 4 is stale, and the U-block of its superblock has room for the seven others.
    assert_eq!(counts(write(&mut drive, [(8, 0)])), (0, 2, 0, 10));
}

#[test]
fn only_the_superblock_least_recently_written_gives_a_block_back() {
    let mut drive = drive(2);
    write(&mut drive, (0..16).flat_map(whole));
    write(&mut drive, whole(0).take(7));
    write(&mut drive, whole(4).take(3));
    write(&mut drive, [(0, 7)]);
    // Superblock 1 (block 4) was written before superblock 0, whose switch would be free.
    assert_eq!(counts(write(&mut drive, [(8, 0)])), (0, 1, 0, 5));
    assert_eq!(counts(write(&mut drive, [(12, 0)])), (1, 1, 0, 5));
}

#[test]
fn pages_spread_over_a_superblock_are_merged_into_new_blocks() {
    let mut drive = drive(1);
    write(&mut drive, (0..16).flat_map(whole));
    // Two pages of each of the four blocks fill the U-block: six valid pages remain in each D-block. When another
    // superblock needs the U-block, no partly filled block has room for six pages; three new blocks take all 24, and four
    // D-blocks become free.
    write(&mut drive, (0..8).map(|i| (i % 4, i / 4)));
    assert_eq!(counts(write(&mut drive, [(4, 0)])), (0, 0, 3, 24));
}

#[test]
fn hot_pages_come_together() {
    // The first page of each block is overwritten repeatedly. The first time that the U-block is needed, the whole
    // superblock is valid except for the four stale pages in the U-block: all 32 pages move to four new blocks, those of
    // the U-block first. From then on the stale pages are in the U-block and in the block that received these pages, each
    // with four valid pages. Every eight writes need one new block for them, and the other blocks are not touched.
    let mut drive = drive(1);
    write(&mut drive, (0..16).flat_map(whole));
    let hot = |n: u64| (0..n).map(|i| (i % 4, 0));
    write(&mut drive, hot(8));
    assert_eq!(counts(write(&mut drive, hot(1))), (0, 0, 4, 32));
    assert_eq!(counts(write(&mut drive, hot(8))), (0, 0, 5, 40));
    assert_eq!(counts(write(&mut drive, hot(80))), (0, 0, 15, 120));
}
