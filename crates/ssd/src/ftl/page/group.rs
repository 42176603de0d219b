//! A group of a page-mapped drive: its erased blocks, its open blocks, and the limit on its valid data.

use super::erased::ErasedBlocks;
use crate::ftl::config::HANDLES_MAX;
use crate::ftl::contract::NO_CBLOCK;
use crate::geometry::Geometry;

/// Index of the block that is open for host writes.
pub(super) const HOST: usize = 0;
/// Index of the block that is open for copies, where they have a block of their own.
pub(super) const COPIES: usize = 1;
/// Index of the block that is open for frequently written units.
pub(super) const HOT: usize = 2;
/// Index of the block that is open for units moved by wear levelling.
pub(super) const COLD: usize = 3;
/// Index of the block that is open for the fast cache.
pub(super) const FAST: usize = 4;
/// Index of the block that is open for placement handle 1; those of the next handles follow. Handle 0 has [`HOST`].
const HANDLES: usize = 5;
/// Number of open blocks of a group.
const FRONTS: usize = HANDLES + HANDLES_MAX as usize - 1;

/// Returns the index of the block that is open for a placement handle.
pub(super) fn front_of_handle(handle: u8) -> usize {
    match handle {
        0 => HOST,
        handle => HANDLES + usize::from(handle) - 1,
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) cblock: u32,
    pub(super) next: u32,
    /// Number of its places: fewer than a block has in SLC mode.
    pub(super) end: u32,
    /// With planes in step, the number of the block in the order of opening; the planes of a die agree on it. Otherwise 0.
    pub(super) nth: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) free: ErasedBlocks,
    pub(super) erasing: u32,
    pub(super) open: [Open; FRONTS],
    pub(super) valid: u32,
    /// Maximum number of valid units, so that a victim always yields something; 0 for a group that is stuck.
    pub(super) valid_max: u32,
    pub(super) retired: u32,
    /// There is no erased block for the host until the next erase.
    pub(super) waits: bool,
    /// A block was emptied for wear levelling since the host got its last block.
    pub(super) levelled: bool,
    /// Collection left no room to empty the block that lags behind in wear. Next time that block is emptied first.
    pub(super) level_first: bool,
}

impl Group {
    /// A group in which all blocks are erased. It may hold `valid_max` valid units.
    pub(super) fn erased(g: &Geometry, group: u32, valid_max: u32) -> Self {
        let (first, blocks) = (group * g.cblocks_per_group, g.cblocks_per_group);
        let closed = Open {
            cblock: NO_CBLOCK,
            next: g.units_per_cblock,
            end: g.units_per_cblock,
            nth: 0,
        };
        Self {
            free: ErasedBlocks::new(first..first + blocks),
            erasing: 0,
            open: [closed; FRONTS],
            valid: 0,
            valid_max,
            retired: 0,
            waits: false,
            levelled: false,
            level_first: false,
        }
    }
}
