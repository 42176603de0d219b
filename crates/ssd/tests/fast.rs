//! FAST, merge by merge: all counts are computed by hand from the rules of the paper (Lee et al., ACM TECS 2007, sections
//! 3 and 4), for blocks of eight pages.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::merges::{PAGES, spec, whole, write};
use fathom_base::Dur;
use fathom_block::Device;
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{MergeCounts, Ssd};

fn drive(kind: MappingKind, log_blocks: u32) -> Ssd {
    Ssd::new(&spec(kind, log_blocks), 1).unwrap()
}

#[test]
fn a_block_written_in_order_is_switched() {
    let mut drive = drive(MappingKind::Fast, 2);
    let merges = write(&mut drive, (0..16).chain(0..16).flat_map(whole));
    let expected = MergeCounts {
        switch: 32,
        ..MergeCounts::default()
    };
    assert_eq!(merges, expected);
    // Every second switch frees a data block.
    let idle = drive.now() + Dur::ms(100);
    drive.wait(idle, &mut Vec::new());
    assert_eq!(drive.counters().erases, 16);
}

#[test]
fn a_beginning_in_order_is_completed_when_another_stream_begins() {
    let mut drive = drive(MappingKind::Fast, 2);
    write(&mut drive, whole(0).chain(whole(1)));
    // Pages 0 to 2 of block 0 are in the SW log; 3 to 7 are copied from the data block when block 1 needs the log.
    let merges = write(&mut drive, [(0, 0), (0, 1), (0, 2)]);
    assert_eq!((merges.switch, merges.partial), (2, 0));
    let merges = write(&mut drive, [(1, 0)]);
    assert_eq!((merges.partial, merges.full, merges.moved_units), (1, 0, 5));
    // Page 4 of block 1 does not continue its page 0: seven more pages are copied, and page 4 goes to an RW log.
    let merges = write(&mut drive, [(1, 4)]);
    assert_eq!(
        (merges.partial, merges.full, merges.moved_units),
        (2, 0, 12)
    );
    // A write of another block does not affect the SW log.
    write(&mut drive, [(2, 0), (2, 1)]);
    let merges = write(&mut drive, [(0, 5), (2, 2)]);
    assert_eq!((merges.partial, merges.moved_units), (2, 12));
}

/// Writes page 1 + i / blocks of block i mod blocks, for i from `from` to `to`: never the first page of a block.
fn spread(blocks: u64, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    (from..to).map(move |i| (i % blocks, 1 + i / blocks % (PAGES - 1)))
}

#[test]
fn giving_up_an_rw_log_merges_every_data_block_in_it() {
    for blocks in 1..=8 {
        let mut drive = drive(MappingKind::Fast, 2);
        write(&mut drive, (0..16).flat_map(whole));
        assert_eq!(write(&mut drive, spread(blocks, 0, PAGES)).full, 0);
        let merges = write(&mut drive, [(15, 3)]);
        // Each data block has eight pages to move; only the victim among the logs is reclaimed.
        assert_eq!((merges.full, merges.moved_units), (blocks, 8 * blocks));
        assert_eq!((merges.partial, merges.switch), (0, 16));
    }
}

#[test]
fn rw_logs_are_given_up_in_the_order_in_which_they_were_filled() {
    // Three RW logs: with pages of blocks 0 and 1, of blocks 2 to 4, and of block 5.
    let mut drive = drive(MappingKind::Fast, 4);
    write(&mut drive, (0..16).flat_map(whole));
    let logs = [0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 4, 2, 3, 4, 2, 3].into_iter();
    let logs = logs.chain([5; 8]).zip((1..7).cycle());
    assert_eq!(write(&mut drive, logs).full, 0);
    assert_eq!(write(&mut drive, [(9, 1)]).full, 2);
    assert_eq!(write(&mut drive, [(9, 1); 7]).full, 2);
    assert_eq!(write(&mut drive, [(9, 1)]).full, 5);
    // The valid page of block 9 is in the newest log; the log of block 5 is next.
    assert_eq!(write(&mut drive, [(9, 2); 8]).full, 6);
}

#[test]
fn a_merge_takes_what_the_other_logs_hold_of_the_block() {
    let mut drive = drive(MappingKind::Fast, 3);
    write(&mut drive, (0..16).flat_map(whole));
    // Pages 1 to 6 of block 0 are in the first RW log, its page 7 is in the second: after the merge for the first log,
    // the second holds no valid pages.
    write(&mut drive, spread(1, 0, 8).chain([(0, 7); 8]));
    let merges = write(&mut drive, [(1, 1)]);
    assert_eq!((merges.full, merges.moved_units), (1, 8));
    let merges = write(&mut drive, [(1, 1); 8]);
    assert_eq!((merges.full, merges.moved_units), (1, 8));
}

/// Lee et al., section 2.3, log block thrashing. Pages of k blocks are written in turn, with L logs, k > L. With BAST,
/// each write except the first L finds no log of its block and causes a merge of the oldest log, which holds one page.
/// FAST reclaims an RW log once in 8 writes. The first time, all k blocks have pages in it; after their merges no valid
/// pages are left in any of the L - 1 RW logs, so the next L - 2 of them cost nothing. That is k merges in 8 (L - 1)
/// writes, which is fewer as long as k < 8 (L - 1).
#[test]
fn random_writes_over_more_blocks_than_logs_thrash_bast_and_not_fast() {
    for (logs, blocks) in [(2, 3), (2, 7), (3, 8), (4, 5), (4, 8), (6, 7)] {
        let rw = u64::from(logs) - 1;
        let writes = 4 * rw * PAGES + 1;
        let of = |kind| {
            let mut drive = drive(kind, logs);
            write(&mut drive, (0..16).flat_map(whole));
            write(&mut drive, spread(blocks, 0, writes))
        };
        let (bast, fast) = (of(MappingKind::Block), of(MappingKind::Fast));
        // The logs are full after 8 (L - 1) writes, and again after as many: four times in total.
        assert_eq!(bast.full, writes - u64::from(logs), "{logs} {blocks}");
        assert_eq!(fast.full, 4 * blocks, "{logs} {blocks}");
        assert!(fast.moved_units < bast.moved_units);
    }
}
