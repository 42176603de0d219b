//! Nodes of ReiserFS's tree apart from data: Greedy-Space for data, and ReiserFS's own place for nodes.
//!
//! A node is rewritten by nearly every sync. If new nodes come from the open logical block, as all new blocks do in
//! Greedy-Space, then in time every logical block has some, and a sync that changes few of them still rewrites many logical
//! blocks. `greedy-space` does not say where its ReiserFS puts nodes.

use super::{Allocator, GreedySpace, Reiser, Want, What};
use crate::block::{Extent, FileId};
use crate::space::Space;

/// Greedy-Space for data only.
#[derive(Clone, Debug)]
pub struct GreedyData {
    data: GreedySpace,
    nodes: Reiser,
}

impl GreedyData {
    /// Takes account of the free blocks; see [`GreedySpace::new`].
    pub fn new(space: &Space, blocks: u64, offset: u64) -> Self {
        Self {
            data: GreedySpace::new(space, blocks, offset),
            nodes: Reiser::default(),
        }
    }
}

impl Allocator for GreedyData {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        if want.what != What::Node {
            return self.data.allocate(space, want);
        }
        let taken = self.nodes.allocate(space, want)?;
        self.data.taken(taken);
        Some(taken)
    }

    fn released(&mut self, space: &Space, extent: Extent) {
        self.data.released(space, extent);
    }

    fn closed(&mut self, space: &mut Space, file: FileId) {
        self.nodes.closed(space, file);
    }

    fn memory_bytes(&self) -> u64 {
        self.data.memory_bytes() + self.nodes.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_goes_to_its_home_and_data_to_the_emptiest_logical_block() {
        let want = |what, home| Want {
            file: FileId(2),
            what,
            page: 0,
            blocks: 1,
            size: 1,
            open: false,
            home,
            after: None,
            extents: false,
            inode: 0,
            parent: FileId(1),
            processor: 0,
        };
        // Four logical blocks of 8, of which the last is the emptiest after a node took a block of each other.
        let mut space = Space::new(32);
        let mut greedy = GreedyData::new(&space, 8, 0);
        let mut take = |wanted| greedy.allocate(&mut space, &wanted).unwrap().start;
        assert_eq!(
            [3, 11, 19].map(|home| take(want(What::Node, home))),
            [3, 11, 19]
        );
        let data: Vec<u64> = (0..16).map(|_| take(want(What::Data, 0))).collect();
        // The first was open from the beginning and has seven blocks left.
        assert_eq!(data[..7], [0, 1, 2, 4, 5, 6, 7]);
        assert_eq!(data[7..15], [24, 25, 26, 27, 28, 29, 30, 31]);
        assert_eq!(data[15], 8);
    }
}
