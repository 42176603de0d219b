//! A queue of BFQ: its owner, and the observed habits of its process.

use super::super::seek::Mean;
use super::super::{Place, SortedQueue};
use super::raised::Raise;
use crate::{Class, Io, IoKey};
use fathom_base::{Bytes, Time};

/// A request farther away than this is a seek (`BFQQ_SEEK_THR`, 800 sectors) ...
const SEEK: Bytes = Bytes::kib(400);
/// ... and on a drive without a head only if it is shorter than this (`BFQQ_SECT_THR_NONROT`, 64 sectors).
pub(super) const SHORT: Bytes = Bytes::kib(32);

/// The weight by priority: `bfq_ioprio_to_weight`.
pub(super) fn weight(io: &Io) -> u64 {
    10 * (8 - u64::from(io.priority.min(7)))
}

/// `BFQ_RQ_SEEKY`: whether a request begins far from `last`, an offset in bytes; 0 means no last request.
pub(super) fn is_seek(last: u64, io: &Io, rotational: bool) -> bool {
    let far = last != 0 && io.offset.abs_diff(last) > SEEK.0;
    far && (rotational || io.len < SHORT.0)
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) sorted: SortedQueue,
    pub(super) class: Class,
    pub(super) sync: bool,
    /// The process that owns the queue alone; `None` for a shared or async queue.
    pub(super) process: Option<u32>,
    /// The weight from the priority of its last request.
    pub(super) weight: u64,
    /// The weight under which it is counted among the busy queues.
    pub(super) counted: Option<u64>,
    /// The request that goes next.
    pub(super) next: Option<Place>,
    /// In sectors: the budget of its next turn, the present budget, and the part of it used so far.
    pub(super) max_budget: u64,
    pub(super) budget: u64,
    pub(super) service: u64,
    pub(super) in_flight: u32,
    /// Whether it has requests, is being served, or is to keep its place.
    pub(super) busy: bool,
    /// Whether it had no more requests when its turn ended.
    pub(super) ran_dry: bool,
    pub(super) fifo_checked: bool,
    /// The end of its turn; outside a turn, when it ran dry. `None` means long ago.
    pub(super) timeout: Option<Time>,
    pub(super) created: Time,
    pub(super) just_created: bool,
    pub(super) raise: Raise,
    pub(super) habit: Habit,
    pub(super) injection: Injection,
}

/// The habits of a process.
#[derive(Clone, Debug)]
pub(super) struct Habit {
    /// Think time from a completion to the next request, in ns.
    pub(super) think: Mean,
    pub(super) short_think: bool,
    pub(super) ended: Time,
    /// A bit for each of the last 32 requests: whether it was a seek.
    pub(super) seeks: u32,
    /// The end of the last request, in bytes.
    pub(super) place: u64,
    /// Whether it keeps the drive busy for most of the time; the start of the observation; the idle time in ns since
    /// then.
    pub(super) io_bound: bool,
    since: Time,
    idle_ns: u64,
}

/// The number of requests of other queues that may go while the drive waits for this one.
#[derive(Clone, Debug, Default)]
pub(super) struct Injection {
    pub(super) limit: u32,
    /// Time of a request without injection, in ns; 0 if unknown.
    pub(super) base_ns: u64,
    pub(super) decreased: Time,
    /// The queue whose completions trigger requests of this one.
    pub(super) waker: Option<u32>,
    pub(super) tentative: Option<u32>,
    pub(super) detections: u32,
    pub(super) detecting_since: Time,
    /// The queues that this one wakes, in the order of their last wake-up.
    pub(super) woken: Vec<u32>,
}

impl Queue {
    /// Creates an empty queue for requests like `io`.
    pub(super) fn new(now: Time, io: &Io, max_budget: u64) -> Self {
        Self {
            sorted: SortedQueue::default(),
            class: io.class,
            sync: io.sync,
            process: io.sync.then_some(io.process),
            weight: weight(io),
            counted: None,
            next: None,
            max_budget: 2 * max_budget / 3,
            budget: 0,
            service: 0,
            in_flight: 0,
            busy: false,
            ran_dry: false,
            fifo_checked: false,
            timeout: None,
            created: now,
            just_created: io.sync,
            raise: Raise::new(now),
            habit: Habit {
                think: Mean::default(),
                short_think: io.sync,
                ended: now,
                seeks: 1,
                place: 0,
                io_bound: true,
                since: now,
                idle_ns: 0,
            },
            injection: Injection {
                decreased: now,
                ..Injection::default()
            },
        }
    }

    /// Returns whether a request has the priority of this queue.
    pub(super) fn is_of(&self, io: &Io) -> bool {
        (self.class, self.weight) == (io.class, weight(io))
    }

    pub(super) fn budget_left(&self) -> u64 {
        self.budget.saturating_sub(self.service)
    }

    /// Returns true if most of its last requests were seeks.
    pub(super) fn is_seeky(&self) -> bool {
        self.habit.seeks.count_ones() > 19
    }

    /// `bfq_update_io_intensity`: updates `io_bound`, which is true if at most a fifth of the time is unused.
    pub(super) fn note_intensity(&mut self, now: Time) {
        let habit = &mut self.habit;
        let total = now.since(habit.since).0;
        if self.sorted.is_empty() && self.in_flight == 0 {
            habit.idle_ns += now.since(habit.ended).0;
        }
        if self.just_created {
            return;
        }
        habit.io_bound = habit.idle_ns.saturating_mul(5) <= total;
        if total > 200_000_000 {
            habit.since = Time(now.0 - total / 2);
            habit.idle_ns /= 2;
        }
    }

    /// Updates the place of the next request if it is the one with this key.
    pub(super) fn rename_next(&mut self, key: IoKey, at: Place) {
        if self.next.is_some_and(|next| next.1 == key) {
            self.next = Some(at);
        }
    }
}
