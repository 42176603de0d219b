//! The cached entries of the map, and which of them is evicted next: segmented LRU.
//!
//! A new entry is on probation. An entry that is requested again becomes protected. The protected segment has half
//! of the capacity; when it overflows, its oldest entry goes back to probation, as the newest there. The oldest
//! entry on probation is evicted (Karedla, Love and Wherry, "Caching strategies to improve disk system
//! performance", IEEE Computer 1994, which the DFTL paper cites in 3.2). The cache stores the numbers of entries,
//! not their contents.

use crate::bits::BitSet;
use rustc_hash::FxHashMap;
use std::ops::Range;

const NONE: u32 = u32::MAX;
const PROBATION: usize = 0;
const PROTECTED: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: u32,
    segment: usize,
    older: u32,
    newer: u32,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    oldest: u32,
    newest: u32,
    len: usize,
}

/// The cached entries.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    room: usize,
    slots: Vec<Slot>,
    unused: Vec<u32>,
    /// Used for look-ups only: the iteration order has no meaning.
    slot_of: FxHashMap<u32, u32>,
    /// The keys of `slot_of`. It makes look-ups of absent entries, which are most of them, fast.
    held: BitSet,
    segments: [Segment; 2],
}

impl Cache {
    /// A cache of `room` entries, at least 1. Entries are numbers below `bound`.
    pub(super) fn new(room: usize, bound: u32) -> Self {
        let empty = Segment {
            oldest: NONE,
            newest: NONE,
            len: 0,
        };
        Self {
            room,
            slots: Vec::new(),
            unused: Vec::new(),
            slot_of: FxHashMap::default(),
            held: BitSet::new(bound),
            segments: [empty; 2],
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
        let id = self.slot_of[&entry];
        self.unlink(id);
        self.link(id, PROTECTED);
        let protected = self.segments[PROTECTED];
        if protected.len > (self.room / 2).max(1) {
            self.unlink(protected.oldest);
            self.link(protected.oldest, PROBATION);
        }
        true
    }

    /// Adds an entry, which must not be cached. There must be room for it.
    pub(super) fn insert(&mut self, entry: u32) {
        let slot = Slot {
            entry,
            segment: PROBATION,
            older: NONE,
            newer: NONE,
        };
        let id = match self.unused.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.slot_of.insert(entry, id);
        self.held.insert(entry);
        self.link(id, PROBATION);
    }

    /// Evicts the next entry and returns it.
    pub(super) fn evict(&mut self) -> Option<u32> {
        let oldest = self.segments.map(|segment| segment.oldest);
        let id = oldest.into_iter().find(|&id| id != NONE)?;
        self.unlink(id);
        self.unused.push(id);
        let entry = self.slots[id as usize].entry;
        self.slot_of.remove(&entry);
        self.held.remove(entry);
        Some(entry)
    }

    fn link(&mut self, id: u32, segment: usize) {
        let at = &mut self.segments[segment];
        at.len += 1;
        let newest = std::mem::replace(&mut at.newest, id);
        if newest == NONE {
            at.oldest = id;
        } else {
            self.slots[newest as usize].newer = id;
        }
        let slot = &mut self.slots[id as usize];
        (slot.segment, slot.older, slot.newer) = (segment, newest, NONE);
    }

    fn unlink(&mut self, id: u32) {
        let Slot {
            segment,
            older,
            newer,
            ..
        } = self.slots[id as usize];
        let at = &mut self.segments[segment];
        at.len -= 1;
        match older {
            NONE => at.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.segments[segment].newest = older,
            _ => self.slots[newer as usize].older = older,
        }
    }

    /// Returns the size of the tables in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.unused.capacity() * 4
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
