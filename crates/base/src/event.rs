//! The event queue: first by time, then first in, first out.
//!
//! A binary heap of small `Copy` events. Equal times leave in the order of insertion, which makes a simulation
//! a function of its input. Events of a resource that serves in order come in order of time; they can be pushed
//! into a lane of their own, which costs no sorting. Nothing is allocated once heap and lanes have reached their
//! working size.

use crate::Time;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Lanes for events that come in order of time.
pub const LANES: usize = 4;
/// The heap, beside the lanes.
const HEAP: usize = LANES;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: Time,
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

/// Events in order of (time, insertion).
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    lanes: [VecDeque<Entry<E>>; LANES],
    /// The key of the first event of each lane and of the heap; `u128::MAX` where there is none.
    first: [u128; LANES + 1],
    sequence: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            lanes: std::array::from_fn(|_| VecDeque::new()),
            first: [u128::MAX; LANES + 1],
            sequence: 0,
        }
    }
}

impl<E> EventQueue<E> {
    #[inline]
    fn entry(&mut self, at: Time, event: E) -> Entry<E> {
        self.sequence += 1;
        Entry {
            at,
            sequence: self.sequence,
            event,
        }
    }

    /// Adds an event. O(log n).
    #[inline]
    pub fn push(&mut self, at: Time, event: E) {
        let entry = self.entry(at, event);
        self.first[HEAP] = self.first[HEAP].min(entry.key());
        self.heap.push(entry);
    }

    /// Adds an event that comes no earlier than the one pushed into this lane before. O(1); an event that does
    /// come earlier, or a lane that is not there, takes the way of [`EventQueue::push`].
    #[inline]
    pub fn push_in_order(&mut self, lane: usize, at: Time, event: E) {
        let in_order = |lane: &VecDeque<Entry<E>>| lane.back().is_none_or(|last| last.at <= at);
        if !self.lanes.get(lane).is_some_and(in_order) {
            return self.push(at, event);
        }
        let entry = self.entry(at, event);
        self.first[lane] = self.first[lane].min(entry.key());
        self.lanes[lane].push_back(entry);
    }

    /// Where the next event is, and its key.
    #[inline]
    fn next(&self) -> (usize, u128) {
        let mut next = (HEAP, self.first[HEAP]);
        for (lane, &key) in self.first[..LANES].iter().enumerate() {
            if key < next.1 {
                next = (lane, key);
            }
        }
        next
    }

    /// The time of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        let (_, key) = self.next();
        (key != u128::MAX).then_some(Time((key >> 64) as u64))
    }

    /// Takes the next event. O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_until(Time(u64::MAX))
    }

    /// Takes the next event if its time is not after `until`. O(log n).
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, E)> {
        let (place, key) = self.next();
        if (key >> 64) as u64 > until.0 {
            return None;
        }
        let (taken, first) = match self.lanes.get_mut(place) {
            Some(lane) => (lane.pop_front(), lane.front()),
            None => (self.heap.pop(), self.heap.peek()),
        };
        self.first[place] = first.map_or(u128::MAX, Entry::key);
        taken.map(|entry| (entry.at, entry.event))
    }

    /// Events waiting.
    pub fn len(&self) -> usize {
        self.heap.len() + self.lanes.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.next().1 == u128::MAX
    }

    /// Forgets every event, as a power cut does.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.first = [u128::MAX; LANES + 1];
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
                // Most events of a lane come in order; now and then one does not.
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
