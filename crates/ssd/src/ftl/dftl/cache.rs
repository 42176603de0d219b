//! The cached entries of the map, and which of them is evicted next: segmented LRU.
//!
//! A new entry is on probation. An entry that is requested again becomes protected. The protected segment has half
//! of the capacity; when it overflows, its oldest entry goes back to probation, as the newest there. The oldest
//! entry on probation is evicted (Karedla, Love and Wherry, "Caching strategies to improve disk system
//! performance", IEEE Computer 1994, which the DFTL paper cites in 3.2). The cache stores the numbers of entries,
//! not their contents.

use crate::bits::BitSet;
use fathom_base::Slab;
use fathom_base::links::{Links, List, NONE};
use rustc_hash::FxHashMap;
use std::ops::Range;

const PROBATION: usize = 0;
const PROTECTED: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: u32,
    segment: usize,
}

/// The cached entries.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    room: usize,
    slots: Slab<Slot>,
    /// Used for look-ups only: the iteration order has no meaning.
    slot_of: FxHashMap<u32, u32>,
    /// The keys of `slot_of`. It makes look-ups of absent entries, which are most of them, fast.
    held: BitSet,
    links: Links,
    segments: [List; 2],
    /// Number of protected entries.
    protected: usize,
}

impl Cache {
    /// A cache of `room` entries, at least 1. Entries are numbers below `bound`.
    pub(super) fn new(room: usize, bound: u32) -> Self {
        Self {
            room,
            slots: Slab::default(),
            slot_of: FxHashMap::default(),
            held: BitSet::new(bound),
            links: Links::default(),
            segments: [List::default(); 2],
            protected: 0,
        }
    }

    /// Capacity in entries.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// Number of entries in the cache.
    pub(super) fn len(&self) -> usize {
        self.slot_of.len()
    }

    #[inline]
    pub(super) fn holds(&self, entry: u32) -> bool {
        self.held.contains(entry)
    }

    /// Returns the number of entries of `set` in a range that are not cached.
    pub(super) fn count_absent(&self, set: &BitSet, range: Range<u32>) -> u32 {
        set.count_outside(&self.held, range)
    }

    /// Marks an entry as used. Returns false if it is not cached.
    pub(super) fn touch(&mut self, entry: u32) -> bool {
        if !self.holds(entry) {
            return false;
        }
        self.move_to(self.slot_of[&entry], PROTECTED);
        if self.protected > (self.room / 2).max(1) {
            self.move_to(self.segments[PROTECTED].oldest, PROBATION);
        }
        true
    }

    /// Adds an entry, which must not be cached. There must be room for it.
    pub(super) fn insert(&mut self, entry: u32) {
        let segment = PROBATION;
        let id = self.slots.insert(Slot { entry, segment });
        self.slot_of.insert(entry, id);
        self.held.insert(entry);
        self.links.append(&mut self.segments[segment], id);
    }

    /// Evicts the next entry and returns it.
    pub(super) fn evict(&mut self) -> Option<u32> {
        let oldest = self.segments.map(|segment| segment.oldest);
        let id = oldest.into_iter().find(|&id| id != NONE)?;
        let Slot { entry, segment } = self.slots.remove(id)?;
        self.links.detach(&mut self.segments[segment], id);
        self.protected -= usize::from(segment == PROTECTED);
        self.slot_of.remove(&entry);
        self.held.remove(entry);
        Some(entry)
    }

    /// Makes an entry the newest of a segment.
    fn move_to(&mut self, id: u32, segment: usize) {
        let Some(slot) = self.slots.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut slot.segment, segment);
        self.links.detach(&mut self.segments[before], id);
        self.links.append(&mut self.segments[segment], id);
        self.protected -= usize::from(before == PROTECTED);
        self.protected += usize::from(segment == PROTECTED);
    }

    /// Returns the size of the tables in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.slots.len() * (size_of::<Slot>() + 8)
            + self.slot_of.capacity() * 8
            + self.held.state_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_was_asked_for_twice_outlives_those_that_came_once() {
        let mut cache = Cache::new(4, 16);
        (1..=3).for_each(|entry| cache.insert(entry));
        assert!(cache.touch(1) && !cache.touch(9));
        cache.insert(4);
        // 1 is protected: 2, 3 and 4 are evicted in order of insertion, and 1 last, although 4 is newer.
        let order: Vec<u32> = std::iter::from_fn(|| cache.evict()).collect();
        assert_eq!(order, [2, 3, 4, 1]);
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn what_the_protected_half_has_no_room_for_is_on_probation_again() {
        let mut cache = Cache::new(4, 16);
        (1..=3).for_each(|entry| cache.insert(entry));
        (1..=3).for_each(|entry| assert!(cache.touch(entry)));
        cache.insert(4);
        // The protected segment has room for two. 1 went back to probation, is older than 4, and is evicted before
        // it.
        let order: Vec<u32> = std::iter::from_fn(|| cache.evict()).collect();
        assert_eq!(order, [1, 4, 2, 3]);
    }
}
