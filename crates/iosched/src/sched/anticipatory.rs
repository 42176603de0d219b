//! Anticipatory: an elevator that keeps the drive idle a little after a read, in case its process reads on nearby.
//!
//! Linux 2.6.23, `block/as-iosched.c`; read as it is in 2.6.24, for want of
//! 2.6.23 itself; `irbw` 2.3 and 3. What is waited for (sync: reads, and writes that are waited for; "reads" below) and
//! what is not ("writes") go in *batches*, each for a while; within a batch by nearness (`seek.rs`), going back 512 MiB at
//! most at twice the cost. Once in a `read_expire` or `write_expire` the oldest goes if it has waited as long.
//!
//! In a batch of reads, when the last read of a process is done and it has no other, the drive is kept idle for up to
//! `antic_expire`. That ends at once when the process asks, when another asks as near as one may hope for (near is 4 MiB,
//! and twice that for each tick waited), or when the oldest read has expired. It does not begin for a process that
//! usually thinks longer, nor for a new one while new ones do, or while more than half of them never read again.
//!
//! Writes are counted, not timed, as a drive takes them into its cache; how many a batch has is adjusted until
//! a batch takes `write_batch_expire`. Between batches the drive runs dry.
//!
//! As in 2.6.32, not as in 2.6.24: a batch of writes that had to wait for the last reads has its time from when they are
//! done. Before, it kept the time of the batch of reads, which is over, so that it ended before it had begun: where the drive has several
//! requests at a time, reads that never end kept writes back for ever. Left out, because a queue of requests knows no
//! exit of a process: that a wait ends with the process, and the probability that another takes the place of one that is
//! gone, which counts as zero. Ticks are those of 250 Hz, as the expiry of 124 ms that `irbw` 3 tells of is 31 of them.

mod batch;
mod wait;

use super::seek::{Habit, Head, Mean};
use super::{Place, Pool, SortedQueue, place};
use crate::scheduler::Policy;
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};
use std::collections::BTreeMap;

/// What the list says of it.
pub(crate) const ABOUT: About = About::new(
    "an elevator that keeps the drive idle after a read, in case its process reads nearby",
);

keys! {
    /// The names and the defaults of Linux, as they are at 250 Hz but for `antic_expire`.
    pub struct Tunables {
        /// How long a read waits before it goes whatever is anticipated (`HZ / 8`). `irbw` 3 tries 124 to 4 ms.
        pub read_expire: Dur = Dur::ms(124),
        /// The same for a write (`HZ / 4`).
        pub write_expire: Dur = Dur::ms(248),
        /// How long reads go on while writes wait (`HZ / 2`).
        pub read_batch_expire: Dur = Dur::ms(500),
        /// How long writes go on while reads wait, as a goal (`HZ / 8`).
        pub write_batch_expire: Dur = Dur::ms(124),
        /// How long the next read of a process is waited for (`HZ / 150` at 1000 Hz; one tick of 4 ms at 250 Hz). With
        /// 0, nothing is anticipated.
        pub antic_expire: Dur = Dur::ms(6),
    }
}

impl Policy for Tunables {
    /// Half a second of reads before writes.
    const STARVATION: Dur = Dur::ms(1_000);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Anticipatory::new(self)?))
    }
}

const ASYNC: usize = 0;
const SYNC: usize = 1;

/// A tick of the kernel's clock at 250 Hz.
const TICK: Dur = Dur::ms(4);
/// The longest time of thinking that is told from longer ones (`MAX_THINKTIME`).
const THINK_MAX: Dur = Dur::ms(20);
/// The farthest that the head goes back (`MAXBACK`, 1024 * 1024 sectors), in bytes.
const BACK_MAX: u64 = 512 << 20;
/// What is near at once (8192 sectors), in bytes.
const NEAR: u64 = 4 << 20;

/// A process, as far as its requests tell.
#[derive(Clone, Debug, Default)]
struct Process {
    habit: Habit,
    /// Requests of its that are held.
    queued: u32,
    /// Whether it has read before.
    started: bool,
    /// Whether a read of its was done.
    answered: bool,
}

/// Of processes that had read once: the time to their second read, and the way there.
#[derive(Clone, Debug, Default)]
struct Newcomers {
    think: Mean,
    seek: Mean,
    /// How many of them never read again, of 256.
    exit_share: u64,
}

/// Whether the drive is kept idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// No.
    Off,
    /// It will be when the last read is done.
    ForEnd,
    /// Until then.
    Until(Time),
    /// It was, and what goes next goes without.
    Over,
}

/// What a batch does next.
enum Step {
    Give(Place),
    Idle,
    Ended,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Anticipatory {
    tunables: Tunables,
    pool: Pool,
    queues: [SortedQueue; 2],
    next: [Option<Place>; 2],
    heads: [Head; 2],
    processes: Vec<Process>,
    by_number: BTreeMap<u32, usize>,
    newcomers: Newcomers,
    /// Which kind goes now, and until when.
    side: usize,
    batch_ends: Time,
    /// Waits for the last requests of the other kind.
    is_changing: bool,
    /// Waits for its first completion.
    is_new: bool,
    /// Writes of a batch, and of this one that are left.
    write_count: u64,
    writes_left: u64,
    /// Whether this batch of writes had nobody to give way to.
    writes_idled: bool,
    fifo_checked: [Time; 2],
    wait: Wait,
    /// Whose read went last, if it was a read, and when it was done.
    awaited: Option<usize>,
    answered_at: Option<Time>,
    in_flight: u32,
}

impl Anticipatory {
    /// An empty elevator.
    ///
    /// # Errors
    /// None: every setting can be.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        let head = Head {
            at: 0,
            back_max: BACK_MAX,
            back_penalty: 2,
        };
        let ticks = tunables.write_batch_expire.0 / TICK.0;
        Ok(Self {
            tunables: tunables.clone(),
            pool: Pool::default(),
            queues: [SortedQueue::default(), SortedQueue::default()],
            next: [None; 2],
            heads: [head; 2],
            processes: Vec::new(),
            by_number: BTreeMap::new(),
            newcomers: Newcomers::default(),
            side: SYNC,
            batch_ends: Time::ZERO + tunables.read_batch_expire,
            is_changing: false,
            is_new: false,
            write_count: (ticks / 10).max(2),
            writes_left: 0,
            writes_idled: false,
            fifo_checked: [Time::ZERO; 2],
            wait: Wait::Off,
            awaited: None,
            answered_at: None,
            in_flight: 0,
        })
    }

    fn process(&mut self, number: u32) -> usize {
        let fresh = self.processes.len();
        let index = *self.by_number.entry(number).or_insert(fresh);
        if index == fresh {
            self.processes.push(Process::default());
        }
        index
    }

    fn add(&mut self, io: Io) {
        let side = side_of(&io);
        self.queues[side].insert(&mut self.pool, io);
        self.next[side] = self.heads[side].nearer(self.next[side], Some(place(&io)));
    }

    fn take(&mut self, side: usize, at: Place) -> Option<Io> {
        if self.next[side] == Some(at) {
            self.next[side] = self.heads[side].next(&self.pool, &self.queues[side], at);
        }
        self.queues[side].remove(&mut self.pool, at)
    }

    /// What a read tells about a process: its own, or one as near as its own; `as_update_iohist`.
    fn learn(&mut self, process: usize, now: Time, io: &Io) {
        let this = &mut self.processes[process];
        if this.started || this.answered {
            let idle = this.answered && this.queued == 0;
            let think = if idle {
                now.since(this.habit.ended).min(THINK_MAX)
            } else {
                Dur::ZERO
            };
            if this.habit.think.get().is_none() {
                self.newcomers.think.add(think.0);
                self.newcomers.exit_share = 7 * self.newcomers.exit_share / 8;
            }
            this.habit.thought(think, THINK_MAX);
            let is_new = this.habit.seek.get().is_none();
            let distance = this.habit.sought(io.offset);
            if is_new {
                self.newcomers.seek.add(distance);
            }
        }
        this.habit.place = io.end();
        this.started = true;
    }

    fn give(&mut self, side: usize, at: Place) -> Option<Io> {
        self.heads[side].at = self.pool.get(at.1)?.end();
        // From here on, even if something else was to come next.
        self.next[side] = self.heads[side].next(&self.pool, &self.queues[side], at);
        let io = self.queues[side].remove(&mut self.pool, at)?;
        let process = self.process(io.process);
        self.processes[process].queued -= 1;
        self.wait = Wait::Off;
        self.answered_at = None;
        self.awaited = (side == SYNC).then_some(process);
        if side == ASYNC {
            self.writes_left = self.writes_left.saturating_sub(1);
        }
        self.in_flight += 1;
        Some(io)
    }
}

fn side_of(io: &Io) -> usize {
    usize::from(io.sync)
}

impl Scheduler for Anticipatory {
    fn insert(&mut self, now: Time, io: Io) {
        let process = self.process(io.process);
        if io.sync {
            self.learn(process, now, &io);
        }
        self.processes[process].queued += 1;
        self.add(io);
        if self.is_waiting()
            && let Some(awaited) = self.awaited
            && self.ends_wait(awaited, now, Some(io))
        {
            self.wait = Wait::Over;
        }
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        let side = side_of(before);
        if side != side_of(&io) {
            self.take(side, place(before));
            return self.add(io);
        }
        self.queues[side].change(&mut self.pool, before, io);
        if self.next[side] == Some(place(before)) {
            self.next[side] = Some(place(&io));
        }
    }

    fn remove(&mut self, io: &Io) {
        if self.take(side_of(io), place(io)).is_some() {
            let process = self.process(io.process);
            self.processes[process].queued -= 1;
        }
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        self.time_out(now);
        let [writes, reads] = [ASYNC, SYNC].map(|side| !self.queues[side].is_empty());
        if self.side == ASYNC && !reads && (self.writes_left == 0 || !writes) {
            self.writes_idled = true;
        }
        if self.is_empty() || self.is_waiting() || self.is_changing {
            return None;
        }
        let at = match self.go_on(now) {
            Step::Give(at) => at,
            Step::Idle => return None,
            Step::Ended => self.change_batch(now)?,
        };
        if self.is_changing {
            if self.in_flight > 0 {
                return None;
            }
            self.open_batch(now);
        }
        self.give(self.side, at)
    }

    fn completed(&mut self, now: Time, io: &Io) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.is_changing && self.in_flight == 0 {
            self.open_batch(now);
        }
        if self.is_new && self.side == side_of(io) {
            self.adjust_writes(now);
            self.batch_ends = now + self.tunables.read_batch_expire;
            self.is_new = false;
        }
        let process = self.process(io.process);
        if self.awaited == Some(process) {
            self.answered_at = Some(now);
            if self.wait == Wait::ForEnd {
                self.begin_wait();
            }
        }
        if io.sync {
            self.processes[process].answered = true;
            self.processes[process].habit.ended = now;
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self.wait {
            Wait::Until(until) if !self.is_empty() => Some(until),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        self.queues[ASYNC].len() + self.queues[SYNC].len()
    }
}

#[cfg(test)]
mod tests;
