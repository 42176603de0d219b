//! Where the areas of a volume lie: super blocks, checkpoints, the tables, and the main area in sections.

use crate::block::{BLOCK_BYTES, Extent};
use crate::error::FsError;
use crate::space::Space;
use fathom_base::defaults;
use serde::{Deserialize, Serialize};

/// Blocks of a segment, of 2 MiB.
pub(super) const SEGMENT: u64 = 512;
/// Bytes of a segment.
pub(crate) const SEGMENT_BYTES: u64 = SEGMENT * BLOCK_BYTES;
/// Segments of a block of the segment information table, and nodes of one of the node address table.
pub(super) const SEGMENTS_PER_BLOCK: u64 = 55;
pub(super) const NODES_PER_BLOCK: u64 = 455;
/// Number of logs.
pub(super) const LOGS: usize = 6;
/// Sections that are always kept free: one for each log and some to move blocks to.
pub(super) const KEPT: u64 = LOGS as u64 + 3;

defaults! {
    /// How a volume is formatted.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct LogFormat {
        /// Segments of 2 MiB in a section, at least 1: the unit that is filled and cleaned.
        pub segments_per_section: u64 = 1,
        /// Share of the main area that files cannot use, in percent, below 100.
        pub spare_percent: u64 = 5,
    }
}

/// The areas of a volume, in order of place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    /// Blocks of a section.
    pub(super) section: u64,
    pub(super) sections: u64,
    /// The two checkpoint packs have a segment each.
    checkpoint: u64,
    /// The segment information table, twice.
    information: Extent,
    /// The node address table, twice.
    addresses: Extent,
    /// A block for each segment.
    summary: u64,
    /// The first block of the main area, at a multiple of a section.
    pub(super) main: u64,
    /// Sections that files cannot use.
    pub(super) spare: u64,
}

impl Areas {
    /// Takes the blocks before and behind the main area.
    ///
    /// # Errors
    /// [`FsError::TooSmall`].
    pub(super) fn lay_out(format: LogFormat, space: &mut Space) -> Result<Self, FsError> {
        let blocks = space.blocks();
        let section = SEGMENT * format.segments_per_section.clamp(1, 1 << 20);
        let segments = blocks.div_ceil(SEGMENT);
        let checkpoint = SEGMENT;
        let half = segments.div_ceil(SEGMENTS_PER_BLOCK);
        let information = Extent::new(checkpoint + 2 * SEGMENT, half);
        // A node for each block would always be enough.
        let half = blocks.div_ceil(NODES_PER_BLOCK);
        let addresses = Extent::new(information.start + 2 * information.blocks, half);
        let summary = addresses.start + 2 * addresses.blocks;
        let main = (summary + segments).next_multiple_of(section);
        let least = main + (2 * KEPT + 2) * section;
        if blocks < least {
            return Err(FsError::TooSmall { blocks, least });
        }
        let sections = (blocks - main) / section;
        let end = main + sections * section;
        space.take(Extent::new(0, main));
        if end < blocks {
            space.take(Extent::new(end, blocks - end));
        }
        let share = sections * format.spare_percent.min(99) / 100;
        Ok(Self {
            section,
            sections,
            checkpoint,
            information,
            addresses,
            summary,
            main,
            spare: share.max(2 * KEPT),
        })
    }

    /// A block of a segment's information; the two copies are written in turn.
    pub(super) fn information(&self, index: u64, copy: bool) -> u64 {
        self.information.start + index + if copy { self.information.blocks } else { 0 }
    }

    /// A block of the addresses of nodes; the two copies are written in turn.
    pub(super) fn address(&self, index: u64, copy: bool) -> u64 {
        self.addresses.start + index + if copy { self.addresses.blocks } else { 0 }
    }

    /// The block that says what is in a segment of the main area.
    pub(super) fn summary(&self, segment: u64) -> u64 {
        self.summary + segment
    }

    /// The first block of a checkpoint pack.
    pub(super) fn pack(&self, second: bool) -> u64 {
        self.checkpoint + if second { SEGMENT } else { 0 }
    }
}
