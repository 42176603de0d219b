//! The parts that the anticipatory scheduler and CFQ share: which of two requests is nearer to the head, and how far
//! and how late the next request of a process usually is. BFQ uses the head and the mean, too.
//!
//! Linux 2.6, `block/as-iosched.c` and `block/cfq-iosched.c`. Both are elevators in one direction that also seek back a
//! little if that is shorter ("strict one way elevator except in the case where we allow short backward seeks"). Both
//! keep means of each process's behaviour in which each new sample has a weight of an eighth. Bytes replace the
//! kernel's sectors and nanoseconds replace its ticks, so the means are finer than in the kernel.

use super::{Place, Pool, SortedQueue};
use fathom_base::{Dur, Time};

/// The assumed position of the head and the cost of going back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The end of the last request, in bytes.
    pub(crate) at: u64,
    /// Maximum distance backwards, in bytes.
    pub(crate) back_max: u64,
    /// Number of bytes ahead that cost as much as one byte back.
    pub(crate) back_penalty: u64,
}

impl Head {
    /// The distance to a place, in bytes ahead or their equivalent. `None` if the place is too far behind.
    #[inline]
    fn cost(&self, offset: u64) -> Option<u64> {
        match offset.checked_sub(self.at) {
            Some(ahead) => Some(ahead),
            None => {
                let back = self.at - offset;
                (back <= self.back_max).then(|| back.saturating_mul(self.back_penalty))
            }
        }
    }

    /// Returns the nearer of two places; if both are too far behind, the lower.
    #[inline]
    pub(crate) fn nearer(&self, a: Option<Place>, b: Option<Place>) -> Option<Place> {
        let (Some(a), Some(b)) = (a, b) else {
            return a.or(b);
        };
        let a_wins = match (self.cost(a.0), self.cost(b.0)) {
            (Some(x), Some(y)) => x < y || (x == y && a.0 >= b.0),
            (None, None) => a.0 <= b.0,
            (x, _) => x.is_some(),
        };
        Some(if a_wins { a } else { b })
    }

    /// Chooses the request after the one at `from`, which is still in the queue: the nearer of its neighbour above (or
    /// else the lowest request) and its neighbour below.
    #[inline]
    pub(crate) fn next(&self, pool: &Pool, queue: &SortedQueue, from: Place) -> Option<Place> {
        let lowest = || queue.lowest().filter(|&lowest| lowest != from);
        let above = queue.after(pool, from).or_else(lowest);
        self.nearer(above, queue.before(pool, from))
    }

    /// The distance of an offset from the head in either direction, in bytes.
    #[inline]
    pub(crate) fn distance(&self, offset: u64) -> u64 {
        self.at.abs_diff(offset)
    }
}

/// The value 1 in the fixed point of the means.
const ONE: u64 = 256;

/// A decaying mean: a new sample weighs an eighth, the old mean seven eighths.
///
/// As in the kernel, the weights are rounded down. In the long run they add up to 249 of 256, and the mean is up to 3 %
/// too high.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    samples: u64,
    total: u64,
}

impl Mean {
    pub(crate) fn add(&mut self, value: u64) {
        self.samples = (7 * self.samples + ONE) / 8;
        let eighth = value.saturating_mul(ONE / 8);
        self.total = (self.total - self.total / 8).saturating_add(eighth);
    }

    /// The mean; `None` before the first sample.
    pub(crate) fn get(&self) -> Option<u64> {
        (self.total.saturating_add(self.samples / 2)).checked_div(self.samples)
    }

    /// Returns the mean if there are enough samples to trust it: a weight above 80 of 256, which takes three samples.
    pub(crate) fn trusted(&self) -> Option<u64> {
        self.get().filter(|_| self.samples > 80)
    }
}

/// The usual behaviour of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Habit {
    /// Time from a completion to its next request, in nanoseconds.
    pub(crate) think: Mean,
    /// Distance from the end of a request to the start of its next one, in bytes.
    pub(crate) seek: Mean,
    /// When a request of the process completed last.
    pub(crate) ended: Time,
    /// The end of its last request, in bytes.
    pub(crate) place: u64,
}

impl Habit {
    /// Records the think time before a request, limited to `most`.
    pub(crate) fn thought(&mut self, time: Dur, most: Dur) {
        self.think.add(time.min(most).0);
    }

    /// Records a request at `offset` and returns the distance of the seek, in bytes. A single long seek does not count in
    /// full: at most four times the mean plus 1 GiB for the first three samples, and plus 64 MiB later (2 * 1024 * 1024
    /// and 2 * 1024 * 64 sectors).
    pub(crate) fn sought(&mut self, offset: u64) -> u64 {
        let slack = if self.seek.samples <= 60 {
            1 << 30
        } else {
            64 << 20
        };
        let usual = self.seek.get().unwrap_or(0);
        let distance = self.place.abs_diff(offset);
        self.seek
            .add(distance.min(usual.saturating_mul(4).saturating_add(slack)));
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IoKey;

    const HEAD: Head = Head {
        at: 10_000,
        back_max: 1000,
        back_penalty: 2,
    };

    fn nearer(a: u64, b: u64) -> u64 {
        let place = |offset| Some((offset, IoKey(0)));
        let found = HEAD.nearer(place(a), place(b)).unwrap().0;
        assert_eq!(HEAD.nearer(place(b), place(a)).unwrap().0, found);
        found
    }

    #[test]
    fn going_back_costs_twice_as_much_and_ends_at_the_limit() {
        assert_eq!(nearer(10_300, 10_200), 10_200);
        assert_eq!(nearer(10_300, 9_900), 9_900);
        assert_eq!(nearer(10_199, 9_900), 10_199);
        // Equal cost in both directions: forward wins.
        assert_eq!(nearer(10_200, 9_900), 10_200);
        assert_eq!(nearer(1 << 40, 8_999), 1 << 40);
        assert_eq!(nearer(1 << 40, 9_000), 9_000);
        // Both are too far behind: the head returns once, to the lowest.
        assert_eq!(nearer(100, 8_000), 100);
    }

    #[test]
    fn what_comes_next_may_lie_below_or_at_the_bottom() {
        let mut pool = Pool::default();
        let mut next_to = |places: &[u64], from: u64| {
            let mut queue = SortedQueue::default();
            for (key, &offset) in (0..).zip(places) {
                queue.insert(&mut pool, crate::sched::hand::read(key, offset));
            }
            let key = places.iter().position(|&offset| offset == from).unwrap() as u32;
            let next = HEAD
                .next(&pool, &queue, (from, IoKey(key)))
                .map(|next| next.0);
            for (key, &offset) in (0..).zip(places) {
                queue.remove(&mut pool, (offset, IoKey(key)));
            }
            next
        };
        assert_eq!(next_to(&[9_800, 9_900, 12_000], 9_900), Some(9_800));
        assert_eq!(next_to(&[9_800, 9_900, 10_100], 9_900), Some(10_100));
        assert_eq!(next_to(&[100, 5_000, 9_900], 9_900), Some(100));
        assert_eq!(next_to(&[9_900], 9_900), None);
    }

    #[test]
    fn a_mean_is_trusted_after_three_samples_and_follows_what_changes() {
        let mut mean = Mean::default();
        assert_eq!(mean.get(), None);
        for _ in 0..2 {
            mean.add(8_000_000);
        }
        assert_eq!((mean.get().is_some(), mean.trusted()), (true, None));
        for _ in 0..100 {
            mean.add(8_000_000);
        }
        let full = mean.trusted().unwrap();
        assert!((8_000_000..8_240_000).contains(&full), "{full}");
        mean.add(0);
        // An eighth of the way to the new value.
        let less = mean.trusted().unwrap();
        assert!((7_000_000..7_210_000).contains(&less), "{less}");
    }

    #[test]
    fn one_long_way_counts_for_no_more_than_the_slack() {
        let mut habit = Habit::default();
        for _ in 0..20 {
            assert_eq!(habit.sought(0), 0);
        }
        assert_eq!(habit.sought(1 << 40), 1 << 40);
        // One sample of at most 64 MiB with a weight of an eighth, apart from the rounding of the weights.
        let mean = habit.seek.trusted().unwrap();
        assert!((7 << 20..10 << 20).contains(&mean), "{mean}");
    }
}
