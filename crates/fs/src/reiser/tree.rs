//! The tree of formatted nodes: leaves with items, inner nodes with keys and children, and the way between them.

use super::item::{Item, Key, ROOM};
use super::store::Store;
use crate::layout::Core;

/// Index of a node in memory.
pub(super) type Index = u32;

/// What is in a node.
#[derive(Clone, Debug)]
pub(super) enum Contents {
    Leaf {
        items: Vec<Item>,
        /// Bytes of the items.
        used: u32,
    },
    /// One key fewer than children: the lowest key of each child but the first.
    Inner {
        keys: Vec<Key>,
        children: Vec<Index>,
    },
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) block: u64,
    pub(super) parent: Option<Index>,
    pub(super) contents: Contents,
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Indices of nodes that are not in the tree.
    unused: Vec<Index>,
    pub(super) root: Index,
    /// Nodes divided from the root, until it has a parent.
    pub(super) waiting: Vec<Index>,
    pub(super) store: Store,
}

impl Tree {
    /// Begins with an empty leaf.
    pub(super) fn new(block: u64) -> Self {
        let contents = Contents::Leaf {
            items: Vec::new(),
            used: 0,
        };
        let root = Node {
            block,
            parent: None,
            contents,
        };
        Self {
            nodes: vec![root],
            unused: Vec::new(),
            root: 0,
            waiting: Vec::new(),
            store: Store::default(),
        }
    }

    pub(super) fn node(&self, index: Index) -> &Node {
        &self.nodes[index as usize]
    }

    pub(super) fn node_mut(&mut self, index: Index) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    /// The items of a leaf; none of an inner node.
    pub(super) fn items(&self, leaf: Index) -> &[Item] {
        match &self.node(leaf).contents {
            Contents::Leaf { items, .. } => items,
            Contents::Inner { .. } => &[],
        }
    }

    /// Replaces the items of a leaf.
    pub(super) fn set_items(&mut self, leaf: Index, items: Vec<Item>) {
        let used = items.iter().map(Item::bytes).sum();
        self.node_mut(leaf).contents = Contents::Leaf { items, used };
    }

    /// Changes the items of a leaf. `change` returns the number of bytes by which they grow.
    pub(super) fn edit(&mut self, leaf: Index, change: impl FnOnce(&mut Vec<Item>) -> i64) {
        if let Contents::Leaf { items, used } = &mut self.node_mut(leaf).contents {
            *used = used.saturating_add_signed(change(items) as i32);
        }
    }

    pub(super) fn take_items(&mut self, leaf: Index) -> Vec<Item> {
        match &mut self.node_mut(leaf).contents {
            Contents::Leaf { items, used } => {
                *used = 0;
                std::mem::take(items)
            }
            Contents::Inner { .. } => Vec::new(),
        }
    }

    /// Bytes of the items of a leaf.
    pub(super) fn used(&self, leaf: Index) -> u32 {
        match self.node(leaf).contents {
            Contents::Leaf { used, .. } => used,
            Contents::Inner { .. } => ROOM,
        }
    }

    /// Bytes that are free in a leaf; none if it does not exist.
    pub(super) fn room(&self, leaf: Option<Index>) -> u32 {
        leaf.map_or(0, |leaf| ROOM.saturating_sub(self.used(leaf)))
    }

    pub(super) fn children(&self, node: Index) -> &[Index] {
        match &self.node(node).contents {
            Contents::Inner { children, .. } => children,
            Contents::Leaf { .. } => &[],
        }
    }

    /// Adds a node that has no parent yet.
    pub(super) fn add(&mut self, block: u64, contents: Contents) -> Index {
        let node = Node {
            block,
            parent: None,
            contents,
        };
        match self.unused.pop() {
            Some(index) => {
                *self.node_mut(index) = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as Index - 1
            }
        }
    }

    /// Frees a node that no other one points to.
    pub(super) fn drop(&mut self, core: &mut Core, index: Index) {
        let block = self.node(index).block;
        self.store.free(core, block);
        self.node_mut(index).contents = Contents::Leaf {
            items: Vec::new(),
            used: 0,
        };
        self.unused.push(index);
    }

    /// Notes that a node was changed.
    pub(super) fn changed(&self, core: &mut Core, index: Index) {
        core.changed.push(self.node(index).block);
    }

    /// Notes that the length of a node was changed, which its parent knows.
    pub(super) fn resized(&self, core: &mut Core, index: Index) {
        self.changed(core, index);
        if let Some(parent) = self.node(index).parent {
            self.changed(core, parent);
        }
    }

    /// The leaf in which a key is or would be.
    pub(super) fn leaf(&self, key: Key) -> Index {
        let mut at = self.root;
        while let Contents::Inner { keys, children } = &self.node(at).contents {
            at = children[keys.partition_point(|&bound| bound <= key)];
        }
        at
    }

    /// The blocks of the nodes from the root to the leaf of a key.
    pub(super) fn way(&self, key: Key) -> Vec<u64> {
        let mut at = Some(self.leaf(key));
        let mut blocks = Vec::new();
        while let Some(index) = at {
            blocks.push(self.node(index).block);
            at = self.node(index).parent;
        }
        blocks.reverse();
        blocks
    }

    /// The index of a node among the children of its parent.
    pub(super) fn order(&self, index: Index) -> Option<(Index, usize)> {
        let parent = self.node(index).parent?;
        let order = self.children(parent).iter().position(|&of| of == index)?;
        Some((parent, order))
    }

    /// The left and the right neighbour of a node on its level.
    pub(super) fn neighbours(&self, index: Index) -> (Option<Index>, Option<Index>) {
        let Some((parent, order)) = self.order(index) else {
            return (None, None);
        };
        let siblings = self.children(parent);
        let (left, right) = (order.checked_sub(1), siblings.get(order + 1));
        let left = left.map(|left| siblings[left]);
        if left.is_some() && right.is_some() {
            return (left, right.copied());
        }
        let (before, behind) = self.neighbours(parent);
        let last = || self.children(before?).last().copied();
        let first = || self.children(behind?).first().copied();
        (left.or_else(last), right.copied().or_else(first))
    }

    /// The lowest key below a node.
    pub(super) fn first_key(&self, index: Index) -> Option<Key> {
        let mut at = index;
        while let Some(&first) = self.children(at).first() {
            at = first;
        }
        self.items(at).first().map(|item| item.key)
    }

    /// Corrects the key that leads to a node, in the ancestor that has it.
    pub(super) fn correct_key(&mut self, core: &mut Core, index: Index) {
        let Some(key) = self.first_key(index) else {
            return;
        };
        let mut at = index;
        while let Some((parent, order)) = self.order(at) {
            if order == 0 {
                at = parent;
                continue;
            }
            if let Contents::Inner { keys, .. } = &mut self.node_mut(parent).contents
                && keys[order - 1] != key
            {
                keys[order - 1] = key;
                self.changed(core, parent);
            }
            return;
        }
    }

    /// All blocks of nodes.
    pub(super) fn blocks(&self) -> Vec<u64> {
        let mut blocks = Vec::new();
        let mut level = vec![self.root];
        while let Some(index) = level.pop() {
            blocks.push(self.node(index).block);
            level.extend(self.children(index));
        }
        blocks
    }
}
