//! A queue of CFQ: the sync requests of one process, or the async requests of one class and priority.

use crate::Class;
use crate::sched::seek::Habit;
use crate::sched::{Place, SortedQueue};
use fathom_base::Time;

/// A process seeks if the mean distance between its requests is above this (`CIC_SEEKY`, 8 * 1024 sectors), in bytes.
const SEEKY: u64 = 4 << 20;

/// A position in the order of turns: class, time, sequence number; and the index of the queue.
pub(super) type Turn = (Class, i64, u64, u32);

/// The queue of a process, or of a class and priority.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) sorted: SortedQueue,
    pub(super) next: Option<Place>,
    pub(super) sync: bool,
    pub(super) class: Class,
    pub(super) priority: u8,
    /// Number of requests in flight.
    pub(super) dispatched: u32,
    /// When the slice ends; `None` before its first completion.
    pub(super) slice_end: Option<Time>,
    /// Nanoseconds left of the last slice; negative if it was exceeded.
    pub(super) residue: i64,
    /// Whether the oldest request was checked in this slice.
    pub(super) fifo_checked: bool,
    /// Whether it is worth keeping the drive idle for this queue.
    pub(super) idle_window: bool,
    /// Position in the order of turns while the queue holds a request.
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
