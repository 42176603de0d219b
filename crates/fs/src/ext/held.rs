//! What ext2, ext3 and ext4 keep of a file besides what all formats do.

use super::directory::Directory;
use super::nodes::Nodes;

/// What ext keeps of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) nodes: Nodes,
    /// The block of the parent that has its entry.
    pub(super) entry: u32,
    pub(super) entries: Option<Directory>,
}

impl Held {
    pub(super) fn new(directory: bool) -> Self {
        Self {
            entries: directory.then(Directory::with_block),
            ..Self::default()
        }
    }
}
