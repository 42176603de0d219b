//! What `mkreiserfs` puts where: the super block, the bitmaps, the journal and the first node of the tree.

use crate::block::{Extent, GROUP_BLOCKS};
use crate::error::FsError;
use crate::space::Space;
use fathom_base::defaults;
use serde::{Deserialize, Serialize};

defaults! {
    /// How a volume is formatted. The defaults are those of `mkreiserfs` 3.6 with blocks of 4 KiB.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct ReiserFormat {
        /// Blocks of the journal without its header.
        pub journal_blocks: u64 = 8192,
    }
}

/// The block of the super block, behind 64 KiB that are left to a boot loader.
pub(super) const SUPER: u64 = 16;

/// The bitmap block of a group: the first block of the group, or the block behind the super block.
pub(super) fn bitmap(group: u64) -> u64 {
    match group {
        0 => SUPER + 1,
        _ => group * GROUP_BLOCKS,
    }
}

/// The blocks of the journal with its header, which is the last of them.
pub(super) fn journal(format: ReiserFormat) -> Extent {
    Extent::new(SUPER + 2, format.journal_blocks + 1)
}

/// Takes the blocks that no file and no node of the tree may have. Returns the block of the root.
///
/// # Errors
/// [`FsError::TooSmall`].
pub(super) fn lay_out(format: ReiserFormat, space: &mut Space) -> Result<u64, FsError> {
    let root = journal(format).end();
    let (blocks, least) = (space.blocks(), root + 64);
    if blocks < least {
        return Err(FsError::TooSmall { blocks, least });
    }
    space.take(Extent::new(0, root + 1));
    for group in 1..space.groups() {
        let block = bitmap(group);
        if space.is_free(block) {
            space.take(Extent::new(block, 1));
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_lies_where_it_was_recorded() {
        // Sectors 144 to 65,687 of the recording; sector 65,688 is the root.
        let journal = journal(ReiserFormat::default());
        assert_eq!((journal.start * 8, journal.end() * 8), (144, 65_688));
        let mut space = Space::new(1 << 20);
        assert_eq!(lay_out(ReiserFormat::default(), &mut space), Ok(8211));
        assert!(!space.is_free(8211) && space.is_free(8212) && !space.is_free(32_768));
        assert_eq!(space.free(), (1 << 20) - 8212 - 31);
    }
}
