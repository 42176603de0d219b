//! The processors of a host, shared by everything that computes on it: the programs above a drive, and the system below
//! them that carries their requests.
//!
//! Each processor serves its threads first come, first served. An interrupt runs at once, after the interrupts that the
//! processor already has; the thread that it interrupts continues afterwards, so everything booked before ends later. A
//! booking therefore has no fixed end: [`Processors::ends`] says when it ends if nothing interrupts it, and
//! [`Processors::is_done`] whether it has ended.
//!
//! Left out: time slices, migration of a thread that waits, simultaneous multithreading, power states.

use fathom_base::{Dur, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// Which processor a thread computes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The one that becomes free first.
    Any,
    /// This one.
    On(u32),
}

/// Computing that was booked on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Booking {
    pub(crate) processor: u32,
    /// Its end on the clock of the processor's threads, which stands still during interrupts.
    end: Dur,
}

#[derive(Clone, Debug, Default)]
struct Processor {
    /// When its threads have computed everything booked, on their clock.
    free: Dur,
    /// The end of the last interrupt.
    interrupted_until: Time,
    /// Time of all interrupts, past and present.
    interrupts: Dur,
    /// Time for which it computes, including everything booked.
    busy: Dur,
}

impl Processor {
    /// The clock of its threads.
    fn threads_at(&self, now: Time) -> Dur {
        Dur(now.0 + self.interrupted_until.since(now).0 - self.interrupts.0)
    }

    /// Time until it has nothing to do.
    fn backlog(&self, now: Time) -> Dur {
        let threads = self.free.0.saturating_sub(self.threads_at(now).0);
        self.interrupted_until.since(now) + Dur(threads)
    }
}

/// A handle on the processors of a host; its clones share them.
#[derive(Clone, Debug)]
pub struct Processors {
    all: Rc<RefCell<Vec<Processor>>>,
    /// The start of the times that this handle is given.
    origin: Dur,
}

impl Processors {
    /// Creates idle processors, at least one.
    pub fn new(count: u32) -> Self {
        let all = vec![Processor::default(); count.max(1) as usize];
        Self {
            all: Rc::new(RefCell::new(all)),
            origin: Dur::ZERO,
        }
    }

    /// Returns a handle for a user whose times count from `start` on the clock of this one.
    #[must_use]
    pub fn counted_from(&self, start: Time) -> Self {
        Self {
            all: Rc::clone(&self.all),
            origin: self.origin + Dur(start.0),
        }
    }

    fn since_origin(&self, at: Time) -> Time {
        Time(at.0.saturating_sub(self.origin.0))
    }

    pub(crate) fn count(&self) -> u32 {
        self.all.borrow().len() as u32
    }

    /// Books computing of a thread. O(processors) for [`Place::Any`].
    pub(crate) fn book(&self, place: Place, takes: Dur, now: Time) -> Booking {
        let now = now + self.origin;
        let mut all = self.all.borrow_mut();
        let index = match place {
            Place::On(index) => index as usize % all.len(),
            Place::Any => {
                let by = |index: &usize| all[*index].backlog(now);
                (0..all.len()).min_by_key(by).unwrap_or_default()
            }
        };
        let processor = &mut all[index];
        processor.free = processor.free.max(processor.threads_at(now)) + takes;
        processor.busy += takes;
        Booking {
            processor: index as u32,
            end: processor.free,
        }
    }

    /// Books an interrupt. Returns its end, which is final.
    pub(crate) fn interrupt(&self, index: u32, takes: Dur, now: Time) -> Time {
        let now = now + self.origin;
        let mut all = self.all.borrow_mut();
        let index = index as usize % all.len();
        let processor = &mut all[index];
        processor.interrupted_until = processor.interrupted_until.max(now) + takes;
        processor.interrupts += takes;
        processor.busy += takes;
        self.since_origin(processor.interrupted_until)
    }

    /// When the interrupts of a processor end; `now` if it has none.
    pub(crate) fn interrupted_until(&self, index: u32, now: Time) -> Time {
        let now = now + self.origin;
        let all = self.all.borrow();
        let until = all[index as usize % all.len()].interrupted_until;
        self.since_origin(until.max(now))
    }

    /// When a booking ends if nothing interrupts it from now on.
    pub(crate) fn ends(&self, booking: Booking, now: Time) -> Time {
        let now = now + self.origin;
        let all = self.all.borrow();
        let processor = &all[booking.processor as usize];
        let rest = booking.end.0.saturating_sub(processor.threads_at(now).0);
        self.since_origin(match rest {
            0 => now,
            rest => processor.interrupted_until.max(now) + Dur(rest),
        })
    }

    /// Returns whether a booking has ended.
    pub(crate) fn is_done(&self, booking: Booking, now: Time) -> bool {
        self.ends(booking, now) <= now
    }

    /// The number of processors that compute now, beside the one that becomes free first.
    pub(crate) fn others(&self, now: Time) -> u32 {
        let now = now + self.origin;
        let all = self.all.borrow();
        let busy = all.iter().filter(|one| one.backlog(now) > Dur::ZERO);
        busy.count().min(all.len() - 1) as u32
    }

    /// The time for which each has computed until now.
    pub(crate) fn busy(&self, now: Time) -> Vec<Dur> {
        let now = now + self.origin;
        let all = self.all.borrow();
        let of = |one: &Processor| Dur(one.busy.0.saturating_sub(one.backlog(now).0));
        all.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_served_in_order_on_the_processor_that_is_free_first() {
        let cpus = Processors::new(2);
        let now = Time(100);
        let [a, b, c] = [30, 10, 5].map(|ns| cpus.book(Place::Any, Dur(ns), now));
        assert_eq!([a, b, c].map(|x| x.processor), [0, 1, 1]);
        assert_eq!([a, b, c].map(|x| cpus.ends(x, now).0), [130, 110, 115]);
        let pinned = cpus.book(Place::On(0), Dur(1), Time(120));
        assert_eq!(cpus.ends(pinned, Time(120)), Time(131));
        assert_eq!(cpus.busy(Time(120)), [Dur(20), Dur(15)]);
        assert_eq!((cpus.others(Time(105)), cpus.others(Time(131))), (1, 0));
    }

    #[test]
    fn an_interrupt_delays_everything_booked_and_nothing_that_has_ended() {
        let cpus = Processors::new(1);
        let first = cpus.book(Place::Any, Dur(10), Time(0));
        let second = cpus.book(Place::Any, Dur(10), Time(0));
        // In the middle of the first, and a second interrupt during that one.
        assert_eq!(cpus.interrupt(0, Dur(4), Time(5)), Time(9));
        assert_eq!(cpus.interrupt(0, Dur(3), Time(7)), Time(12));
        assert_eq!(cpus.interrupted_until(0, Time(7)), Time(12));
        assert!(!cpus.is_done(first, Time(10)));
        assert_eq!([first, second].map(|x| cpus.ends(x, Time(10)).0), [17, 27]);
        assert!(cpus.is_done(first, Time(17)));
        // After the first has ended: only the second is delayed.
        assert_eq!(cpus.interrupt(0, Dur(2), Time(18)), Time(20));
        assert!(cpus.is_done(first, Time(18)));
        assert_eq!(cpus.ends(second, Time(19)), Time(29));
        // Idle, then interrupted: a thread that arrives meanwhile starts behind the interrupt.
        cpus.interrupt(0, Dur(6), Time(50));
        // Its user counts from 40.
        let user = cpus.counted_from(Time(40));
        let third = user.book(Place::Any, Dur(1), Time(12));
        assert_eq!(user.ends(third, Time(12)), Time(17));
        assert_eq!(cpus.ends(third, Time(52)), Time(57));
        assert_eq!(cpus.busy(Time(60)), [Dur(36)]);
    }
}
