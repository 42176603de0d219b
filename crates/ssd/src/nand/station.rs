//! A station of the flash array: the current operation and the waiting ones.

use super::job::Job;
use fathom_base::Time;

/// No operation.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) job: Job,
    pub(super) next: u32,
    /// Start and end of the part that can be suspended. [`UNKNOWN`] before the times are known. For a suspended
    /// operation, the remaining time counted from zero.
    pub(super) array: (Time, Time),
    /// Programmed in step with another operation, which is the current one of the station.
    pub(super) joined: bool,
}

/// The times of an operation that has not been sensed yet: when its data will be in the page register is not known.
pub(super) const UNKNOWN: (Time, Time) = (Time::MAX, Time::MAX);

/// A first-in, first-out list of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) head: u32,
    tail: u32,
}

pub(super) const EMPTY: Queue = Queue {
    head: NONE,
    tail: NONE,
};

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, ops: &mut [Op], id: u32) {
        match self.tail {
            NONE => self.head = id,
            tail => ops[tail as usize].next = id,
        }
        self.tail = id;
    }

    #[inline]
    pub(super) fn pop(&mut self, ops: &[Op]) -> Option<u32> {
        let id = Some(self.head).filter(|&id| id != NONE)?;
        self.head = ops[id as usize].next;
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(id)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    pub(super) busy: bool,
    /// The operation at work, if `busy`.
    pub(super) current: u32,
    /// A program, a copy or an erase that was suspended by a read.
    pub(super) suspended: u32,
    /// The next program, whose data is in the cache register or on its way to it.
    pub(super) preloaded: u32,
    /// Programs for other planes that will start together with the current one, while their data is still arriving.
    pub(super) joined: Queue,
    /// Reads with priority over all other operations (`read-first` and `suspend`).
    pub(super) reads: Queue,
    pub(super) queue: Queue,
}

pub(super) const IDLE: Station = Station {
    busy: false,
    current: NONE,
    suspended: NONE,
    preloaded: NONE,
    joined: EMPTY,
    reads: EMPTY,
    queue: EMPTY,
};
