//! A queue of CFQ: what one process waits for, or what nobody waits for at one class and level of priority.

use crate::Class;
use crate::sched::seek::Habit;
use crate::sched::{Place, SortedQueue};
use fathom_base::Time;

/// A process whose requests lie farther apart than that on average seeks (`CIC_SEEKY`, 8 * 1024 sectors), in bytes.
const SEEKY: u64 = 4 << 20;

/// When a queue has its turn: by class, by time, then by arrival; the number of the queue.
pub(super) type Turn = (Class, i64, u64, u32);

/// A queue of a process, or of a class and a priority in it.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) sorted: SortedQueue,
    pub(super) next: Option<Place>,
    pub(super) sync: bool,
    pub(super) class: Class,
    pub(super) priority: u8,
    /// Requests that the drive has.
    pub(super) dispatched: u32,
    /// When its slice ends; `None` before the first completion in it.
    pub(super) slice_end: Option<Time>,
    /// Nanoseconds that were left of a slice, or negative.
    pub(super) residue: i64,
    /// Whether the oldest request was looked at in this slice.
    pub(super) fifo_checked: bool,
    /// Whether it is worth waiting for.
    pub(super) idle_window: bool,
    /// Its place among the turns, while it holds a request.
    pub(super) turn: Option<Turn>,
    pub(super) habit: Habit,
}

impl Queue {
    pub(super) fn new(sync: bool, class: Class, priority: u8, now: Time) -> Self {
        Self {
            sorted: SortedQueue::default(),
            next: None,
            sync,
            class,
            priority,
            dispatched: 0,
            slice_end: None,
            residue: 0,
            fifo_checked: false,
            idle_window: sync,
            turn: None,
            habit: Habit {
                ended: now,
                ..Habit::default()
            },
        }
    }

    pub(super) fn has_used_slice(&self, now: Time) -> bool {
        self.slice_end.is_some_and(|end| now >= end)
    }

    pub(super) fn seeks(&self) -> bool {
        self.habit.seek.get().is_some_and(|mean| mean > SEEKY)
    }
}
