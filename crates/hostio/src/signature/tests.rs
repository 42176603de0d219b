//! Planted magic numbers, backups of wiped file systems, and devices of any size.

use super::table::Place;
use super::*;
use proptest::prelude::*;

const SIZE: u64 = 8 << 20;

fn contents_of(disk: &[u8]) -> Contents {
    Contents::read(disk.len() as u64, |offset, len| {
        let start = offset as usize;
        Ok(disk[start..start + len].to_vec())
    })
    .unwrap()
}

/// A device of any size, all zeros except for a few planted bytes.
fn planted(size: u64, plants: &[(u64, &[u8])]) -> Contents {
    Contents::read(size, |offset, len| {
        assert!(offset + len as u64 <= size);
        let mut bytes = vec![0; len];
        for (at, plant) in plants {
            for (i, byte) in plant.iter().enumerate() {
                let place = (at + i as u64).checked_sub(offset);
                if let Some(slot) = place.and_then(|p| bytes.get_mut(p as usize)) {
                    *slot = *byte;
                }
            }
        }
        Ok(bytes)
    })
    .unwrap()
}

fn names(contents: &Contents) -> Vec<String> {
    contents
        .signatures()
        .iter()
        .map(Signature::to_string)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn every_planted_magic_is_found(
        entry in 0..KNOWN.len(), which in any::<prop::sample::Index>(), extra in 0u64..4096,
    ) {
        let (name, place, magic) = KNOWN[entry];
        let mut disk = vec![0u8; (SIZE + extra * 512) as usize];
        prop_assert!(contents_of(&disk).blank());
        let offsets = place.offsets(disk.len() as u64);
        let offset = *which.get(&offsets);
        disk[offset as usize..][..magic.len()].copy_from_slice(magic);
        let contents = contents_of(&disk);
        prop_assert!(!contents.blank());
        let planted = Signature { name: name.into(), offset: Some(offset) };
        prop_assert!(contents.signatures().contains(&planted));
    }

    #[test]
    fn a_tiny_device_never_panics(disk in prop::collection::vec(any::<u8>(), 0..5000)) {
        let _ = contents_of(&disk).signatures();
    }

    #[test]
    fn every_read_lies_on_the_device(size in 0u64..1 << 44) {
        let contents = planted(size / 512 * 512, &[]);
        prop_assert!(contents.blank());
        prop_assert_eq!(contents.signatures(), []);
    }
}

/// The offsets are computed by hand, so that a wrong formula cannot find what it planted itself.
#[test]
fn superblocks_at_the_end_are_where_their_formats_say() {
    // 100 MiB + 37 KiB = 204874 sectors; md 1.0: (sectors - 16) & ~7 = 204856; md 0.90: 64 KiB blocks.
    let size = 104_895_488;
    assert_eq!(Place::Rounded(4096, 8192).offsets(size), [204_856 * 512]);
    assert_eq!(Place::Rounded(65_536, 65_536).offsets(size), [104_792_064]);
    let zfs = Place::ZfsLabels.offsets(size);
    assert_eq!(zfs[..2], [131_072, 132_096]);
    // The last label begins at 399 * 256 KiB, its ring 128 KiB later.
    assert_eq!(zfs[zfs.len() - 128], 399 * 262_144 + 131_072);
}

/// A superblock as ext4 writes it: log2 of the block size less 10 at 0x18, the magic number at 0x38.
fn ext(log: u8) -> Vec<u8> {
    let mut superblock = vec![0; 0x3a];
    superblock[0x18] = log;
    superblock[0x38..].copy_from_slice(&[0x53, 0xef]);
    superblock
}

#[test]
fn a_backup_deep_in_the_device_is_found_and_random_bytes_are_none() {
    const GIB: u64 = 1 << 30;
    // From `mke2fs -n`: 4-KiB blocks 32768, 98304, 163840, 229376, 294912, 819200; 1-KiB blocks 8193, 24577.
    for (block, number, log) in [
        (4096, 32_768, 2),
        (4096, 98_304, 2),
        (4096, 819_200, 2),
        (4096, 294_912, 2),
        (1024, 8193, 0),
        (1024, 24_577, 0),
        (2048, 81_920, 1),
    ] {
        for start in [0, 1 << 20] {
            let found = names(&planted(16 * GIB, &[(start + block * number, &ext(log))]));
            assert_eq!(found.len(), 1, "{block} {number}: {found:?}");
            assert!(found[0].starts_with("ext2/3/4 (backup)"), "{found:?}");
        }
    }
    // The magic number alone, as it occurs in random data.
    let at = 32_768 * 4096;
    assert_eq!(
        names(&planted(16 * GIB, &[(at + 0x38, &[0x53, 0xef])])),
        [""; 0]
    );
    let lost = names(&planted(GIB, &[((1 << 20) + 1024, &ext(2))]));
    assert!(lost[0].contains("lost partition"), "{lost:?}");
    let btrfs = names(&planted(GIB, &[((64 << 20) + 0x40, b"_BHRfS_M")]));
    assert!(btrfs[0].contains("Btrfs"), "{btrfs:?}");
    // `mkfs.xfs` of 1 GiB + 4 KiB: four groups of 65537 blocks.
    let xfs = names(&planted(GIB + 4096, &[(65_537 * 4096, b"XFSB")]));
    assert!(xfs[0].contains("XFS"), "{xfs:?}");
}

#[test]
fn what_a_lost_partition_table_told_of_is_found() {
    for (offset, magic) in [
        (0, &b"XFSB"[..]),
        (3, b"NTFS    "),
        (512, b"LABELONE"),
        (0, b"LUKS\xba\xbe"),
    ] {
        for start in [1 << 20, 63 * 512] {
            let found = names(&planted(1 << 30, &[(start + offset, magic)]));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("lost partition"), "{found:?}");
        }
    }
}

#[test]
fn data_between_the_ends_is_seen() {
    assert!(planted(1 << 30, &[]).blank());
    assert!(!planted(1 << 30, &[(1 << 29, &[1; 8192])]).blank());
}

#[test]
fn an_empty_disk_has_no_signature() {
    assert_eq!(contents_of(&vec![0; SIZE as usize]).signatures(), []);
    assert!(contents_of(&vec![0xff; SIZE as usize]).blank());
}
