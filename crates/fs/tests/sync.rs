//! The writes of a sync: their order, and what the journal gets.

use fathom_fs::alloc::Ext3;
use fathom_fs::ext::{ExtFormat, Version};
use fathom_fs::{Player, Purpose, ROOT, Volume, Write};

fn player(version: Version, journal_blocks: u64) -> Player {
    let format = ExtFormat {
        version,
        journal_blocks,
        ..ExtFormat::default()
    };
    let volume = Volume::format(format, 65_536, |_| Box::new(Ext3::default()));
    Player::new(volume.unwrap(), false)
}

/// Number of blocks for each purpose, in the order in which the purposes come.
fn purposes(writes: &[Write]) -> Vec<(Purpose, u64)> {
    let mut found: Vec<(Purpose, u64)> = Vec::new();
    for write in writes {
        match found.last_mut() {
            Some((purpose, blocks)) if *purpose == write.purpose => *blocks += write.extent.blocks,
            _ => found.push((write.purpose, write.extent.blocks)),
        }
    }
    found
}

#[test]
fn data_comes_before_the_journal_and_metadata_after_it() {
    let mut player = player(Version::Ext3, 1024);
    // 14 pages need an indirect block.
    player.create(ROOT, 5, 14 * 4096).unwrap();
    // The block of the root, the bitmaps of inodes and blocks, a descriptor, the indirect block, and one block of the
    // inode table: the root and the first file share it.
    let expected = [
        (Purpose::Data, 14),
        (Purpose::Log, 7),
        (Purpose::Commit, 1),
        (Purpose::Metadata, 6),
    ];
    assert_eq!(purposes(&player.sync().unwrap()), expected);
    assert_eq!(player.sync().unwrap(), []);
}

#[test]
fn ext2_has_no_journal() {
    let mut player = player(Version::Ext2, 0);
    player.create(ROOT, 5, 4096).unwrap();
    let expected = [(Purpose::Data, 1), (Purpose::Metadata, 5)];
    assert_eq!(purposes(&player.sync().unwrap()), expected);
}

#[test]
fn a_deleted_directory_is_revoked_and_its_data_is_never_written() {
    let mut player = player(Version::Ext3, 1024);
    let directory = player.make_directory(3).unwrap();
    let file = player.create(directory, 3, 40_000).unwrap();
    player.sync().unwrap();
    player.append(file, 50_000).unwrap();
    player.delete(file).unwrap();
    player.delete(directory).unwrap();
    let writes = player.sync().unwrap();
    assert!(writes.iter().all(|write| write.purpose != Purpose::Data));
    let of = |wanted| {
        let all = purposes(&writes);
        all.iter()
            .find(|(purpose, _)| *purpose == wanted)
            .unwrap()
            .1
    };
    // A revoke block and a descriptor beside the metadata.
    assert_eq!(of(Purpose::Log), of(Purpose::Metadata) + 2);
}

#[test]
fn a_small_journal_is_emptied_before_the_next_transaction() {
    let mut player = player(Version::Ext3, 64);
    let directories: Vec<_> = (0..80).map(|_| player.make_directory(3).unwrap()).collect();
    for directory in directories {
        player.create(directory, 3, 1).unwrap();
    }
    let writes = player.sync().unwrap();
    let found = purposes(&writes);
    let count = |wanted| {
        found
            .iter()
            .filter(|(purpose, _)| *purpose == wanted)
            .count()
    };
    // A transaction takes at most a quarter of the log, and the log has 63 blocks.
    assert!(count(Purpose::Commit) >= 3, "{found:?}");
    assert!(count(Purpose::Checkpoint) >= 1, "{found:?}");
    assert!(count(Purpose::JournalSuper) >= 1, "{found:?}");
    let log = found.iter().filter(|(purpose, _)| *purpose == Purpose::Log);
    assert!(log.clone().all(|(_, blocks)| *blocks <= 17), "{found:?}");
    let logged: u64 = log.map(|(_, blocks)| blocks - 1).sum();
    let placed = found
        .iter()
        .filter(|(purpose, _)| [Purpose::Checkpoint, Purpose::Metadata].contains(purpose));
    let placed: u64 = placed.map(|(_, blocks)| blocks).sum();
    assert_eq!(placed, logged, "{found:?}");
}
