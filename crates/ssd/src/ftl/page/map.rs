//! The map of a page-mapped drive: the place of each unit, stored so that the processor rarely waits for memory.
//!
//! The map of a large drive does not fit into any processor cache, and a look-up also costs a page table walk. So
//! there are two bit sets beside it that do fit: one bit for each unit that is mapped (a 32nd of the map), and one
//! bit for every 64 of these that are all set. For an area that was written completely, they tell without waiting
//! that a unit is mapped. A first write need not read the old entry: it is deferred, and several are entered
//! together, so that their memory accesses overlap.
//!
//! This is only for drives whose addresses select the group ([`crate::ftl::striping`]). On other drives every read
//! needs the place itself, so the map is a plain table.
//!
//! Measured with `crates/model/examples/performance.rs` on `epo` (161 GiB), with a plain table and with this:
//! random writes to a new drive 2.5 and 3.5 million per second, random reads 2.6 and 10.6 million
//! ([`super::shortcut`] reads the bits).

use prefetch_index::prefetch_index;
use std::ops::Range;

/// Empty entry of the map and of `owner_of`. Both store numbers plus one, so that empty tables are zero pages.
pub(super) const NOTHING: u32 = 0;
/// Number of first writes that are entered together.
const TOGETHER: usize = 16;
/// Number of units whose bits share a word.
const WORD: usize = 64;

/// The place of each unit plus one, or [`NOTHING`].
#[derive(Clone, Debug)]
pub(super) struct Map {
    place_of: Vec<u32>,
    bits: Option<Bits>,
    /// Deferred first writes, not yet in `place_of`: each is a unit and its place plus one.
    late: [(u32, u32); TOGETHER],
    late_count: usize,
}

/// The set of mapped units.
#[derive(Clone, Debug)]
struct Bits {
    mapped: Vec<u64>,
    /// One bit for each word of `mapped` in which all bits are set.
    full: Vec<u64>,
    /// Number of mapped units.
    count: usize,
}

impl Map {
    /// A map of `units` units, none of them mapped.
    pub(super) fn new(units: usize, with_bits: bool) -> Self {
        Self {
            place_of: vec![NOTHING; units],
            bits: with_bits.then(|| Bits::new(units)),
            late: [(0, NOTHING); TOGETHER],
            late_count: 0,
        }
    }

    /// Number of units in the map, mapped or not.
    pub(super) fn len(&self) -> usize {
        self.place_of.len()
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.place_of.fill(NOTHING);
        self.late_count = 0;
        if let Some(bits) = &mut self.bits {
            *bits = Bits::new(self.place_of.len());
        }
    }

    /// Prefetches the memory that a write of a unit will access, if the processor would have to wait for it.
    #[inline]
    pub(super) fn fetch(&self, lpn: usize) {
        let Some(bits) = &self.bits else {
            return prefetch_index(&self.place_of, lpn);
        };
        if !bits.is_full(lpn) {
            prefetch_index(&bits.mapped, lpn / WORD);
        }
        // A write that is probably a first write does not need the place.
        if bits.count > self.place_of.len() / 2 {
            prefetch_index(&self.place_of, lpn);
        }
    }

    /// Returns true if a unit is mapped; `None` without bits, where only the place tells.
    #[inline]
    pub(super) fn holds(&self, lpn: usize) -> Option<bool> {
        self.bits.as_ref().map(|bits| bits.is_set(lpn))
    }

    /// Returns the place of a unit plus one, or [`NOTHING`].
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

    /// Sets the place of a unit, plus one. Returns the old entry.
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

    /// Returns the entries of `units` unmapped units for the caller to fill with places plus one, and counts the
    /// units as mapped.
    pub(super) fn fill(&mut self, from: u32, units: u32) -> &mut [u32] {
        self.settle();
        if let Some(bits) = &mut self.bits {
            bits.set_all(from as usize..(from + units) as usize);
        }
        &mut self.place_of[from as usize..][..units as usize]
    }

    /// Removes a unit. Returns its old entry: the place plus one, or [`NOTHING`].
    pub(super) fn remove(&mut self, lpn: u32) -> u32 {
        self.settle();
        if let Some(bits) = &mut self.bits {
            bits.unset(lpn);
        }
        std::mem::replace(&mut self.place_of[lpn as usize], NOTHING)
    }

    /// Returns the whole table, after entering the deferred writes.
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

    /// Enters the deferred writes.
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

    /// Sets a bit. Returns true if it was not set before.
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

    /// Sets bits, none of which may be set already.
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

    /// Compares a map with bits to a plain table, through writes, overwrites and trims of few units and of many.
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
