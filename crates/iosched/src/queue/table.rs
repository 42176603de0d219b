//! Requests by a number that several may share: a hash table whose buckets are lists through the requests' slots.

use fathom_base::links::NONE;

/// The number of a request, and the next one of its bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    next: u32,
}

/// The slots of requests by number. Slots are small, so an entry needs no memory of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The first slot of each bucket. There is a power of two of them, and at least four for each request.
    buckets: Vec<u32>,
    /// By slot.
    entries: Vec<Entry>,
    len: usize,
}

/// Number of buckets of a new table.
const BUCKETS: usize = 64;

impl Table {
    #[inline]
    fn bucket(&self, number: u64) -> usize {
        // The golden ratio's multiplicative hash: the high bits depend on all others.
        let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }

    /// Iterates over the requests with a number, from the one added last.
    #[inline]
    pub(super) fn at(&self, number: u64) -> impl Iterator<Item = u32> {
        let mut slot = match self.len {
            0 => NONE,
            _ => self.buckets[self.bucket(number)],
        };
        std::iter::from_fn(move || {
            while slot != NONE {
                let entry = &self.entries[slot as usize];
                let this = std::mem::replace(&mut slot, entry.next);
                if entry.number == number {
                    return Some(this);
                }
            }
            None
        })
    }

    /// Returns true if there is no request.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a request that is not there. Returns true if it is the only one in its bucket, so that no other has its number.
    #[inline]
    pub(super) fn insert(&mut self, number: u64, slot: u32) -> bool {
        if self.buckets.len() < 4 * (self.len + 1) {
            self.widen();
        }
        if self.entries.len() <= slot as usize {
            self.extend(slot);
        }
        let bucket = self.bucket(number);
        let next = std::mem::replace(&mut self.buckets[bucket], slot);
        self.entries[slot as usize] = Entry { number, next };
        self.len += 1;
        next == NONE
    }

    /// Removes a request. Returns false if it is not there.
    #[inline]
    pub(super) fn remove(&mut self, number: u64, slot: u32) -> bool {
        if self.len == 0 {
            return false;
        }
        let bucket = self.bucket(number);
        let (mut before, mut at) = (NONE, self.buckets[bucket]);
        while at != NONE {
            let next = self.entries[at as usize].next;
            if at == slot {
                match before {
                    NONE => self.buckets[bucket] = next,
                    before => self.entries[before as usize].next = next,
                }
                self.len -= 1;
                return true;
            }
            (before, at) = (at, next);
        }
        false
    }

    /// Gives every request another number.
    pub(super) fn renumber(&mut self, mut of: impl FnMut(u32) -> u64) {
        self.rebuild(self.buckets.len(), |slot, _| of(slot));
    }

    /// Makes an entry for a slot.
    #[cold]
    fn extend(&mut self, slot: u32) {
        let (number, next) = (0, NONE);
        let entry = Entry { number, next };
        self.entries.resize(slot as usize + 1, entry);
    }

    /// Doubles the number of buckets.
    #[cold]
    fn widen(&mut self) {
        let wide = (2 * self.buckets.len()).max(BUCKETS);
        self.rebuild(wide, |_, number| number);
    }

    fn rebuild(&mut self, buckets: usize, mut of: impl FnMut(u32, u64) -> u64) {
        for mut slot in std::mem::replace(&mut self.buckets, vec![NONE; buckets]) {
            while slot != NONE {
                let old = self.entries[slot as usize];
                let number = of(slot, old.number);
                let bucket = self.bucket(number);
                let next = std::mem::replace(&mut self.buckets[bucket], slot);
                self.entries[slot as usize] = Entry { number, next };
                slot = old.next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;
    use std::collections::BTreeMap;

    fn same(table: &Table, plain: &BTreeMap<u32, u64>, number: u64) {
        let mut found: Vec<u32> = table.at(number).collect();
        found.sort_unstable();
        let here = plain.iter().filter(|&(_, &other)| other == number);
        assert_eq!(found, here.map(|(&slot, _)| slot).collect::<Vec<_>>());
    }

    #[test]
    fn all_requests_with_a_number_are_found_until_they_go() {
        let (mut table, mut plain) = (Table::default(), BTreeMap::new());
        let mut rng = Rng::new(5, 0);
        // It grows to 300 requests and shrinks to a few, several times.
        for turn in 0..8_000_u64 {
            let slot = rng.below(300) as u32;
            let grows = turn / 1_000 % 2 == 0;
            if grows && !plain.contains_key(&slot) {
                let number = rng.below(100) << rng.below(40);
                table.insert(number, slot);
                plain.insert(slot, number);
            } else if !grows && let Some(number) = plain.remove(&slot) {
                assert!(table.remove(number, slot));
                assert!(!table.remove(number, slot));
            }
            if turn % 1_500 == 0 {
                table.renumber(|slot| 7 * u64::from(slot) % 64);
                let all = plain.iter_mut();
                all.for_each(|(&slot, number)| *number = 7 * u64::from(slot) % 64);
            }
            same(&table, &plain, rng.below(100));
            if let Some((_, &number)) = plain.range(slot..).next() {
                same(&table, &plain, number);
            }
        }
    }

    #[test]
    fn the_request_added_last_comes_first() {
        let mut table = Table::default();
        for slot in [4, 9, 2] {
            table.insert(77, slot);
        }
        assert_eq!(table.at(77).collect::<Vec<_>>(), [2, 9, 4]);
    }
}
