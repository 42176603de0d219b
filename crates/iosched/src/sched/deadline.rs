//! Deadline: an elevator in one direction, with a bound on the waiting time of a request.
//!
//! Linux 2.6.23, `block/deadline-iosched.c`; `irbw` 2.3. Requests are held in order of place and in order of age, reads
//! apart from writes. They go in *batches* of one kind that ascend without a gap. When a batch ends, reads are
//! preferred unless they were preferred `writes_starved` times while writes waited. The next batch begins with the
//! oldest request of its kind if that has expired, else with the next place of the same kind, else with the lowest
//! place.
//!
//! The source of 2.6.23 itself was not available; those of 2.6.20 and 2.6.24 were read. They differ in one thing: since
//! 2.6.24 a batch without a next place begins with the oldest request instead of the lowest. This file follows 2.6.20.
//! In both versions a batch ends where the next request is not adjacent ("end the batch on a non sequential request");
//! later kernels continue. As in 2.6.20, requests beyond the end of a batch are chosen one by one, until a new batch
//! begins from an expired request, from the lowest place or in the other direction.
//!
//! Expiry is soft: it is checked between batches only. The policy is complete. One difference: two reads of the same
//! place may be held here, where Linux dispatches the first at once.

use super::{Place, Pool, SortedQueue, place};
use crate::scheduler::Policy;
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("batches in one direction, in address order; expired requests start the next batch");

keys! {
    /// The tunables of Linux with their names and defaults.
    pub struct Tunables {
        /// Time after which a waiting read starts the next batch (`HZ / 2`).
        pub read_expire: Dur = Dur::ms(500),
        /// Time after which a waiting write starts the next batch (`5 * HZ`).
        pub write_expire: Dur = Dur::ms(5000),
        /// Maximum number of requests in a batch. With 0, every request is chosen by itself.
        pub fifo_batch: u32 = 16,
        /// Number of times that reads are preferred while writes wait.
        pub writes_starved: u32 = 2,
        /// Whether a request may be merged in front of another one.
        pub front_merges: bool = true,
    }
}

impl Policy for Tunables {
    /// Covers the expiry of five seconds and a batch in progress.
    const STARVATION: Dur = Dur::ms(6_000);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Deadline::new(self)?))
    }
}

/// The index of each of the two queues.
const READ: usize = 0;
const WRITE: usize = 1;

/// The deadline scheduler; see the module.
#[derive(Clone, Debug)]
pub struct Deadline {
    tunables: Tunables,
    pool: Pool,
    queues: [SortedQueue; 2],
    /// The request above the last one of the same kind.
    next: Option<(usize, Place)>,
    /// Number of requests in this batch so far.
    batching: u32,
    /// The end of the last request, in bytes.
    head: u64,
    /// Number of times that reads were preferred since the last write.
    starved: u32,
}

impl Deadline {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// None: every setting is valid.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        Ok(Self {
            tunables: tunables.clone(),
            pool: Pool::default(),
            queues: [SortedQueue::default(), SortedQueue::default()],
            next: None,
            batching: 0,
            head: 0,
            starved: 0,
        })
    }

    /// Returns the next request of this batch, or `None` if the batch has ended.
    fn go_on(&mut self) -> Option<(usize, Place)> {
        let (side, at) = self.next?;
        if at.0 != self.head {
            self.batching = self.batching.saturating_add(self.tunables.fifo_batch);
        }
        (self.batching < self.tunables.fifo_batch).then_some((side, at))
    }

    /// Chooses reads or writes after the end of a batch.
    fn choose_side(&mut self) -> usize {
        let writes = !self.queues[WRITE].is_empty();
        if self.queues[READ].is_empty() || (writes && self.starved >= self.tunables.writes_starved)
        {
            self.starved = 0;
            return WRITE;
        }
        self.starved += u32::from(writes);
        READ
    }

    /// Chooses the next request after the end of a batch.
    fn begin(&mut self, now: Time) -> Option<(usize, Place)> {
        let side = self.choose_side();
        let oldest = self.queues[side].oldest(&self.pool)?;
        let expire = [self.tunables.read_expire, self.tunables.write_expire][side];
        if oldest.queued + expire <= now {
            self.batching = 0;
            return Some((side, place(oldest)));
        }
        if let Some(next) = self.next.filter(|next| next.0 == side) {
            return Some(next);
        }
        self.batching = 0;
        Some((side, self.queues[side].lowest()?))
    }
}

fn side_of(io: &Io) -> usize {
    usize::from(io.is_write())
}

impl Scheduler for Deadline {
    fn insert(&mut self, _now: Time, io: Io) {
        self.queues[side_of(&io)].insert(&mut self.pool, io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        let side = side_of(before);
        self.queues[side].change(&mut self.pool, before, io);
        if self.next == Some((side, place(before))) {
            self.next = Some((side, place(&io)));
        }
    }

    fn remove(&mut self, io: &Io) {
        let (side, at) = (side_of(io), place(io));
        if self.next == Some((side, at)) {
            self.next = self.queues[side]
                .after(&self.pool, at)
                .map(|next| (side, next));
        }
        self.queues[side].remove(&mut self.pool, at);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        let (side, at) = match self.go_on() {
            Some(next) => next,
            None => self.begin(now)?,
        };
        self.batching = self.batching.saturating_add(1);
        self.next = self.queues[side]
            .after(&self.pool, at)
            .map(|next| (side, next));
        let io = self.queues[side].remove(&mut self.pool, at)?;
        self.head = io.end();
        Some(io)
    }

    fn len(&self) -> usize {
        self.queues[READ].len() + self.queues[WRITE].len()
    }

    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        self.tunables.front_merges || new.end() != held.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hand::{LEN, next, put, read, write};

    const FAR: u64 = 1 << 30;

    fn deadline(tunables: Tunables) -> Deadline {
        Deadline::new(&tunables).unwrap()
    }

    #[test]
    fn requests_ascend_and_then_begin_at_the_lowest() {
        let mut d = deadline(Tunables::default());
        for (key, offset) in [(0, 5), (1, 9), (2, 7)] {
            put(&mut d, Time::ZERO, read(key, offset * FAR));
        }
        assert_eq!(next(&mut d, Time::ZERO, 1), [0]);
        // Both are behind the head and have not expired: they wait for the next sweep, which begins with the lower one.
        put(&mut d, Time::ZERO, read(3, 3 * FAR));
        put(&mut d, Time::ZERO, read(4, FAR));
        assert_eq!(next(&mut d, Time::ZERO, 9), [2, 1, 4, 3]);
    }

    #[test]
    fn an_expired_request_goes_before_the_sweep_goes_on() {
        let mut d = deadline(Tunables::default());
        put(&mut d, Time(0), read(0, 2 * FAR));
        put(&mut d, Time(0), read(2, 3 * FAR));
        assert_eq!(next(&mut d, Time(0), 1), [0]);
        put(&mut d, Time(1), read(1, FAR));
        put(&mut d, Time(0) + Dur::ms(300), read(3, 4 * FAR));
        assert_eq!(next(&mut d, Time(0) + Dur::ms(300), 1), [2]);
        // Request 1 is behind the head. It expires 500 ms after its arrival, and goes first then.
        let mut in_time = d.clone();
        assert_eq!(next(&mut in_time, Time(0) + Dur::ms(500), 2), [3, 1]);
        assert_eq!(next(&mut d, Time(1) + Dur::ms(500), 2), [1, 3]);
    }

    #[test]
    fn writes_wait_for_two_batches_of_reads_and_no_more() {
        let mut d = deadline(Tunables::default());
        for key in 0..4 {
            // No two are adjacent, so every read is a batch.
            put(&mut d, Time::ZERO, read(key, u64::from(key) * FAR));
        }
        put(&mut d, Time::ZERO, write(8, 0));
        put(&mut d, Time::ZERO, write(9, 4 * LEN));
        assert_eq!(next(&mut d, Time::ZERO, 9), [0, 1, 8, 2, 3, 9]);
        let mut d = deadline(Tunables {
            writes_starved: 0,
            ..Tunables::default()
        });
        put(&mut d, Time::ZERO, read(0, 0));
        put(&mut d, Time::ZERO, write(1, LEN));
        assert_eq!(next(&mut d, Time::ZERO, 2), [1, 0]);
    }

    #[test]
    fn a_batch_of_adjacent_writes_is_not_broken_by_reads_until_it_is_full() {
        let mut d = deadline(Tunables {
            fifo_batch: 3,
            ..Tunables::default()
        });
        for key in 0..5 {
            put(&mut d, Time::ZERO, write(key, u64::from(key) * LEN));
        }
        assert_eq!(next(&mut d, Time::ZERO, 1), [0]);
        put(&mut d, Time::ZERO, read(9, FAR));
        assert_eq!(next(&mut d, Time::ZERO, 9), [1, 2, 9, 3, 4]);
    }

    #[test]
    fn a_batch_ends_at_a_gap() {
        let mut d = deadline(Tunables::default());
        put(&mut d, Time::ZERO, write(0, 0));
        put(&mut d, Time::ZERO, write(1, 2 * LEN));
        assert_eq!(next(&mut d, Time::ZERO, 1), [0]);
        put(&mut d, Time::ZERO, read(9, FAR));
        assert_eq!(next(&mut d, Time::ZERO, 9), [9, 1]);
    }

    #[test]
    fn merging_in_front_can_be_forbidden() {
        let (held, in_front, behind) = (read(0, LEN), read(1, 0), read(1, 2 * LEN));
        let mut tunables = Tunables::default();
        assert!(deadline(tunables.clone()).may_merge(&held, &in_front));
        tunables.front_merges = false;
        let d = deadline(tunables);
        assert!(!d.may_merge(&held, &in_front) && d.may_merge(&held, &behind));
    }

    #[test]
    fn the_sweep_goes_on_where_the_next_request_was_merged_away() {
        let mut d = deadline(Tunables::default());
        for key in 0..4 {
            put(&mut d, Time::ZERO, read(key, u64::from(key) * FAR));
        }
        assert_eq!(next(&mut d, Time::ZERO, 1), [0]);
        d.remove(&read(1, FAR));
        put(&mut d, Time::ZERO, read(5, LEN));
        assert_eq!(next(&mut d, Time::ZERO, 9), [2, 3, 5]);
    }
}
