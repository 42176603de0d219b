//! The event queue: ordered by time, then first in, first out.
//!
//! A binary heap of small `Copy` events. Events with equal times leave in order of insertion, which makes a simulation a
//! function of its input. A resource that serves in order generates events in order of time; they can be pushed into a
//! lane of their own, which needs no sorting. Nothing is allocated once the heap and the lanes have reached their working
//! size.

use crate::Time;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Number of lanes for events that arrive in order of time.
pub const LANES: usize = 8;
/// Index of the heap, after those of the lanes.
const HEAP: usize = LANES;
/// Low bits of a sequence number that hold the place (lane or heap) of the event.
const PLACE_BITS: u32 = 4;
/// The key of an empty place: later than any event.
const NEVER: u128 = u128::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Time,
    /// Sequence number of the event, shifted left, with its place in the low bits.
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.0) << 64) | u128::from(self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// A queue of events, ordered by (time, insertion).
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    lanes: [VecDeque<Entry<E>>; LANES],
    /// The key of the first event of each lane and of the heap; [`NEVER`] if empty.
    first: [u128; LANES + 1],
    /// Bit set of the places that hold an event.
    used: u32,
    /// The smallest of the first keys: that of the next event. Its low bits hold the place.
    next: u128,
    sequence: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            lanes: std::array::from_fn(|_| VecDeque::new()),
            first: [NEVER; LANES + 1],
            used: 0,
            next: NEVER,
            sequence: 0,
        }
    }
}

impl<E> EventQueue<E> {
    /// Numbers an event for `place`, and updates the first keys.
    #[inline]
    fn entry(&mut self, place: usize, at: Time, event: E) -> Entry<E> {
        self.sequence += 1;
        let sequence = self.sequence << PLACE_BITS | place as u64;
        let entry = Entry {
            at,
            sequence,
            event,
        };
        let key = entry.key();
        self.first[place] = self.first[place].min(key);
        self.used |= 1 << place;
        self.next = self.next.min(key);
        entry
    }

    /// Adds an event. O(log n).
    #[inline]
    pub fn push(&mut self, at: Time, event: E) {
        let entry = self.entry(HEAP, at, event);
        self.heap.push(entry);
    }

    /// Adds an event that is no earlier than the last one pushed into this lane. O(1). An event that is earlier, or a
    /// lane that does not exist, is handled like [`EventQueue::push`].
    #[inline]
    pub fn push_in_order(&mut self, lane: usize, at: Time, event: E) {
        let Some(queue) = self.lanes.get_mut(lane) else {
            return self.push(at, event);
        };
        match queue.back() {
            Some(last) if last.at <= at => {
                // It leaves after the last one of its lane, so that no first key changes.
                self.sequence += 1;
                let sequence = self.sequence << PLACE_BITS | lane as u64;
                queue.push_back(Entry {
                    at,
                    sequence,
                    event,
                });
            }
            None => {
                let entry = self.entry(lane, at, event);
                self.lanes[lane].push_back(entry);
            }
            Some(_) => self.push(at, event),
        }
    }

    /// Returns the time of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        (self.next != NEVER).then_some(Time((self.next >> 64) as u64))
    }

    /// Removes and returns the next event. O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_until(Time(u64::MAX))
    }

    /// Removes and returns the next event if its time is not after `until`. O(log n).
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, E)> {
        if (self.next >> 64) as u64 > until.0 {
            return None;
        }
        let place = self.next as usize & ((1 << PLACE_BITS) - 1);
        let (taken, first) = match self.lanes.get_mut(place) {
            Some(lane) => (lane.pop_front(), lane.front()),
            None => (self.heap.pop(), self.heap.peek()),
        };
        let key = first.map_or(NEVER, Entry::key);
        *self.first.get_mut(place)? = key;
        self.used ^= u32::from(key == NEVER) << place;
        self.next = self.least();
        taken.map(|entry| (entry.at, entry.event))
    }

    /// Returns the smallest of the first keys.
    #[inline]
    fn least(&self) -> u128 {
        let (mut least, mut used) = (NEVER, self.used);
        while used != 0 {
            let place = used.trailing_zeros() as usize;
            least = least.min(self.first[place]);
            used &= used - 1;
        }
        least
    }

    /// Returns the number of events in the queue.
    pub fn len(&self) -> usize {
        self.heap.len() + self.lanes.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    /// Removes all events, as a power cut does.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.first = [NEVER; LANES + 1];
        (self.used, self.next) = (0, NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn equal_times_leave_in_order_of_insertion() {
        let mut queue = EventQueue::default();
        for (at, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            queue.push(Time(at), event);
        }
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
        assert_eq!(order, "bdac");
    }

    #[test]
    fn lanes_change_no_order() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed, 0);
            let (mut plain, mut laned) = (EventQueue::default(), EventQueue::default());
            let (mut now, mut ends) = (0, [0; LANES]);
            for event in 0..2000u32 {
                let lane = rng.below(LANES as u64 + 2) as usize;
                let mut at = now + 1 + rng.below(6);
                // Most events of a lane arrive in order; occasionally one does not.
                if lane < LANES && rng.chance(0.95) {
                    at = at.max(ends[lane]);
                    ends[lane] = at;
                }
                plain.push(Time(at), event);
                laned.push_in_order(lane, Time(at), event);
                while rng.chance(0.48) {
                    assert_eq!(plain.next_at(), laned.next_at());
                    let next = plain.pop();
                    if let Some((at, _)) = next {
                        assert_eq!(laned.pop_until(Time(at.0.wrapping_sub(1))), None);
                    }
                    assert_eq!(next, laned.pop());
                    now = next.map_or(now, |(at, _)| at.0);
                }
                assert_eq!(plain.len(), laned.len());
            }
            while !laned.is_empty() {
                assert_eq!(plain.pop(), laned.pop());
            }
            assert!(plain.is_empty());
        }
    }
}
