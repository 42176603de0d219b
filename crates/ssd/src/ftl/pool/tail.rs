//! The position at which units are appended.

use crate::ftl::contract::NO_CBLOCK;
use crate::geometry::Geometry;

/// The position at which units are appended: the rest of a block, and a block that follows it.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Tail {
    pub(in crate::ftl) cblock: u32,
    pub(in crate::ftl) next: u32,
    fresh: u32,
}

impl Tail {
    /// No position: there is no room.
    pub(in crate::ftl) fn none(g: &Geometry) -> Self {
        Self {
            cblock: NO_CBLOCK,
            next: g.units_per_cblock,
            fresh: NO_CBLOCK,
        }
    }

    /// Returns the number of units that there is room for.
    pub(in crate::ftl) fn room(&self, g: &Geometry) -> u32 {
        let rest = g.units_per_cblock - self.next;
        let more = self.fresh != NO_CBLOCK;
        rest + if more { g.units_per_cblock } else { 0 }
    }

    /// Adds an erased block. If the current block is full, the new one replaces it.
    pub(in crate::ftl) fn add(&mut self, cblock: u32, g: &Geometry) {
        if self.next == g.units_per_cblock {
            (self.cblock, self.next) = (cblock, 0);
        } else {
            self.fresh = cblock;
        }
    }

    /// Stops filling the current block. The block that follows stays.
    pub(in crate::ftl) fn leave(&mut self, g: &Geometry) {
        (self.cblock, self.next) = (NO_CBLOCK, g.units_per_cblock);
    }

    /// Returns true if `cblock` is the block being filled or the one to be filled next.
    pub(in crate::ftl) fn holds(&self, cblock: u32) -> bool {
        cblock != NO_CBLOCK && (self.cblock == cblock || self.fresh == cblock)
    }

    /// Takes the next place; `None` if there is no room.
    pub(super) fn advance(&mut self, g: &Geometry) -> Option<u32> {
        if self.next == g.units_per_cblock {
            let fresh = std::mem::replace(&mut self.fresh, NO_CBLOCK);
            if fresh == NO_CBLOCK {
                return None;
            }
            (self.cblock, self.next) = (fresh, 0);
        }
        self.next += 1;
        Some(self.cblock * g.units_per_cblock + self.next - 1)
    }

    /// Skips the rest of a partly filled clustered page.
    pub(super) fn pad(&mut self, g: &Geometry) {
        self.next = self.next.next_multiple_of(g.units_per_cpage);
    }
}
