//! The fast cache of a page-mapped drive: the mode of every block, and the blocks with data in SLC mode.
//!
//! A block in SLC mode has the first `1 / bits_per_cell` of its places. Blocks of the cache are no candidates for
//! collection; [`super::fold`] empties them in the order in which they were filled. The cache has no blocks of its own:
//! any erased block can be opened in either mode, so that both modes share the wear. Not modelled: a fixed set of blocks
//! with a higher endurance.

use crate::geometry::Geometry;
use crate::spec::{FastCache, WhenFull};
use std::collections::VecDeque;

/// The mode of a block since it was last opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Native,
    /// SLC mode: open, erased, or to be erased.
    Fast,
    /// SLC mode, and closed with data in it.
    Full,
}

/// The cached blocks of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    /// Closed blocks with data, in the order of filling.
    pub(super) full: VecDeque<u32>,
    /// The last decision: writes go into the cache.
    pub(super) takes: bool,
    /// The cache is full: it takes nothing until a block is erased or opened in native mode, or something is trimmed.
    pub(super) closed: bool,
    /// The places at the head of the first of `full` that were folded already, and hold nothing.
    pub(super) folded: u32,
    /// Number of blocks to fold while the open block is filled (`when_full = "fold"`).
    pub(super) excess: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// Mapped units of a block in SLC mode.
    pub(super) units: u32,
    /// Blocks of a group for the static part.
    pub(super) blocks: u32,
    /// Share of the free blocks for the dynamic part.
    share: f64,
    /// Writes fold when the cache is full.
    pub(super) folds: bool,
    modes: Vec<Mode>,
    pub(super) groups: Vec<Cached>,
}

impl Cache {
    pub(super) fn new(spec: &FastCache, g: &Geometry) -> Self {
        Self {
            units: g.fast.units_per_cblock,
            blocks: g.fast.cblocks_per_group,
            share: spec.dynamic_percent / 100.0,
            folds: spec.when_full == WhenFull::Fold,
            modes: vec![Mode::Native; g.cblocks() as usize],
            groups: vec![Cached::default(); g.groups as usize],
        }
    }

    /// Returns the number of blocks that a group may have in the cache when `free` units of its share of the capacity hold
    /// no data in native mode.
    pub(super) fn limit(&self, free: u32, units_per_cblock: u32) -> u32 {
        let blocks = f64::from(free) / f64::from(units_per_cblock);
        self.blocks + (blocks * self.share) as u32
    }

    /// Notes the mode of a block that is opened. Returns true if it was opened in the other mode last.
    pub(super) fn open(&mut self, cblock: u32, fast: bool) -> bool {
        let mode = if fast { Mode::Fast } else { Mode::Native };
        std::mem::replace(&mut self.modes[cblock as usize], mode) != mode
    }

    /// Closes a block in SLC mode.
    pub(super) fn close(&mut self, cblock: u32, group: u32) {
        self.modes[cblock as usize] = Mode::Full;
        self.groups[group as usize].full.push_back(cblock);
    }

    /// Removes a block that is to be erased.
    pub(super) fn remove(&mut self, cblock: u32, group: u32) {
        if self.holds(cblock) {
            self.modes[cblock as usize] = Mode::Fast;
            let at = &mut self.groups[group as usize];
            if at.full.front() == Some(&cblock) {
                at.folded = 0;
            }
            at.full.retain(|&other| other != cblock);
            at.excess = at.excess.saturating_sub(1);
        }
    }

    /// Returns true if a block is closed in SLC mode.
    pub(super) fn holds(&self, cblock: u32) -> bool {
        self.modes[cblock as usize] == Mode::Full
    }

    /// Returns true if a block is in SLC mode.
    pub(super) fn is_fast(&self, cblock: u32) -> bool {
        self.modes[cblock as usize] != Mode::Native
    }

    /// Forgets the cached blocks. The modes stay: a drive stores them beside the data.
    pub(super) fn clear(&mut self) {
        self.groups.fill_with(Cached::default);
        for mode in self.modes.iter_mut().filter(|mode| **mode == Mode::Full) {
            *mode = Mode::Fast;
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        let full = self.groups.iter().map(|group| group.full.capacity() * 4);
        self.modes.capacity() * size_of::<Mode>()
            + self.groups.capacity() * size_of::<Cached>()
            + full.sum::<usize>()
    }
}
