//! mq-deadline: the deadline scheduler of current Linux.
//!
//! Linux 6.x, `block/mq-deadline.c` and Documentation/block/deadline-iosched.rst. It differs from the `deadline` of 2.6
//! in two points. A batch continues with the next place above the last one even after a gap. There are three priority
//! classes, each with its own order by place and by age. A class goes only while no request of a higher class is held
//! *or in flight*; requests that have waited for `prio_aging_expire` go nevertheless.
//!
//! All eight levels of a class are treated alike (`ioprio_class_to_prio`). Requests of different classes are not
//! merged.
//!
//! Deliberate differences from Linux: If a class is checked for aged requests and has none, the state of the batch is
//! unchanged (in Linux, the check ends the batch of the class that goes then). If the next request of a class by place
//! is younger than `prio_aging_expire` but its oldest is not, the oldest goes (in Linux none goes until the order by
//! place reaches an older one).
//!
//! Left out: zoned drives; `async_depth`, which allows writes all of the queue's requests unless it is set
//! (`dd_depth_updated`, 6.18); requests to be dispatched at the head, which do not exist here. There is one hardware
//! queue.

use super::{Place, Pool, SortedQueue, place};
use crate::scheduler::Policy;
use crate::{Class as Priority, Era, Io, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("deadline as in Linux today: longer batches, three priority classes");

keys! {
    /// The tunables of Linux with their names and defaults.
    pub struct Tunables {
        /// Time after which a waiting read starts the next batch.
        pub read_expire: Dur = Dur::ms(500),
        /// Time after which a waiting write starts the next batch.
        pub write_expire: Dur = Dur::ms(5_000),
        /// Maximum number of requests in a batch. With 0, every request is chosen by itself.
        pub fifo_batch: u32 = 16,
        /// Number of times that reads are preferred while writes wait.
        pub writes_starved: u32 = 2,
        /// Whether a request may be merged in front of another one.
        pub front_merges: bool = true,
        /// Maximum time that a request waits for those of a higher class.
        pub prio_aging_expire: Dur = Dur::ms(10_000),
    }
}

impl Policy for Tunables {
    /// Covers the expiry of five seconds and a batch in progress.
    const STARVATION: Dur = Dur::ms(6_000);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(MqDeadline::new(self)?))
    }
}

const READ: usize = 0;
const WRITE: usize = 1;
/// Number of classes: "realtime" is the first, "idle" the last.
const CLASSES: usize = 3;

/// The requests of one priority class.
#[derive(Clone, Debug, Default)]
struct Class {
    queues: [SortedQueue; 2],
    /// The start of the last dispatched request of each kind, in bytes.
    latest: [u64; 2],
    /// Number of requests held or in flight.
    requests: usize,
}

impl Class {
    fn is_busy(&self) -> bool {
        self.requests > 0
    }

    /// Returns the next request of a kind in order of place.
    #[inline]
    fn next(&self, side: usize) -> Option<Place> {
        self.queues[side].at_or_above(self.latest[side])
    }
}

/// The request chosen next, and the state of the batch afterwards.
#[derive(Clone, Copy, Debug)]
struct Choice {
    side: usize,
    at: Place,
    batching: u32,
    starved: u32,
}

/// The scheduler mq-deadline; see the module.
#[derive(Clone, Debug)]
pub struct MqDeadline {
    tunables: Tunables,
    pool: Pool,
    classes: [Class; CLASSES],
    /// Number of held requests.
    held: usize,
    /// The kind of the last dispatched request.
    last: usize,
    /// Number of requests in this batch so far.
    batching: u32,
    /// Number of times that reads were preferred since the last batch of writes.
    starved: u32,
}

fn side_of(io: &Io) -> usize {
    usize::from(io.is_write())
}

fn class_of(io: &Io) -> usize {
    match io.class {
        Priority::RealTime => 0,
        Priority::BestEffort => 1,
        Priority::Idle => 2,
    }
}

impl MqDeadline {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// None: every setting is valid.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        Ok(Self {
            tunables: tunables.clone(),
            pool: Pool::default(),
            classes: std::array::from_fn(|_| Class::default()),
            held: 0,
            last: WRITE,
            batching: 0,
            starved: 0,
        })
    }

    fn add(&mut self, io: Io) {
        let class = &mut self.classes[class_of(&io)];
        class.queues[side_of(&io)].insert(&mut self.pool, io);
        class.requests += 1;
    }

    /// Takes a held request out again. Returns false if it is not held.
    fn take(&mut self, io: &Io) -> bool {
        let class = &mut self.classes[class_of(io)];
        let queue = &mut class.queues[side_of(io)];
        let is_held = queue.remove(&mut self.pool, place(io)).is_some();
        class.requests -= usize::from(is_held);
        is_held
    }

    /// Chooses the next request of a class by batch, direction, deadline and place.
    #[inline(always)]
    fn choose(&self, class: &Class, now: Time) -> Option<Choice> {
        let next = class.next(self.last);
        if self.batching < self.tunables.fifo_batch
            && let Some(at) = next
        {
            return Some(Choice {
                side: self.last,
                at,
                batching: self.batching + 1,
                starved: self.starved,
            });
        }
        let writes = !class.queues[WRITE].is_empty();
        let (side, starved) = match class.queues[READ].is_empty() {
            false if writes && self.starved >= self.tunables.writes_starved => (WRITE, 0),
            false => (READ, self.starved + u32::from(writes)),
            true => (WRITE, 0),
        };
        let oldest = class.queues[side].oldest(&self.pool)?;
        let expire = [self.tunables.read_expire, self.tunables.write_expire][side];
        let next = match side == self.last {
            true => next,
            false => class.next(side),
        };
        let at = match next {
            Some(next) if now < oldest.queued + expire => next,
            _ => place(oldest),
        };
        Some(Choice {
            side,
            at,
            batching: 1,
            starved,
        })
    }

    /// Returns the next request and releases it. Apart from [`Scheduler::dispatch`], which mostly finds none.
    #[inline(never)]
    fn next(&mut self, now: Time) -> Option<Io> {
        let class = self.classes.iter().position(Class::is_busy)?;
        if self.is_contended() {
            for class in 1..CLASSES {
                if let Some(choice) = self.aged(class, now) {
                    return self.go(class, choice);
                }
            }
        }
        let choice = self.choose(&self.classes[class], now)?;
        self.go(class, choice)
    }

    #[inline]
    fn go(&mut self, class: usize, choice: Choice) -> Option<Io> {
        let held = &mut self.classes[class];
        let io = held.queues[choice.side].remove(&mut self.pool, choice.at)?;
        self.held -= 1;
        held.latest[choice.side] = io.offset;
        self.last = choice.side;
        self.batching = choice.batching;
        self.starved = choice.starved;
        Some(io)
    }

    /// Returns the oldest request of a class.
    fn oldest(&self, class: usize) -> Option<&Io> {
        let lines = self.classes[class].queues.iter();
        lines
            .filter_map(|line| line.oldest(&self.pool))
            .min_by_key(|io| io.queued)
    }

    /// When the oldest request of a class has waited for `prio_aging_expire`.
    fn aged_at(&self, class: usize) -> Option<Time> {
        let oldest = self.oldest(class)?;
        Some(oldest.queued + self.tunables.prio_aging_expire)
    }

    /// Returns true if more than one class has requests.
    #[inline]
    fn is_contended(&self) -> bool {
        let busy = self
            .classes
            .iter()
            .map(|class| usize::from(class.is_busy()));
        busy.sum::<usize>() > 1
    }

    /// Chooses a request of a lower class if its oldest request has waited for `prio_aging_expire`.
    fn aged(&self, class: usize, now: Time) -> Option<Choice> {
        if self.aged_at(class)? > now {
            return None;
        }
        let choice = self.choose(&self.classes[class], now)?;
        let chosen = self.pool.get(choice.at.1)?;
        if chosen.queued + self.tunables.prio_aging_expire <= now {
            return Some(choice);
        }
        let oldest = self.oldest(class)?;
        Some(Choice {
            side: side_of(oldest),
            at: place(oldest),
            batching: 1,
            starved: if oldest.is_write() { 0 } else { self.starved },
        })
    }
}

impl Scheduler for MqDeadline {
    fn insert(&mut self, _now: Time, io: Io) {
        self.add(io);
        self.held += 1;
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        let (side, class) = (side_of(before), class_of(before));
        if class == class_of(&io) {
            self.classes[class].queues[side].change(&mut self.pool, before, io);
        } else if self.take(before) {
            self.add(io);
        }
    }

    fn remove(&mut self, io: &Io) {
        self.held -= usize::from(self.take(io));
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        match self.held {
            0 => None,
            _ => self.next(now),
        }
    }

    fn completed(&mut self, _now: Time, io: &Io) {
        let class = &mut self.classes[class_of(io)];
        class.requests = class.requests.saturating_sub(1);
    }

    fn next_timer(&self) -> Option<Time> {
        if !self.is_contended() {
            return None;
        }
        (1..CLASSES).filter_map(|class| self.aged_at(class)).min()
    }

    fn era(&self) -> Era {
        Era::Multi
    }

    fn len(&self) -> usize {
        self.held
    }

    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        let in_front = new.offset < held.offset;
        class_of(held) == class_of(new) && (self.tunables.front_merges || !in_front)
    }
}

#[cfg(test)]
mod tests;
