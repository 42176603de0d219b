//! The map of a page-mapped drive: where each unit is; kept so that the processor waits for little of it.
//!
//! The map of a large drive fits into no cache, and a look-up costs a walk through tables of address translations on
//! top. Beside it there is a bit for each unit that is somewhere, a 32nd of the map, and a bit for every 64 of these
//! that are all set, which fit into a cache: what was written all over is known to be somewhere without waiting. A
//! first write need not know what the map said: it is put off, and several are entered together, so that the
//! processor waits for all of their places in memory at once.
//!
//! Only for drives whose addresses name the group ([`crate::ftl::striping`]); elsewhere it is a table and nothing else,
//! since every read needs the place itself.
//!
//! Measured with `crates/model/examples/performance.rs` on `epo` (161 GiB), with a plain table and with this: random writes
//! to a new drive 2.5 and 3.5 million a second, random reads 2.6 and 10.6 million (the bits are what
//! [`super::shortcut`] asks).

use prefetch_index::prefetch_index;
use std::ops::Range;

/// In the map and in `owner_of`, which hold what they name plus one, so that empty tables are zero pages.
pub(super) const NOTHING: u32 = 0;
/// First writes that are entered together.
const TOGETHER: usize = 16;
/// Units whose bits share a word.
const WORD: usize = 64;

/// Where each unit is, plus one, or [`NOTHING`].
#[derive(Clone, Debug)]
pub(super) struct Map {
    place_of: Vec<u32>,
    bits: Option<Bits>,
    /// First writes that `place_of` does not hold yet: units and, plus one, their places.
    late: [(u32, u32); TOGETHER],
    late_count: usize,
}

/// Which units are somewhere.
#[derive(Clone, Debug)]
struct Bits {
    mapped: Vec<u64>,
    /// A bit for each word of `mapped` that has no zero.
    full: Vec<u64>,
    /// How many are set.
    count: usize,
}

impl Map {
    /// A map of so many units that are all nowhere.
    pub(super) fn new(units: usize, with_bits: bool) -> Self {
        Self {
            place_of: vec![NOTHING; units],
            bits: with_bits.then(|| Bits::new(units)),
            late: [(0, NOTHING); TOGETHER],
            late_count: 0,
        }
    }

    /// Units that it has an entry for.
    pub(super) fn len(&self) -> usize {
        self.place_of.len()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.place_of.fill(NOTHING);
        self.late_count = 0;
        if let Some(bits) = &mut self.bits {
            *bits = Bits::new(self.place_of.len());
        }
    }

    /// Has the memory fetched that writing a unit will touch, if it has to be waited for.
    #[inline]
    pub(super) fn fetch(&self, lpn: usize) {
        let Some(bits) = &self.bits else {
            return prefetch_index(&self.place_of, lpn);
        };
        if !bits.is_full(lpn) {
            prefetch_index(&bits.mapped, lpn / WORD);
        }
        // What is probably a first write need not know the place.
        if bits.count > self.place_of.len() / 2 {
            prefetch_index(&self.place_of, lpn);
        }
    }

    /// Whether a unit is somewhere; `None` where only its place tells.
    #[inline]
    pub(super) fn holds(&self, lpn: usize) -> Option<bool> {
        self.bits.as_ref().map(|bits| bits.is_set(lpn))
    }

    /// The place of a unit plus one, or [`NOTHING`].
    #[inline]
    pub(super) fn get(&self, lpn: u32) -> u32 {
        match self.late() {
            [] => self.place_of[lpn as usize],
            late => match late.iter().find(|entry| entry.0 == lpn) {
                Some(entry) => entry.1,
                None => self.place_of[lpn as usize],
            },
        }
    }

    /// Enters the place of a unit, plus one; gives what was there.
    #[inline]
    pub(super) fn replace(&mut self, lpn: u32, place: u32) -> u32 {
        if self.bits.as_mut().is_some_and(|bits| bits.set(lpn)) {
            if self.late_count == TOGETHER {
                self.settle();
            }
            self.late[self.late_count] = (lpn, place);
            self.late_count += 1;
            return NOTHING;
        }
        if self.late_count > 0
            && let Some(entry) = self.late_entry(lpn)
        {
            return std::mem::replace(entry, place);
        }
        std::mem::replace(&mut self.place_of[lpn as usize], place)
    }

    /// The entries of units that were nowhere and now are somewhere, to be written: places plus one.
    pub(super) fn fill(&mut self, from: u32, units: u32) -> &mut [u32] {
        self.settle();
        if let Some(bits) = &mut self.bits {
            bits.set_all(from as usize..(from + units) as usize);
        }
        &mut self.place_of[from as usize..][..units as usize]
    }

    /// Takes a unit out; gives where it was, plus one.
    pub(super) fn remove(&mut self, lpn: u32) -> u32 {
        self.settle();
        if let Some(bits) = &mut self.bits {
            bits.unset(lpn);
        }
        std::mem::replace(&mut self.place_of[lpn as usize], NOTHING)
    }

    /// The whole table, with all that was put off.
    #[inline]
    pub(super) fn table(&mut self) -> &mut [u32] {
        self.settle();
        &mut self.place_of
    }

    pub(super) fn state_bytes(&self) -> usize {
        let words = |bits: &Bits| bits.mapped.capacity() + bits.full.capacity();
        self.place_of.capacity() * 4 + self.bits.as_ref().map_or(0, words) * 8
    }

    #[inline]
    fn late(&self) -> &[(u32, u32)] {
        self.late.get(..self.late_count).unwrap_or_default()
    }

    #[inline]
    fn late_entry(&mut self, lpn: u32) -> Option<&mut u32> {
        let late = self.late.get_mut(..self.late_count)?;
        let entry = late.iter_mut().find(|entry| entry.0 == lpn)?;
        Some(&mut entry.1)
    }

    /// Enters what was put off.
    #[inline]
    fn settle(&mut self) {
        if self.late_count > 0 {
            self.settle_late();
        }
    }

    fn settle_late(&mut self) {
        for &(lpn, _) in self.late() {
            prefetch_index(&self.place_of, lpn as usize);
        }
        let late = self.late;
        for &(lpn, place) in late.get(..self.late_count).unwrap_or_default() {
            self.place_of[lpn as usize] = place;
        }
        self.late_count = 0;
    }
}

impl Bits {
    fn new(units: usize) -> Self {
        let words = units.div_ceil(WORD);
        Self {
            mapped: vec![0; words],
            full: vec![0; words.div_ceil(WORD)],
            count: 0,
        }
    }

    #[inline]
    fn is_full(&self, lpn: usize) -> bool {
        let word = lpn / WORD;
        self.full[word / WORD] >> (word % WORD) & 1 == 1
    }

    #[inline]
    fn is_set(&self, lpn: usize) -> bool {
        self.is_full(lpn) || self.mapped[lpn / WORD] >> (lpn % WORD) & 1 == 1
    }

    /// Whether the bit was not set before.
    #[inline]
    fn set(&mut self, lpn: u32) -> bool {
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

    /// Sets bits that were not set before.
    fn set_all(&mut self, range: Range<usize>) {
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

    fn unset(&mut self, lpn: u32) {
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

    /// A map with bits beside a table, through writes, overwrites and trims of few units and of many.
    #[test]
    fn a_map_that_puts_first_writes_off_says_what_a_table_says() {
        for units in [3u64, 40, 1_000, 20_000] {
            let (mut map, mut table) = (
                Map::new(units as usize, true),
                vec![NOTHING; units as usize],
            );
            let mut rng = Rng::new(units, 0);
            for step in 1..40_000u32 {
                let lpn = rng.below(units) as u32;
                let before = table[lpn as usize];
                match rng.below(64) {
                    0 => {
                        assert_eq!(map.remove(lpn), before);
                        table[lpn as usize] = NOTHING;
                    }
                    1 => assert_eq!(map.table(), table),
                    _ => {
                        assert_eq!(map.replace(lpn, step), before, "step {step}");
                        table[lpn as usize] = step;
                    }
                }
                let other = rng.below(units) as u32;
                assert_eq!(map.get(other), table[other as usize], "step {step}");
                let there = table[other as usize] != NOTHING;
                assert_eq!(map.holds(other as usize), Some(there), "step {step}");
            }
            let bits = map.bits.unwrap();
            assert_eq!(
                bits.count,
                table.iter().filter(|&&at| at != NOTHING).count()
            );
        }
    }

    #[test]
    fn what_is_filled_at_once_is_what_is_entered_one_by_one() {
        let mut rng = Rng::new(3, 0);
        for _ in 0..200 {
            let (mut map, mut other) = (Map::new(1_000, true), Map::new(1_000, true));
            let from = rng.below(1_000) as u32;
            let units = rng.below(1_001 - u64::from(from)) as u32;
            (0..)
                .zip(map.fill(from, units))
                .for_each(|(i, at)| *at = i + 1);
            for i in 0..units {
                assert_eq!(other.replace(from + i, i + 1), NOTHING);
            }
            assert_eq!(map.table(), other.table());
            let (map, other) = (map.bits.unwrap(), other.bits.unwrap());
            assert_eq!(
                (map.mapped, map.full, map.count),
                (other.mapped, other.full, other.count)
            );
        }
    }

    #[test]
    fn a_word_that_was_trimmed_is_not_full() {
        let mut map = Map::new(130, true);
        for lpn in 0..130 {
            map.replace(lpn, lpn + 1);
        }
        let full = |map: &Map, lpn| map.bits.as_ref().unwrap().is_full(lpn);
        assert_eq!(
            [0, 64, 128].map(|lpn| full(&map, lpn)),
            [true, true, false],
            "the last word has no 64 units"
        );
        assert_eq!(map.remove(70), 71);
        assert!(!full(&map, 64) && map.holds(70) == Some(false) && map.holds(71) == Some(true));
        map.replace(70, 7);
        assert!(full(&map, 64));
    }
}
