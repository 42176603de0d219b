//! Failures, bad blocks and wear.
//!
//! The block of a failed program goes out of use after its next erase; a block whose erase failed does so at once. Not
//! modelled: bit errors that a read retry does not correct.

use crate::geometry::Geometry;
use crate::spec::Faults;
use fathom_base::Rng;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(super) struct Health {
    faults: Faults,
    /// Present if programs or erases can fail.
    rng: Option<Rng>,
    /// Blocks with a failed program: they go out of use after the next erase.
    doomed: BTreeSet<u32>,
    /// Blocks out of use, and the number of those that were bad from the start.
    pub(super) bad: BTreeSet<u32>,
    bad_at_first: usize,
    /// True once no spare block is left: the drive is read-only.
    pub(super) worn_out: bool,
    /// Number of erases of every clustered block.
    pub(super) wear: Vec<u32>,
    pub(super) program_fails: u64,
    pub(super) erase_fails: u64,
}

impl Health {
    /// Creates the health of a new drive; `bad` are the blocks that are bad from the start.
    pub(super) fn new(faults: &Faults, g: &Geometry, bad: &[u32], rng: Option<Rng>) -> Self {
        Self {
            faults: faults.clone(),
            rng,
            doomed: BTreeSet::new(),
            bad_at_first: bad.len(),
            bad: bad.iter().copied().collect(),
            worn_out: false,
            wear: vec![0; g.cblocks() as usize],
            program_fails: 0,
            erase_fails: 0,
        }
    }

    /// Returns true if programs or erases can fail.
    #[inline]
    pub(super) fn may_fail(&self) -> bool {
        self.rng.is_some()
    }

    /// Returns true if blocks went bad after the drive was made.
    pub(super) fn has_lost_blocks(&self) -> bool {
        self.bad.len() > self.bad_at_first
    }

    /// Returns the number of blocks that were bad from the start.
    pub(super) fn bad_at_first(&self) -> usize {
        self.bad_at_first
    }

    /// Draws whether a program has failed.
    pub(super) fn draw_program(&mut self) -> bool {
        let rng = self.rng.as_mut();
        rng.is_some_and(|rng| rng.chance(self.faults.program_fail))
    }

    /// Records the failure of a program into a block.
    pub(super) fn doom(&mut self, cblock: u32) {
        self.program_fails += 1;
        self.doomed.insert(cblock);
    }

    /// Records an erase. Returns true if the erase failed or the block must not be used again.
    pub(super) fn erase(&mut self, cblock: u32) -> bool {
        if let Some(rng) = &mut self.rng {
            let failed = rng.chance(self.faults.erase_fail);
            self.erase_fails += u64::from(failed);
            if self.doomed.remove(&cblock) || failed {
                self.bad.insert(cblock);
                return true;
            }
        }
        self.wear[cblock as usize] += 1;
        false
    }
}

/// Draws the blocks that are bad from the start; none without a generator.
pub(super) fn draw_bad(g: &Geometry, rng: Option<Rng>) -> Vec<u32> {
    let mut bad = Vec::new();
    let Some(mut rng) = rng else {
        return bad;
    };
    for group in 0..g.groups {
        let first = group * g.cblocks_per_group;
        let wanted = bad.len() + g.bad_cblocks_per_group as usize;
        while bad.len() < wanted {
            let cblock = first + rng.below(u64::from(g.cblocks_per_group)) as u32;
            if !bad.contains(&cblock) {
                bad.push(cblock);
            }
        }
    }
    bad
}
