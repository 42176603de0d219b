//! Which units of a map are mapped, in two bit sets that fit into a processor's cache.

use std::ops::Range;

/// Number of units whose bits share a word.
pub(super) const WORD: usize = 64;

/// The set of mapped units.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    pub(super) mapped: Vec<u64>,
    /// One bit for each word of `mapped` in which all bits are set.
    pub(super) full: Vec<u64>,
    /// Number of mapped units.
    pub(super) count: usize,
}

impl Bits {
    pub(super) fn new(units: usize) -> Self {
        let words = units.div_ceil(WORD);
        Self {
            mapped: vec![0; words],
            full: vec![0; words.div_ceil(WORD)],
            count: 0,
        }
    }

    #[inline]
    pub(super) fn is_full(&self, lpn: usize) -> bool {
        let word = lpn / WORD;
        self.full[word / WORD] >> (word % WORD) & 1 == 1
    }

    #[inline]
    pub(super) fn is_set(&self, lpn: usize) -> bool {
        self.is_full(lpn) || self.mapped[lpn / WORD] >> (lpn % WORD) & 1 == 1
    }

    /// Sets a bit. Returns true if it was not set before.
    #[inline]
    pub(super) fn set(&mut self, lpn: u32) -> bool {
        let lpn = lpn as usize;
        if self.is_set(lpn) {
            return false;
        }
        let word = lpn / WORD;
        self.mapped[word] |= 1 << (lpn % WORD);
        self.count += 1;
        if self.mapped[word] == u64::MAX {
            self.full[word / WORD] |= 1 << (word % WORD);
        }
        true
    }

    /// Sets bits, none of which may be set already.
    pub(super) fn set_all(&mut self, range: Range<usize>) {
        self.count += range.len();
        for word in range.start / WORD..range.end.div_ceil(WORD) {
            let (first, end) = (word * WORD, (word + 1) * WORD);
            let below = |bit: usize| u64::MAX.checked_shr((WORD - bit) as u32).unwrap_or(0);
            let until = below(range.end.min(end) - first);
            self.mapped[word] |= until & !below(range.start.max(first) - first);
            if self.mapped[word] == u64::MAX {
                self.full[word / WORD] |= 1 << (word % WORD);
            }
        }
    }

    pub(super) fn unset(&mut self, lpn: u32) {
        let (lpn, bit) = (lpn as usize, 1 << (lpn as usize % WORD));
        let word = lpn / WORD;
        self.count -= usize::from(self.mapped[word] & bit != 0);
        self.mapped[word] &= !bit;
        self.full[word / WORD] &= !(1 << (word % WORD));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn bits_that_are_set_at_once_are_those_that_are_set_one_by_one() {
        let mut rng = Rng::new(3, 0);
        for _ in 0..200 {
            let (mut at_once, mut one_by_one) = (Bits::new(1_000), Bits::new(1_000));
            let from = rng.below(1_000) as usize;
            let end = from + rng.below(1_001 - from as u64) as usize;
            at_once.set_all(from..end);
            assert!((from..end).all(|unit| one_by_one.set(unit as u32)));
            assert_eq!(
                (at_once.mapped, at_once.full, at_once.count),
                (one_by_one.mapped, one_by_one.full, one_by_one.count)
            );
        }
    }
}
