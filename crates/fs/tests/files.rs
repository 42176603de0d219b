//! Tests of the allocator: no block has two owners, freed blocks can be reused, and a drive is filled as far as
//! requested.

use fathom_base::{Bytes, Rng};
use fathom_fs::files::{BLOCK_BYTES, Extent, FileId, METADATA, PageKey, Sizes, Volume};
use proptest::prelude::*;

/// Number of blocks in a group, and of its metadata blocks.
const GROUP_BLOCKS: u64 = 32_768;
const GROUP_METADATA: u64 = 514;

/// Returns the blocks of all files, sorted. Fails if a block has two owners or belongs to a group's metadata.
fn owned(volume: &Volume) -> Vec<u64> {
    let extents = volume
        .ids()
        .flat_map(|id| volume.extents(id).collect::<Vec<_>>());
    let mut blocks: Vec<u64> = extents.flat_map(|e| e.start..e.end()).collect();
    blocks.sort_unstable();
    assert!(
        blocks.windows(2).all(|pair| pair[0] < pair[1]),
        "two owners"
    );
    assert!(blocks.iter().all(|b| b % GROUP_BLOCKS >= GROUP_METADATA));
    blocks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Random creations, growths, deletions and releases, on a drive that becomes full.
    #[test]
    fn no_block_has_two_owners(seed: u64, mib in 16u64..300, directories in 1usize..20) {
        let mut rng = Rng::new(seed, 0);
        let mut volume = Volume::new(Bytes(0), Bytes::mib(mib), directories).unwrap();
        let mut files: Vec<FileId> = Vec::new();
        let mut freed: Vec<Vec<Extent>> = Vec::new();
        for _ in 0..400 {
            match rng.below(8) {
                0..=3 => {
                    if let Ok((file, _)) = volume.create(rng.below(20) as usize) {
                        files.push(file);
                        let _ = volume.grow(file, rng.below(8 << 20));
                    }
                }
                4 | 5 => {
                    if let Some(&file) = rng.pick(&files) {
                        let before = (volume.size(file), volume.pages(file));
                        let bytes = before.0 + rng.below(1 << 20);
                        let full = volume.grow(file, bytes).is_err();
                        let pages = volume.extents(file).map(|e| e.blocks).sum::<u64>();
                        prop_assert_eq!(pages, u64::from(volume.pages(file)));
                        if full {
                            prop_assert_eq!(before, (volume.size(file), volume.pages(file)));
                        } else {
                            prop_assert_eq!(pages, bytes.div_ceil(BLOCK_BYTES));
                        }
                    }
                }
                6 if !files.is_empty() => {
                    let file = files.swap_remove(rng.below(files.len() as u64) as usize);
                    freed.push(volume.delete(file).unwrap().extents);
                }
                _ => {
                    freed.drain(..).for_each(|extents| volume.release(&extents));
                }
            }
        }
        let waiting: u64 = freed.iter().flatten().map(|e| e.blocks).sum();
        let space = volume.space();
        prop_assert_eq!(owned(&volume).len() as u64 + waiting + space.free(), space.usable());
        for file in files {
            freed.push(volume.delete(file).unwrap().extents);
        }
        freed.drain(..).for_each(|extents| volume.release(&extents));
        let left = owned(&volume).len() as u64;
        prop_assert_eq!(volume.space().free(), volume.space().usable() - left);
    }

    /// The used share is exact to within one file, and the free blocks are in many runs.
    #[test]
    fn a_drive_is_filled_within_one_file(seed: u64, percent in 1u32..=95, kib in 1u64..2048) {
        let mut volume = Volume::new(Bytes(0), Bytes::mib(300), 1).unwrap();
        let sizes = Sizes { min: Bytes::kib(1), max: Bytes::kib(kib + 1) };
        let used = |volume: &Volume| volume.space().usable() - volume.space().free();
        let before = used(&volume);
        volume.fill(f64::from(percent) / 100.0, sizes, &mut Rng::new(seed, 0));
        let target = volume.space().usable() * u64::from(percent) / 100;
        let file = sizes.max.0.div_ceil(BLOCK_BYTES);
        prop_assert!(
            (target.saturating_sub(file).max(before)..=target.max(before)).contains(&used(&volume)),
            "{} of {target}", used(&volume)
        );
        owned(&volume);
    }
}

#[test]
fn a_filled_drive_is_fragmented_and_a_file_lies_in_pieces() {
    let mut volume = Volume::new(Bytes(0), Bytes::mib(256), 1).unwrap();
    let sizes = Sizes {
        min: Bytes::kib(16),
        max: Bytes::kib(256),
    };
    volume.fill(0.9, sizes, &mut Rng::new(7, 0));
    assert!(volume.space().free_pieces() > 50);
    let (file, _) = volume.create(0).unwrap();
    volume.grow(file, 8 << 20).unwrap();
    assert!(volume.extents(file).count() > 4);
}

#[test]
fn a_file_goes_to_its_directory_s_group_and_spills() {
    let mut volume = Volume::new(Bytes(0), Bytes::gib(1), 4).unwrap();
    let group = |volume: &Volume, file| volume.extents(file).next().unwrap().start / GROUP_BLOCKS;
    for (directory, expected) in [(0, 0), (1, 2), (2, 4), (3, 6)] {
        let (file, touched) = volume.create(directory).unwrap();
        volume.grow(file, 10_000).unwrap();
        assert_eq!(group(&volume, file), expected);
        assert_eq!(volume.pages(file), 3);
        // The inode's bitmap and its table block are in that group; the directory's block follows.
        assert_eq!(touched.len(), 3);
        let of_group = |key: &PageKey| u64::from(key.page) / GROUP_METADATA;
        assert!(
            touched[..2]
                .iter()
                .all(|key| key.file == METADATA && of_group(key) == expected)
        );
        assert_ne!(touched[2].file, METADATA);
    }
    let (long, _) = volume.create(3).unwrap();
    volume.grow(long, 300 << 20).unwrap();
    let groups: Vec<u64> = volume
        .extents(long)
        .map(|e| e.start / GROUP_BLOCKS)
        .collect();
    assert_eq!(groups, [6, 7, 0]);
}

#[test]
fn a_page_lies_where_its_piece_lies() {
    let mut volume = Volume::new(Bytes::mib(64), Bytes::mib(200), 1).unwrap();
    let (first, _) = volume.create(0).unwrap();
    volume.grow(first, BLOCK_BYTES).unwrap();
    let (second, _) = volume.create(0).unwrap();
    volume.grow(second, BLOCK_BYTES).unwrap();
    volume.grow(first, 3 * BLOCK_BYTES).unwrap();
    let extents: Vec<Extent> = volume.extents(first).collect();
    assert_eq!(extents.len(), 2, "{extents:?}");
    let key = |page| PageKey { file: first, page };
    let byte = |block: u64| (64 << 20) + block * BLOCK_BYTES;
    assert_eq!(volume.run(key(0), 9), Some((byte(extents[0].start), 1)));
    assert_eq!(volume.run(key(1), 9), Some((byte(extents[1].start), 2)));
    assert_eq!(volume.run(key(2), 9), Some((byte(extents[1].start + 1), 1)));
    assert_eq!(volume.run(key(3), 9), None);
    let metadata = PageKey {
        file: METADATA,
        page: GROUP_METADATA as u32 + 1,
    };
    assert_eq!(volume.run(metadata, 4), Some((byte(GROUP_BLOCKS + 1), 4)));
}

#[test]
fn a_drive_that_is_too_small_is_refused() {
    assert!(Volume::new(Bytes(0), Bytes::mib(15), 1).is_err());
    assert!(Volume::new(Bytes(0), Bytes::mib(16), 1).is_ok());
    assert!(Volume::new(Bytes(0), Bytes::mib(16), 4000).is_err());
    assert!(Volume::new(Bytes(u64::MAX), Bytes(u64::MAX), 1).is_err());
}
