//! Keeping the leaves full: what an insertion or a deletion of items changes.
//!
//! An insertion shifts items to the neighbours before it adds leaves; a deletion joins a leaf with its neighbours. After
//! `fs/reiserfs/{fix_node,do_balan}.c` of Linux 6.1.

use super::item::Item;
use super::plan::{Overfull, Plan, append, divide};
use super::tree::{Contents, Index, Tree};
use crate::error::FsError;
use crate::layout::Core;

/// Most blocks that an insertion needs: two leaves, and a node on each level above them.
pub(super) const MOST_NEW: u64 = 8;

impl Tree {
    fn overfull(&self, leaf: Index) -> Overfull<'_> {
        let (left, right) = self.neighbours(leaf);
        let first = right.and_then(|right| self.items(right).first());
        Overfull {
            items: self.items(leaf),
            used: self.used(leaf),
            left: self.room(left),
            right: self.room(right),
            continued: first.is_some_and(Item::continues),
        }
    }

    /// Balances a leaf that has become longer. New nodes are of this packing locality.
    ///
    /// # Errors
    /// No block is free.
    pub(super) fn grown(
        &mut self,
        core: &mut Core,
        leaf: Index,
        packing: u32,
    ) -> Result<(), FsError> {
        self.resized(core, leaf);
        match self.overfull(leaf).inserted() {
            Plan::Stay => Ok(()),
            Plan::Remove(cut) => {
                let parts = divide(self.take_items(leaf), &[cut]);
                self.share(core, leaf, parts);
                self.remove_leaves(core, &[leaf]);
                Ok(())
            }
            Plan::Divide(cuts) => {
                let near = self.node(leaf).block;
                // The blocks come first: nothing is changed if there is none.
                let new = (3..=cuts.len()).map(|_| self.store.take(core, packing, near));
                let new: Vec<u64> = new.collect::<Result<_, _>>()?;
                let mut parts = divide(self.take_items(leaf), &cuts);
                let middle = parts.drain(1..parts.len() - 1).collect();
                self.share(core, leaf, parts);
                self.spread(core, leaf, middle, new);
                self.widened(core, leaf, packing)
            }
        }
    }

    /// Gives a first part to the left neighbour of a leaf and a second one to the right neighbour.
    fn share(&mut self, core: &mut Core, leaf: Index, parts: Vec<Vec<Item>>) {
        let (left, right) = self.neighbours(leaf);
        for (part, (beside, behind)) in parts.into_iter().zip([(left, false), (right, true)]) {
            let Some(beside) = beside.filter(|_| !part.is_empty()) else {
                continue;
            };
            let items = self.take_items(beside);
            let (mut first, second) = match behind {
                false => (items, part),
                true => (part, items),
            };
            append(&mut first, second);
            self.set_items(beside, first);
            self.resized(core, beside);
            if behind {
                self.correct_key(core, beside);
            }
        }
    }

    /// Gives a leaf the first of some parts, and new leaves behind it the others.
    fn spread(&mut self, core: &mut Core, leaf: Index, parts: Vec<Vec<Item>>, blocks: Vec<u64>) {
        let mut parts = parts.into_iter();
        self.set_items(leaf, parts.next().unwrap_or_default());
        self.correct_key(core, leaf);
        let mut before = leaf;
        for (items, block) in parts.zip(blocks) {
            let contents = Contents::Leaf {
                items: Vec::new(),
                used: 0,
            };
            let new = self.add(block, contents);
            self.set_items(new, items);
            self.insert_behind(before, new);
            before = new;
        }
    }

    /// Balances a leaf that has become shorter.
    pub(super) fn shrunk(&mut self, core: &mut Core, leaf: Index) {
        self.resized(core, leaf);
        if leaf == self.root {
            return;
        }
        let overfull = self.overfull(leaf);
        let (one, left, right) = (
            overfull.fits_one(),
            overfull.fits_left(),
            overfull.fits_right(),
        );
        let removable = overfull.removable();
        let sides = self.neighbours(leaf);
        match sides {
            (Some(_), Some(beside)) if one => {
                let mut items = self.take_items(leaf);
                append(&mut items, self.take_items(beside));
                self.share(core, leaf, vec![items, Vec::new()]);
                self.remove_leaves(core, &[beside, leaf]);
            }
            (Some(_), _) if left => {
                let items = self.take_items(leaf);
                self.share(core, leaf, vec![items, Vec::new()]);
                self.remove_leaves(core, &[leaf]);
            }
            (_, Some(_)) if right => {
                let items = self.take_items(leaf);
                self.share(core, leaf, vec![Vec::new(), items]);
                self.remove_leaves(core, &[leaf]);
            }
            (Some(_), Some(_)) => {
                if let Some(cut) = removable {
                    let parts = divide(self.take_items(leaf), &[cut]);
                    self.share(core, leaf, parts);
                    self.remove_leaves(core, &[leaf]);
                } else {
                    self.correct_key(core, leaf);
                }
            }
            _ => self.correct_key(core, leaf),
        }
    }

    /// Removes empty leaves. All are out of the tree before nodes above them are balanced, which needs the first key of
    /// each child.
    fn remove_leaves(&mut self, core: &mut Core, leaves: &[Index]) {
        let mut parents = Vec::new();
        for &leaf in leaves {
            parents.extend(self.cut_out(core, leaf));
            self.drop(core, leaf);
        }
        parents.dedup();
        for parent in parents {
            self.thinned(core, parent);
        }
    }
}
