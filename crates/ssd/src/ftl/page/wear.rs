//! Wear levelling: which erased block is taken, and which block lags behind.
//!
//! *Dynamic*: the host gets the least worn erased block, and copies, which are seldom written again, get the most
//! worn one. With static levelling both get the least worn one, because data that collection moves is seldom cold
//! enough to let a block rest; the most worn one is then for data that levelling moves (the two ends of the pool in
//! Chang, "On efficient wear leveling for large-scale flash-memory storage systems", ACM SAC 2007).
//!
//! *Static*: if the erase count of a block lags behind that of the most worn erased block by more than a threshold,
//! its data moves there (Chang 2007, cold-data migration with a threshold). Among blocks that collection ranks
//! equal, the least worn one is taken. Chang keeps two pools, so that a block that took part is not moved again at
//! once; here data is cold if it has stayed long enough.
//!
//! Counts are compared within one group, because nothing is moved from one group to another. Erase counts are
//! stored beside the data in flash and survive a power cut, as does the time of the last erase of a block.

use super::erased::ErasedBlocks;
use crate::geometry::Geometry;
use crate::spec::Gc;
use std::ops::Range;

/// Erase counts, if they are used: 8 bytes per block.
#[derive(Clone, Debug)]
pub(super) struct Wear {
    /// Erases of each block, or [`u32::MAX`] for a retired block. Empty if wear does not matter.
    counts: Vec<u32>,
    /// For each block, the number of erases of its group at its last erase.
    erased_at: Vec<u32>,
    per_group: u32,
    gap: u32,
    least_worn_first: bool,
    /// Number of erases in each group so far; wraps.
    clocks: Vec<u32>,
    /// Highest erase count in each group.
    most: Vec<u32>,
    /// Lower bound on the erase counts in each group.
    least: Vec<u32>,
}

impl Wear {
    /// Counters for new blocks: all 0.
    pub(super) fn new(gc: &Gc, g: &Geometry) -> Self {
        let used = gc.wear_gap > 0 || gc.least_worn_first;
        let blocks = if used { g.cblocks() as usize } else { 0 };
        Self {
            counts: vec![0; blocks],
            erased_at: vec![0; blocks],
            per_group: g.cblocks_per_group,
            gap: gc.wear_gap,
            least_worn_first: gc.least_worn_first,
            clocks: vec![0; g.groups as usize],
            most: vec![0; g.groups as usize],
            least: vec![0; g.groups as usize],
        }
    }

    /// Returns true if no block was erased or retired.
    pub(super) fn is_new(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Counts an erase of a block.
    pub(super) fn erased(&mut self, cblock: u32, group: u32) {
        if let Some(count) = self.counts.get_mut(cblock as usize) {
            *count += 1;
            let clock = &mut self.clocks[group as usize];
            *clock = clock.wrapping_add(1);
            self.erased_at[cblock as usize] = *clock;
            let most = &mut self.most[group as usize];
            *most = (*most).max(*count);
        }
    }

    /// Takes a block out of use.
    pub(super) fn retire(&mut self, cblock: u32) {
        if let Some(count) = self.counts.get_mut(cblock as usize) {
            *count = u32::MAX;
        }
    }

    /// Takes an erased block. `seldom` says that the data for it is seldom written.
    pub(super) fn take(&self, free: &mut ErasedBlocks, seldom: bool) -> Option<u32> {
        if !self.least_worn_first {
            return free.pop();
        }
        if seldom && self.gap == 0 {
            return self.take_most_worn(free);
        }
        let counts = free.iter().map(|cblock| self.counts[cblock as usize]);
        let (at, _) = counts.enumerate().min_by_key(|&(_, count)| count)?;
        free.remove(at)
    }

    /// Takes the most worn erased block.
    pub(super) fn take_most_worn(&self, free: &mut ErasedBlocks) -> Option<u32> {
        let (at, _) = self.most_worn(free)?;
        free.remove(at)
    }

    /// Returns the most worn erased block, the first one among equals: its index in `free` and its erase count.
    fn most_worn(&self, free: &ErasedBlocks) -> Option<(usize, u32)> {
        let counts = free.iter().map(|cblock| self.counts[cblock as usize]);
        let first = |&(at, count): &(usize, u32)| (count, usize::MAX - at);
        counts.enumerate().max_by_key(first)
    }

    /// Returns how far a block lags behind the most worn erased one, in erases, if that exceeds the threshold.
    pub(super) fn lag(&self, cblock: u32, free: &ErasedBlocks) -> Option<u32> {
        if self.gap == 0 {
            return None;
        }
        let lag = self
            .most_worn(free)?
            .1
            .checked_sub(self.counts[cblock as usize])?;
        Some(lag).filter(|&lag| lag > self.gap)
    }

    /// Returns the sealed block of a group that has the fewest erases, lags behind by more than the threshold, and
    /// holds cold data. O(blocks), but only when a block may lag.
    ///
    /// `is_full` returns `None` for a block that is not sealed. A full block is compared with the most worn erased
    /// block, which would take its data. A block that holds little is emptied into any open block, so it is
    /// compared with the most worn block of the group.
    ///
    /// Data is cold if it has stayed in its block while the group had as many erases as it has blocks: with even
    /// wear, each block would have had one. So a block that was just emptied for wear levelling is not chosen again
    /// at once, although it is still the least worn: its new data is written often. The required stay is inversely
    /// proportional to the lag: at twice the threshold it is half as long. Otherwise data that is written as often
    /// as the rest would keep a block behind for ever.
    pub(super) fn lagging(
        &mut self,
        group: u32,
        free: &ErasedBlocks,
        is_full: impl Fn(u32) -> Option<bool>,
    ) -> Option<u32> {
        let most = self.most[group as usize];
        if self.gap == 0 || most - self.least[group as usize] <= self.gap {
            return None;
        }
        let (blocks, clock) = (self.blocks_of(group), self.clocks[group as usize]);
        let target = self.most_worn(free).map_or(0, |(_, count)| count);
        let count = |&cblock: &u32| self.counts[cblock as usize];
        self.least[group as usize] = blocks.clone().map(|b| count(&b)).min()?.min(most);
        let stayed = |cblock: u32| clock.wrapping_sub(self.erased_at[cblock as usize]);
        let enough = u64::from(self.per_group) * u64::from(self.gap);
        let lags = |cblock: &u32| {
            let behind = match is_full(*cblock) {
                Some(true) => target,
                Some(false) => most,
                None => return false,
            };
            let lag = behind.saturating_sub(count(cblock));
            lag > self.gap && u64::from(stayed(*cblock)) * u64::from(lag) > enough
        };
        blocks.filter(lags).min_by_key(count)
    }

    fn blocks_of(&self, group: u32) -> Range<u32> {
        let first = group * self.per_group;
        first..first + self.per_group
    }

    /// Returns the least worn of the blocks of a group that are equally good to collect; `None` without static wear
    /// levelling. Always taking the first of them would wear one block more than all others, and levelling would
    /// not correct it, because it raises the others alike. O(blocks).
    pub(super) fn least_of(&self, group: u32, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        if self.gap == 0 {
            return None;
        }
        let equals = self.blocks_of(group).filter(|&cblock| is_equal(cblock));
        equals.min_by_key(|&cblock| self.counts[cblock as usize])
    }

    pub(super) fn state_bytes(&self) -> usize {
        let blocks = self.counts.capacity() + self.erased_at.capacity();
        let groups = self.clocks.capacity() + self.most.capacity() + self.least.capacity();
        (blocks + groups) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_worn_block_serves_the_host_and_the_most_worn_one_what_is_moved() {
        let wear = |least_worn_first| Wear {
            counts: vec![3, 1, 2, 1],
            erased_at: vec![0; 4],
            per_group: 4,
            gap: 0,
            least_worn_first,
            clocks: vec![7],
            most: vec![3],
            least: vec![0],
        };
        let none = || ErasedBlocks::new(0..0);
        let all = || {
            let mut all = none();
            [2, 3, 0, 1].into_iter().for_each(|cblock| all.push(cblock));
            all
        };
        let levelled = Wear {
            gap: 8,
            ..wear(true)
        };
        assert_eq!(levelled.take(&mut all(), true), Some(3));
        assert_eq!(levelled.take_most_worn(&mut all()), Some(0));
        // Among equals it takes the one that was erased first.
        let taken = [false, true].map(|seldom| wear(true).take(&mut all(), seldom));
        assert_eq!(taken, [Some(3), Some(0)]);
        let taken = [false, true].map(|seldom| wear(false).take(&mut all(), seldom));
        assert_eq!(taken, [Some(2); 2]);
        assert_eq!(wear(true).take(&mut none(), false), None);
    }
}
