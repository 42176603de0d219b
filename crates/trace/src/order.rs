//! Times from the first access on, and in order: a bounded window for those formats that are merged only roughly.

use super::Access;
use super::error::{ErrorKind, Place, TraceError};
use fathom_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Holds back a bounded number of accesses, the earliest of which goes on.
pub(super) struct Order {
    /// How many are held back.
    window: u32,
    held: BinaryHeap<Reverse<Held>>,
    taken: u64,
    /// The time of the first access that went on.
    first: Option<Time>,
    last: Time,
}

/// An access that is held back. Accesses of one time go on in the order in which they came.
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

/// An access in its place; or one whose time is before that of the access before, moved up to it.
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

    /// Takes an access with its own time; the one that goes on for it, if any does.
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

    /// The next of those held back, once no more come.
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

    /// Accesses that are held back at most.
    pub(super) fn window(&self) -> usize {
        self.window as usize
    }

    /// Memory that it holds, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.held.capacity() * size_of::<Held>()
    }
}
