//! A set of numbers below a fixed bound, as one bit each.
//!
//! It does not count its members: a translation layer asks for ranges, and those are counted word by word.

use std::ops::Range;

const WORD: u32 = u64::BITS;

/// A set of numbers below the bound given to [`BitSet::new`].
#[derive(Clone, Debug)]
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub(crate) fn new(bound: u32) -> Self {
        Self {
            words: vec![0; bound.div_ceil(WORD) as usize],
        }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[(number / WORD) as usize] >> (number % WORD) & 1 == 1
    }

    /// Adds a number; returns true if it was absent.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (
            &mut self.words[(number / WORD) as usize],
            1 << (number % WORD),
        );
        let absent = *word & bit == 0;
        *word |= bit;
        absent
    }

    #[inline]
    pub(crate) fn remove(&mut self, number: u32) {
        self.words[(number / WORD) as usize] &= !(1 << (number % WORD));
    }

    /// Removes a range of numbers.
    pub(crate) fn remove_range(&mut self, range: Range<u32>) {
        for (word, mask) in masks(range) {
            self.words[word] &= !mask;
        }
    }

    /// Number of members in a range.
    pub(crate) fn count(&self, range: Range<u32>) -> u32 {
        let counts = masks(range).map(|(word, mask)| (self.words[word] & mask).count_ones());
        counts.sum()
    }

    /// Number of members in a range that `other` does not contain. Both have the same bound.
    pub(crate) fn count_outside(&self, other: &Self, range: Range<u32>) -> u32 {
        let outside = |(word, mask): (usize, u64)| self.words[word] & !other.words[word] & mask;
        masks(range).map(|at| outside(at).count_ones()).sum()
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(at, &word)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let rest = rest.take_while(|&word| word != 0);
            rest.map(move |word| at * WORD + word.trailing_zeros())
        })
    }

    /// Bytes on the heap.
    pub(crate) fn state_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

/// The words that hold a range of bits, each with a mask of those bits.
fn masks(range: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let words = range.start / WORD..range.end.max(range.start).div_ceil(WORD);
    words.map(move |word| {
        let from = range.start.saturating_sub(word * WORD);
        let beyond = (word * WORD + WORD).saturating_sub(range.end);
        let low = u64::MAX.checked_shl(from).unwrap_or(0);
        let high = u64::MAX.checked_shr(beyond).unwrap_or(0);
        (word as usize, low & high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_tree_set(
            numbers in prop::collection::vec(0..300_u32, 0..80),
            others in prop::collection::vec(0..300_u32, 0..80),
            from in 0..300_u32,
            to in 0..=300_u32,
        ) {
            let (mut bits, mut other) = (BitSet::new(300), BitSet::new(300));
            let (mut tree, mut known) = (BTreeSet::new(), BTreeSet::new());
            for &n in &numbers {
                prop_assert_eq!(bits.insert(n), tree.insert(n));
            }
            for &n in &others {
                other.insert(n);
                known.insert(n);
                if n % 3 == 0 {
                    bits.remove(n);
                    tree.remove(&n);
                }
            }
            let inside: Vec<u32> = tree.iter().copied().filter(|n| (from..to).contains(n)).collect();
            let outside = inside.iter().filter(|n| !known.contains(n)).count() as u32;
            prop_assert_eq!(bits.count(from..to), inside.len() as u32);
            prop_assert_eq!(bits.count_outside(&other, from..to), outside);
            bits.remove_range(from..to);
            inside.iter().for_each(|n| { tree.remove(n); });
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), tree.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..300).all(|n| bits.contains(n) == tree.contains(&n)));
        }
    }
}
