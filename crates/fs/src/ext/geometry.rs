//! What `mke2fs` puts where: groups, super blocks and their copies, bitmaps, inode tables and the journal.

use crate::block::{BLOCK_BYTES, Extent, GROUP_BLOCKS};
use crate::error::FsError;
use crate::space::Space;
use fathom_base::defaults;
use serde::{Deserialize, Serialize};

/// The member of the family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// ext2: no journal.
    Ext2,
    /// ext3: indirect blocks, a journal.
    #[default]
    Ext3,
    /// ext4: extents, flexible groups, a journal.
    Ext4,
}

defaults! {
    /// How a volume is formatted. The defaults are those of `mke2fs` 1.47.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct ExtFormat {
        /// The member of the family.
        pub version: Version = Version::Ext3,
        /// Size of an inode on the drive: 128 or 256 bytes (128 until `mke2fs` 1.40).
        pub inode_bytes: u64 = 256,
        /// Bytes of the volume for each inode (8,192 until `mke2fs` 1.40).
        pub bytes_per_inode: u64 = 16_384,
        /// Groups whose bitmaps and inode tables lie together (ext4 only); a power of two.
        pub flex_groups: u64 = 16,
        /// Blocks of the journal; 0 for what `mke2fs` chooses.
        pub journal_blocks: u64 = 0,
    }
}

/// The places of the metadata of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) format: ExtFormat,
    pub(crate) blocks: u64,
    pub(crate) groups: u64,
    /// Number of inodes of a group.
    pub(crate) inodes: u64,
    /// Number of inodes of a block of the table.
    pub(crate) inodes_per_block: u64,
    /// Number of groups whose metadata lie together.
    flex: u64,
    /// Descriptors of groups in a block.
    descriptors_per_block: u64,
    /// Blocks of the group descriptors, and those reserved for growth.
    descriptors: u64,
    reserved: u64,
    /// The first block of what follows super block and descriptors in each run of `flex` groups.
    tables: Vec<u64>,
    /// The pieces of the journal.
    pub(crate) journal: Vec<Extent>,
}

/// Number of blocks of the journal (`ext2fs_default_journal_size` of e2fsprogs 1.47).
fn journal_blocks(blocks: u64) -> u64 {
    match blocks {
        0..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..1_048_576 => 16_384,
        1_048_576..33_554_432 => 32_768,
        33_554_432..67_108_864 => 65_536,
        67_108_864..134_217_728 => 131_072,
        _ => 262_144,
    }
}

fn is_power(of: u64, mut number: u64) -> bool {
    while number.is_multiple_of(of) {
        number /= of;
    }
    number == 1
}

impl Geometry {
    /// Lays out a volume whose blocks are all free.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub(crate) fn new(format: ExtFormat, space: &mut Space) -> Result<Self, FsError> {
        let blocks = space.blocks();
        let groups = blocks.div_ceil(GROUP_BLOCKS);
        let inodes_per_block = BLOCK_BYTES / format.inode_bytes.clamp(128, BLOCK_BYTES);
        let per_group = GROUP_BLOCKS * BLOCK_BYTES / format.bytes_per_inode.max(1024);
        let descriptor_bytes = if format.version == Version::Ext4 {
            64
        } else {
            32
        };
        let descriptors_per_block = BLOCK_BYTES / descriptor_bytes;
        let descriptors = groups.div_ceil(descriptors_per_block);
        let journal = match format.journal_blocks {
            0 => journal_blocks(blocks),
            given => given,
        };
        let mut geometry = Self {
            format,
            blocks,
            groups,
            inodes: per_group.next_multiple_of(inodes_per_block),
            inodes_per_block,
            flex: match format.version {
                Version::Ext4 => format.flex_groups.max(1),
                _ => 1,
            },
            descriptors_per_block,
            descriptors,
            // Room to grow a thousandfold (`resize_inode`), at most a block of pointers.
            reserved: (descriptors * 1023).min(1024 - descriptors.min(1024)),
            tables: Vec::new(),
            journal: Vec::new(),
        };
        let least = geometry.metadata_of(0, groups.min(geometry.flex)) + journal + 64;
        if blocks < least {
            return Err(FsError::TooSmall { blocks, least });
        }
        geometry.lay_out(space);
        if format.version != Version::Ext2 {
            geometry.place_journal(space, journal)?;
        }
        Ok(geometry)
    }

    /// Blocks of the bitmaps and inode tables of `groups` groups from `first` on, and of what lies before them.
    fn metadata_of(&self, first: u64, groups: u64) -> u64 {
        self.copies(first) + groups * (2 + self.table_blocks())
    }

    /// Blocks of an inode table.
    fn table_blocks(&self) -> u64 {
        self.inodes / self.inodes_per_block
    }

    /// Number of blocks of super block and descriptors, or of their copies, at the beginning of a group.
    fn copies(&self, group: u64) -> u64 {
        let has = group <= 1 || [3, 5, 7].into_iter().any(|of| is_power(of, group));
        if has {
            1 + self.descriptors + self.reserved
        } else {
            0
        }
    }

    fn lay_out(&mut self, space: &mut Space) {
        for group in 0..self.groups {
            let start = group * GROUP_BLOCKS;
            let copies = self.copies(group).min(space.group(group).blocks);
            if copies > 0 {
                space.take(Extent::new(start, copies));
            }
            if group.is_multiple_of(self.flex) {
                let tables = start + copies;
                let together = self.flex.min(self.groups - group);
                let blocks = together * (2 + self.table_blocks());
                let blocks = blocks.min(self.blocks.saturating_sub(tables));
                self.tables.push(tables);
                if blocks > 0 {
                    space.take(Extent::new(tables, blocks));
                }
            }
        }
    }

    /// Puts the journal in the middle of the volume, around the metadata that is there.
    fn place_journal(&mut self, space: &mut Space, blocks: u64) -> Result<(), FsError> {
        let middle = self.groups / 2 * GROUP_BLOCKS;
        let mut left = blocks;
        while left > 0 {
            let run = space.run(middle, self.blocks, left);
            let Some(run) = run.or_else(|| space.run(0, middle, left)) else {
                let least = self.blocks + left;
                let blocks = self.blocks;
                return Err(FsError::TooSmall { blocks, least });
            };
            space.take(run);
            self.journal.push(run);
            left -= run.blocks;
        }
        Ok(())
    }

    fn table_of(&self, group: u64) -> (u64, u64, u64) {
        let tables = self.tables[(group / self.flex) as usize];
        let together = self.flex.min(self.groups - group / self.flex * self.flex);
        (tables, together, group % self.flex)
    }

    /// The block of a group's block bitmap.
    pub(crate) fn block_bitmap(&self, group: u64) -> u64 {
        let (tables, _, index) = self.table_of(group);
        tables + index
    }

    /// The block of a group's inode bitmap.
    pub(crate) fn inode_bitmap(&self, group: u64) -> u64 {
        let (tables, together, index) = self.table_of(group);
        tables + together + index
    }

    /// The block of the inode table with an inode, counted from 0.
    pub(crate) fn inode_block(&self, inode: u64) -> u64 {
        let (group, within) = (inode / self.inodes, inode % self.inodes);
        let (tables, together, index) = self.table_of(group);
        tables + 2 * together + index * self.table_blocks() + within / self.inodes_per_block
    }

    /// The block of the descriptor of a group.
    pub(crate) fn descriptor(&self, group: u64) -> u64 {
        1 + group / self.descriptors_per_block
    }

    /// Number of groups whose metadata lie together.
    pub(crate) fn flex(&self) -> u64 {
        self.flex
    }
}
