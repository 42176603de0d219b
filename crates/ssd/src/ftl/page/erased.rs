//! The erased blocks of a group, in the order in which they are used.
//!
//! Blocks that were never used come first, in order of their numbers. They are a range and not a list: the list of a new `epo` was
//! 770 pages of memory. Together with counts that begin as zero pages ([`crate::ftl::victim`]) 100,000 writes touch 1,979 pages
//! in the place of 3,139 (`crates/model/examples/performance.rs`, `epo fresh`).

use std::collections::VecDeque;
use std::ops::Range;

/// Erased blocks, the next one to be used first.
#[derive(Clone, Debug)]
pub(super) struct ErasedBlocks {
    /// Those that were never used.
    new: Range<u32>,
    /// Those that come after them.
    again: VecDeque<u32>,
}

impl ErasedBlocks {
    /// Blocks that were never used.
    pub(super) fn new(blocks: Range<u32>) -> Self {
        Self {
            new: blocks,
            again: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.new.len() + self.again.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.again.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.new.clone().chain(self.again.iter().copied())
    }

    /// Takes the next block.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.new.next().or_else(|| self.again.pop_front())
    }

    /// Adds a block that was erased, behind all others.
    pub(super) fn push(&mut self, cblock: u32) {
        self.again.push_back(cblock);
    }

    /// Takes the block with an index. Linear in the number of blocks, except for the first.
    pub(super) fn remove(&mut self, index: usize) -> Option<u32> {
        if index == 0 {
            return self.pop();
        }
        self.list();
        self.again.remove(index)
    }

    /// Keeps only some blocks.
    pub(super) fn retain(&mut self, keeps: impl Fn(u32) -> bool) {
        self.list();
        self.again.retain(|&cblock| keeps(cblock));
    }

    /// Turns the range into the head of the list.
    fn list(&mut self) {
        while let Some(last) = self.new.next_back() {
            self.again.push_front(last);
        }
    }

    /// Size of the list in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.again.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    /// As a plain list does.
    #[test]
    fn the_order_is_that_of_a_list() {
        let mut rng = Rng::new(5, 0);
        for _ in 0..200 {
            let mut plain: VecDeque<u32> = (40..40 + rng.below(9) as u32).collect();
            let end = 40 + plain.len() as u32;
            let mut erased = ErasedBlocks::new(40..end);
            for step in 0..30 {
                let at = rng.below(plain.len() as u64 + 1) as usize;
                match rng.below(8) {
                    0..3 => assert_eq!(erased.pop(), plain.pop_front()),
                    3..6 => {
                        erased.push(step);
                        plain.push_back(step);
                    }
                    6 => assert_eq!(erased.remove(at), plain.remove(at)),
                    _ => {
                        erased.retain(|cblock| cblock % 7 != step % 7);
                        plain.retain(|cblock| cblock % 7 != step % 7);
                    }
                }
                assert!(erased.iter().eq(plain.iter().copied()));
                let counted = (erased.len(), erased.is_empty());
                assert_eq!(counted, (plain.len(), plain.is_empty()));
            }
        }
    }
}
