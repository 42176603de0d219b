//! The event queue: ordered by time, then first in, first out.
//!
//! A binary heap of small `Copy` events. Events with equal times leave in order of insertion, which makes a simulation a
//! function of its input. A resource that serves in order generates events in order of time; they can be pushed into a
//! lane of their own, which needs no sorting. Nothing is allocated once the heap and the lanes have reached their working
//! size.
//!
//! The first event of a lane lies beside its queue: a lane that holds one event at a time, such as that of a link, moves none
//! through the queue.

use crate::Time;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Number of lanes for events that arrive in order of time.
pub const LANES: usize = 8;
/// Index of the heap, after those of the lanes.
const HEAP: usize = LANES;
/// Low bits of a sequence number that hold the place (lane or heap) of the event.
const PLACE_BITS: u32 = 4;
/// The places that these bits can tell, so that an index made of them needs no check.
const PLACES: usize = 1 << PLACE_BITS;
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
        key_of(self.at, self.sequence)
    }
}

#[inline]
fn key_of(at: Time, sequence: u64) -> u128 {
    (u128::from(at.0) << 64) | u128::from(sequence)
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

/// Events in order of time. The key of the first one is in [`EventQueue::first`].
#[derive(Clone, Debug)]
struct Lane<E> {
    first: Option<E>,
    /// Those behind the first.
    rest: VecDeque<Entry<E>>,
    /// The time of the last one.
    last: Time,
}

impl<E> Default for Lane<E> {
    fn default() -> Self {
        Self {
            first: None,
            rest: VecDeque::new(),
            last: Time::ZERO,
        }
    }
}

/// A queue of events, ordered by (time, insertion).
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    lanes: [Lane<E>; LANES],
    /// The key of the first event of each lane and of the heap; [`NEVER`] if empty.
    first: [u128; PLACES],
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
            lanes: std::array::from_fn(|_| Lane::default()),
            first: [NEVER; PLACES],
            used: 0,
            next: NEVER,
            sequence: 0,
        }
    }
}

impl<E> EventQueue<E> {
    /// Returns the sequence number of a new event in a place.
    #[inline]
    fn number(&mut self, place: usize) -> u64 {
        self.sequence += 1;
        self.sequence << PLACE_BITS | place as u64
    }

    /// Updates the first keys for a new event.
    #[inline]
    fn note(&mut self, place: usize, key: u128) {
        let first = &mut self.first[place % PLACES];
        *first = key.min(*first);
        self.used |= 1 << place;
        self.next = self.next.min(key);
    }

    /// Adds an event. O(log n).
    #[inline]
    pub fn push(&mut self, at: Time, event: E) {
        let sequence = self.number(HEAP);
        let entry = Entry {
            at,
            sequence,
            event,
        };
        self.note(HEAP, entry.key());
        self.heap.push(entry);
    }

    /// Adds an event that is no earlier than the last one pushed into this lane. O(1). An event that is earlier, or a
    /// lane that does not exist, is handled like [`EventQueue::push`].
    #[inline]
    pub fn push_in_order(&mut self, lane: usize, at: Time, event: E) {
        let sequence = self.sequence + 1;
        let Some(queue) = self.lanes.get_mut(lane) else {
            return self.push(at, event);
        };
        let sequence = sequence << PLACE_BITS | lane as u64;
        if queue.first.is_none() {
            queue.first = Some(event);
            self.note(lane, key_of(at, sequence));
        } else if queue.last <= at {
            // It leaves after the last one of its lane, so that no first key changes.
            queue.rest.push_back(Entry {
                at,
                sequence,
                event,
            });
        } else {
            return self.push(at, event);
        }
        self.lanes[lane % LANES].last = at;
        self.sequence += 1;
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
        let at = Time((self.next >> 64) as u64);
        let place = self.next as usize % PLACES;
        let (event, key) = match self.lanes.get_mut(place) {
            Some(lane) => match lane.rest.pop_front() {
                Some(next) => {
                    let key = next.key();
                    (lane.first.replace(next.event), key)
                }
                None => (lane.first.take(), NEVER),
            },
            None => {
                let event = self.heap.pop().map(|entry| entry.event);
                (event, self.heap.peek().map_or(NEVER, Entry::key))
            }
        };
        self.first[place] = key;
        self.used ^= u32::from(key == NEVER) << place;
        self.next = self.least();
        event.map(|event| (at, event))
    }

    /// Returns the smallest of the first keys.
    #[inline]
    fn least(&self) -> u128 {
        let (mut least, mut used) = (NEVER, self.used);
        while used != 0 {
            let place = used.trailing_zeros() as usize;
            least = least.min(self.first[place % PLACES]);
            used &= used - 1;
        }
        least
    }

    /// Returns the number of events in the queue.
    pub fn len(&self) -> usize {
        let of_lane = |lane: &Lane<E>| usize::from(lane.first.is_some()) + lane.rest.len();
        self.heap.len() + self.lanes.iter().map(of_lane).sum::<usize>()
    }

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    /// Removes all events, as a power cut does.
    pub fn clear(&mut self) {
        self.heap.clear();
        for lane in &mut self.lanes {
            lane.first = None;
            lane.rest.clear();
        }
        self.first = [NEVER; PLACES];
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
