//! The log-structured format: what a sync writes and in which order, and that cleaning loses nothing.

use crate::golden::{CVFS_LARGE, LOGICAL_BLOCK, data, greedy, play};
use crate::recorded::recorded;
use fathom_base::Rng;
use fathom_fs::log::LogFormat;
use fathom_fs::{FileId, Player, Purpose, ROOT, Volume, Write};
use std::collections::BTreeSet;

/// Blocks of a segment.
const SEGMENT: u64 = 512;

fn player(blocks: u64, segments_per_section: u64) -> Player {
    let format = LogFormat {
        segments_per_section,
        ..LogFormat::default()
    };
    Player::new(Volume::format(format, blocks, greedy).unwrap(), true)
}

fn purposes(writes: &[Write]) -> Vec<(Purpose, u64)> {
    writes
        .iter()
        .map(|write| (write.purpose, write.extent.blocks))
        .collect()
}

#[test]
fn a_sync_writes_data_then_nodes_then_tables_then_a_checkpoint() {
    let mut player = player(100 * SEGMENT, 1);
    // 930 pages: the inode has 923 pointers, so there is a node of pointers.
    let file = player.create(ROOT, 5, 930 * 4096 - 100).unwrap();
    let writes = player.sync().unwrap();
    // Data in two segments, the entry; the root's inode; two nodes of the file. Then the tables: information of five
    // segments in one block, addresses in one, summaries of one filled segment, and the checkpoint.
    let expected = [
        (Purpose::Data, 930),
        (Purpose::Data, 1),
        (Purpose::Metadata, 1),
        (Purpose::Metadata, 2),
        (Purpose::Metadata, 1),
        (Purpose::Metadata, 1),
        (Purpose::Metadata, 1),
        (Purpose::Log, 4),
        (Purpose::Commit, 1),
    ];
    assert_eq!(purposes(&writes), expected);
    assert_eq!(player.sync().unwrap(), []);
    // A page that is written again goes on where the log is, with its node and the inode; the other copies are written.
    let first = player.volume().find(file, 929).unwrap().0;
    player.append(file, 100).unwrap();
    let again = player.sync().unwrap();
    assert_eq!(again[0].extent.start, first + 1);
    let tables = |writes: &[Write]| {
        let of = |write: &&Write| write.purpose == Purpose::Log;
        writes.iter().find(of).unwrap().extent.start
    };
    assert_eq!(tables(&again), tables(&writes) + SEGMENT);
}

#[test]
fn an_overwritten_block_is_free_after_the_sync() {
    let mut player = player(100 * SEGMENT, 1);
    let file = player.create(ROOT, 5, 10).unwrap();
    player.sync().unwrap();
    let (old, _) = player.volume().find(file, 0).unwrap();
    let free = player.volume().space().free();
    player.append(file, 10).unwrap();
    player.sync().unwrap();
    let (new, _) = player.volume().find(file, 0).unwrap();
    assert_eq!(new, old + 1);
    assert!(player.volume().space().is_free(old));
    assert_eq!(player.volume().space().free(), free);
}

/// All pages of all files, with their blocks, which must be distinct.
fn check(player: &Player, files: &[(FileId, u64)]) {
    let volume = player.volume();
    let mut blocks = BTreeSet::new();
    for &(file, pages) in files {
        for page in 0..pages {
            let (block, _) = volume.find(file, page as u32).unwrap();
            assert!(!volume.space().is_free(block));
            assert!(blocks.insert(block), "block {block} has two owners");
        }
    }
}

/// All blocks that files own: data and nodes.
fn valid(player: &Player) -> BTreeSet<u64> {
    let volume = player.volume();
    let extents = volume.files().flat_map(|file| volume.blocks(file));
    extents
        .flat_map(|extent| extent.start..extent.end())
        .collect()
}

/// A sync whose writes are checked: with a single checkpoint, it overwrites no block that was valid before. Returns the
/// number of blocks that were moved, and adds the segments with data.
fn checked_sync(player: &mut Player, before: &mut BTreeSet<u64>, used: &mut BTreeSet<u64>) -> u64 {
    let writes = player.sync().unwrap();
    let of = |purpose| writes.iter().filter(move |write| write.purpose == purpose);
    let main = [Purpose::Data, Purpose::Moved, Purpose::Metadata];
    if of(Purpose::Commit).count() == 1 {
        for write in writes.iter().filter(|write| main.contains(&write.purpose)) {
            let mut blocks = write.extent.start..write.extent.end();
            assert!(blocks.all(|block| !before.contains(&block)), "{write:?}");
        }
    }
    for write in of(Purpose::Data) {
        let blocks = write.extent.start..write.extent.end();
        used.extend(blocks.map(|block| block / SEGMENT));
    }
    *before = valid(player);
    of(Purpose::Moved).map(|write| write.extent.blocks).sum()
}

#[test]
fn cleaning_moves_all_valid_blocks_and_writes_only_free_ones() {
    for section in [1, 2] {
        let mut player = player(200 * SEGMENT, section);
        let mut rng = Rng::new(section, 0);
        let mut files: Vec<(FileId, u64)> = Vec::new();
        let (mut before, mut used) = (BTreeSet::new(), BTreeSet::new());
        let mut moved = 0;
        for round in 0..150 {
            while player.volume().space().free() > 70 * SEGMENT {
                let pages = 1 + rng.below(300);
                let made = player.create(ROOT, 8, pages * 4096).unwrap();
                files.push((made, pages));
                if files.len().is_multiple_of(20) {
                    moved += checked_sync(&mut player, &mut before, &mut used);
                }
            }
            for _ in 0..10 {
                let victim = rng.below(files.len() as u64) as usize;
                player.delete(files.swap_remove(victim).0).unwrap();
            }
            for _ in 0..20 {
                let index = rng.below(files.len() as u64) as usize;
                player.append(files[index].0, 4096).unwrap();
                files[index].1 += 1;
            }
            moved += checked_sync(&mut player, &mut before, &mut used);
            if round % 10 == 0 {
                check(&player, &files);
            }
        }
        check(&player, &files);
        assert!(moved > 0, "nothing was cleaned");
        // More data was written than the main area has room for, so cleaned sections were used again.
        assert!(used.len() > 150, "{}", used.len());
    }
}

/// Sections that are logical blocks: each sync fills few of them, and those as a whole.
#[test]
fn postmark_touches_few_logical_blocks_as_long_as_nothing_is_cleaned() {
    let Some(operations) = recorded(CVFS_LARGE) else {
        return;
    };
    let syncs = play(&mut player(2 << 20, 2), &operations);
    for sync in syncs {
        let blocks: u64 = data(&sync).map(|extent| extent.blocks).sum();
        let touched: BTreeSet<u64> = data(&sync)
            .flat_map(|extent| extent.start / LOGICAL_BLOCK..=(extent.end() - 1) / LOGICAL_BLOCK)
            .collect();
        // Those that are filled, and for data and for directories the first and the last.
        assert!(touched.len() as u64 <= blocks / LOGICAL_BLOCK + 4);
    }
}
