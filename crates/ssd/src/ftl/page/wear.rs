//! Evening out wear: which erased block is taken, and which block lags behind.
//!
//! *Dynamic*: the least worn erased block serves the host and the most worn one what is moved, which is seldom
//! written (the two ends of the pool in Chang, "On efficient wear leveling for large-scale flash-memory storage
//! systems", ACM SAC 2007). *Static*: a block whose erase count lags behind the most worn one's by more than a
//! threshold is emptied, whatever it holds (Chang 2007, cold-data migration with a threshold), and of blocks that
//! collection holds for equal the least worn one is taken. Counts are those of one group: nothing is moved from one
//! group to another. They lie beside the data in flash and survive a power cut.

use crate::geometry::Geometry;
use crate::spec::Gc;
use std::collections::VecDeque;

/// Erase counts, where they are used at all: 4 bytes a block.
#[derive(Clone, Debug)]
pub(super) struct Wear {
    /// [`u32::MAX`] for a block that is out of use; empty where wear does not matter.
    counts: Vec<u32>,
    per_group: u32,
    gap: u32,
    least_worn_first: bool,
    /// The highest count of each group.
    most: Vec<u32>,
    /// No count of the group is lower than this.
    least: Vec<u32>,
}

impl Wear {
    /// All blocks new.
    pub(super) fn new(gc: &Gc, g: &Geometry) -> Self {
        let used = gc.wear_gap > 0 || gc.least_worn_first;
        Self {
            counts: vec![0; if used { g.cblocks() as usize } else { 0 }],
            per_group: g.cblocks_per_group,
            gap: gc.wear_gap,
            least_worn_first: gc.least_worn_first,
            most: vec![0; g.groups as usize],
            least: vec![0; g.groups as usize],
        }
    }

    /// A block was erased.
    pub(super) fn erased(&mut self, cblock: u32, group: u32) {
        if let Some(count) = self.counts.get_mut(cblock as usize) {
            *count += 1;
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
        let by_wear = free.iter().map(|&cblock| self.counts[cblock as usize]);
        let wanted = if seldom { by_wear.max() } else { by_wear.min() };
        let at = |&cblock: &u32| Some(self.counts[cblock as usize]) == wanted;
        free.remove(free.iter().position(at)?)
    }

    /// The least worn sealed block of a group, if it lags behind too far. O(blocks), only where one may.
    pub(super) fn lagging(&mut self, group: u32, is_sealed: impl Fn(u32) -> bool) -> Option<u32> {
        let (most, least) = (self.most[group as usize], &mut self.least[group as usize]);
        if self.gap == 0 || most - *least <= self.gap {
            return None;
        }
        let first = group * self.per_group;
        let counts = &self.counts[first as usize..][..self.per_group as usize];
        *least = counts.iter().copied().min()?.min(most);
        let lags = |&(cblock, &count): &(u32, &u32)| {
            count < most && most - count > self.gap && is_sealed(cblock)
        };
        let behind = (first..).zip(counts).filter(lags);
        behind
            .min_by_key(|&(_, &count)| count)
            .map(|(cblock, _)| cblock)
    }

    /// The least worn of some blocks of a group that are equally good to collect; none where wear is not levelled. To
    /// take the first of them would wear one block more than all others, and levelling would not end that: it raises
    /// the others alike. O(blocks).
    pub(super) fn least_of(&self, group: u32, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        if self.gap == 0 {
            return None;
        }
        let first = group * self.per_group;
        let equals = (first..first + self.per_group).filter(|&cblock| is_equal(cblock));
        equals.min_by_key(|&cblock| self.counts[cblock as usize])
    }

    pub(super) fn state_bytes(&self) -> usize {
        (self.counts.capacity() + self.most.capacity() + self.least.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_worn_block_serves_the_host_and_the_most_worn_one_what_is_moved() {
        let wear = |least_worn_first| Wear {
            counts: vec![3, 1, 2, 1],
            per_group: 4,
            gap: 0,
            least_worn_first,
            most: vec![3],
            least: vec![0],
        };
        let all = || VecDeque::from([2, 3, 0, 1]);
        // Of equals the one that was erased first.
        let taken = [false, true].map(|seldom| wear(true).take(&mut all(), seldom));
        assert_eq!(taken, [Some(3), Some(0)]);
        let taken = [false, true].map(|seldom| wear(false).take(&mut all(), seldom));
        assert_eq!(taken, [Some(2); 2]);
        assert_eq!(wear(true).take(&mut VecDeque::new(), false), None);
    }
}
