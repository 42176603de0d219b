//! The places that a thread reads: seeded, uniform, whole blocks.

use fathom_base::Rng;

/// Stream of the random numbers of the first thread.
const STREAM: u64 = 0x6c6f_6164;
/// Maximum length of what a list reads, in bytes: it is what the page cache has to hold meanwhile.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// A part of a target, in whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the first block.
    pub(super) first: u64,
    /// Number of blocks.
    pub(super) blocks: u64,
    /// Length of a block in bytes.
    pub(super) block_bytes: u64,
}

impl Part {
    /// Returns the whole of an area.
    pub(super) fn whole(bytes: u64, block_bytes: u64) -> Self {
        Self {
            first: 0,
            blocks: bytes / block_bytes,
            block_bytes,
        }
    }

    /// Returns piece `rank` of `pieces` nearly equal ones.
    pub(super) fn piece(self, rank: u64, pieces: u64) -> Self {
        let cut = |rank: u64| {
            let blocks = u128::from(self.blocks) * u128::from(rank) / u128::from(pieces);
            blocks as u64
        };
        Self {
            first: self.first + cut(rank),
            blocks: cut(rank + 1) - cut(rank),
            ..self
        }
    }

    /// Returns the offset of its start in bytes.
    pub(super) fn offset(self) -> u64 {
        self.first * self.block_bytes
    }

    /// Returns its length in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.blocks * self.block_bytes
    }
}

/// Where the next read goes.
pub(super) struct Offsets {
    part: Part,
    rng: Rng,
    /// A list of different places, from which the next one is taken at the end; without it, places are drawn one by one.
    list: Option<Vec<u64>>,
}

impl Offsets {
    /// Draws places of a part for one thread. With `listed` they come from lists, which [`Offsets::refill`] makes.
    pub(super) fn new(part: Part, seed: u64, thread: u64, listed: bool) -> Self {
        Self {
            part,
            rng: Rng::new(seed, STREAM + thread),
            list: listed.then(Vec::new),
        }
    }

    /// Returns the part.
    pub(super) fn part(&self) -> Part {
        self.part
    }

    /// Returns true if places come from lists.
    pub(super) fn listed(&self) -> bool {
        self.list.is_some()
    }

    /// Returns the next offset in bytes; `None` at the end of a list.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u64> {
        match &mut self.list {
            None => {
                Some((self.part.first + self.rng.below(self.part.blocks)) * self.part.block_bytes)
            }
            Some(list) => list.pop(),
        }
    }

    /// Draws a new list of different places in random order.
    pub(super) fn refill(&mut self) {
        let Self { part, rng, list } = self;
        let Some(list) = list else { return };
        let most = (LIST_BYTES_MAX / part.block_bytes).clamp(1, part.blocks.max(1));
        list.clear();
        if most > part.blocks / 2 {
            list.extend(part.first..part.first + part.blocks);
            rng.shuffle(list);
            list.truncate(most as usize);
        } else {
            list.extend((0..most).map(|_| part.first + rng.below(part.blocks)));
            list.sort_unstable();
            list.dedup();
            rng.shuffle(list);
        }
        list.iter_mut().for_each(|block| *block *= part.block_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    prop_compose! {
        fn parts()(first in 0u64..1 << 30, blocks in 1u64..6000, shift in 9u32..20) -> Part {
            Part { first, blocks, block_bytes: 1 << shift }
        }
    }

    proptest! {
        #[test]
        fn offsets_are_whole_blocks_of_their_part(part in parts(), seed: u64, thread in 0u64..64, listed: bool) {
            let mut offsets = Offsets::new(part, seed, thread, listed);
            offsets.refill();
            let drawn: Vec<u64> = std::iter::from_fn(|| offsets.next()).take(1000).collect();
            prop_assert!(!drawn.is_empty());
            for offset in &drawn {
                prop_assert_eq!(offset % part.block_bytes, 0);
                prop_assert!(*offset >= part.offset());
                prop_assert!(offset + part.block_bytes <= part.offset() + part.bytes());
            }
            let distinct: BTreeSet<_> = drawn.iter().collect();
            prop_assert!(!listed || distinct.len() == drawn.len());
        }

        #[test]
        fn pieces_are_the_whole_without_gaps(part in parts(), pieces in 1u64..100) {
            let mut next = part.first;
            for rank in 0..pieces {
                let piece = part.piece(rank, pieces);
                prop_assert_eq!(piece.first, next);
                next += piece.blocks;
            }
            prop_assert_eq!(next, part.first + part.blocks);
        }

        #[test]
        fn a_list_is_long_and_bounded(part in parts()) {
            let mut offsets = Offsets::new(part, 1, 0, true);
            offsets.refill();
            let count = std::iter::from_fn(|| offsets.next()).count() as u64;
            prop_assert!(count * part.block_bytes <= LIST_BYTES_MAX.max(part.block_bytes));
            // Of n draws from at least 2 n places, 0.787 n are different on average; few parts are small enough to stray.
            let most = (LIST_BYTES_MAX / part.block_bytes).clamp(1, part.blocks);
            prop_assert!(count * 2 > most);
        }
    }

    #[test]
    fn seed_and_thread_determine_the_places() {
        let draw = |seed, thread| {
            let mut offsets = Offsets::new(Part::whole(1 << 30, 4096), seed, thread, false);
            (0..8).map_while(|_| offsets.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }
}
