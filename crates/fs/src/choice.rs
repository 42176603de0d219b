//! A file system by name: format, allocator and their sizes, as in a study file or on the command line.

use crate::alloc::{
    Allocator, Ext3, Ext4, Ext4Settings, GreedyData, GreedyLocal, GreedySpace, ReclaimUnits, Reiser,
};
use crate::block::BLOCK_BYTES;
use crate::error::FsError;
use crate::ext::{ExtFormat, Version};
use crate::log::{LogFormat, SEGMENT_BYTES};
use crate::reiser::ReiserFormat;
use crate::space::Space;
use crate::volume::{Formatting, Volume};
use fathom_base::registry::Text;
use fathom_base::{About, BadValue, Bytes, Kind, defaults, names, want};
use serde::{Deserialize, Serialize};

/// Formats.
const FORMAT: Kind = Kind {
    one: "file system",
    list: "file-systems",
    summary: "File systems: what they write besides data, and where",
    prefix: "",
    option: "",
    text: Text::Prose,
};

/// Allocators.
const ALLOCATOR: Kind = Kind {
    one: "allocator",
    list: "allocators",
    summary: "Block allocators: which free blocks new data gets",
    prefix: "",
    option: "",
    text: Text::Prose,
};

/// Open reclaim units for small files, by directory.
const DIRECTORIES: usize = 4;

names! {
    /// The format of a file system.
    pub enum Format of FORMAT in FORMATS {
        Ext2 = "ext2", About::new("The second extended file system: groups, indirect blocks, no journal").text("\
Block groups of 128 MiB with their bitmaps and inode tables, indirect blocks, copies of the super block in groups 0, 1 \
and powers of 3, 5 and 7. Without a journal, changed metadata is written to its place like data.");
        Ext3 = "ext3", About::new("ext2 with a journal of metadata (JBD, ordered mode)").text("\
The format of ext2 with a journal. A commit writes the data of new blocks first, then the changed blocks of metadata \
into the journal, then a commit record; the metadata goes to its place later.");
        Ext4 = "ext4", About::new("Extents, flexible groups, delayed allocation, a journal (JBD2)").text("\
Files are mapped by extents, and the metadata of 16 groups lies together. Pages get their blocks when they are written \
to the drive.");
        Reiserfs = "reiserfs", About::new("ReiserFS 3.6: one balanced tree for all metadata, a journal").text("\
Inodes, entries and pointers to blocks are items of one balanced tree of nodes of 4 KiB. The journal of 32 MiB lies behind \
the super block. A transaction is committed 30 s after it began. Small files have blocks of their own (`notail`). After \
`fs/reiserfs` of Linux 6.1.");
        F2fs = "f2fs-like", About::new("A log-structured file system in the manner of F2FS").text("\
What is written goes to the head of one of six logs and overwrites nothing; sections with few valid blocks are cleaned. A \
checkpoint is written every 60 s and by a sync. A section is as long as `logical-block`, or 2 MiB. Left out: inline data, \
roll-forward recovery (an `fsync` writes a checkpoint), writing into holes.");
    }
}

names! {
    /// A block allocator.
    pub enum Policy of ALLOCATOR in ALLOCATORS {
        Ext3 = "ext3-windows", About::new("ext2 and ext3: a goal in the inode's group, reservation windows").text("\
A file goes on after its last block, a new one begins in its directory's group. Each file that is being written has a \
window of 8 blocks and more set aside, which doubles as it is used up, so that files that grow at the same time do not \
interleave. After `fs/ext3/balloc.c` of Linux 2.6.");
        Ext4 = "ext4-mballoc", About::new("ext4: buddies, pools of each processor for small files").text("\
Runs of free blocks are found in a buddy bitmap of each group, best fit. Files of up to 64 KiB take their blocks from a \
pool of 2 MiB of their processor (`mb_group_prealloc`), longer ones get room set aside for their growth. After \
`fs/ext4/mballoc.c` of Linux 6.18, which also serves ext2 and ext3.");
        GreedySpace = "greedy-space", About::new("Greedy-Space: fill the logical block with the most free space").text("\
Logical blocks of the drive in order of their free space. All new blocks come from one of them, until it is full; then \
from the one with the most free space. Blocks that are written again stay where they are. It turns scattered writes into \
few merges on a block-mapped drive (`greedy-space` IV). Memory: 36 bytes for each logical block in the paper.");
        GreedyData = "greedy-data", About::new("Greedy-Space for data, and ReiserFS's own place for nodes").text("\
As Greedy-Space, but nodes of ReiserFS's tree go where ReiserFS puts them. Nearly every sync rewrites nodes, and with \
Greedy-Space alone all logical blocks have some in time. The same as `greedy-space` on other file systems.");
        GreedyLocal = "greedy-local", About::new("Greedy-Space that prefers logical blocks being rewritten").text("\
New blocks come first from logical blocks in which the same sync rewrites blocks in place: they are merged anyway. Then \
as Greedy-Space. Our answer to `greedy-space` VI, which leaves locality to future work.");
        Reiser = "reiserfs-default", About::new("ReiserFS: first fit from a place of the directory").text("\
A file goes on after its last block; a new one begins in a group that is hashed from its directory, and takes the first \
free blocks from there on. Groups of which less than a tenth is free are passed over. An open file sets 16 blocks aside. \
After `fs/reiserfs/bitmap.c` of Linux 6.1 with its default options.");
        ReclaimUnits = "reclaim-units", About::new("For page-mapped drives: what dies together shares a reclaim unit").text("\
`logical-block` is the reclaim unit: what the drive erases at once, on a drive that stripes over its dies the erase blocks \
of all of them. As in Greedy-Space a unit is filled until it is full, \
and the one with the most free space is next; but one unit is open for metadata, one for large files, and four for small \
files by their directory, because those that die together leave whole units to the drive. Ours: `greedy-space` VI leaves \
page mapping to future work.");
        Logs = "log-structured", About::new("f2fs-like: the heads of its six logs").text("\
The only one of `f2fs-like`, and of no other file system.");
    }
}

defaults! {
    /// A file system: how a volume is formatted, and how blocks are allocated.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct FileSystem {
        /// The format.
        pub format: Format = Format::Ext3,
        /// The allocator; that of the format if omitted.
        pub allocator: Option<Policy> = None,
        /// Size of a logical block or reclaim unit of the drive, for the allocators that ask for it; of `f2fs-like` the
        /// section, a multiple of 2 MiB. Comes from the drive's profile if omitted.
        pub logical_block: Option<Bytes> = None,
        /// Where the first logical block of the drive begins, relative to the beginning of the file system: 0 if it begins
        /// at a boundary.
        pub logical_block_offset: Bytes = Bytes(0),
        /// Whether pages get their blocks when they are written to the drive; as the format does if omitted.
        pub delayed_allocation: Option<bool> = None,
        /// Size of an inode of ext on the drive: 128 (until `mke2fs` 1.40) or 256 bytes.
        pub inode_bytes: u64 = 128,
        /// Bytes of an ext volume for each inode (8,192 until `mke2fs` 1.40, 16,384 today).
        pub bytes_per_inode: Bytes = Bytes(8192),
        /// Size of the journal; what `mke2fs` or `mkreiserfs` chooses if omitted.
        pub journal: Option<Bytes> = None,
    }
}

impl FileSystem {
    /// The allocator.
    pub fn policy(&self) -> Policy {
        self.allocator.unwrap_or(match self.format {
            Format::Ext2 | Format::Ext3 => Policy::Ext3,
            Format::Ext4 => Policy::Ext4,
            Format::Reiserfs => Policy::Reiser,
            Format::F2fs => Policy::Logs,
        })
    }

    /// Whether allocation is delayed.
    pub fn is_delayed(&self) -> bool {
        self.delayed_allocation
            .unwrap_or(self.format == Format::Ext4)
            || self.format == Format::F2fs
    }

    /// Whether the allocator needs the size of a logical block that is not given.
    pub fn lacks_logical_block(&self) -> bool {
        let needs = matches!(
            self.policy(),
            Policy::GreedySpace | Policy::GreedyData | Policy::GreedyLocal | Policy::ReclaimUnits
        );
        needs && self.logical_block.is_none()
    }

    /// Checks the values.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        let whole = |bytes: Bytes| bytes.0.is_multiple_of(BLOCK_BYTES);
        let logs = self.format == Format::F2fs;
        want(
            logs == (self.policy() == Policy::Logs),
            "allocator",
            self.policy(),
            || match logs {
                true => "f2fs-like has none but log-structured".into(),
                false => format!("is for f2fs-like, and not for {}", self.format),
            },
        )?;
        want(!self.lacks_logical_block(), "logical-block", "", || {
            let allocator = self.policy();
            format!("must be given for {allocator}, or come from a profile of the drive")
        })?;
        let logical_block = self.logical_block.unwrap_or(Bytes(BLOCK_BYTES));
        want(
            whole(logical_block) && (1..1 << 20).contains(&(logical_block.0 / BLOCK_BYTES)),
            "logical-block",
            logical_block,
            || "must be a multiple of the block of 4KiB, and below 4GiB".into(),
        )?;
        want(
            !logs
                || self
                    .logical_block
                    .is_none_or(|block| block.0.is_multiple_of(SEGMENT_BYTES)),
            "logical-block",
            logical_block,
            || "must be a multiple of a segment of 2MiB for f2fs-like".into(),
        )?;
        want(
            whole(self.logical_block_offset)
                && (self.logical_block_offset < logical_block || self.logical_block.is_none()),
            "logical-block-offset",
            self.logical_block_offset,
            || "must be a multiple of 4KiB below `logical-block`".into(),
        )?;
        want(
            matches!(self.inode_bytes, 128 | 256 | 512 | 1024),
            "inode-bytes",
            self.inode_bytes,
            || "must be 128, 256, 512 or 1024".into(),
        )?;
        want(
            (1024..=1 << 26).contains(&self.bytes_per_inode.0),
            "bytes-per-inode",
            self.bytes_per_inode,
            || "must be at least 1KiB and at most 64MiB".into(),
        )?;
        let journals = matches!(self.format, Format::Ext3 | Format::Ext4 | Format::Reiserfs);
        want(
            journals || self.journal.is_none(),
            "journal",
            self.journal.unwrap_or(Bytes(0)),
            || format!("{} has no journal; leave it out", self.format),
        )?;
        want(
            !(logs && self.delayed_allocation == Some(false)),
            "delayed-allocation",
            "false",
            || "f2fs-like gives pages their blocks when they are written to the drive".into(),
        )?;
        let journal = self.journal.map_or(1024, |journal| journal.0 / BLOCK_BYTES);
        want(
            (1024..=10_240_000).contains(&journal),
            "journal",
            self.journal.unwrap_or(Bytes(0)),
            || "must be at least 4MiB and at most 40000MiB".into(),
        )
    }

    /// Formats a volume of `len` bytes; a remainder below 4 KiB stays unused.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub fn volume(&self, len: Bytes) -> Result<Volume, FsError> {
        let blocks = len.0 / BLOCK_BYTES;
        Volume::format(self.formatting(), blocks, |space| self.allocator(space))
    }

    /// The format with its settings.
    fn formatting(&self) -> Formatting {
        let ext = |version| {
            Formatting::Ext(ExtFormat {
                version,
                inode_bytes: self.inode_bytes,
                bytes_per_inode: self.bytes_per_inode.0,
                journal_blocks: self.journal.map_or(0, |journal| journal.0 / BLOCK_BYTES),
                ..ExtFormat::default()
            })
        };
        match self.format {
            Format::Ext2 => ext(Version::Ext2),
            Format::Ext3 => ext(Version::Ext3),
            Format::Ext4 => ext(Version::Ext4),
            Format::Reiserfs => {
                let default = ReiserFormat::default();
                Formatting::Reiser(ReiserFormat {
                    journal_blocks: self
                        .journal
                        .map_or(default.journal_blocks, |journal| journal.0 / BLOCK_BYTES),
                })
            }
            Format::F2fs => Formatting::Log(LogFormat {
                segments_per_section: self
                    .logical_block
                    .map_or(1, |section| section.0 / SEGMENT_BYTES),
                ..LogFormat::default()
            }),
        }
    }

    /// Makes the allocator for a volume with these free blocks.
    pub fn allocator(&self, space: &Space) -> Box<dyn Allocator> {
        let blocks = self.logical_block.map_or(1, |block| block.0 / BLOCK_BYTES);
        // The number of blocks between a boundary of logical blocks and the beginning of the volume.
        let offset = match self.logical_block_offset.0 / BLOCK_BYTES {
            0 => 0,
            first => blocks - first % blocks,
        };
        match self.policy() {
            Policy::Ext3 => Box::new(Ext3::default()),
            Policy::Ext4 => Box::new(Ext4::new(Ext4Settings::default())),
            Policy::GreedySpace => Box::new(GreedySpace::new(space, blocks, offset)),
            Policy::GreedyData => Box::new(GreedyData::new(space, blocks, offset)),
            Policy::GreedyLocal => Box::new(GreedyLocal::new(space, blocks, offset)),
            // The log-structured format asks no allocator.
            Policy::Reiser | Policy::Logs => Box::new(Reiser::default()),
            Policy::ReclaimUnits => Box::new(ReclaimUnits::new(space, blocks, offset, DIRECTORIES)),
        }
    }
}
