//! What the host waits for room in a write buffer in front of the drive, per original write.
//!
//! The reshaped stream has the times of the trace, and whatever leaves the buffer makes room at once (`epo` Figure 3). Here
//! room is made when the drive is done with what left. The buffer has so many rooms for pages. Every page that replaces none
//! takes the room that is free longest; a write is accepted when its last page has a room. A write all of whose pages replace
//! others, or find rooms, waits 0. Without a buffer a write waits until the drive is done with it.
//!
//! The n-th page that takes a room therefore has it at its own arrival or, beyond the buffer's capacity C, when the (n - C)-th
//! page that left is in the drive, whichever is later. A write that waits keeps nobody else: those after it come when the
//! trace says, and so does what leaves for them.

use fathom_base::{Dur, Time};
use fathom_run::HostWait;
use fathom_ssd::reshape::Taken;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// [`Rooms`], which the stream and the one who measures share.
pub(crate) type WatchedRooms = Rc<RefCell<Rooms>>;

/// Pages of one write that have no room yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    write: u64,
    at: Time,
    pages: u32,
}

/// The rooms of a buffer, as pages take them and the drive frees them.
#[derive(Debug)]
pub(crate) struct Rooms {
    buffer: bool,
    /// Since when so many rooms are free, the longest first. Times are those of the workload.
    free: VecDeque<(Time, u32)>,
    waiting: VecDeque<Waiting>,
    /// By number, requests under way that free rooms, and how many.
    sent: BTreeMap<u64, u32>,
    next: u64,
    /// The last write that waited, and how long it does so far.
    last: (u64, Dur),
    found: HostWait,
}

impl Rooms {
    /// Of a buffer for so many pages, which are free; `None` is no buffer.
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

    /// A page takes a room.
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

    /// The next request goes to the drive; it frees so many rooms.
    pub(super) fn send(&mut self, frees: u32) {
        if frees > 0 {
            self.sent.insert(self.next, frees);
        }
        self.next += 1;
    }

    /// The drive is done with a request, by its number in the stream. Completions come in the order of their times.
    pub(crate) fn done(&mut self, number: u64, asked: Time, completed: Time) {
        if !self.buffer {
            return self.count(completed.since(asked), Dur::ZERO);
        }
        if let Some(rooms) = self.sent.remove(&number) {
            self.free.push_back((completed, rooms));
            self.settle();
        }
    }

    /// What the host has waited so far.
    pub(crate) fn found(&self) -> HostWait {
        self.found
    }

    /// Gives free rooms to those who wait, in turn.
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
            // Rooms come free one after another: the last page waits longest.
            let before = match self.last {
                (last, before) if last == write => before,
                _ => Dur::ZERO,
            };
            self.last = (write, wait);
            self.count(wait, before);
        }
    }

    /// A write waits so long, of which some is counted already.
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

    /// By hand, a buffer of three pages. The first write of two and the second of one find room. The third, of two at 20, waits
    /// for the two pages of request 0 until 50, the fourth at 60 for request 1 until 65, and the fifth at 70 finds what
    /// request 2 has left, as completed at 68.
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

    /// By hand: the two pages of one write get their rooms at 30 and at 45. It waits until 45 and is one write.
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
