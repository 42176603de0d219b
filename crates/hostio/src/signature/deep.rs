//! Superblocks away from both ends: backups that survive a wiped beginning, and contents of a lost partition.
//!
//! Makes a few small reads at offsets that follow from the device size. A short magic number alone is not a match; further
//! fields are checked, so that random data is not taken for a backup superblock.

use super::contents::Contents;
use super::known::Signature;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Where partitions begin, in bytes: at the start of the device, and after the first megabyte, which all current
/// partitioning tools leave free.
const STARTS: [u64; 2] = [0, MIB];
/// Block sizes of ext2/3/4, in bytes.
const EXT_BLOCKS: [u64; 4] = [1 << 10, 2 << 10, 4 << 10, 64 << 10];
const EXT_MAGIC: [u8; 2] = [0x53, 0xef];
/// Offsets in the superblock, in bytes (kernel documentation, ext4/super.rst).
const EXT_LOG_BLOCK: u64 = 0x18;
const EXT_MAGIC_AT: u64 = 0x38;
const BTRFS: &[u8] = b"_BHRfS_M";
/// Offsets of the copies after the first superblock (btrfs on-disk format, "Superblock").
const BTRFS_MIRRORS: [u64; 2] = [64 * MIB, 256 * GIB];
const XFS: &[u8] = b"XFSB";
const XFS_BLOCK: u64 = 4096;
/// Numbers of allocation groups that `mkfs.xfs` chooses by default.
const XFS_GROUPS: [u64; 5] = [2, 4, 8, 16, 32];
/// Maximum size of an allocation group in bytes.
const XFS_GROUP_MAX: u64 = 1 << 40;
/// Number of evenly spaced samples, checked for any data, and bytes per sample.
const SAMPLES: u64 = 256;
const SAMPLE_BYTES: u64 = 4096;

/// Returns the byte ranges to read, as (offset, length); some may lie beyond the end.
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

/// Returns the signatures in these ranges.
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
    // A file system at the start of the device is found by the table of known signatures.
    let lost = ext_at(contents, MIB + 1024).filter(|log| *log <= 6);
    found.extend(lost.map(|_| ("ext2/3/4 (in a lost partition)", MIB + 1024 + EXT_MAGIC_AT)));
    let signature = |(name, offset): (&'static str, u64)| Signature {
        name: name.into(),
        offset: Some(offset),
    };
    found.into_iter().map(signature).collect()
}

/// Returns log2 of the block size minus 10 from the ext2/3/4 superblock at `at`, if there is one.
fn ext_at(contents: &Contents, at: u64) -> Option<u64> {
    let magic = contents.at(at + EXT_MAGIC_AT, 2)?;
    let log = contents.at(at + EXT_LOG_BLOCK, 4)?;
    let log = u32::from_le_bytes(log.try_into().ok()?);
    (magic == EXT_MAGIC).then_some(u64::from(log))
}

/// Returns the offsets of the backup superblocks of a file system that begins at `start`, each with log2 of its block size
/// minus 10. Backups are in group 1 and the powers of 3, 5 and 7 (`sparse_super`), and in the last group (`sparse_super2`).
fn ext_backups(size: u64, start: u64) -> impl Iterator<Item = (u64, u64)> {
    EXT_BLOCKS.into_iter().flat_map(move |block| {
        // A group has as many blocks as one block of bitmap has bits.
        let group_bytes = 8 * block * block;
        // With 1 KiB blocks, block 0 is before the first group.
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

/// Returns the possible offsets of the second allocation group of an XFS that begins at `start`.
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
