//! An index of the requests that can be merged with, by their end and by their start.

use super::table::Table;
use crate::{Io, IoKey};
use fathom_block::Op;

/// The requests held by the scheduler that may still grow. Only single offsets are looked up, so hash tables suffice.
#[derive(Clone, Debug, Default)]
pub(super) struct Mergeable {
    by_end: Index,
    by_start: Index,
}

impl Mergeable {
    /// Adds a request that is not there. Several reads may have the same start or end; the one added last is found.
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
    #[inline]
    pub(super) fn before(&self, io: &Io) -> Option<IoKey> {
        self.by_end.find(io.op, io.offset)
    }

    /// The request that begins where `io` ends.
    #[inline]
    pub(super) fn after(&self, io: &Io) -> Option<IoKey> {
        self.by_start.find(io.op, io.end())
    }
}

/// Requests by operation and place, at most one at each.
#[derive(Clone, Debug, Default)]
struct Index {
    /// Up to [`FEW`] requests, in no order: above a drive that has room, there are rarely more.
    few: Vec<(u64, u32)>,
    /// All requests, once there have been more, until they are gone.
    many: Table,
}

/// Number of requests up to which looking at each is faster than a hash table.
const FEW: usize = 6;

/// The number of an operation and a place.
fn number(op: Op, place: u64) -> u64 {
    place << 1 | u64::from(op == Op::Read)
}

impl Index {
    #[inline]
    fn find(&self, op: Op, place: u64) -> Option<IoKey> {
        let number = number(op, place);
        let slot = match self.many.is_empty() {
            true => self.few.iter().find(|one| one.0 == number)?.1,
            false => self.many.at(number).next()?,
        };
        Some(IoKey(slot))
    }

    /// Adds a request in the place of another one at the same place.
    #[inline]
    fn insert(&mut self, op: Op, place: u64, key: IoKey) {
        if let Some(other) = self.find(op, place) {
            self.remove(op, place, other);
        }
        let number = number(op, place);
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push((number, key.0));
            return;
        }
        for (number, slot) in self.few.drain(..) {
            self.many.insert(number, slot);
        }
        self.many.insert(number, key.0);
    }

    /// Removes a request, if it is there.
    #[inline]
    fn remove(&mut self, op: Op, place: u64, key: IoKey) {
        let one = (number(op, place), key.0);
        if !self.many.is_empty() {
            self.many.remove(one.0, one.1);
        } else if let Some(index) = self.few.iter().position(|&other| other == one) {
            self.few.swap_remove(index);
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
        for turn in 0..8_000_usize {
            // Up to 300 requests, several at most places; a few; and now and then none.
            let most = [300, 8, 1, 4][turn / 500 % 4];
            if held.len() < most {
                let place = read(0, (1 + rng.below(120)) * 4096);
                let key = IoKey(held.insert(place));
                let io = Io { key, ..place };
                index.insert(&io);
                plain.insert(io.offset, key);
            }
            while held.len() >= most || (!held.is_empty() && rng.chance(0.3)) {
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
