//! A station of the flash array: the operation at work, and those that wait.

use super::job::Job;
use fathom_base::Time;

/// No operation.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) job: Job,
    pub(super) next: u32,
    /// When what can be interrupted of it begins and when it ends; [`UNKNOWN`] before that can be told, and a suspended
    /// one's end is not known yet.
    pub(super) array: (Time, Time),
    /// It is programmed in step with another one, which the station works on.
    pub(super) joined: bool,
}

/// When the data of a copy will be back in the page register is not known before it has been sensed.
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
    /// A program, a copy or an erase that a read has interrupted.
    pub(super) suspended: u32,
    /// The next program, whose data is in the cache register or on its way there.
    pub(super) preloaded: u32,
    /// Programs of other planes that begin together with the one at work, whose data has not all arrived.
    pub(super) joined: Queue,
    /// Reads that go before everything else (`read-first` and `suspend`).
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
