//! Superblocks beyond either end: backups that outlive a wiped beginning, and what stood in a lost partition.
//!
//! A few small reads whose places follow from the size of the device. Every match is checked by more than its magic number
//! where that is short: a device that was written with random bytes has no backup superblock.

use super::contents::Contents;
use super::known::Signature;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Where partitions begin: all of the device, and the first megabyte that every partitioning tool of today leaves.
const STARTS: [u64; 2] = [0, MIB];
/// Block sizes of ext2/3/4, in bytes.
const EXT_BLOCKS: [u64; 4] = [1 << 10, 2 << 10, 4 << 10, 64 << 10];
const EXT_MAGIC: [u8; 2] = [0x53, 0xef];
/// Offsets in the superblock (kernel documentation, ext4/super.rst).
const EXT_LOG_BLOCK: u64 = 0x18;
const EXT_MAGIC_AT: u64 = 0x38;
const BTRFS: &[u8] = b"_BHRfS_M";
/// The copies after the first one (btrfs on-disk format, "Superblock").
const BTRFS_MIRRORS: [u64; 2] = [64 * MIB, 256 * GIB];
const XFS: &[u8] = b"XFSB";
const XFS_BLOCK: u64 = 4096;
/// How many allocation groups `mkfs.xfs` makes where nobody says otherwise.
const XFS_GROUPS: [u64; 5] = [2, 4, 8, 16, 32];
/// The largest allocation group, in bytes.
const XFS_GROUP_MAX: u64 = 1 << 40;
/// Evenly spread places that are looked at for any data at all, and bytes at each.
const SAMPLES: u64 = 256;
const SAMPLE_BYTES: u64 = 4096;

/// The byte ranges to read, as (offset, length); some may lie behind the end.
pub(super) fn ranges(size: u64) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    for start in STARTS {
        ranges.extend(ext_backups(size, start).map(|(at, _)| (at, 1024)));
        ranges.push((start + 1024, 1024));
        ranges.extend(BTRFS_MIRRORS.map(|at| (start + at, 4096)));
        ranges.extend(xfs_groups(size, start).map(|at| (at, 512)));
    }
    let step = size / SAMPLES / SAMPLE_BYTES * SAMPLE_BYTES;
    ranges.extend((1..SAMPLES).map(|i| (i * step, SAMPLE_BYTES)));
    ranges
}

/// What stands there.
pub(super) fn signatures(contents: &Contents) -> Vec<Signature> {
    let size = contents.size;
    let mut found = Vec::new();
    for start in STARTS {
        let ext = ext_backups(size, start).find(|&(at, log)| ext_at(contents, at) == Some(log));
        found.extend(ext.map(|(at, _)| ("ext2/3/4 (backup)", at + EXT_MAGIC_AT)));
        let magic = |(name, at, magic): (&'static str, u64, &[u8])| {
            (contents.at(at, magic.len()) == Some(magic)).then_some((name, at))
        };
        found.extend(
            BTRFS_MIRRORS
                .map(|at| ("Btrfs (copy)", start + at + 0x40, BTRFS))
                .into_iter()
                .find_map(magic),
        );
        found.extend(
            xfs_groups(size, start)
                .map(|at| ("XFS (allocation group)", at, XFS))
                .find_map(magic),
        );
    }
    // The table of the ends covers a file system that begins with the device.
    let lost = ext_at(contents, MIB + 1024).filter(|log| *log <= 6);
    found.extend(lost.map(|_| ("ext2/3/4 (in a lost partition)", MIB + 1024 + EXT_MAGIC_AT)));
    let signature = |(name, offset): (&'static str, u64)| Signature {
        name: name.into(),
        offset: Some(offset),
    };
    found.into_iter().map(signature).collect()
}

/// log2 of the block size less 10 of the ext2/3/4 superblock at `at`, if one is there.
fn ext_at(contents: &Contents, at: u64) -> Option<u64> {
    let magic = contents.at(at + EXT_MAGIC_AT, 2)?;
    let log = contents.at(at + EXT_LOG_BLOCK, 4)?;
    let log = u32::from_le_bytes(log.try_into().ok()?);
    (magic == EXT_MAGIC).then_some(u64::from(log))
}

/// Offsets of backup superblocks of a file system that begins at `start`, each with log2 of the block size less 10: groups
/// 1 and the powers of 3, 5 and 7 (`sparse_super`), and the last one (`sparse_super2`).
fn ext_backups(size: u64, start: u64) -> impl Iterator<Item = (u64, u64)> {
    EXT_BLOCKS.into_iter().flat_map(move |block| {
        // One block of bitmap tells of so many blocks.
        let group_bytes = 8 * block * block;
        // With blocks of 1 KiB the first one is before the first group.
        let first = if block == 1024 { 1024 } else { 0 };
        let last = size
            .saturating_sub(start + first)
            .div_ceil(group_bytes)
            .saturating_sub(1);
        let log = u64::from((block / 1024).ilog2());
        sparse_groups(last).map(move |group| (start + first + group * group_bytes, log))
    })
}

fn sparse_groups(last: u64) -> impl Iterator<Item = u64> {
    let powers = |base: u64| std::iter::successors(Some(base), move |p| p.checked_mul(base));
    let powers = [3, 5, 7]
        .into_iter()
        .flat_map(move |base| powers(base).take_while(move |p| *p < last));
    [1, last]
        .into_iter()
        .filter(move |g| (1..=last).contains(g))
        .chain(powers)
}

/// Where the second allocation group of an XFS that begins at `start` may lie.
fn xfs_groups(size: u64, start: u64) -> impl Iterator<Item = u64> {
    let blocks = size.saturating_sub(start) / XFS_BLOCK;
    let even = XFS_GROUPS
        .into_iter()
        .flat_map(move |groups| [blocks / groups, blocks.div_ceil(groups)])
        .map(|group| group * XFS_BLOCK);
    even.chain([XFS_GROUP_MAX])
        .filter(|at| *at > 0)
        .map(move |at| start + at)
}
