//! Computes how long each original write waits for room in a write buffer in front of the drive.
//!
//! In the reshaped stream, accesses have the times of the trace, and an eviction makes room at once (`epo` Figure 3). Here
//! a page slot becomes free only when the drive has completed the eviction. Every page that does not replace another takes
//! the slot that has been free longest. A write is accepted when its last page has a slot. A write whose pages all replace
//! others, or all find free slots, waits 0. Without a buffer a write waits until the drive has completed it.
//!
//! The n-th page that takes a slot therefore has it at its own arrival or, beyond the buffer's capacity C, when the drive
//! has completed the (n - C)-th evicted page, whichever is later. A waiting write does not delay later ones: they arrive at
//! the times of the trace, and so do the evictions that they cause.

use fathom_base::{Dur, Time};
use fathom_run::HostWait;
use fathom_ssd::reshape::Taken;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// [`Rooms`], shared between the stream and the measurement.
pub(crate) type WatchedRooms = Rc<RefCell<Rooms>>;

/// Pages of one write that have no slot yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    write: u64,
    at: Time,
    pages: u32,
}

/// The page slots of a buffer, as pages take them and the drive frees them.
#[derive(Debug)]
pub(crate) struct Rooms {
    buffer: bool,
    /// Free slots: since when, and how many; the oldest first. Times are those of the workload.
    free: VecDeque<(Time, u32)>,
    waiting: VecDeque<Waiting>,
    /// Requests in flight that will free slots, by number, with the count of slots.
    sent: BTreeMap<u64, u32>,
    next: u64,
    /// The last write that waited, and its wait so far.
    last: (u64, Dur),
    found: HostWait,
}

impl Rooms {
    /// A buffer with that many free page slots; `None` for no buffer.
    pub(super) fn new(capacity_pages: Option<u32>) -> Self {
        let free = capacity_pages.map(|pages| (Time::ZERO, pages));
        Self {
            buffer: capacity_pages.is_some(),
            free: free.into_iter().collect(),
            waiting: VecDeque::new(),
            sent: BTreeMap::new(),
            next: 0,
            last: (0, Dur::ZERO),
            found: HostWait::default(),
        }
    }

    /// A page takes a slot.
    pub(super) fn take(&mut self, taken: Taken) {
        match self.waiting.back_mut() {
            Some(back) if back.write == taken.write => back.pages += 1,
            _ => self.waiting.push_back(Waiting {
                write: taken.write,
                at: taken.at,
                pages: 1,
            }),
        }
        self.settle();
    }

    /// Records the next request to the drive, which will free that many slots.
    pub(super) fn send(&mut self, frees: u32) {
        if frees > 0 {
            self.sent.insert(self.next, frees);
        }
        self.next += 1;
    }

    /// Records the completion of a request, by its number in the stream. Completions must come in order of their times.
    pub(crate) fn done(&mut self, number: u64, asked: Time, completed: Time) {
        if !self.buffer {
            return self.count(completed.since(asked), Dur::ZERO);
        }
        if let Some(rooms) = self.sent.remove(&number) {
            self.free.push_back((completed, rooms));
            self.settle();
        }
    }

    /// Returns the host's waits so far.
    pub(crate) fn found(&self) -> HostWait {
        self.found
    }

    /// Gives free slots to the waiting writes, in order.
    fn settle(&mut self) {
        while let (Some(free), Some(first)) = (self.free.front_mut(), self.waiting.front_mut()) {
            let rooms = free.1.min(first.pages);
            let wait = free.0.since(first.at);
            let write = first.write;
            free.1 -= rooms;
            first.pages -= rooms;
            if free.1 == 0 {
                self.free.pop_front();
            }
            if first.pages == 0 {
                self.waiting.pop_front();
            }
            // Slots become free one after another: the last page of a write waits longest.
            let before = match self.last {
                (last, before) if last == write => before,
                _ => Dur::ZERO,
            };
            self.last = (write, wait);
            self.count(wait, before);
        }
    }

    /// Counts the wait of a write, of which `before` is already counted.
    fn count(&mut self, wait: Dur, before: Dur) {
        let found = &mut self.found;
        found.waited += u64::from(wait > Dur::ZERO && before == Dur::ZERO);
        found.total_ns += wait.0 - before.0.min(wait.0);
        found.max_ns = found.max_ns.max(wait.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(rooms: &mut Rooms, write: u64, at: u64, pages: u32) {
        let at = Time(at);
        (0..pages).for_each(|_| rooms.take(Taken { write, at }));
    }

    fn found(waited: u64, total_ns: u64, max_ns: u64) -> HostWait {
        HostWait {
            waited,
            total_ns,
            max_ns,
        }
    }

    /// By hand, a buffer of three pages. The first write, of two pages, and the second, of one, find slots. The third, of
    /// two at 20, waits for the two pages of request 0 until 50. The fourth waits at 60 for request 1 until 65. The fifth,
    /// at 70, finds the slot that request 3 freed at 68.
    #[test]
    fn a_write_waits_until_its_last_page_has_a_room() {
        let mut rooms = Rooms::new(Some(3));
        take(&mut rooms, 1, 0, 2);
        take(&mut rooms, 2, 10, 1);
        rooms.send(2);
        take(&mut rooms, 3, 20, 2);
        assert_eq!(rooms.found(), found(0, 0, 0));
        rooms.done(0, Time(20), Time(50));
        assert_eq!(rooms.found(), found(1, 30, 30));
        take(&mut rooms, 4, 60, 1);
        rooms.send(1);
        rooms.send(0);
        rooms.send(1);
        rooms.done(1, Time(60), Time(65));
        // A read that pads a block frees nothing.
        rooms.done(2, Time(60), Time(66));
        rooms.done(3, Time(60), Time(68));
        take(&mut rooms, 5, 70, 1);
        assert_eq!(rooms.found(), found(2, 35, 30));
    }

    /// By hand: the two pages of one write get their slots at 30 and at 45. It waits until 45 and counts as one write.
    #[test]
    fn rooms_that_come_one_after_another_make_one_wait() {
        let mut rooms = Rooms::new(Some(1));
        take(&mut rooms, 1, 0, 1);
        take(&mut rooms, 2, 10, 2);
        rooms.send(1);
        rooms.send(1);
        rooms.done(1, Time(10), Time(30));
        rooms.done(0, Time(10), Time(45));
        assert_eq!(rooms.found(), found(1, 35, 35));
    }

    #[test]
    fn without_a_buffer_a_write_waits_for_the_drive() {
        let mut rooms = Rooms::new(None);
        rooms.send(0);
        rooms.send(0);
        rooms.done(1, Time(5), Time(9));
        rooms.done(0, Time(3), Time(10));
        assert_eq!(rooms.found(), found(2, 11, 7));
    }
}
