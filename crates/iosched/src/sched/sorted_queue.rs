//! Requests ordered both by age and by place: the data structure of every elevator.
//!
//! One [`Pool`] holds all requests of a scheduler; each request is in one [`SortedQueue`]. A scheduler with a queue for
//! each direction or process shares one pool, so memory depends on the number of requests, not on the number of queues.

use crate::{Io, IoKey};
use fathom_base::links::NONE;
use fathom_base::{Links, List};

/// The start of a request and its key. Reads may begin at the same byte; they are then ordered by arrival.
pub(crate) type Place = (u64, IoKey);

/// Returns the place of a request.
#[inline]
pub(crate) fn place(io: &Io) -> Place {
    (io.offset, io.key)
}

/// The offset of a request and its sequence number.
type Rank = (u64, u64);

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    io: Option<Io>,
    sequence: u64,
}

/// The requests of all queues, by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    slots: Vec<Slot>,
    ages: Links,
    /// Number of requests that have arrived so far.
    came: u64,
}

impl Pool {
    /// Returns the request with this key, if it is in a queue.
    #[inline]
    pub(crate) fn get(&self, key: IoKey) -> Option<&Io> {
        self.slots.get(key.0 as usize)?.io.as_ref()
    }

    /// Stores a new request with a sequence number above all earlier ones.
    #[inline]
    fn add(&mut self, io: Io) {
        debug_assert!(self.get(io.key).is_none(), "{:?} is in a queue", io.key);
        self.came += 1;
        let index = io.key.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Slot::default());
        }
        self.slots[index] = Slot {
            io: Some(io),
            sequence: self.came,
        };
    }

    #[inline]
    fn take(&mut self, key: IoKey) -> Option<Io> {
        self.slots.get_mut(key.0 as usize)?.io.take()
    }

    /// The sort key of a place: its offset, then the sequence number. A place without a request comes after all others
    /// at its offset.
    #[inline]
    fn rank(&self, at: Place) -> Rank {
        let slot = self.slots.get(at.1.0 as usize);
        (at.0, slot.map_or(u64::MAX, |slot| slot.sequence))
    }
}

/// Requests in order of arrival and in order of place on the drive.
///
/// Finding the oldest takes constant time. Finding a place takes logarithmic time; a request that comes or goes moves those
/// above it in memory. That is faster than a tree up to some hundred requests, as many as Linux gives a queue. With 4,096
/// it takes three times as long.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedQueue {
    /// A request that came to an empty queue, until a second one comes; it is in neither order. Above a drive that has
    /// room, most requests go before that.
    only: Option<Place>,
    /// In order of arrival.
    ages: List,
    /// In order of place.
    places: Vec<Spot>,
}

/// A request at its place.
#[derive(Clone, Copy, Debug)]
struct Spot {
    rank: Rank,
    key: IoKey,
}

impl SortedQueue {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.places.len() + usize::from(self.only.is_some())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.only.is_none()
    }

    /// Inserts a request, behind those that were queued before it.
    #[inline]
    pub(crate) fn insert(&mut self, pool: &mut Pool, io: Io) {
        let at = place(&io);
        pool.add(io);
        if self.is_empty() {
            self.only = Some(at);
            return;
        }
        if let Some(only) = self.only.take() {
            self.line_up(pool, only, NONE);
        }
        self.line_up(pool, at, self.ages.newest);
    }

    /// Replaces a request of the queue. If it has become older, it moves ahead of the younger ones.
    pub(crate) fn change(&mut self, pool: &mut Pool, before: &Io, io: Io) {
        let at = place(before);
        let is_only = self.only == Some(at);
        if !is_only && !self.leave(pool, at) {
            return;
        }
        if let Some(slot) = pool.slots.get_mut(io.key.0 as usize) {
            slot.io = Some(io);
        }
        if is_only {
            self.only = Some(place(&io));
            return;
        }
        let older = pool.ages.older(io.key.0);
        pool.ages.detach(&mut self.ages, io.key.0);
        self.line_up(pool, place(&io), older);
    }

    /// Takes out a request of the queue.
    #[inline]
    pub(crate) fn remove(&mut self, pool: &mut Pool, at: Place) -> Option<Io> {
        if self.only == Some(at) {
            self.only = None;
        } else if self.leave(pool, at) {
            pool.ages.detach(&mut self.ages, at.1.0);
        } else {
            return None;
        }
        pool.take(at.1)
    }

    /// Takes a request out of the order of places. Returns false if it is not there.
    #[inline]
    fn leave(&mut self, pool: &Pool, at: Place) -> bool {
        let rank = pool.rank(at);
        let index = self.index(rank);
        let is_there = self.places.get(index).is_some_and(|spot| spot.rank == rank);
        if is_there {
            self.places.remove(index);
        }
        is_there
    }

    /// Returns the index of the first request of this rank or a higher one.
    #[inline]
    fn index(&self, rank: Rank) -> usize {
        self.places.partition_point(|spot| spot.rank < rank)
    }

    /// Returns the request that was queued first.
    #[inline]
    pub(crate) fn oldest<'a>(&self, pool: &'a Pool) -> Option<&'a Io> {
        pool.get(self.only.map_or(IoKey(self.ages.oldest), |only| only.1))
    }

    /// Returns the first place.
    #[inline]
    pub(crate) fn lowest(&self) -> Option<Place> {
        self.at_or_above(0)
    }

    /// Returns the first place at or above an offset.
    #[inline]
    pub(crate) fn at_or_above(&self, offset: u64) -> Option<Place> {
        match self.only {
            Some(only) => (only.0 >= offset).then_some(only),
            None => self.place(self.index((offset, 0))),
        }
    }

    /// Returns the place at an index in a queue of several requests.
    #[inline]
    fn place(&self, index: usize) -> Option<Place> {
        let spot = self.places.get(index)?;
        Some((spot.rank.0, spot.key))
    }

    /// Returns the next place after `at`.
    #[inline]
    pub(crate) fn after(&self, pool: &Pool, at: Place) -> Option<Place> {
        let rank = pool.rank(at);
        match self.only {
            Some(only) => (pool.rank(only) > rank).then_some(only),
            None => self.place(self.index((rank.0, rank.1.saturating_add(1)))),
        }
    }

    /// Returns the nearest place below; if several requests begin there, the one that arrived first.
    #[inline]
    pub(crate) fn before(&self, pool: &Pool, at: Place) -> Option<Place> {
        let rank = pool.rank(at);
        if let Some(only) = self.only {
            return (pool.rank(only) < rank).then_some(only);
        }
        let below = self.index(rank).checked_sub(1)?;
        self.at_or_above(self.place(below)?.0)
    }

    /// Puts a request into both orders: by age behind `older`, or farther ahead if `older` was queued later.
    fn line_up(&mut self, pool: &mut Pool, at: Place, mut older: u32) {
        let queued = pool.get(at.1).map(|io| io.queued);
        while let Some(ahead) = pool.get(IoKey(older))
            && Some(ahead.queued) > queued
        {
            older = pool.ages.older(older);
        }
        pool.ages.insert(&mut self.ages, older, at.1.0);
        let rank = pool.rank(at);
        let spot = Spot { rank, key: at.1 };
        self.places.insert(self.index(rank), spot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hand::{LEN, read};
    use fathom_base::Time;

    fn at(key: u32, offset: u64, queued: u64) -> Io {
        Io {
            queued: Time(queued),
            ..read(key, offset)
        }
    }

    fn by_age(queue: &mut SortedQueue, pool: &mut Pool) -> Vec<u32> {
        let next = || {
            let oldest = place(queue.oldest(pool)?);
            queue.remove(pool, oldest)
        };
        std::iter::from_fn(next).map(|io| io.key.0).collect()
    }

    #[test]
    fn two_lines_share_a_pool_and_keep_their_orders() {
        let mut pool = Pool::default();
        let (mut a, mut b) = (SortedQueue::default(), SortedQueue::default());
        for key in 0..6 {
            let queue = if key % 2 == 0 { &mut a } else { &mut b };
            queue.insert(&mut pool, at(key, 9000 - u64::from(key) * 512, 1));
        }
        assert_eq!(a.lowest(), Some((9000 - 4 * 512, IoKey(4))));
        assert_eq!(
            a.after(&pool, (9000 - 4 * 512, IoKey(4))),
            Some((9000 - 2 * 512, IoKey(2)))
        );
        a.remove(&mut pool, (9000 - 2 * 512, IoKey(2)));
        assert_eq!(by_age(&mut a, &mut pool), [0, 4]);
        assert_eq!(by_age(&mut b, &mut pool), [1, 3, 5]);
        assert!(a.is_empty() && b.is_empty());
    }

    #[test]
    fn what_has_become_older_moves_ahead() {
        let mut pool = Pool::default();
        let mut queue = SortedQueue::default();
        for (key, queued) in [(0, 10), (1, 20), (2, 30), (3, 40)] {
            queue.insert(&mut pool, at(key, u64::from(key) * 4096, queued));
        }
        queue.change(&mut pool, &at(3, 3 * 4096, 40), at(3, 3 * 4096, 15));
        assert_eq!(by_age(&mut queue, &mut pool), [0, 3, 1, 2]);
    }

    #[test]
    fn reads_at_one_place_stay_apart_and_in_order() {
        let mut pool = Pool::default();
        let mut queue = SortedQueue::default();
        for key in [7, 2, 5] {
            queue.insert(&mut pool, at(key, 4096, 0));
        }
        let after = |key| queue.after(&pool, (4096, IoKey(key))).map(|next| next.1.0);
        assert_eq!((after(7), after(2), after(5)), (Some(2), Some(5), None));
        assert_eq!(queue.lowest(), Some((4096, IoKey(7))));
        assert_eq!(
            queue.before(&pool, (8192, IoKey(9))),
            Some((4096, IoKey(7)))
        );
        assert_eq!(queue.before(&pool, (4096, IoKey(7))), None);
        assert_eq!(by_age(&mut queue, &mut pool), [7, 2, 5]);
    }

    /// The requests in order of age, each with its number of arrival.
    #[derive(Default)]
    struct Plain(Vec<(Io, u64)>);

    impl Plain {
        fn insert(&mut self, mut index: usize, io: Io, sequence: u64) {
            while index > 0 && self.0[index - 1].0.queued > io.queued {
                index -= 1;
            }
            self.0.insert(index, (io, sequence));
        }

        /// The places in their order.
        fn places(&self) -> Vec<Place> {
            let mut all = self.0.clone();
            all.sort_by_key(|&(io, sequence)| (io.offset, sequence));
            all.iter().map(|(io, _)| place(io)).collect()
        }
    }

    fn same(queue: &SortedQueue, pool: &Pool, plain: &Plain, offset: u64) {
        let places = plain.places();
        assert_eq!(queue.len(), places.len());
        assert_eq!(queue.is_empty(), places.is_empty());
        let oldest = plain.0.first().map(|(io, _)| io);
        assert_eq!(queue.oldest(pool), oldest);
        assert_eq!(queue.lowest(), places.first().copied());
        let above = places.iter().find(|at| at.0 >= offset);
        assert_eq!(queue.at_or_above(offset), above.copied());
        // A place above all requests at its offset, and those of the requests.
        let nowhere = (offset, IoKey(u32::MAX));
        let below = |at: Place| places.iter().rev().find(|other| other.0 < at.0);
        let first = |at: Place| places.iter().find(|other| other.0 == at.0).copied();
        let here = first(nowhere).or_else(|| below(nowhere).and_then(|&at| first(at)));
        assert_eq!(queue.before(pool, nowhere), here);
        let beyond = places.iter().find(|at| at.0 > offset);
        assert_eq!(queue.after(pool, nowhere), beyond.copied());
        for (index, &at) in places.iter().enumerate() {
            assert_eq!(queue.after(pool, at), places.get(index + 1).copied());
            let before = places[..index].last().and_then(|&before| first(before));
            assert_eq!(queue.before(pool, at), before);
        }
    }

    #[test]
    fn a_queue_does_as_a_list_does_with_none_one_and_many() {
        let (mut queue, mut pool, mut plain) =
            (SortedQueue::default(), Pool::default(), Plain::default());
        let mut rng = fathom_base::Rng::new(2, 0);
        for turn in 1..6_000_u64 {
            let most = [1, 2, 12][turn as usize / 100 % 3];
            let key = rng.below(16) as u32;
            let found = plain.0.iter().position(|(io, _)| io.key.0 == key);
            let io = at(
                key,
                rng.below(8) * LEN,
                turn / 2 - rng.below(2).min(turn / 2),
            );
            match found {
                None if plain.0.len() < most => {
                    queue.insert(&mut pool, io);
                    plain.insert(plain.0.len(), io, turn);
                }
                Some(index) if rng.chance(0.3) => {
                    let (before, sequence) = plain.0.remove(index);
                    let queued = Time(before.queued.0 - rng.below(3).min(before.queued.0));
                    let io = Io { queued, ..io };
                    queue.change(&mut pool, &before, io);
                    plain.insert(index, io, sequence);
                }
                Some(index) => {
                    let (gone, _) = plain.0.remove(index);
                    assert_eq!(queue.remove(&mut pool, place(&gone)), Some(gone));
                    assert_eq!(pool.get(gone.key), None);
                }
                None => assert_eq!(queue.remove(&mut pool, place(&io)), None),
            }
            same(&queue, &pool, &plain, rng.below(9) * LEN);
        }
    }
}
