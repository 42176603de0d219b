//! Inner nodes of the tree: children that are added and removed, and the balance of their numbers.
//!
//! As for leaves, a full node first shifts children to its neighbours, so that it and the neighbour have equally many, and
//! is divided only if both are full. A node with less than half is joined with a neighbour or takes children from it.

use super::item::{Key, ROOM};
use super::tree::{Contents, Index, Tree};
use crate::error::FsError;
use crate::layout::Core;

/// Bytes of a key with its child.
const PAIR: u32 = 24;
/// Most children of a node: one more than its keys.
const MOST: usize = ((ROOM - 8) / PAIR) as usize + 1;
/// Fewest children of a node that is not the root.
const LEAST: usize = (MOST - 1) / 2 + 1;

impl Tree {
    /// Adds a node behind another one with the same parent, if that has one.
    pub(super) fn insert_behind(&mut self, before: Index, new: Index) {
        let (Some((parent, order)), Some(key)) = (self.order(before), self.first_key(new)) else {
            // The root is divided: its other parts are added when the new root is made.
            self.node_mut(new).parent = None;
            self.waiting.push(new);
            return;
        };
        self.node_mut(new).parent = Some(parent);
        if let Contents::Inner { keys, children } = &mut self.node_mut(parent).contents {
            keys.insert(order, key);
            children.insert(order + 1, new);
        }
    }

    /// Takes a node out of its parent, which it returns.
    pub(super) fn cut_out(&mut self, core: &mut Core, index: Index) -> Option<Index> {
        let (parent, order) = self.order(index)?;
        self.changed(core, parent);
        if let Contents::Inner { keys, children } = &mut self.node_mut(parent).contents {
            children.remove(order);
            if !keys.is_empty() {
                keys.remove(order.saturating_sub(1));
            }
        }
        if order == 0 {
            self.correct_key(core, parent);
        }
        Some(parent)
    }

    fn free_places(&self, node: Option<Index>) -> usize {
        node.map_or(0, |node| MOST - self.children(node).len().min(MOST))
    }

    /// Balances the nodes above a node beside which others were added.
    ///
    /// # Errors
    /// No block is free.
    pub(super) fn widened(
        &mut self,
        core: &mut Core,
        below: Index,
        packing: u32,
    ) -> Result<(), FsError> {
        if !self.waiting.is_empty() {
            return self.new_root(core, packing);
        }
        let Some(node) = self.node(below).parent else {
            return Ok(());
        };
        self.resized(core, node);
        let (left, right) = self.neighbours(node);
        let count = self.children(node).len();
        let (to_left, to_right) = (self.free_places(left), self.free_places(right));
        if to_left + to_right >= count && (left.is_some() || right.is_some()) {
            self.dissolve(core, node);
            return Ok(());
        }
        if count <= MOST {
            return Ok(());
        }
        let over = count - MOST;
        match (left, right) {
            (Some(left), _) if to_left >= over => self.even(core, left, node),
            (_, Some(right)) if to_right >= over => self.even(core, node, right),
            (Some(left), Some(right)) if to_left + to_right >= over => {
                self.shift(core, left, node, to_left);
                self.shift_back(core, node, right, over - to_left);
            }
            _ => return self.split(core, node, packing),
        }
        Ok(())
    }

    /// Moves the upper half of a node into a new one.
    fn split(&mut self, core: &mut Core, node: Index, packing: u32) -> Result<(), FsError> {
        let near = self.node(node).block;
        let block = self.store.take(core, packing, near)?;
        let new = self.add(
            block,
            Contents::Inner {
                keys: Vec::new(),
                children: Vec::new(),
            },
        );
        let count = self.children(node).len();
        let moved = self.take_children(node, count - count / 2..count);
        self.set_children(new, moved);
        self.insert_behind(node, new);
        self.widened(core, node, packing)
    }

    /// Puts a new root above the old one and what was divided from it.
    fn new_root(&mut self, core: &mut Core, packing: u32) -> Result<(), FsError> {
        let near = self.node(self.root).block;
        let block = self.store.take(core, packing, near)?;
        let old = self.root;
        let mut below = vec![old];
        below.append(&mut self.waiting);
        let root = self.add(
            block,
            Contents::Inner {
                keys: Vec::new(),
                children: Vec::new(),
            },
        );
        self.set_children(root, below);
        self.root = root;
        core.changed.push(super::format::SUPER);
        Ok(())
    }

    /// Balances a node that lost a child.
    pub(super) fn thinned(&mut self, core: &mut Core, node: Index) {
        self.resized(core, node);
        let count = self.children(node).len();
        if node == self.root {
            if let [only] = *self.children(node) {
                self.node_mut(only).parent = None;
                self.root = only;
                self.drop(core, node);
                core.changed.push(super::format::SUPER);
            }
            return;
        }
        let (left, right) = self.neighbours(node);
        let (to_left, to_right) = (self.free_places(left), self.free_places(right));
        let joins = count <= LEAST && (to_left >= count || to_right >= count);
        if joins || to_left + to_right >= count {
            self.dissolve(core, node);
        } else if count < LEAST {
            match (left, right) {
                (Some(left), _) => self.even(core, left, node),
                (None, Some(right)) => self.even(core, node, right),
                (None, None) => {}
            }
        }
    }

    /// Divides the children of a node between its neighbours, all to one if they fit there.
    fn dissolve(&mut self, core: &mut Core, node: Index) {
        let (left, right) = self.neighbours(node);
        let count = self.children(node).len();
        let (to_left, to_right) = (self.free_places(left), self.free_places(right));
        let first = match (left, right) {
            (Some(_), _) if to_left >= count => count,
            (_, Some(_)) if to_right >= count => 0,
            // Both neighbours then have equally many.
            _ => {
                let all = 2 * MOST - to_left - to_right + count;
                (all / 2).saturating_sub(MOST - to_left).min(to_left)
            }
        };
        if let Some(left) = left.filter(|_| first > 0) {
            self.shift(core, left, node, first);
        }
        if let Some(right) = right.filter(|_| first < count) {
            self.shift_back(core, node, right, count - first);
        }
        let parent = self.cut_out(core, node);
        self.drop(core, node);
        if let Some(parent) = parent {
            self.thinned(core, parent);
        }
    }

    /// Divides the children of two neighbours equally.
    fn even(&mut self, core: &mut Core, left: Index, right: Index) {
        let (first, second) = (self.children(left).len(), self.children(right).len());
        let half = (first + second).div_ceil(2);
        match half > first {
            true => self.shift(core, left, right, half - first),
            false => self.shift_back(core, left, right, first - half),
        }
    }

    /// Moves the first children of the right node to its left neighbour.
    fn shift(&mut self, core: &mut Core, left: Index, right: Index, count: usize) {
        let moved = self.take_children(right, 0..count);
        let all = [self.children(left).to_vec(), moved].concat();
        self.set_children(left, all);
        self.resized(core, left);
        self.resized(core, right);
        self.correct_key(core, right);
    }

    /// Moves the last children of the left node to its right neighbour.
    fn shift_back(&mut self, core: &mut Core, left: Index, right: Index, count: usize) {
        let all = self.children(left).len();
        let moved = self.take_children(left, all - count..all);
        let all = [moved, self.children(right).to_vec()].concat();
        self.set_children(right, all);
        self.resized(core, left);
        self.resized(core, right);
        self.correct_key(core, right);
    }

    fn take_children(&mut self, node: Index, range: std::ops::Range<usize>) -> Vec<Index> {
        let mut all = self.children(node).to_vec();
        let moved = all.drain(range).collect();
        self.set_children(node, all);
        moved
    }

    fn set_children(&mut self, node: Index, children: Vec<Index>) {
        let keys = children
            .iter()
            .skip(1)
            .filter_map(|&child| self.first_key(child));
        let keys: Vec<Key> = keys.collect();
        for &child in &children {
            self.node_mut(child).parent = Some(node);
        }
        self.node_mut(node).contents = Contents::Inner { keys, children };
    }
}
