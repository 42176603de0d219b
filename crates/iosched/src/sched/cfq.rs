//! CFQ, completely fair queueing: every process has its turn.
//!
//! Linux 2.6.23, `block/cfq-iosched.c`, read as it is in 2.6.24 for want of 2.6.23 itself; `irbw` 2.3. A queue for what
//! each process waits for (sync: reads, and writes that are waited for), one for each priority for what nobody waits
//! for. Queues have the drive in turn, each for a *slice* of time that begins with its first completion and is longer
//! at a higher priority. Within a slice requests go by nearness (`seek.rs`); the oldest goes first once a slice if it has
//! expired. When a sync queue runs dry within its slice, the drive is kept idle a little, in case its process, which has
//! just been answered, asks again; not for a process that usually takes longer than that to ask.
//!
//! As in that file, and worth knowing: `slice_async_rq` counts the requests of one *round* of up to `quantum`, so that at
//! the default quantum it ends slices at priority 7 alone; what was left of a slice that was broken off is added to the
//! queue's next turn, not taken from it. Not as there: an async queue that has its turn, and whose oldest request has
//! expired, does not lose it to a sync one before it gave a request. There, a process with several requests in the drive
//! that asks anew whenever one is done keeps all that nobody waits for back for ever.
//!
//! Left out, because the kernel knows it and a queue of requests does not: the real-time and the idle class, metadata
//! requests, the exit of processes (a process that is gone is waited for once, for `slice_idle` at most, and its empty
//! queue is kept), boosts for holders of file system locks, and the sorted dispatch list (one request is decided upon at
//! a time; a round that has begun can be cut short). A process's habits are those of what it waits for: what nobody waits
//! for comes from the kernel's flusher there, and from the process here.

use super::seek::{Habit, Head};
use super::{Line, Place, Pool, place};
use crate::{BadConfig, Io, Scheduler};
use fathom_base::{Bytes, Dur, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The names and the defaults of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tunables {
    /// Requests of one queue in a round; it has no new round while the drive has so many of it, and others wait; 4.
    pub quantum: u32,
    /// How long what is waited for may wait before its queue begins with it; 124 ms (`HZ / 8` at 250 Hz).
    pub fifo_expire_sync: Dur,
    /// The same for what nobody waits for; 248 ms (`HZ / 4`).
    pub fifo_expire_async: Dur,
    /// How far the head goes back; 16 MiB.
    pub back_seek_max: Bytes,
    /// How many bytes ahead are as good as one byte back, from 1; 2.
    pub back_seek_penalty: u64,
    /// The slice of a sync queue of priority 4; 100 ms (`HZ / 10`).
    pub slice_sync: Dur,
    /// The slice of an async queue of priority 4; 40 ms (`HZ / 25`).
    pub slice_async: Dur,
    /// A round of twice this, times 8 less the priority, ends the slice of an async queue; 2.
    pub slice_async_rq: u32,
    /// The longest wait for the next request of a process; 8 ms (`HZ / 125`). With 0, none.
    pub slice_idle: Dur,
}

impl Default for Tunables {
    fn default() -> Self {
        Self {
            quantum: 4,
            fifo_expire_sync: Dur::ms(124),
            fifo_expire_async: Dur::ms(248),
            back_seek_max: Bytes::mib(16),
            back_seek_penalty: 2,
            slice_sync: Dur::ms(100),
            slice_async: Dur::ms(40),
            slice_async_rq: 2,
            slice_idle: Dur::ms(8),
        }
    }
}

/// Priorities, from 0, the highest.
const PRIORITIES: u8 = 8;
/// A process whose requests lie farther apart than that on average seeks (`CIC_SEEKY`, 8 * 1024 sectors), in bytes.
const SEEKY: u64 = 4 << 20;
/// The longest wait for a process that seeks (`CFQ_MIN_TT`).
const SEEKY_IDLE: Dur = Dur::ms(2);
/// A drive that has had more requests than that at a time queues them itself (`hw_tag`).
const QUEUES_ITSELF: u32 = 4;

/// When a queue has its turn: by time, then by arrival; the number of the queue.
type Turn = (i64, u64, u32);

/// The turn before all others.
const FRONT: i64 = i64::MIN;

/// A queue of a process, or of a priority.
#[derive(Clone, Debug)]
struct Queue {
    line: Line,
    next: Option<Place>,
    sync: bool,
    priority: u8,
    /// Requests that the drive has.
    dispatched: u32,
    /// When its slice ends; `None` before the first completion in it.
    slice_end: Option<Time>,
    /// Nanoseconds that were left of a slice, or negative.
    residue: i64,
    /// Whether the oldest request was looked at in this slice.
    fifo_checked: bool,
    /// Whether it is worth waiting for.
    idle_window: bool,
    /// Its place among the turns, while it holds a request.
    turn: Option<Turn>,
    habit: Habit,
}

impl Queue {
    fn new(sync: bool, priority: u8, now: Time) -> Self {
        Self {
            line: Line::default(),
            next: None,
            sync,
            priority,
            dispatched: 0,
            slice_end: None,
            residue: 0,
            fifo_checked: false,
            idle_window: sync,
            turn: None,
            habit: Habit {
                ended: now,
                ..Habit::default()
            },
        }
    }

    fn has_used_slice(&self, now: Time) -> bool {
        self.slice_end.is_some_and(|end| now >= end)
    }

    fn seeks(&self) -> bool {
        self.habit.seek.get().is_some_and(|mean| mean > SEEKY)
    }
}

/// The queue that has its turn.
#[derive(Clone, Copy, Debug)]
struct Active {
    queue: usize,
    /// Requests of this round.
    round: u32,
    /// Until when the drive is kept idle for its process.
    idle_until: Option<Time>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Cfq {
    tunables: Tunables,
    pool: Pool,
    /// Those of the priorities, then those of processes.
    queues: Vec<Queue>,
    by_process: BTreeMap<u32, usize>,
    turns: BTreeSet<Turn>,
    sequence: u64,
    active: Option<Active>,
    head: Head,
    held: usize,
    in_flight: u32,
    sync_in_flight: u32,
    /// Whether the drive is known to queue requests itself.
    drive_queues: bool,
}

impl Cfq {
    /// No process yet.
    ///
    /// # Errors
    /// [`BadConfig`] where `quantum` or `back_seek_penalty` is 0.
    pub fn new(tunables: &Tunables) -> Result<Self, BadConfig> {
        let positive = [
            ("quantum", u64::from(tunables.quantum)),
            ("back_seek_penalty", tunables.back_seek_penalty),
        ];
        if let Some(&(key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(BadConfig {
                part: "cfq",
                key,
                problem: "is 0; it is at least 1".into(),
            });
        }
        let shared = (0..PRIORITIES).map(|priority| Queue::new(false, priority, Time::ZERO));
        Ok(Self {
            tunables: tunables.clone(),
            pool: Pool::default(),
            queues: shared.collect(),
            by_process: BTreeMap::new(),
            turns: BTreeSet::new(),
            sequence: 0,
            active: None,
            head: Head {
                at: 0,
                back_max: tunables.back_seek_max.0,
                back_penalty: tunables.back_seek_penalty,
            },
            held: 0,
            in_flight: 0,
            sync_in_flight: 0,
            drive_queues: false,
        })
    }

    /// The queue of a request, if its process has one.
    fn find(&self, io: &Io) -> Option<usize> {
        match io.sync {
            true => self.by_process.get(&io.process).copied(),
            false => Some(usize::from(priority_of(io))),
        }
    }

    /// The queue of a request, which is made if the process is new.
    fn queue_of(&mut self, now: Time, io: &Io) -> usize {
        self.find(io).unwrap_or_else(|| {
            let queue = self.queues.len();
            self.queues.push(Queue::new(true, priority_of(io), now));
            self.by_process.insert(io.process, queue);
            queue
        })
    }

    /// The slice of a queue; `cfq_prio_slice`.
    fn slice(&self, sync: bool, priority: u8) -> Dur {
        let base = match sync {
            true => self.tunables.slice_sync,
            false => self.tunables.slice_async,
        };
        // base + base / 5 * (4 - priority), without a negative number in between.
        let fifths = u64::from(PRIORITIES + 1 - priority);
        Dur(base.0 % 5) + Dur(base.0 / 5) * fifths
    }

    /// When a queue has its turn: now, and later the shorter its slice is and the more queues there are.
    fn enter_turns(&mut self, queue: usize, now: Time, in_front: bool) {
        self.leave_turns(queue);
        let busy = self.turns.len() as i64;
        let (sync, priority) = (self.queues[queue].sync, self.queues[queue].priority);
        let longest = signed(self.slice(true, 0).0);
        let shorter = longest.saturating_sub(signed(self.slice(sync, priority).0));
        let this = &mut self.queues[queue];
        let at = if in_front {
            FRONT
        } else {
            let residue = std::mem::take(&mut this.residue);
            let later = busy.saturating_mul(shorter).saturating_add(residue);
            signed(now.0).saturating_add(later)
        };
        let turn = (at, self.sequence, queue as u32);
        self.sequence += 1;
        this.turn = Some(turn);
        self.turns.insert(turn);
    }

    fn leave_turns(&mut self, queue: usize) {
        if let Some(turn) = self.queues[queue].turn.take() {
            self.turns.remove(&turn);
        }
    }

    fn add(&mut self, queue: usize, now: Time, io: Io) {
        let this = &mut self.queues[queue];
        this.line.insert(&mut self.pool, io);
        this.next = self.head.nearer(this.next, Some(place(&io)));
        if this.turn.is_none() {
            self.enter_turns(queue, now, false);
        }
        self.held += 1;
    }

    fn take(&mut self, queue: usize, at: Place) -> Option<Io> {
        let this = &mut self.queues[queue];
        if this.next == Some(at) {
            this.next = self.head.next(&self.pool, &this.line, at);
        }
        let io = this.line.remove(&mut self.pool, at)?;
        if this.line.is_empty() {
            self.leave_turns(queue);
        }
        self.held -= 1;
        Some(io)
    }

    /// The active queue's turn is over. What it has left is remembered if it did not come to its end by itself.
    fn end_slice(&mut self, now: Time, keep_residue: bool) {
        let Some(active) = self.active.take() else {
            return;
        };
        let this = &mut self.queues[active.queue];
        if let Some(end) = this.slice_end
            && keep_residue
        {
            this.residue = signed(end.0).saturating_sub(signed(now.0));
        }
        if !this.line.is_empty() {
            self.enter_turns(active.queue, now, false);
        }
    }

    /// The queue whose turn it is now has it.
    fn begin_slice(&mut self) -> Option<Active> {
        let queue = self.turns.first()?.2 as usize;
        let this = &mut self.queues[queue];
        this.slice_end = None;
        this.fifo_checked = false;
        self.active = Some(Active {
            queue,
            round: 0,
            idle_until: None,
        });
        self.active
    }

    /// The queue to serve: the active one while it may go on, else the next; `cfq_select_queue`.
    fn select(&mut self, now: Time) -> Option<Active> {
        if let Some(active) = self.active {
            let this = &self.queues[active.queue];
            if !this.has_used_slice(now) {
                if !this.line.is_empty() {
                    return Some(active);
                }
                let waits = match active.idle_until {
                    Some(until) => now < until,
                    None => this.dispatched > 0 && this.idle_window,
                };
                if waits {
                    return None;
                }
            }
            self.end_slice(now, false);
        }
        self.begin_slice()
    }

    /// Whether a queue may have another request now.
    fn may_dispatch(&self, active: Active) -> bool {
        let this = &self.queues[active.queue];
        let quantum = self.tunables.quantum;
        let full = this.dispatched >= quantum
            && (self.turns.len() > 1 || this.dispatched >= quantum.saturating_mul(4));
        // What nobody waits for stays out of the way of what somebody does.
        (active.round > 0 || !full) && (this.sync || self.sync_in_flight == 0)
    }

    /// The request that a queue gives: the oldest if it has expired and this is the slice's first, else the nearest.
    fn pick(&mut self, queue: usize, now: Time) -> Option<Place> {
        let expired = self.waits_too_long(&self.queues[queue], now);
        let this = &mut self.queues[queue];
        this.fifo_checked = true;
        match expired {
            true => this.line.oldest(&self.pool).map(place),
            false => this.next,
        }
    }

    /// A round has ended: an async queue that had its share gives way to others.
    fn ends_early(&self, queue: usize, round: u32) -> bool {
        let this = &self.queues[queue];
        let spare = u32::from(PRIORITIES - this.priority);
        let share = self.tunables.slice_async_rq.saturating_mul(2 * spare);
        !this.sync && self.turns.len() > 1 && round >= share
    }

    /// What a request of a process tells about it, and whether it is worth waiting for.
    fn learn(&mut self, queue: usize, now: Time, io: &Io) {
        let idle = self.tunables.slice_idle;
        let this = &mut self.queues[queue];
        let habit = &mut this.habit;
        habit.thought(now.since(habit.ended), idle * 2);
        habit.sought(io.offset);
        habit.place = io.end();
        let think = this.habit.think.trusted();
        if idle == Dur::ZERO || (self.drive_queues && this.seeks()) {
            this.idle_window = false;
        } else if let Some(mean) = think {
            this.idle_window = mean <= idle.0;
        }
    }

    /// Whether a queue's oldest request has expired; only until the queue has given one in its slice.
    fn waits_too_long(&self, this: &Queue, now: Time) -> bool {
        let expire = match this.sync {
            true => self.tunables.fifo_expire_sync,
            false => self.tunables.fifo_expire_async,
        };
        let oldest = this.line.oldest(&self.pool);
        !this.fifo_checked && oldest.is_some_and(|io| now >= io.queued + expire)
    }

    /// Whether a new request of another queue ends the active queue's turn; `cfq_should_preempt`.
    fn preempts(&self, now: Time, io: &Io) -> bool {
        let Some(active) = self.active else {
            return false;
        };
        let this = &self.queues[active.queue];
        if this.has_used_slice(now) {
            return true;
        }
        if io.sync && !this.sync {
            return !self.waits_too_long(this, now);
        }
        // While the drive is idle for a process, a request as near as its own usually are is as good.
        let usual = this.habit.seek.trusted();
        active.idle_until.is_some()
            && usual.is_some_and(|mean| self.head.distance(io.offset) <= mean)
    }

    /// The queue has run dry within its slice: the drive is kept idle for its process, or not.
    fn wait_for(&self, queue: usize, now: Time) -> Option<Time> {
        let this = &self.queues[queue];
        if self.tunables.slice_idle == Dur::ZERO || !this.idle_window {
            return None;
        }
        let seeks = this.habit.seek.trusted().is_some() && this.seeks();
        let idle = match seeks {
            true => self.tunables.slice_idle.min(SEEKY_IDLE),
            false => self.tunables.slice_idle,
        };
        Some(now + idle)
    }
}

fn priority_of(io: &Io) -> u8 {
    io.priority.min(PRIORITIES - 1)
}

/// Nanoseconds that may become negative.
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

impl Scheduler for Cfq {
    fn insert(&mut self, now: Time, io: Io) {
        let queue = self.queue_of(now, &io);
        self.queues[queue].priority = priority_of(&io);
        self.add(queue, now, io);
        if io.sync {
            self.learn(queue, now, &io);
        }
        let preempts = self.preempts(now, &io);
        match &mut self.active {
            Some(active) if active.queue == queue => active.idle_until = None,
            _ if preempts => {
                self.end_slice(now, true);
                self.enter_turns(queue, now, true);
            }
            _ => {}
        }
    }

    fn changed(&mut self, now: Time, before: &Io, io: Io) {
        let Some(from) = self.find(before) else {
            return;
        };
        let to = self.queue_of(now, &io);
        if from != to {
            self.take(from, place(before));
            return self.add(to, now, io);
        }
        let this = &mut self.queues[from];
        this.line.change(&mut self.pool, before, io);
        let next = this.next.filter(|&next| next != place(before));
        this.next = self.head.nearer(next, Some(place(&io)));
    }

    fn remove(&mut self, io: &Io) {
        if let Some(queue) = self.find(io) {
            self.take(queue, place(io));
        }
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        if self.held == 0 {
            return None;
        }
        let active = self.select(now)?;
        if !self.may_dispatch(active) {
            return None;
        }
        let queue = active.queue;
        let at = self.pick(queue, now)?;
        self.head.at = self.pool.get(at.1)?.end();
        let io = self.take(queue, at)?;
        self.queues[queue].dispatched += 1;
        self.sync_in_flight += u32::from(io.sync);
        self.in_flight += 1;
        self.drive_queues |= self.in_flight > QUEUES_ITSELF;

        let round = active.round + 1;
        let ended = round == self.tunables.quantum || self.queues[queue].line.is_empty();
        self.active = Some(Active {
            queue,
            round: if ended { 0 } else { round },
            idle_until: None,
        });
        if ended && self.ends_early(queue, round) {
            self.end_slice(now, false);
        }
        Some(io)
    }

    fn completed(&mut self, now: Time, io: &Io) {
        let Some(queue) = self.find(io) else {
            return;
        };
        let this = &mut self.queues[queue];
        this.dispatched = this.dispatched.saturating_sub(1);
        this.habit.ended = now;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.sync_in_flight = self.sync_in_flight.saturating_sub(u32::from(io.sync));
        let Some(mut active) = self.active.filter(|active| active.queue == queue) else {
            return;
        };
        if this.slice_end.is_none() {
            let (sync, priority) = (this.sync, this.priority);
            self.queues[queue].slice_end = Some(now + self.slice(sync, priority));
        }
        if self.queues[queue].has_used_slice(now) {
            self.end_slice(now, true);
        } else if io.sync && self.queues[queue].line.is_empty() {
            active.idle_until = self.wait_for(queue, now).or(active.idle_until);
            self.active = Some(active);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let active = self.active.filter(|_| self.held > 0)?;
        active.idle_until
    }

    fn len(&self) -> usize {
        self.held
    }

    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        match (held.sync, new.sync) {
            (true, true) => held.process == new.process,
            (false, false) => priority_of(held) == priority_of(new),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
