//! Anticipatory: an elevator that keeps the drive idle for a short time after a read, in case its process reads nearby.
//!
//! Linux 2.6.23, `block/as-iosched.c`; the source of 2.6.23 was not available, and that of 2.6.24 was read; `irbw` 2.3
//! and 3. Sync requests (reads, and writes that somebody waits for; "reads" below) and async ones ("writes") go in
//! *batches*, each for a limited time. Within a batch the nearest request goes (`seek.rs`), going back 512 MiB at most
//! at twice the cost. Once per `read_expire` or `write_expire` the oldest request goes if it has waited that long.
//!
//! In a batch of reads, the drive is kept idle for up to `antic_expire` when the last read of a process completes and
//! the process has no other. The wait ends at once when the process makes a request, when another process makes one
//! that is near enough (4 MiB, doubled for each tick waited), or when the oldest read has expired. There is no wait for
//! a process with a longer think time. For a new process there is none while other new ones think longer, or while more
//! than half of them never read again.
//!
//! A batch of writes is limited by their number, not by time, since a drive takes writes into its cache. The number is
//! adjusted until a batch takes `write_batch_expire`. Between batches the drive runs dry.
//!
//! One thing is as in 2.6.32, not as in 2.6.24: if a batch of writes has to wait for the last reads, its time begins
//! when they complete. Before, it kept the end time of the batch of reads, which was over, so it ended before it had
//! begun; on a drive with several requests in flight an endless stream of reads kept writes back for ever. Left out,
//! because a queue of requests does not see a process exit: a wait does not end when its process exits, and the
//! probability that another process takes the place of an exited one counts as zero. Ticks are those of 250 Hz, since
//! the expiry of 124 ms in `irbw` 3 is 31 of them.

mod batch;
mod wait;

use super::seek::{Habit, Head, Mean};
use super::{Place, Pool, SortedQueue, place};
use crate::scheduler::Policy;
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Dur, Time, keys};
use std::collections::BTreeMap;

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About = About::new(
    "an elevator that keeps the drive idle after a read, in case its process reads nearby",
);

keys! {
    /// The tunables of Linux with their names and their defaults at 250 Hz, except for `antic_expire`.
    pub struct Tunables {
        /// Time after which a waiting read goes regardless of anticipation (`HZ / 8`). `irbw` 3 tries 124 to 4 ms.
        pub read_expire: Dur = Dur::ms(124),
        /// Time after which a waiting write goes next (`HZ / 4`).
        pub write_expire: Dur = Dur::ms(248),
        /// Maximum time of a batch of reads while writes wait (`HZ / 2`).
        pub read_batch_expire: Dur = Dur::ms(500),
        /// Target time of a batch of writes while reads wait (`HZ / 8`).
        pub write_batch_expire: Dur = Dur::ms(124),
        /// Maximum time that the drive is kept idle for the next read of a process (`HZ / 150` at 1000 Hz; one tick of
        /// 4 ms at 250 Hz). With 0, never.
        pub antic_expire: Dur = Dur::ms(6),
    }
}

impl Policy for Tunables {
    /// Covers half a second of reads before writes.
    const STARVATION: Dur = Dur::ms(1_000);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Anticipatory::new(self)?))
    }
}

const ASYNC: usize = 0;
const SYNC: usize = 1;

/// A tick of the kernel's clock at 250 Hz.
const TICK: Dur = Dur::ms(4);
/// Upper limit of a recorded think time (`MAX_THINKTIME`).
const THINK_MAX: Dur = Dur::ms(20);
/// Maximum distance that the head goes back (`MAXBACK`, 1024 * 1024 sectors), in bytes.
const BACK_MAX: u64 = 512 << 20;
/// Maximum distance of a near request before any wait (8192 sectors), in bytes.
const NEAR: u64 = 4 << 20;

/// The observed behaviour of a process.
#[derive(Clone, Debug, Default)]
struct Process {
    habit: Habit,
    /// Number of held requests of the process.
    queued: u32,
    /// Whether the process has read before.
    started: bool,
    /// Whether a read of the process has completed.
    answered: bool,
}

/// Means over all processes for their second read: the think time before it and the seek distance to it.
#[derive(Clone, Debug, Default)]
struct Newcomers {
    think: Mean,
    seek: Mean,
    /// Share of them that never read again, of 256.
    exit_share: u64,
}

/// Whether the drive is kept idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Not waiting.
    Off,
    /// The wait begins when the last read completes.
    ForEnd,
    /// Waiting until this time.
    Until(Time),
    /// A wait has ended, and the next request goes without one.
    Over,
}

/// The next action within a batch.
enum Step {
    Give(Place),
    Idle,
    Ended,
}

/// The anticipatory scheduler; see the module.
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
    /// The kind of the current batch, and the time when it ends.
    side: usize,
    batch_ends: Time,
    /// The batch waits for the last requests of the other kind to complete.
    is_changing: bool,
    /// The batch waits for its first completion.
    is_new: bool,
    /// Number of writes in a batch, and number left in this one.
    write_count: u64,
    writes_left: u64,
    /// Whether this batch of writes ran out of writes or of its share while no reads waited.
    writes_idled: bool,
    fifo_checked: [Time; 2],
    wait: Wait,
    /// The process of the last request if that was a read, and when that read completed.
    awaited: Option<usize>,
    answered_at: Option<Time>,
    in_flight: u32,
}

impl Anticipatory {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// None: every setting is valid.
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

    /// Updates the habits of a process from a read of its own, or from a near read of another process;
    /// `as_update_iohist`.
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
        // From this request on, even if another one was to come next.
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
