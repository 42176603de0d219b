//! What a log-structured format keeps of a file besides what all formats do.

use super::directory::Entries;
use super::tree::Place;
use std::collections::BTreeMap;

/// What the format keeps of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The number of its inode.
    pub(super) inode: u32,
    /// Numbers of its nodes beside the inode.
    pub(super) nodes: BTreeMap<Place, u32>,
    /// The page of the parent that has its entry, and the length of its name.
    pub(super) entry: u32,
    pub(super) name_bytes: usize,
    pub(super) entries: Option<Entries>,
}
