//! Blocks, runs of blocks, and the identities of files and pages.

/// Size of a block of the file system and of a page of the cache, in bytes.
pub const BLOCK_BYTES: u64 = 4096;
/// Number of blocks in a group: the bits in a bitmap of one 4-KiB block, 128 MiB. ReiserFS has a bitmap block for as many.
pub(crate) const GROUP_BLOCKS: u64 = 32_768;

/// A run of consecutive blocks, counted from the beginning of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// The first block.
    pub start: u64,
    /// Number of blocks, at least one.
    pub blocks: u64,
}

impl Extent {
    /// Makes a run of `blocks` blocks from `start` on.
    pub fn new(start: u64, blocks: u64) -> Self {
        Self { start, blocks }
    }

    /// The first block after the run.
    pub fn end(self) -> u64 {
        self.start + self.blocks
    }

    /// Adds the run to others; it joins the last one if it continues it.
    pub fn add_to(self, runs: &mut Vec<Self>) {
        match runs.last_mut() {
            Some(last) if last.end() == self.start => last.blocks += self.blocks,
            _ => runs.push(self),
        }
    }

    /// The runs that blocks in order of place form.
    pub fn runs(blocks: &[u64]) -> Vec<Self> {
        let mut runs = Vec::new();
        for &block in blocks {
            Self::new(block, 1).add_to(&mut runs);
        }
        runs
    }
}

/// Identifies a file or a directory. Never used again after a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The blocks of metadata, addressed like the pages of a file: page N is block N of the volume.
pub const METADATA: FileId = FileId(0);

/// The root directory of every volume.
pub const ROOT: FileId = FileId(1);

/// Identifies a page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// The file.
    pub file: FileId,
    /// The index of the page, from 0.
    pub page: u32,
}
