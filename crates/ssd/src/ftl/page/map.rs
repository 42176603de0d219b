//! The map of a page-mapped drive: the place of each unit, stored so that the processor rarely waits for memory.
//!
//! The map of a large drive does not fit into any processor cache, and a look-up also costs a page table walk. So
//! there are two bit sets beside it that do fit: one bit for each unit that is mapped (a 32nd of the map), and one
//! bit for every 64 of these that are all set. For an area that was written completely, they tell without waiting
//! that a unit is mapped. A first write need not read the old entry: it is deferred, and several are entered
//! together, so that their memory accesses overlap.
//!
//! The first entries of a large map go into a hash table, because each of them would touch a page of the table that the
//! kernel has yet to provide ([`super::sparse`]). The same holds for the first writes to a drive that was filled in order:
//! the other entries follow from a rule ([`super::filled`]). There are no bits until the table is given up: they would
//! be another page for many of these writes, which the kernel provides twice if it is read first. Of 5,728 page faults of 100,000
//! writes to a new `epo` 3,137 are left without them, and the process takes 0.037 s in the place of 0.047.
//!
//! Bits are only for drives whose addresses select the group ([`crate::ftl::striping`]). On other drives every read
//! needs the place itself, so the map is a plain table until they are filled.
//!
//! Measured with `crates/model/examples/performance.rs` on `epo` (161 GiB), with a plain table and with this:
//! random writes to a new drive 2.5 and 3.5 million per second, random reads 2.6 and 10.6 million
//! ([`super::shortcut`] reads the bits).

use super::bits::{Bits, WORD};
use super::filled::{Filled, NOTHING};
use super::sparse::Sparse;
use prefetch_index::prefetch_index;

/// Number of first writes that are entered together.
const TOGETHER: usize = 16;
/// Units of a map that has a hash table: 16 MiB of entries.
const LARGE: usize = 1 << 22;
/// The hash table is given up when it has an entry for one of so many units.
const FEW: usize = 64;

/// The place of each unit plus one, or [`NOTHING`].
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// Empty as long as the entries are in `sparse`.
    place_of: Vec<u32>,
    units: usize,
    /// True if there are bits beside the table.
    with_bits: bool,
    /// Empty as long as the entries are in `sparse`.
    bits: Option<Bits>,
    /// The entries as long as those that follow no rule are few; none is deferred then.
    sparse: Option<Sparse>,
    /// Deferred first writes, not yet in `place_of`: each is a unit and its place plus one.
    late: [(u32, u32); TOGETHER],
    late_count: usize,
}

impl Map {
    /// A map of `units` units, none of them mapped.
    pub(super) fn new(units: usize, with_bits: bool) -> Self {
        let sparse = (with_bits && units >= LARGE).then(|| Sparse::new(None));
        Self {
            place_of: match sparse {
                Some(_) => Vec::new(),
                None => vec![NOTHING; units],
            },
            units,
            with_bits,
            bits: (with_bits && sparse.is_none()).then(|| Bits::new(units)),
            sparse,
            late: [(0, NOTHING); TOGETHER],
            late_count: 0,
        }
    }

    /// Number of units in the map, mapped or not.
    pub(super) fn len(&self) -> usize {
        self.units
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.place_of = vec![NOTHING; self.units];
        self.late_count = 0;
        self.sparse = None;
        self.bits = self.with_bits.then(|| Bits::new(self.units));
    }

    /// Prefetches the memory that a write of a unit will access, if the processor would have to wait for it.
    #[inline]
    pub(super) fn fetch(&self, lpn: usize) {
        if let Some(sparse) = &self.sparse {
            // 600,000 writes to a new `epo` took 0.40 s without this and 0.34 s with it, in ten rounds in turn.
            return sparse.fetch(lpn as u32);
        }
        let Some(bits) = &self.bits else {
            return prefetch_index(&self.place_of, lpn);
        };
        if !bits.is_full(lpn) {
            prefetch_index(&bits.mapped, lpn / WORD);
        }
        // A write that is probably a first write does not need the place.
        if bits.count > self.units / 2 {
            prefetch_index(&self.place_of, lpn);
        }
    }

    /// Returns true if a unit is mapped; `None` for a map without bits, where only the place tells.
    #[inline]
    pub(super) fn holds(&self, lpn: usize) -> Option<bool> {
        match (&self.bits, &self.sparse) {
            (Some(bits), _) => Some(bits.is_set(lpn)),
            (None, Some(sparse)) if self.with_bits => Some(sparse.holds(lpn as u32)),
            _ => None,
        }
    }

    /// Returns the place of a unit plus one, or [`NOTHING`].
    #[inline]
    pub(super) fn get(&self, lpn: u32) -> u32 {
        if let Some(sparse) = &self.sparse {
            return sparse.get(lpn);
        }
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
        if let Some(sparse) = &mut self.sparse {
            return match sparse.replace(lpn, place) {
                NOTHING => self.note_first(lpn),
                old => old,
            };
        }
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

    /// Notes that a unit got an entry in the hash table. Gives the table up where that has many. Returns the entry that the unit
    /// had by the rule.
    #[inline]
    fn note_first(&mut self, lpn: u32) -> u32 {
        let Some(sparse) = &self.sparse else {
            return NOTHING;
        };
        let old = sparse.by_rule(lpn);
        if sparse.len() > self.units / FEW {
            self.spread();
        }
        old
    }

    /// Enters what the hash table and the rule have.
    #[cold]
    fn spread(&mut self) {
        if let Some(sparse) = self.sparse.take() {
            self.place_of = vec![NOTHING; self.units];
            sparse.enter(&mut self.place_of);
            self.bits = self.with_bits.then(|| sparse.bits(self.units));
        }
    }

    /// Returns true if the entries are in the table, so that it takes memory.
    #[cfg(test)]
    pub(super) fn is_written(&self) -> bool {
        self.sparse.is_none()
    }

    /// Maps the first units by a rule. No unit may be mapped.
    pub(super) fn fill(&mut self, filled: Filled) {
        if self.units < LARGE {
            if let Some(bits) = &mut self.bits {
                bits.set_all(0..filled.units() as usize);
            }
            return filled.enter(&mut self.place_of);
        }
        (self.place_of, self.bits) = (Vec::new(), None);
        self.sparse = Some(Sparse::new(Some(filled)));
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
        let sparse = self.sparse.as_ref().map_or(0, Sparse::state_bytes);
        self.units * 4 + sparse + self.bits.as_ref().map_or(0, words) * 8
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
        if self.sparse.is_some() {
            self.spread();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;
    use std::collections::BTreeMap;

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

    /// Compares a large map to an ordered set of pairs, through writes and overwrites until and after it gives up its hash table.
    #[test]
    fn the_first_entries_of_a_large_map_are_those_of_a_table() {
        let units = LARGE as u64 + 7;
        let (mut map, mut pairs) = (Map::new(units as usize, true), BTreeMap::new());
        let mut rng = Rng::new(5, 0);
        let mut drawn = Vec::new();
        for step in 1..100_000u32 {
            let again = !drawn.is_empty() && rng.below(4) == 0;
            let lpn = match again {
                true => drawn[rng.below(drawn.len() as u64) as usize],
                false => rng.below(units) as u32,
            };
            drawn.push(lpn);
            let before = pairs.insert(lpn, step).unwrap_or(NOTHING);
            assert_eq!(map.replace(lpn, step), before, "step {step}");
            let older = drawn[rng.below(drawn.len() as u64) as usize];
            assert_eq!(map.get(older), pairs[&older], "step {step}");
            assert_eq!(map.holds(older as usize), Some(true), "step {step}");
            let other = rng.below(units) as u32;
            let there = pairs.get(&other).copied();
            assert_eq!(map.get(other), there.unwrap_or(NOTHING), "step {step}");
            assert_eq!(map.holds(other as usize), Some(there.is_some()));
            assert_eq!(map.sparse.is_some(), pairs.len() <= LARGE / FEW);
        }
        assert!(pairs.len() > LARGE / FEW + TOGETHER);
        let bits = map.bits.as_ref().map(|bits| bits.count);
        assert_eq!(bits, Some(pairs.len()));
        let table = map.table();
        let entered = table.iter().filter(|&&at| at != NOTHING).count();
        assert_eq!(entered, pairs.len());
        assert!(pairs.iter().all(|(&lpn, &at)| table[lpn as usize] == at));
    }

    #[test]
    fn a_large_map_that_is_cleared_has_nothing() {
        for until in [10, 100_000] {
            let mut map = Map::new(LARGE, true);
            for lpn in 0..until {
                map.replace(lpn, lpn + 1);
            }
            map.clear();
            assert_eq!((map.get(5), map.holds(5)), (NOTHING, Some(false)));
            assert_eq!(map.replace(5, 9), NOTHING);
            assert_eq!((map.get(5), map.remove(5), map.get(5)), (9, 9, NOTHING));
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
