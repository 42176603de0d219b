//! A group of a page-mapped drive: its erased blocks, its open ones, and how much it may hold.

use crate::ftl::contract::NO_CBLOCK;
use crate::geometry::Geometry;
use std::collections::VecDeque;

/// Index of the block that is open for the host.
pub(super) const HOST: usize = 0;
/// Index of the block that is open for what is moved, where that is another one.
pub(super) const COPIES: usize = 1;
/// Index of the block that is open for what is written often.
pub(super) const HOT: usize = 2;
/// Index of the block that is open for what is moved to even out wear.
pub(super) const COLD: usize = 3;
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) cblock: u32,
    pub(super) next: u32,
    /// How many were open before it; of planes in step, the number that they agree on.
    pub(super) nth: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) free: VecDeque<u32>,
    pub(super) erasing: u32,
    pub(super) open: [Open; 4],
    pub(super) valid: u32,
    /// Valid units that it may hold, so that a victim always yields something; 0 for one that is stuck.
    pub(super) valid_max: u32,
    pub(super) retired: u32,
    /// No erased block for the host until the next erase.
    pub(super) waits: bool,
    /// A block was emptied for wear since the host got its last one.
    pub(super) levelled: bool,
    /// Collection left no room to empty the block that lags behind in wear: that one goes first the next time.
    pub(super) level_first: bool,
}

impl Group {
    /// A group of erased blocks, which may hold so many valid units.
    pub(super) fn erased(g: &Geometry, group: u32, valid_max: u32) -> Self {
        let (first, blocks) = (group * g.cblocks_per_group, g.cblocks_per_group);
        let closed = Open {
            cblock: NO_CBLOCK,
            next: g.units_per_cblock,
            nth: 0,
        };
        Self {
            free: (first..first + blocks).collect(),
            erasing: 0,
            open: [closed; 4],
            valid: 0,
            valid_max,
            retired: 0,
            waits: false,
            levelled: false,
            level_first: false,
        }
    }
}
