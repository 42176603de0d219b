//! The blocks that a verifying process has written and not yet checked.

use super::content::Block;
use std::collections::BTreeMap;

/// The last write of every place, unless a later write overlapped it. As in fio, a block that was partly overwritten is
/// not checked. Memory grows with the number of blocks.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The seed of the content.
    seed: u64,
    /// Number of writes so far, including those already checked.
    generation: u64,
    /// Blocks by offset; they do not overlap.
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

    /// Returns the content for the next write, and records the write.
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

    /// Returns the offsets of the blocks in the order of their writes.
    pub(super) fn order(&self) -> Vec<u64> {
        let mut blocks: Vec<&Block> = self.blocks.values().collect();
        blocks.sort_unstable_by_key(|block| block.generation);
        blocks.iter().map(|block| block.offset).collect()
    }
}
