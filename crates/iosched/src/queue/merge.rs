//! An index of the requests that can be merged with, by their end and by their start.

use crate::{Io, IoKey};
use fathom_base::links::NONE;
use fathom_block::Op;

/// The requests held by the scheduler that may still grow. Only single offsets are looked up, so hash tables suffice.
#[derive(Clone, Debug, Default)]
pub(super) struct Mergeable {
    by_end: Index,
    by_start: Index,
}

impl Mergeable {
    /// Adds a request that is not in the index. Several reads may have the same start or end; the one added last is found.
    pub(super) fn insert(&mut self, io: &Io) {
        self.by_end.insert(io.op, io.end(), io.key);
        self.by_start.insert(io.op, io.offset, io.key);
    }

    /// Removes a request.
    pub(super) fn remove(&mut self, io: &Io) {
        self.by_end.remove(io.op, io.end(), io.key);
        self.by_start.remove(io.op, io.offset, io.key);
    }

    /// The request that ends where `io` begins.
    pub(super) fn before(&self, io: &Io) -> Option<IoKey> {
        self.by_end.find(io.op, io.offset)
    }

    /// The request that begins where `io` ends.
    pub(super) fn after(&self, io: &Io) -> Option<IoKey> {
        self.by_start.find(io.op, io.end())
    }
}

/// Where a request is in an index, and the next one of its bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    place: u64,
    next: u32,
}

/// Requests by operation and place, at most one at each: a hash table whose buckets are lists through the requests' keys.
/// Keys are small numbers, so an entry needs no memory of its own.
#[derive(Clone, Debug, Default)]
struct Index {
    /// The first key of each bucket. Their number is a power of two, and at least twice that of the requests.
    buckets: Vec<u32>,
    /// By key.
    entries: Vec<Entry>,
    len: usize,
}

/// Number of buckets of a new index.
const BUCKETS: usize = 64;

impl Index {
    #[inline]
    fn bucket(&self, op: Op, place: u64) -> usize {
        // The golden ratio's multiplicative hash: the high bits depend on all others.
        let hash = (place ^ u64::from(op == Op::Read)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn find(&self, op: Op, place: u64) -> Option<IoKey> {
        if self.len == 0 {
            return None;
        }
        let mut key = self.buckets[self.bucket(op, place)];
        while key != NONE {
            let entry = &self.entries[key as usize];
            if entry.place == place && entry.op == op {
                return Some(IoKey(key));
            }
            key = entry.next;
        }
        None
    }

    /// Adds a request in the place of another one at the same place.
    #[inline]
    fn insert(&mut self, op: Op, place: u64, key: IoKey) {
        self.reserve(key);
        let bucket = self.bucket(op, place);
        if self.buckets[bucket] != NONE
            && let Some(other) = self.find(op, place)
        {
            self.remove(op, place, other);
        }
        let next = std::mem::replace(&mut self.buckets[bucket], key.0);
        self.entries[key.0 as usize] = Entry { op, place, next };
        self.len += 1;
    }

    /// Removes a request, if it is there.
    #[inline]
    fn remove(&mut self, op: Op, place: u64, key: IoKey) {
        if self.len == 0 {
            return;
        }
        let bucket = self.bucket(op, place);
        let (mut before, mut at) = (NONE, self.buckets[bucket]);
        while at != NONE {
            let next = self.entries[at as usize].next;
            if at == key.0 {
                match before {
                    NONE => self.buckets[bucket] = next,
                    before => self.entries[before as usize].next = next,
                }
                self.len -= 1;
                return;
            }
            (before, at) = (at, next);
        }
    }

    /// Makes room for one more request.
    #[inline]
    fn reserve(&mut self, key: IoKey) {
        if self.buckets.len() < 2 * (self.len + 1) {
            self.widen();
        }
        if self.entries.len() <= key.0 as usize {
            let nowhere = Entry {
                op: Op::Read,
                place: 0,
                next: NONE,
            };
            self.entries.resize(key.0 as usize + 1, nowhere);
        }
    }

    /// Doubles the number of buckets.
    #[cold]
    fn widen(&mut self) {
        let wide = (2 * self.buckets.len()).max(BUCKETS);
        let narrow = std::mem::replace(&mut self.buckets, vec![NONE; wide]);
        for mut key in narrow {
            while key != NONE {
                let Entry { op, place, next } = self.entries[key as usize];
                let bucket = self.bucket(op, place);
                self.entries[key as usize].next = std::mem::replace(&mut self.buckets[bucket], key);
                key = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hand::read;
    use fathom_base::{Rng, Slab};
    use std::collections::BTreeMap;

    /// What an index holds: by place, the request added last, unless it was removed.
    type Plain = BTreeMap<u64, IoKey>;

    #[test]
    fn the_request_added_last_at_a_place_is_found_until_it_goes() {
        let (mut index, mut plain) = (Mergeable::default(), Plain::new());
        let mut rng = Rng::new(3, 0);
        let mut held: Slab<Io> = Slab::default();
        for turn in 0..4_000_u32 {
            // Up to 300 requests, several at most places.
            let most = if turn < 2_000 { 300 } else { 3 };
            if held.len() < most {
                let place = read(0, (1 + rng.below(120)) * 4096);
                let key = IoKey(held.insert(place));
                let io = Io { key, ..place };
                index.insert(&io);
                plain.insert(io.offset, key);
            }
            if held.len() >= most || rng.chance(0.3) {
                let which = rng.below(held.len() as u64) as usize;
                let key = held.ids().nth(which).unwrap_or_default();
                let place = held.remove(key).unwrap();
                let io = Io {
                    key: IoKey(key),
                    ..place
                };
                index.remove(&io);
                if plain.get(&io.offset) == Some(&io.key) {
                    plain.remove(&io.offset);
                }
            }
            let at = read(0, (1 + rng.below(121)) * 4096);
            let ends_before = Io {
                offset: at.offset - at.len,
                ..at
            };
            assert_eq!(index.after(&ends_before), plain.get(&at.offset).copied());
            let starts_after = Io {
                offset: at.end(),
                ..at
            };
            assert_eq!(index.before(&starts_after), plain.get(&at.offset).copied());
            let write = Io {
                op: Op::Write,
                ..starts_after
            };
            assert_eq!(index.before(&write), None);
        }
    }
}
