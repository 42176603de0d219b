//! The writes of a sync, and what they are for.

use crate::block::Extent;

/// What a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data of a file.
    Data,
    /// Metadata at its place, to make room in the journal.
    Checkpoint,
    /// The super block of the journal.
    JournalSuper,
    /// Changed metadata in the journal, with descriptors and revoke records; in a log-structured format the checkpoint.
    Log,
    /// The commit block, or the end of a checkpoint. The drive's cache is flushed before it, and it is forced to the medium.
    Commit,
    /// Metadata at its place; in a log-structured format nodes and tables.
    Metadata,
    /// Blocks that the cleaning of a log-structured format moved.
    Moved,
}

/// A write of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// What it is for.
    pub purpose: Purpose,
    /// The blocks.
    pub extent: Extent,
}

/// Adds a write, which joins the last one if it continues it.
pub(crate) fn join(writes: &mut Vec<Write>, purpose: Purpose, extent: Extent) {
    match writes.last_mut() {
        Some(last) if last.purpose == purpose && last.extent.end() == extent.start => {
            last.extent.blocks += extent.blocks;
        }
        _ => writes.push(Write { purpose, extent }),
    }
}
