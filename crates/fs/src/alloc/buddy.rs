//! Free buddies of a group, derived from its bitmap: a buddy of order n is a run of 2^n free blocks that begins at a
//! multiple of its length, and is not part of a larger one.

/// The largest order that is kept track of: 2^13 blocks (`MB_NUM_ORDERS` of ext4 for 4-KiB blocks is one more).
pub(super) const MOST: u32 = 13;
/// The order of a word of the bitmap.
const WORD: u32 = 6;

/// What the allocator knows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Number of free runs.
    pub(super) fragments: u32,
    /// The order of the largest free buddy; `None` if nothing is free.
    pub(super) largest: Option<u32>,
}

/// The words of which all blocks are free, as bits.
type Upper = [u64; 8];

fn upper(words: &[u64]) -> Upper {
    let mut upper = Upper::default();
    for (index, &word) in words.iter().enumerate() {
        upper[index / 64] |= u64::from(word == u64::MAX) << (index % 64);
    }
    upper
}

/// The beginnings of all free runs of 2^order blocks at multiples of their length in a word, `order` at most 5.
fn aligned(word: u64, order: u32) -> u64 {
    const STARTS: [u64; 5] = [
        0x5555_5555_5555_5555,
        0x1111_1111_1111_1111,
        0x0101_0101_0101_0101,
        0x0001_0001_0001_0001,
        0x0000_0001_0000_0001,
    ];
    let mut free = word;
    for step in 0..order {
        free &= free >> (1 << step);
        free &= STARTS[step as usize];
    }
    free
}

/// Of the runs of an order those that are no part of a free run of the next order.
fn maximal(word: u64, order: u32) -> u64 {
    let parents = match order + 1 {
        WORD => u64::from(word == u64::MAX),
        next => aligned(word, next),
    };
    aligned(word, order) & !(parents | parents << (1 << order))
}

/// Surveys a group.
pub(super) fn survey(words: &[u64]) -> Group {
    let (mut fragments, mut before) = (0, 0);
    let mut union = [0_u64; WORD as usize];
    for &word in words {
        fragments += (word & !(word << 1 | before)).count_ones();
        before = word >> 63;
        if word != 0 && word != u64::MAX {
            union[0] |= word;
            if word & (word >> 1) != 0 {
                for order in 1..WORD {
                    union[order as usize] |= aligned(word, order);
                }
            }
        }
    }
    let upper = upper(words);
    let largest = (0..=MOST - WORD)
        .rev()
        .find(|&order| first_upper(&upper, order, false).is_some())
        .map(|order| order + WORD)
        .or_else(|| (0..WORD).rev().find(|&order| union[order as usize] != 0));
    Group { fragments, largest }
}

/// The first run of 2^order full words, aligned; only those that are no part of a larger one if `exact`.
fn first_upper(upper: &Upper, order: u32, exact: bool) -> Option<u64> {
    let free = |order: u32, index: u64| {
        let step = 1_u64 << order;
        let start = index & !(step - 1);
        let full = |word: u64| upper[(word / 64) as usize] >> (word % 64) & 1 == 1;
        start + step <= 512 && (start..start + step).all(full)
    };
    if order == 7 {
        let pairs = upper.chunks(2).position(|pair| pair == [u64::MAX; 2]);
        return pairs.map(|index| index as u64 * 128);
    }
    let mut index = 0;
    for &word in upper {
        let mut starts = match order {
            WORD => u64::from(word == u64::MAX),
            _ => aligned(word, order),
        };
        while starts != 0 {
            let at = index + u64::from(starts.trailing_zeros());
            if !exact || !free(order + 1, at) {
                return Some(at);
            }
            starts &= starts - 1;
        }
        index += 64;
    }
    None
}

/// The first free buddy of exactly this order, as a block of the group.
pub(super) fn first(words: &[u64], order: u32) -> Option<u64> {
    if order >= WORD {
        // Buddies of the largest order are never part of a larger one.
        let exact = order < MOST;
        return first_upper(&upper(words), order - WORD, exact).map(|word| word * 64);
    }
    words.iter().zip(0_u64..).find_map(|(&word, index)| {
        let starts = if word == 0 { 0 } else { maximal(word, order) };
        (starts != 0).then(|| index * 64 + u64::from(starts.trailing_zeros()))
    })
}

/// The order of the free buddy that contains a free block.
pub(super) fn order_at(words: &[u64], block: u64) -> u32 {
    let free = |order: u32| {
        let step = 1_u64 << order;
        let start = block & !(step - 1);
        if order < WORD {
            let mask = (u64::MAX >> (64 - step)) << (start % 64);
            return words[(start / 64) as usize] & mask == mask;
        }
        let mut all = words[(start / 64) as usize..][..(step / 64) as usize].iter();
        all.all(|&word| word == u64::MAX)
    };
    (0..=MOST)
        .take_while(|&order| free(order))
        .last()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Extent, GROUP_BLOCKS};
    use crate::space::Space;

    #[test]
    fn buddies_are_aligned_and_maximal() {
        let mut space = Space::new(GROUP_BLOCKS);
        assert_eq!(survey(space.words(0)).largest, Some(13));
        assert_eq!(first(space.words(0), 13), Some(0));
        assert_eq!(first(space.words(0), 9), None);
        space.take(Extent::new(0, GROUP_BLOCKS));
        assert_eq!(survey(space.words(0)), Group::default());
        // 3..128: buddies at 3 (1), 4 (4), 8 (8), 16 (16), 32 (32), 64 (64).
        space.release(Extent::new(3, 125));
        let words = space.words(0);
        assert_eq!(
            survey(words),
            Group {
                fragments: 1,
                largest: Some(6)
            }
        );
        let firsts: Vec<_> = (0..8).map(|order| first(words, order)).collect();
        let at = |block| Some(block);
        assert_eq!(
            firsts,
            [at(3), None, at(4), at(8), at(16), at(32), at(64), None]
        );
        assert_eq!((order_at(words, 7), order_at(words, 100)), (2, 6));
        space.release(Extent::new(512, 1024));
        let words = space.words(0);
        assert_eq!(
            survey(words),
            Group {
                fragments: 2,
                largest: Some(9)
            }
        );
        assert_eq!(first(words, 9), Some(512));
        space.release(Extent::new(8192, 8192));
        space.release(Extent::new(16384, 4096));
        let words = space.words(0);
        assert_eq!(
            (first(words, 13), first(words, 12)),
            (Some(8192), Some(16384))
        );
    }
}
