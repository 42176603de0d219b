//! Sorting of accesses by time within a bounded window, for formats that are only roughly in order; times are made relative
//! to the first access.

use super::Access;
use super::error::{ErrorKind, Place, TraceError};
use fathom_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Holds back up to `window` accesses and releases the earliest.
pub(super) struct Order {
    /// Maximum number of accesses held back.
    window: u32,
    held: BinaryHeap<Reverse<Held>>,
    taken: u64,
    /// The time of the first access released.
    first: Option<Time>,
    last: Time,
}

/// An access that is held back. Accesses with equal times keep their order.
struct Held {
    access: Access,
    place: Place,
    sequence: u64,
}

impl Held {
    fn key(&self) -> (Time, u64) {
        (self.access.at, self.sequence)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Held {}
impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A released access: in order, or late, with its time raised to that of the previous access.
pub(super) enum Ordered {
    Fine(Access),
    Late(Access, TraceError),
}

impl Order {
    pub(super) fn new(window: u32) -> Self {
        Self {
            window,
            held: BinaryHeap::new(),
            taken: 0,
            first: None,
            last: Time::ZERO,
        }
    }

    /// Adds an access with its original time. Returns the access that this releases, if any.
    pub(super) fn push(&mut self, access: Access, place: Place) -> Option<Ordered> {
        if self.window == 0 {
            return Some(self.pass(access, place));
        }
        self.held.push(Reverse(Held {
            access,
            place,
            sequence: self.taken,
        }));
        self.taken += 1;
        if self.held.len() > self.window as usize {
            self.pop()
        } else {
            None
        }
    }

    /// Releases the next access held back; used at the end of the trace.
    pub(super) fn pop(&mut self) -> Option<Ordered> {
        let Reverse(held) = self.held.pop()?;
        Some(self.pass(held.access, held.place))
    }

    fn pass(&mut self, mut access: Access, place: Place) -> Ordered {
        let first = *self.first.get_or_insert(access.at);
        if self.last <= access.at {
            self.last = access.at;
            access.at = Time(access.at.since(first).0);
            return Ordered::Fine(access);
        }
        let by_ns = self.last.since(access.at).0;
        access.at = Time(self.last.since(first).0);
        let reorder = self.window;
        let error = TraceError::new(ErrorKind::Backwards { by_ns, reorder }, place);
        Ordered::Late(access, error)
    }

    /// Returns the maximum number of accesses held back.
    pub(super) fn window(&self) -> usize {
        self.window as usize
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.held.capacity() * size_of::<Held>()
    }
}
