//! Large Block CLOCK (Debnath, Subramanya, Du and Lilja, "Large Block CLOCK (LB-CLOCK): a write caching algorithm
//! for solid state disks", MASCOTS 2009).
//!
//! Blocks are on a clock. If room is needed and there is no candidate, the hand makes one full round and marks every
//! block as a candidate. The candidate with the most pages in the buffer is evicted whole, and so are further
//! candidates as room is needed. A write to a block makes it recent: it is no candidate until the next round of the
//! hand.
//!
//! The paper publishes the two measures, recency and number of pages, and that their priority depends on the workload.
//! Two decisions were made here. The hand makes a full round at a time, so that a block is either recent or a candidate
//! and needs no further bit. Among equal candidates, the first one that the hand met is evicted. Each step of the hand
//! is paid for by the write that made the block recent, so that the cost of a page is constant.

use super::groups::Groups;
use super::policy::{How, Leaving, Policy, Shape};
use fathom_base::About;
use fathom_base::{Links, List};
use rustc_hash::FxHashMap;

pub(super) const ABOUT: About = About::new("evicts the fullest of the blocks that were not written lately").text(
    "\
Blocks are on a clock. Among those that were not written since the last round of the hand, the one with the most
pages in the buffer is evicted, whole and without padding. Source: Debnath, Subramanya, Du and Lilja, MASCOTS 2009,
from its published outline. Two choices are Fathom's: the hand goes a full round at a time, and of equals it evicts
the first. It has no rule for sequential writes, and does not use elements.",
);

#[derive(Clone, Copy, Debug)]
struct Block {
    number: u32,
    candidate: bool,
}

/// Blocks on a clock, and candidates grouped by their number of pages.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    block_pages: u32,
    blocks: Groups<Block>,
    ring: Links,
    /// Blocks in order of arrival. The hand moves from the oldest to the newest.
    clock: List,
    sized: Links,
    /// Entry `n - 1` is the list of candidates with `n` pages.
    candidates: Vec<List>,
    /// Upper bound of the number of pages of any candidate.
    most: u32,
    by_number: FxHashMap<u32, u32>,
}

impl Order {
    /// Returns the list of candidates with `pages` pages.
    #[inline]
    fn like(&mut self, pages: u32) -> &mut List {
        &mut self.candidates[pages as usize - 1]
    }

    fn nominate(&mut self, block: u32) {
        let pages = self.blocks.count(block);
        self.blocks.about_mut(block).candidate = true;
        self.most = self.most.max(pages);
        let list = &mut self.candidates[pages as usize - 1];
        self.sized.append(list, block);
    }

    /// Records a write to the block: it is no longer a candidate.
    #[inline]
    fn mark(&mut self, block: u32, pages_before: u32) {
        if self.blocks.about(block).candidate {
            let mut list = *self.like(pages_before);
            self.sized.detach(&mut list, block);
            *self.like(pages_before) = list;
        }
        self.blocks.about_mut(block).candidate = false;
    }

    /// Moves the hand once round, because there was no candidate: every block becomes one.
    fn go_round(&mut self) {
        let mut block = self.clock.oldest;
        while block != fathom_base::links::NONE {
            self.nominate(block);
            block = self.ring.newer(block);
        }
    }

    /// Returns the candidate with the most pages.
    fn largest(&mut self) -> Option<u32> {
        while self.most > 0 {
            let list = *self.like(self.most);
            if !list.is_empty() {
                return Some(list.oldest);
            }
            self.most -= 1;
        }
        None
    }
}

impl Policy for Order {
    fn new(shape: &Shape) -> Self {
        Self {
            block_pages: shape.block_pages,
            blocks: Groups::default(),
            ring: Links::default(),
            clock: List::default(),
            sized: Links::default(),
            candidates: vec![List::default(); shape.block_pages as usize],
            most: 0,
            by_number: FxHashMap::default(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, page: u32, _: u64) {
        let number = page / self.block_pages;
        let block = match self.by_number.get(&number) {
            Some(&block) => block,
            None => {
                let candidate = false;
                let block = self.blocks.open(Block { number, candidate });
                self.ring.append(&mut self.clock, block);
                self.by_number.insert(number, block);
                block
            }
        };
        let before = self.blocks.count(block);
        self.blocks.join(block, slot);
        self.mark(block, before);
    }

    #[inline]
    fn touch(&mut self, slot: u32, _: u32, _: u64) {
        let block = self.blocks.of(slot);
        self.mark(block, self.blocks.count(block));
    }

    fn remove(&mut self, slot: u32) {
        let (block, left) = self.blocks.leave(slot);
        let about = self.blocks.about(block);
        if about.candidate {
            let mut list = *self.like(left + 1);
            self.sized.detach(&mut list, block);
            *self.like(left + 1) = list;
        }
        if left == 0 {
            self.ring.detach(&mut self.clock, block);
            self.by_number.remove(&about.number);
            self.blocks.close(block);
        } else if about.candidate {
            self.nominate(block);
        }
    }

    fn choose(&mut self, leaving: &mut Leaving) {
        leaving.how = How::Runs;
        let largest = self.largest().or_else(|| {
            self.go_round();
            self.largest()
        });
        if let Some(block) = largest {
            leaving.slots.extend(self.blocks.members(block));
        }
    }
}
