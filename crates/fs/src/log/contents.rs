//! What is in the blocks of a section: runs of pages and nodes as they were written, and which blocks are still valid.
//!
//! A log fills a section in order, so a run of pages takes one entry however long it is.

use crate::block::FileId;

/// What is in a valid block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Page(FileId, u32),
    Node(u32),
}

impl Owner {
    /// What is `blocks` behind the first block of a run.
    fn behind(self, blocks: u32) -> Self {
        match self {
            Self::Page(file, page) => Self::Page(file, page + blocks),
            Self::Node(node) => Self::Node(node),
        }
    }
}

/// What is in a section. Takes memory for each run, and a bit for each block.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// The first block of each run within the section, and what is in it, in order.
    runs: Vec<(u32, Owner)>,
    valid: Vec<u64>,
}

impl Contents {
    /// Notes what is in `count` blocks that were appended at `at`, one page behind the other.
    pub(super) fn append(&mut self, at: u32, count: u32, owner: Owner) {
        let goes_on = self.runs.last().is_some_and(|&(first, of)| {
            matches!(owner, Owner::Page(..)) && of.behind(at - first) == owner
        });
        if !goes_on {
            self.runs.push((at, owner));
        }
        for block in at..at + count {
            let word = (block / 64) as usize;
            if self.valid.len() <= word {
                self.valid.resize(word + 1, 0);
            }
            self.valid[word] |= 1 << (block % 64);
        }
    }

    /// Notes that blocks are no longer valid.
    pub(super) fn outdate(&mut self, at: u32, count: u32) {
        for block in at..at + count {
            if let Some(word) = self.valid.get_mut((block / 64) as usize) {
                *word &= !(1 << (block % 64));
            }
        }
    }

    /// What is in a block; `None` if it is not valid.
    pub(super) fn get(&self, at: u32) -> Option<Owner> {
        let word = self.valid.get((at / 64) as usize)?;
        let run = self.runs.partition_point(|&(first, _)| first <= at);
        let &(first, owner) = self.runs.get(run.checked_sub(1)?)?;
        (word >> (at % 64) & 1 == 1).then(|| owner.behind(at - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_in_order_take_one_entry_and_each_block_has_its_own() {
        let (file, other) = (FileId(7), FileId(8));
        let mut contents = Contents::default();
        contents.append(0, 70, Owner::Page(file, 100));
        contents.append(70, 2, Owner::Page(file, 170));
        contents.append(72, 1, Owner::Page(other, 0));
        contents.append(73, 1, Owner::Node(5));
        contents.append(74, 1, Owner::Node(5));
        assert_eq!(contents.runs.len(), 4);
        assert_eq!(contents.get(71), Some(Owner::Page(file, 171)));
        assert_eq!(contents.get(72), Some(Owner::Page(other, 0)));
        assert_eq!(contents.get(74), Some(Owner::Node(5)));
        assert_eq!(contents.get(75), None);
        contents.outdate(64, 8);
        let valid: Vec<u32> = (0..80).filter(|&at| contents.get(at).is_some()).collect();
        assert_eq!(
            valid,
            [(0..64).collect::<Vec<_>>(), vec![72, 73, 74]].concat()
        );
    }
}
