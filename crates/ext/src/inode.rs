//! The fields of an inode and of a super block that this crate reads and writes, by their places in `ext2fs/ext2_fs.h`.

use crate::crc::checksum;
use crate::ffi::{RawInode, SuperBlock};

/// Type bits of a mode.
pub(crate) const TYPE: u16 = 0o170_000;
/// A regular file.
pub(crate) const REGULAR: u16 = 0o100_000;
/// A directory.
pub(crate) const DIRECTORY: u16 = 0o040_000;
/// A symbolic link.
pub(crate) const LINK: u16 = 0o120_000;
/// `EXT2_INDEX_FL`.
const INDEX: u32 = 0x1000;
/// Place of `i_extra_isize` in an inode of 256 bytes, and its usual value.
const EXTRA: usize = 128;
const EXTRA_BYTES: u16 = 32;
/// Places of the halves of the check sum.
const SUM: [usize; 2] = [124, 130];
/// `EXT4_EXTENTS_FL`.
const EXTENTS: u32 = 0x0008_0000;
/// Place of `i_block`, and pages that it maps without an indirect block.
const BLOCKS: usize = 40;
pub(crate) const DIRECT: u64 = 12;
/// Blocks of the longest extent.
const LONGEST_EXTENT: u16 = 32_768;
/// `ext3_extent_header` of a tree with no entries, at most four, and no depth.
const EMPTY_TREE: [u8; 12] = [0x0a, 0xf3, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];

/// Half of a check sum, and its place.
#[derive(Clone, Copy)]
struct Half {
    at: usize,
    value: u16,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

impl RawInode {
    /// A new inode of a type and permissions, with one link.
    pub(crate) fn new(mode: u16, extents: bool, now: i64) -> Self {
        let mut inode = Self([0; 256]);
        put(&mut inode.0, 0, &mode.to_le_bytes());
        inode.set_links(1);
        inode.set_times(now);
        // `i_extra_isize` up to `i_projid`, and the time of its birth.
        put(&mut inode.0, EXTRA, &EXTRA_BYTES.to_le_bytes());
        put(&mut inode.0, 144, &(now as u32).to_le_bytes());
        if extents {
            put(&mut inode.0, 32, &EXTENTS.to_le_bytes());
            put(&mut inode.0, BLOCKS, &EMPTY_TREE);
        }
        inode
    }

    pub(crate) fn zeroed() -> Self {
        Self([0; 256])
    }

    pub(crate) fn mode(&self) -> u16 {
        u16_at(&self.0, 0)
    }

    /// Sets the permissions, and the user and group in their 32 bits.
    pub(crate) fn set_owner(&mut self, permissions: u16, user: u32, group: u32) {
        let mode = self.mode() & TYPE | permissions & !TYPE;
        put(&mut self.0, 0, &mode.to_le_bytes());
        put(&mut self.0, 2, &(user as u16).to_le_bytes());
        put(&mut self.0, 24, &(group as u16).to_le_bytes());
        put(&mut self.0, 120, &((user >> 16) as u16).to_le_bytes());
        put(&mut self.0, 122, &((group >> 16) as u16).to_le_bytes());
    }

    pub(crate) fn size(&self) -> u64 {
        u64::from(u32_at(&self.0, 4)) | u64::from(u32_at(&self.0, 108)) << 32
    }

    pub(crate) fn set_size(&mut self, bytes: u64) {
        put(&mut self.0, 4, &(bytes as u32).to_le_bytes());
        put(&mut self.0, 108, &((bytes >> 32) as u32).to_le_bytes());
    }

    /// Sets the times of access, of the contents, and of the inode.
    pub(crate) fn set_times(&mut self, now: i64) {
        for at in [8, 12, 16] {
            put(&mut self.0, at, &(now as u32).to_le_bytes());
        }
    }

    /// Time of the last change of the contents, in seconds since 1970.
    pub(crate) fn modified(&self) -> i64 {
        i64::from(u32_at(&self.0, 16))
    }

    pub(crate) fn set_deleted(&mut self, now: i64) {
        put(&mut self.0, 20, &(now as u32).to_le_bytes());
    }

    pub(crate) fn links(&self) -> u16 {
        u16_at(&self.0, 26)
    }

    pub(crate) fn set_links(&mut self, links: u16) {
        put(&mut self.0, 26, &links.to_le_bytes());
    }

    pub(crate) fn has_extents(&self) -> bool {
        u32_at(&self.0, 32) & EXTENTS != 0
    }

    /// Whether it is a directory with a hash index.
    pub(crate) fn is_indexed(&self) -> bool {
        u32_at(&self.0, 32) & INDEX != 0
    }

    pub(crate) fn generation(&self) -> u32 {
        u32_at(&self.0, 100)
    }

    /// The check sum of an inode of `bytes` bytes; `seed` is that of the inode. The halves that the inode has room for.
    fn sum(&self, seed: u32, bytes: usize) -> Vec<Half> {
        let wide = bytes > EXTRA && u16_at(&self.0, EXTRA) >= 4;
        let halves = if wide { 2 } else { 1 };
        let mut copy = self.0;
        SUM[..halves]
            .iter()
            .for_each(|&at| copy[at..at + 2].fill(0));
        let sum = checksum(seed, &copy[..bytes.min(copy.len())]);
        let half = |(index, &at): (usize, &usize)| Half {
            at,
            value: (sum >> (16 * index)) as u16,
        };
        SUM[..halves].iter().enumerate().map(half).collect()
    }

    /// Puts the check sum in.
    pub(crate) fn seal(&mut self, seed: u32, bytes: usize) {
        for half in self.sum(seed, bytes) {
            put(&mut self.0, half.at, &half.value.to_le_bytes());
        }
    }

    /// Whether the check sum is right.
    pub(crate) fn is_sealed(&self, seed: u32, bytes: usize) -> bool {
        let halves = self.sum(seed, bytes);
        halves
            .iter()
            .all(|half| u16_at(&self.0, half.at) == half.value)
    }

    /// Appends blocks to the extents in the inode. Returns false if they need a block of their own, or are not at the end.
    pub(crate) fn push_extent(&mut self, page: u64, block: u64, blocks: u64) -> bool {
        let (entries, most, depth) = (
            usize::from(u16_at(&self.0, 42)),
            usize::from(u16_at(&self.0, 44)),
            u16_at(&self.0, 46),
        );
        let longest = u64::from(LONGEST_EXTENT);
        if depth != 0 || entries > most.min(4) || blocks > longest || page > u64::from(u32::MAX) {
            return false;
        }
        let place = |index: usize| BLOCKS + 12 + 12 * index;
        if let Some(last) = entries.checked_sub(1).map(place) {
            let first = u64::from(u32_at(&self.0, last));
            let len = u64::from(u16_at(&self.0, last + 4));
            let start =
                u64::from(u16_at(&self.0, last + 6)) << 32 | u64::from(u32_at(&self.0, last + 8));
            if len > longest || first + len > page {
                return false;
            }
            if first + len == page && start + len == block && len + blocks <= longest {
                put(
                    &mut self.0,
                    last + 4,
                    &((len + blocks) as u16).to_le_bytes(),
                );
                return true;
            }
        }
        if entries >= most.min(4) {
            return false;
        }
        let at = place(entries);
        put(&mut self.0, at, &(page as u32).to_le_bytes());
        put(&mut self.0, at + 4, &(blocks as u16).to_le_bytes());
        put(&mut self.0, at + 6, &((block >> 32) as u16).to_le_bytes());
        put(&mut self.0, at + 8, &(block as u32).to_le_bytes());
        put(&mut self.0, 42, &(entries as u16 + 1).to_le_bytes());
        true
    }

    /// Its block of extended attributes; `None` if it has none.
    pub(crate) fn attributes(&self) -> Option<u64> {
        let block = u64::from(u32_at(&self.0, 104)) | u64::from(u16_at(&self.0, 118)) << 32;
        (block != 0).then_some(block)
    }

    pub(crate) fn clear_attributes(&mut self) {
        put(&mut self.0, 104, &[0; 4]);
        put(&mut self.0, 118, &[0; 2]);
    }

    /// The target of a symbolic link that has no block.
    pub(crate) fn short_link(&self) -> Option<Vec<u8>> {
        let bytes = self.size() as usize;
        let short = bytes < 60 && u32_at(&self.0, 28) == 0;
        short.then(|| self.0[BLOCKS..BLOCKS + bytes].to_vec())
    }

    pub(crate) fn set_direct(&mut self, page: u64, block: u64) {
        let at = BLOCKS + 4 * page.min(DIRECT - 1) as usize;
        put(&mut self.0, at, &(block as u32).to_le_bytes());
    }

    /// The data blocks of a file that needs no block to map it; `None` if it has one.
    pub(crate) fn unmapped_blocks(&self) -> Option<Vec<u64>> {
        if self.has_extents() {
            // Entries of 12 bytes behind the header: page, length, upper and lower half of the block.
            let (entries, depth) = (u16_at(&self.0, 42), u16_at(&self.0, 46));
            let leaf = depth == 0 && entries <= 4;
            let of = |index: u16| {
                let at = BLOCKS + 12 + 12 * usize::from(index);
                let len = u64::from(u16_at(&self.0, at + 4));
                // A longer one is not initialised, by 32,768 less.
                let len = if len > 32_768 { len - 32_768 } else { len };
                let start =
                    u64::from(u16_at(&self.0, at + 6)) << 32 | u64::from(u32_at(&self.0, at + 8));
                start..start + len
            };
            return leaf.then(|| (0..entries).flat_map(of).collect());
        }
        let pointers: Vec<u64> = (0..15)
            .map(|index| u64::from(u32_at(&self.0, BLOCKS + 4 * index)))
            .collect();
        let indirect = pointers[DIRECT as usize..].iter().any(|&block| block != 0);
        let direct = &pointers[..DIRECT as usize];
        (!indirect).then(|| direct.iter().copied().filter(|&block| block != 0).collect())
    }

    /// The block of a page that the inode maps by itself, 0 for a hole; `None` if it has another form.
    pub(crate) fn direct(&self, page: u64) -> Option<u64> {
        if !self.has_extents() {
            let mapped = page < DIRECT;
            return mapped.then(|| u64::from(u32_at(&self.0, BLOCKS + 4 * page as usize)));
        }
        let (entries, depth) = (u16_at(&self.0, 42), u16_at(&self.0, 46));
        if depth != 0 || entries > 4 {
            return None;
        }
        for index in 0..usize::from(entries) {
            let at = BLOCKS + 12 + 12 * index;
            let first = u64::from(u32_at(&self.0, at));
            let len = u16_at(&self.0, at + 4);
            // A longer one is not initialised: the library knows how to read it.
            if len > LONGEST_EXTENT {
                return None;
            }
            if (first..first + u64::from(len)).contains(&page) {
                let start =
                    u64::from(u16_at(&self.0, at + 6)) << 32 | u64::from(u32_at(&self.0, at + 8));
                return Some(start + (page - first));
            }
        }
        Some(0)
    }
}

impl SuperBlock {
    pub(crate) fn zeroed() -> Self {
        Self([0; 1024])
    }

    pub(crate) fn u16(&self, at: usize) -> u16 {
        u16_at(&self.0, at)
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32_at(&self.0, at)
    }

    pub(crate) fn set_u8(&mut self, at: usize, value: u8) {
        self.0[at] = value;
    }

    pub(crate) fn set_u16(&mut self, at: usize, value: u16) {
        put(&mut self.0, at, &value.to_le_bytes());
    }

    pub(crate) fn set_u32(&mut self, at: usize, value: u32) {
        put(&mut self.0, at, &value.to_le_bytes());
    }

    pub(crate) fn set_bytes(&mut self, at: usize, value: &[u8]) {
        put(&mut self.0, at, value);
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        u64::from(self.u32(sb::BLOCKS)) | u64::from(self.u32(sb::BLOCKS_HIGH)) << 32
    }

    pub(crate) fn set_blocks(&mut self, blocks: u64) {
        self.set_u32(sb::BLOCKS, blocks as u32);
        self.set_u32(sb::BLOCKS_HIGH, (blocks >> 32) as u32);
    }
}

/// Places in a super block, and bits of its features.
pub(crate) mod sb {
    pub(crate) const INODES: usize = 0;
    pub(crate) const BLOCKS: usize = 4;
    pub(crate) const RESERVED: usize = 8;
    pub(crate) const FIRST_BLOCK: usize = 20;
    pub(crate) const LOG_BLOCK: usize = 24;
    pub(crate) const LOG_CLUSTER: usize = 28;
    pub(crate) const GROUP_BLOCKS: usize = 32;
    pub(crate) const GROUP_INODES: usize = 40;
    pub(crate) const MAX_MOUNTS: usize = 54;
    pub(crate) const MAGIC: usize = 56;
    pub(crate) const STATE: usize = 58;
    pub(crate) const ERRORS: usize = 60;
    pub(crate) const CHECK_INTERVAL: usize = 68;
    pub(crate) const REVISION: usize = 76;
    pub(crate) const INODE_BYTES: usize = 88;
    pub(crate) const COMPAT: usize = 92;
    pub(crate) const INCOMPAT: usize = 96;
    pub(crate) const RO_COMPAT: usize = 100;
    pub(crate) const UUID: usize = 104;
    pub(crate) const JOURNAL_INODE: usize = 224;
    pub(crate) const CHECKSUM_SEED: usize = 624;
    pub(crate) const LAST_ORPHAN: usize = 232;
    pub(crate) const HASH_SEED: usize = 236;
    pub(crate) const HASH_VERSION: usize = 252;
    pub(crate) const DESCRIPTOR_BYTES: usize = 254;
    pub(crate) const MOUNT_OPTIONS: usize = 256;
    pub(crate) const BLOCKS_HIGH: usize = 336;
    pub(crate) const RESERVED_HIGH: usize = 340;
    pub(crate) const FLAGS: usize = 352;
    pub(crate) const LOG_FLEX: usize = 372;
    pub(crate) const CHECKSUM_TYPE: usize = 373;
    pub(crate) const CHECKSUM: usize = 1020;

    pub(crate) const MAGIC_NUMBER: u16 = 0xef53;
    pub(crate) const STATE_VALID: u16 = 1;
    pub(crate) const STATE_ERRORS: u16 = 2;

    pub(crate) const HAS_JOURNAL: u32 = 0x4;
    pub(crate) const EXT_ATTR: u32 = 0x8;
    pub(crate) const RESIZE_INODE: u32 = 0x10;
    pub(crate) const DIR_INDEX: u32 = 0x20;
    pub(crate) const FAST_COMMIT: u32 = 0x400;
    pub(crate) const ORPHAN_FILE: u32 = 0x1000;

    pub(crate) const FILETYPE: u32 = 0x2;
    pub(crate) const RECOVER: u32 = 0x4;
    pub(crate) const EXTENTS: u32 = 0x40;
    pub(crate) const WIDE: u32 = 0x80;
    pub(crate) const FLEX_BG: u32 = 0x200;
    pub(crate) const CSUM_SEED: u32 = 0x2000;

    pub(crate) const SPARSE_SUPER: u32 = 0x1;
    pub(crate) const LARGE_FILE: u32 = 0x2;
    pub(crate) const HUGE_FILE: u32 = 0x8;
    pub(crate) const GDT_CSUM: u32 = 0x10;
    pub(crate) const DIR_NLINK: u32 = 0x20;
    pub(crate) const EXTRA_ISIZE: u32 = 0x40;
    pub(crate) const METADATA_CSUM: u32 = 0x400;
    pub(crate) const ORPHAN_PRESENT: u32 = 0x1_0000;
}
