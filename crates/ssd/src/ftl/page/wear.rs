//! Evening out wear: which erased block is taken, and which block lags behind.
//!
//! *Dynamic*: the least worn erased block serves the host and the most worn one what is moved, which is seldom
//! written; with static levelling the least worn one serves both, for what collection moves is seldom cold enough
//! to let a block rest, and the most worn one is for what levelling moves (the two ends of the pool in Chang, "On
//! efficient wear leveling for large-scale flash-memory storage systems", ACM SAC 2007). *Static*: the data of a
//! block whose erase count lags behind that of the most worn erased one by more than a threshold moves there (Chang
//! 2007, cold-data migration with a threshold), and of blocks that collection holds for equal the least worn one is
//! taken. Chang keeps two pools, so that a block that took part is not moved again at once; here what has stayed
//! for long enough is cold. Counts are those of one group: nothing is moved from one group to another. They lie
//! beside the data in flash and survive a power cut; when a block was erased last does too.

use crate::geometry::Geometry;
use crate::spec::Gc;
use std::collections::VecDeque;
use std::ops::Range;

/// Erase counts, where they are used at all: 8 bytes a block.
#[derive(Clone, Debug)]
pub(super) struct Wear {
    /// [`u32::MAX`] for a block that is out of use; empty where wear does not matter.
    counts: Vec<u32>,
    /// The erases of its group, when a block was erased last.
    erased_at: Vec<u32>,
    per_group: u32,
    gap: u32,
    least_worn_first: bool,
    /// Erases of each group so far; wraps.
    clocks: Vec<u32>,
    /// The highest count of each group.
    most: Vec<u32>,
    /// No count of the group is lower than this.
    least: Vec<u32>,
}

impl Wear {
    /// All blocks new.
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

    /// A block was erased.
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

    /// A block is out of use.
    pub(super) fn retire(&mut self, cblock: u32) {
        if let Some(count) = self.counts.get_mut(cblock as usize) {
            *count = u32::MAX;
        }
    }

    /// Takes an erased block, for what is seldom written or for what is not.
    pub(super) fn take(&self, free: &mut VecDeque<u32>, seldom: bool) -> Option<u32> {
        if !self.least_worn_first {
            return free.pop_front();
        }
        if seldom && self.gap == 0 {
            return self.take_most_worn(free);
        }
        let counts = free.iter().map(|&cblock| self.counts[cblock as usize]);
        let (at, _) = counts.enumerate().min_by_key(|&(_, count)| count)?;
        free.remove(at)
    }

    /// Takes the most worn erased block.
    pub(super) fn take_most_worn(&self, free: &mut VecDeque<u32>) -> Option<u32> {
        let (at, _) = self.most_worn(free)?;
        free.remove(at)
    }

    /// The most worn of the erased blocks, the first of equals: where it is among them, and its erases.
    fn most_worn(&self, free: &VecDeque<u32>) -> Option<(usize, u32)> {
        let counts = free.iter().map(|&cblock| self.counts[cblock as usize]);
        let first = |&(at, count): &(usize, u32)| (count, usize::MAX - at);
        counts.enumerate().max_by_key(first)
    }

    /// How far a block lags behind the most worn of the erased ones, if that is too far.
    pub(super) fn lag(&self, cblock: u32, free: &VecDeque<u32>) -> Option<u32> {
        if self.gap == 0 {
            return None;
        }
        let lag = self
            .most_worn(free)?
            .1
            .checked_sub(self.counts[cblock as usize])?;
        Some(lag).filter(|&lag| lag > self.gap)
    }

    /// The sealed block of a group that lags furthest behind, too far, and holds cold data; `is_full` is `None` for one
    /// that is not sealed. A full one lags behind the most worn of the erased ones, which would take what it holds; one
    /// that holds little is emptied anywhere and lags behind any block of the group. O(blocks), only where one may lag.
    ///
    /// Cold is what has stayed while the group had as many erases as it has blocks: written evenly, each of them had
    /// one. So a block that was just emptied for wear is not the next one, though it is still the least worn: what it
    /// holds now is written often. One that lags twice as far as it may must have stayed half as long, and so on, for
    /// what is written as often as the rest keeps a block behind for ever.
    pub(super) fn lagging(
        &mut self,
        group: u32,
        free: &VecDeque<u32>,
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

    /// The least worn of some blocks of a group that are equally good to collect; none where wear is not levelled. To
    /// take the first of them would wear one block more than all others, and levelling would not end that: it raises
    /// the others alike. O(blocks).
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
        let all = || VecDeque::from([2, 3, 0, 1]);
        let levelled = Wear {
            gap: 8,
            ..wear(true)
        };
        assert_eq!(levelled.take(&mut all(), true), Some(3));
        assert_eq!(levelled.take_most_worn(&mut all()), Some(0));
        // Of equals the one that was erased first.
        let taken = [false, true].map(|seldom| wear(true).take(&mut all(), seldom));
        assert_eq!(taken, [Some(3), Some(0)]);
        let taken = [false, true].map(|seldom| wear(false).take(&mut all(), seldom));
        assert_eq!(taken, [Some(2); 2]);
        assert_eq!(wear(true).take(&mut VecDeque::new(), false), None);
    }
}
