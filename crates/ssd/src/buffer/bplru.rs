//! Block padding LRU (Kim and Ahn, "BPLRU: a buffer management scheme for improving random writes in flash
//! storage", FAST 2008).
//!
//! - *Block-level LRU*: a write to any page makes its whole block the newest. The oldest block is evicted.
//! - *Page padding*: the other pages of an evicted block are read, and the block is written whole and in order. A drive
//!   with log blocks can then do a switch merge instead of a full merge.
//! - *LRU compensation*: a block that was written once in order, from its first page to its last, is not expected to be
//!   rewritten. It becomes the oldest.
//!
//! A write that does not continue the sequence breaks it, until the block leaves.

use super::groups::Groups;
use super::policy::{How, Leaving, Policy, Shape};
use fathom_base::About;
use fathom_base::{Links, List};
use rustc_hash::FxHashMap;

pub(super) const ABOUT: About = About::new("evicts the block written longest ago, padded to a whole block").text(
    "\
The block that was written least recently is evicted whole. Its pages that are not in the buffer are read first and
written with it, so that log blocks can be switched instead of merged (page padding). A block that was written in
order from its first page to its last is evicted next (LRU compensation). Source: Kim and Ahn, FAST 2008. With
striping or page mapping, neighbouring pages do not share a block, and padding only adds writes (epo IV.B). It
assumes that every page of a block can be read, and does not use elements.",
);

/// Value of `next` for a block that is not written in order.
const BROKEN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Block {
    number: u32,
    /// The page of the block that would continue the sequence.
    next: u32,
}

/// Blocks in order of age.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    block_pages: u32,
    blocks: Groups<Block>,
    order: Links,
    age: List,
    by_number: FxHashMap<u32, u32>,
}

impl Order {
    /// Makes the block the newest, or the oldest if this page completes it in order.
    #[inline]
    fn renew(&mut self, block: u32, page: u32) {
        let (at, about) = (page % self.block_pages, self.blocks.about_mut(block));
        about.next = if about.next == at { at + 1 } else { BROKEN };
        if about.next == self.block_pages {
            self.order.detach(&mut self.age, block);
            self.order.prepend(&mut self.age, block);
        } else {
            self.order.renew(&mut self.age, block);
        }
    }
}

impl Policy for Order {
    fn new(shape: &Shape) -> Self {
        Self {
            block_pages: shape.block_pages,
            blocks: Groups::default(),
            order: Links::default(),
            age: List::default(),
            by_number: FxHashMap::default(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, page: u32, _: u64) {
        let number = page / self.block_pages;
        let block = match self.by_number.get(&number) {
            Some(&block) => block,
            None => {
                let block = self.blocks.open(Block { number, next: 0 });
                self.order.append(&mut self.age, block);
                self.by_number.insert(number, block);
                block
            }
        };
        self.blocks.join(block, slot);
        self.renew(block, page);
    }

    #[inline]
    fn touch(&mut self, slot: u32, page: u32, _: u64) {
        self.renew(self.blocks.of(slot), page);
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        let (block, left) = self.blocks.leave(slot);
        if left == 0 {
            self.order.detach(&mut self.age, block);
            self.by_number.remove(&self.blocks.about(block).number);
            self.blocks.close(block);
        }
    }

    fn choose(&mut self, leaving: &mut Leaving) {
        if !self.age.is_empty() {
            let block = self.age.oldest;
            leaving.slots.extend(self.blocks.members(block));
            let first = self.blocks.about(block).number * self.block_pages;
            leaving.how = How::Padded { first };
        }
    }
}
