//! What a process that verifies has written and not checked yet.

use super::content::Block;
use std::collections::BTreeMap;

/// The last write of every place, as far as no later one has gone over a part of it: what was overwritten in part is
/// not checked, as in fio. Takes memory for every block.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The seed of the content.
    seed: u64,
    /// Writes so far, those that were checked included.
    generation: u64,
    /// By offset; they do not overlap.
    blocks: BTreeMap<u64, Block>,
}

impl Written {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            generation: 0,
            blocks: BTreeMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// What the next write holds; it counts as written.
    pub(super) fn next(&mut self, offset: u64, len: u64) -> Block {
        self.generation += 1;
        let block = Block {
            offset,
            len,
            generation: self.generation,
            seed: self.seed,
        };
        self.push(block);
        block
    }

    fn push(&mut self, block: Block) {
        let end = block.offset + block.len;
        while let Some((&offset, last)) = self.blocks.range(..end).next_back() {
            if last.offset + last.len <= block.offset {
                break;
            }
            self.blocks.remove(&offset);
        }
        self.blocks.insert(block.offset, block);
    }

    pub(super) fn at(&self, offset: u64) -> Option<&Block> {
        self.blocks.get(&offset)
    }

    /// Their offsets in the order in which they were written.
    pub(super) fn order(&self) -> Vec<u64> {
        let mut blocks: Vec<&Block> = self.blocks.values().collect();
        blocks.sort_unstable_by_key(|block| block.generation);
        blocks.iter().map(|block| block.offset).collect()
    }
}
