//! Which entries of the map are in memory, and which of them leaves next: segmented LRU.
//!
//! An entry that comes in is on probation; one that is asked for again becomes protected. The protected segment
//! has half the room; what it has no room for goes back to probation, as the newest there. The oldest entry on
//! probation leaves (Karedla, Love and Wherry, "Caching strategies to improve disk system performance", IEEE
//! Computer 1994, which the DFTL paper cites in 3.2). It knows entries only by number, and not what they say.

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

/// Entries in memory.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    room: usize,
    slots: Vec<Slot>,
    unused: Vec<u32>,
    /// For look-up only: its order means nothing.
    slot_of: FxHashMap<u32, u32>,
    /// The keys of `slot_of`: most look-ups are of entries that are absent.
    held: BitSet,
    segments: [Segment; 2],
}

impl Cache {
    /// A cache of `room` entries, at least 1, which are numbers below `bound`.
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

    /// Entries that it has room for.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// Entries that it holds.
    pub(super) fn len(&self) -> usize {
        self.slot_of.len()
    }

    #[inline]
    pub(super) fn holds(&self, entry: u32) -> bool {
        self.held.contains(entry)
    }

    /// Number of entries of `set` in a range that are not in memory.
    pub(super) fn count_absent(&self, set: &BitSet, range: Range<u32>) -> u32 {
        set.count_outside(&self.held, range)
    }

    /// The entry is asked for; false where it is not there.
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

    /// Takes an entry in, which is not there; there must be room for it.
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

    /// Lets the entry go whose turn it is.
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

    /// Bytes of the tables.
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
        // 1 is protected: 2, 3, 4 leave in the order in which they came, and 1 last, though 4 is newer.
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
        // Room for two: 1 went back, is older than 4, and leaves before it.
        let order: Vec<u32> = std::iter::from_fn(|| cache.evict()).collect();
        assert_eq!(order, [1, 4, 2, 3]);
    }
}
