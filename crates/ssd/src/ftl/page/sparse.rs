//! The entries of a large map that follow no rule, in a hash table as long as they are few.
//!
//! The rule is that a unit is not mapped, or that of a drive that was filled in order ([`super::filled`]).
//!
//! Random writes to a new drive touch nearly as many pages of memory in a table with an entry for each unit as there are
//! writes, and the kernel takes longer to provide a page than the model takes for a write. Here the entries lie close
//! together. [`super::map`] enters them into its table before they are many.
//!
//! Measured as whole processes, random writes of 4 KiB to a new `model:epo` (161 GiB), without and with this: 100,000 take
//! 0.22 and 0.10 s of CPU time in 172 and 29 MiB, 300,000 take 0.38 and 0.26 s, 3 million the same time. On a filled drive
//! 100,000 take 0.61 and 0.10 s (349 and 31 MiB), 3 million 3.1 and 2.7 s; 3 million reads take 1.4 and 1.0 s.

use super::bits::Bits;
use super::filled::{Filled, NOTHING};
use prefetch_index::prefetch_index;

/// Slots of a new table.
const FIRST: usize = 1 << 10;

/// Places by unit, in a table with linear probing (Knuth, "The Art of Computer Programming", volume 3, 6.4, algorithm L). An
/// entry is a unit and its place plus one; it is free where that is 0.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    slots: Vec<(u32, u32)>,
    len: usize,
    /// What the entries of other units are, if they are not all empty.
    filled: Option<Filled>,
}

impl Sparse {
    /// A table without entries, beside a rule for the units that have none.
    pub(super) fn new(filled: Option<Filled>) -> Self {
        Self {
            slots: vec![(0, 0); FIRST],
            len: 0,
            filled,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the slot where the search for a unit begins.
    #[inline]
    fn first_slot(&self, unit: u32) -> usize {
        // Multiplication by the golden ratio spreads neighbours (6.4, "Fibonacci hashing").
        let spread = u64::from(unit).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.slots.len() - 1)
    }

    /// Prefetches the slot of a unit.
    #[inline]
    pub(super) fn fetch(&self, unit: u32) {
        prefetch_index(&self.slots, self.first_slot(unit));
    }

    /// Returns the slot of a unit: its own, or the free one where it belongs.
    #[inline]
    fn slot_of(&self, unit: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.first_slot(unit);
        while self.slots[at].1 != 0 && self.slots[at].0 != unit {
            at = (at + 1) & mask;
        }
        at
    }

    /// Returns the place of a unit plus one, or [`NOTHING`].
    #[inline]
    pub(super) fn get(&self, unit: u32) -> u32 {
        match self.slots[self.slot_of(unit)].1 {
            NOTHING => self.by_rule(unit),
            place => place,
        }
    }

    /// Returns the place of a unit without an entry, plus one, or [`NOTHING`].
    #[inline]
    pub(super) fn by_rule(&self, unit: u32) -> u32 {
        let filled = self.filled.as_ref();
        filled.map_or(NOTHING, |filled| filled.place(unit))
    }

    /// Returns true if a unit is mapped.
    #[inline]
    pub(super) fn holds(&self, unit: u32) -> bool {
        self.by_rule(unit) != NOTHING || self.slots[self.slot_of(unit)].1 != NOTHING
    }

    /// Sets the place of a unit, plus one. Returns the old entry, or 0 if there
    /// was none.
    #[inline]
    pub(super) fn replace(&mut self, unit: u32, place: u32) -> u32 {
        let at = self.slot_of(unit);
        let old = std::mem::replace(&mut self.slots[at], (unit, place)).1;
        if old == 0 {
            self.len += 1;
            if 2 * self.len > self.slots.len() {
                self.grow();
            }
        }
        old
    }

    fn grow(&mut self) {
        // Written, and not allocated as zeros: the kernel provides a page that is read first twice, and tells all processors of it.
        // Of 13,270 page faults of 500,000 writes 9,200 are left, and a study on two processors takes an eighth less time.
        let mut twice = Vec::with_capacity(2 * self.slots.len());
        twice.extend(std::iter::repeat_n((0, 0), 2 * self.slots.len()));
        let all = std::mem::replace(&mut self.slots, twice);
        for entry in all.into_iter().filter(|entry| entry.1 != 0) {
            let at = self.slot_of(entry.0);
            self.slots[at] = entry;
        }
    }

    /// Enters everything into a table that is empty.
    pub(super) fn enter(&self, place_of: &mut [u32]) {
        if let Some(filled) = &self.filled {
            filled.enter(place_of);
        }
        for &(unit, place) in self.slots.iter().filter(|entry| entry.1 != 0) {
            place_of[unit as usize] = place;
        }
    }

    /// Returns the set of mapped units of a map of `units` units.
    pub(super) fn bits(&self, units: usize) -> Bits {
        let mut bits = Bits::new(units);
        if let Some(filled) = &self.filled {
            bits.set_all(0..filled.units() as usize);
        }
        for &(unit, _) in self.slots.iter().filter(|entry| entry.1 != 0) {
            bits.set(unit);
        }
        bits
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.slots.capacity() * 8
    }
}
