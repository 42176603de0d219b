//! CFQ, completely fair queueing: every process gets time slices of the drive in turn.
//!
//! Linux 2.6.23, `block/cfq-iosched.c`; the source of 2.6.23 was not available, and that of 2.6.24 was read; `irbw`
//! 2.3. Each process has a queue for its sync requests (reads, and writes that somebody waits for). Each class and
//! priority has a queue for async requests. Queues get the drive in turn, each for a *slice* of time that begins with
//! its first completion and is longer at a higher priority. Within a slice the nearest request goes (`seek.rs`); once
//! per slice the oldest goes first if it has expired. When a sync queue runs dry within its slice, the drive is kept
//! idle for a short time, since its process may make another request after the completion. There is no wait for a
//! process whose think time is usually longer.
//!
//! Details that follow that file: `slice_async_rq` counts the requests of one *round* of up to `quantum`, so at the
//! default quantum it ends slices at priority 7 only. The rest of an interrupted slice delays the queue's next turn
//! instead of advancing it. The real-time class goes first, but does not interrupt a slice of best effort. The idle
//! class goes after no other class had a completion for 100 ms, one request at a time.
//!
//! One difference: an async queue that has its turn, and whose oldest request has expired, is not preempted by a sync
//! one before it has dispatched a request. In Linux, a process that keeps several requests in flight and makes a new
//! one at each completion blocks all async requests for ever.
//!
//! Left out, because a queue of requests lacks the kernel's knowledge: metadata requests; the exit of processes (the
//! drive idles once for an exited process, for `slice_idle` at most, and its empty queue is kept); boosts for holders
//! of file system locks; and the sorted dispatch list (requests are chosen one at a time, so a round that has begun can
//! be cut short). The habits of a process cover its sync requests only: in Linux, async requests come from the kernel's
//! flusher; here they come from the process.

mod queue;
mod turn;

use super::seek::Head;
use super::{Place, Pool, place};
use crate::scheduler::Policy;
use crate::{Class, Io, Scheduler};
use fathom_base::{About, BadValue, Bytes, Dur, Time, keys, want};
use queue::{Queue, Turn};
use std::collections::{BTreeMap, BTreeSet};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About = About::new(
    "a time slice for each process in turn; the drive idles briefly for the process just served",
);

keys! {
    /// The tunables of Linux with their names and defaults.
    pub struct Tunables {
        /// Maximum number of requests of one queue in a round. While that many are in flight and other queues wait, the
        /// queue gets no new round.
        pub quantum: u32 = 4,
        /// Time after which a waiting sync request goes first in its queue's slice (`HZ / 8` at 250 Hz).
        pub fifo_expire_sync: Dur = Dur::ms(124),
        /// Time after which a waiting async request goes first in its queue's slice (`HZ / 4`).
        pub fifo_expire_async: Dur = Dur::ms(248),
        /// Maximum distance that the head goes back.
        pub back_seek_max: Bytes = Bytes::mib(16),
        /// Number of bytes ahead that cost as much as one byte back, from 1.
        pub back_seek_penalty: u64 = 2,
        /// Slice of a sync queue of priority 4 (`HZ / 10`).
        pub slice_sync: Dur = Dur::ms(100),
        /// Slice of an async queue of priority 4 (`HZ / 25`).
        pub slice_async: Dur = Dur::ms(40),
        /// Sets the share of an async queue: its slice ends after a round of 2 * `slice_async_rq` * (8 - priority)
        /// requests if other queues wait.
        pub slice_async_rq: u32 = 2,
        /// Maximum time that the drive is kept idle for the next request of a process (`HZ / 125`). With 0, never.
        pub slice_idle: Dur = Dur::ms(8),
    }
}

impl Policy for Tunables {
    /// Covers turns of one other process, of an eighth and a tenth of a second.
    const STARVATION: Dur = Dur::ms(500);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Cfq::new(self)?))
    }
}

/// Number of priority levels; 0 is the highest.
const PRIORITIES: u8 = 8;
/// Maximum time that the drive is kept idle for a process that seeks (`CFQ_MIN_TT`).
const SEEKY_IDLE: Dur = Dur::ms(2);
/// A drive that has had more than this number of requests in flight queues requests itself (`hw_tag`).
const QUEUES_ITSELF: u32 = 4;

/// Time without a completion of another class after which the idle class is served (`CFQ_IDLE_GRACE`, `HZ / 10`).
const IDLE_GRACE: Dur = Dur::ms(100);

/// The position before all other turns.
const FRONT: i64 = i64::MIN;

/// The queue that has its turn.
#[derive(Clone, Copy, Debug)]
struct Active {
    queue: usize,
    /// Number of requests of this round.
    round: u32,
    /// The time until which the drive is kept idle for the process of the queue.
    idle_until: Option<Time>,
}

/// The scheduler CFQ; see the module.
#[derive(Clone, Debug)]
pub struct Cfq {
    tunables: Tunables,
    pool: Pool,
    /// The queues of the classes and priorities, then those of processes.
    queues: Vec<Queue>,
    by_process: BTreeMap<u32, usize>,
    turns: BTreeSet<Turn>,
    sequence: u64,
    active: Option<Active>,
    head: Head,
    held: usize,
    in_flight: u32,
    sync_in_flight: u32,
    /// When a request of a class other than idle completed last.
    answered: Time,
    /// Whether the drive is known to queue requests itself.
    drive_queues: bool,
}

impl Cfq {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if `quantum` or `back_seek_penalty` is 0.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        let positive = [
            ("quantum", u64::from(tunables.quantum)),
            ("back_seek_penalty", tunables.back_seek_penalty),
        ];
        for (key, value) in positive {
            want(value > 0, key, 0, || "it is at least 1".into())?;
        }
        let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
        let levels = |class| (0..PRIORITIES).map(move |priority| (class, priority));
        let shared = classes.into_iter().flat_map(levels);
        let shared = shared.map(|(class, priority)| Queue::new(false, class, priority, Time::ZERO));
        Ok(Self {
            tunables: tunables.clone(),
            pool: Pool::default(),
            queues: shared.collect(),
            by_process: BTreeMap::new(),
            turns: BTreeSet::new(),
            sequence: 0,
            active: None,
            head: Head {
                at: 0,
                back_max: tunables.back_seek_max.0,
                back_penalty: tunables.back_seek_penalty,
            },
            held: 0,
            in_flight: 0,
            sync_in_flight: 0,
            answered: Time::ZERO,
            drive_queues: false,
        })
    }

    /// Returns the queue of a request, if its process has one.
    fn find(&self, io: &Io) -> Option<usize> {
        match io.sync {
            true => self.by_process.get(&io.process).copied(),
            false => {
                let before = io.class as usize * usize::from(PRIORITIES);
                Some(before + usize::from(priority_of(io)))
            }
        }
    }

    /// Returns the queue of a request; creates it for a new process.
    fn queue_of(&mut self, now: Time, io: &Io) -> usize {
        self.find(io).unwrap_or_else(|| {
            let queue = self.queues.len();
            let priority = priority_of(io);
            self.queues.push(Queue::new(true, io.class, priority, now));
            self.by_process.insert(io.process, queue);
            queue
        })
    }

    fn add(&mut self, queue: usize, now: Time, io: Io) {
        let this = &mut self.queues[queue];
        this.sorted.insert(&mut self.pool, io);
        this.next = self.head.nearer(this.next, Some(place(&io)));
        if this.turn.is_none() {
            self.enter_turns(queue, now, false);
        }
        self.held += 1;
    }

    fn take(&mut self, queue: usize, at: Place) -> Option<Io> {
        let this = &mut self.queues[queue];
        if this.next == Some(at) {
            this.next = self.head.next(&self.pool, &this.sorted, at);
        }
        let io = this.sorted.remove(&mut self.pool, at)?;
        if this.sorted.is_empty() {
            self.leave_turns(queue);
        }
        self.held -= 1;
        Some(io)
    }

    /// Updates the habits of a process from a request, and decides whether to keep the drive idle for it.
    fn learn(&mut self, queue: usize, now: Time, io: &Io) {
        let idle = self.tunables.slice_idle;
        let this = &mut self.queues[queue];
        let habit = &mut this.habit;
        habit.thought(now.since(habit.ended), idle * 2);
        habit.sought(io.offset);
        habit.place = io.end();
        let think = this.habit.think.trusted();
        let never = idle == Dur::ZERO || this.class == Class::Idle;
        if never || (self.drive_queues && this.seeks()) {
            this.idle_window = false;
        } else if let Some(mean) = think {
            this.idle_window = mean <= idle.0;
        }
    }
}

fn priority_of(io: &Io) -> u8 {
    io.priority.min(PRIORITIES - 1)
}

/// Converts nanoseconds to a signed number.
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

impl Scheduler for Cfq {
    fn insert(&mut self, now: Time, io: Io) {
        let queue = self.queue_of(now, &io);
        let this = &mut self.queues[queue];
        (this.class, this.priority) = (io.class, priority_of(&io));
        self.add(queue, now, io);
        if io.sync {
            self.learn(queue, now, &io);
        }
        let preempts = self.preempts(now, &io);
        match &mut self.active {
            Some(active) if active.queue == queue => active.idle_until = None,
            _ if preempts => {
                self.end_slice(now, true);
                self.enter_turns(queue, now, true);
            }
            _ => {}
        }
    }

    fn changed(&mut self, now: Time, before: &Io, io: Io) {
        let Some(from) = self.find(before) else {
            return;
        };
        let to = self.queue_of(now, &io);
        if from != to {
            self.take(from, place(before));
            return self.add(to, now, io);
        }
        let this = &mut self.queues[from];
        this.sorted.change(&mut self.pool, before, io);
        let next = this.next.filter(|&next| next != place(before));
        this.next = self.head.nearer(next, Some(place(&io)));
    }

    fn remove(&mut self, io: &Io) {
        if let Some(queue) = self.find(io) {
            self.take(queue, place(io));
        }
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        if self.held == 0 {
            return None;
        }
        let active = self.select(now)?;
        if !self.may_dispatch(active) {
            return None;
        }
        let queue = active.queue;
        let at = self.pick(queue, now)?;
        self.head.at = self.pool.get(at.1)?.end();
        let io = self.take(queue, at)?;
        self.queues[queue].dispatched += 1;
        self.sync_in_flight += u32::from(io.sync);
        self.in_flight += 1;
        self.drive_queues |= self.in_flight > QUEUES_ITSELF;

        let round = active.round + 1;
        let ended = round == self.quantum(queue) || self.queues[queue].sorted.is_empty();
        self.active = Some(Active {
            queue,
            round: if ended { 0 } else { round },
            idle_until: None,
        });
        if ended && self.ends_early(queue, round) {
            self.end_slice(now, false);
        }
        Some(io)
    }

    fn completed(&mut self, now: Time, io: &Io) {
        let Some(queue) = self.find(io) else {
            return;
        };
        let this = &mut self.queues[queue];
        this.dispatched = this.dispatched.saturating_sub(1);
        this.habit.ended = now;
        if this.class != Class::Idle {
            self.answered = now;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        self.sync_in_flight = self.sync_in_flight.saturating_sub(u32::from(io.sync));
        let Some(mut active) = self.active.filter(|active| active.queue == queue) else {
            return;
        };
        if this.slice_end.is_none() {
            let (sync, priority) = (this.sync, this.priority);
            self.queues[queue].slice_end = Some(now + self.slice(sync, priority));
        }
        if self.queues[queue].has_used_slice(now) {
            self.end_slice(now, true);
        } else if io.sync && self.queues[queue].sorted.is_empty() {
            active.idle_until = self.wait_for(queue, now).or(active.idle_until);
            self.active = Some(active);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self.active.filter(|_| self.held > 0) {
            Some(active) => active.idle_until,
            None => self.grace(),
        }
    }

    fn len(&self) -> usize {
        self.held
    }

    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        match (held.sync, new.sync) {
            (true, true) => held.process == new.process,
            (false, false) => (held.class, priority_of(held)) == (new.class, priority_of(new)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
