//! BFQ, budget fair queueing: every process gets its share of what is transferred, whatever the drive makes of it.
//!
//! Linux 6.x, `block/bfq-iosched.c`, of which the constants, the end of a turn and the budgets after it were read, and
//! `block/bfq-wf2q.c`; the rest, and what Documentation/block/bfq-iosched.rst says, is as known, not looked up.
//!
//! A queue for what each process waits for (sync), one for each priority for what nobody waits for (async). A queue has
//! the drive until it has used up its *budget*, a number of sectors, or its time, or has nothing more to ask. Which queue
//! is next is B-WF2Q+ (`wf2q.rs`), by weights of 10 times 8 less the priority. The budget follows what the queue made of
//! the last one: four times as much if it was used up, twice as much if time ran out, less if the process did not come
//! back. Within a queue requests go by nearness (`seek.rs`), and the oldest goes once a turn if it has expired. What nobody
//! waits for is charged three times, unless weights differ.
//!
//! A sync queue that has run dry keeps the drive idle for `slice_idle` after its last completion if the shares depend on
//! it, which they do where weights differ, or if the drive is rotational. Among equals on flash nobody is waited for.
//!
//! What is left out:
//! - `low_latency`: no weight is raised for what seems to be interactive or soft real-time, and so nothing is about
//!   bursts of processes either. This is BFQ with `low_latency` off.
//! - The estimate of the drive's peak rate: `max_budget` is what it is before there is one, or what is set. With it goes
//!   the charge for time instead of service of queues that are slower than half the peak rate.
//! - Whether a process seeks or takes long to think: a sync queue is waited for, or not, as above.
//! - Merging the queues of cooperating processes; injection of others' requests while the drive is kept idle; a queue's
//!   place in virtual time being shifted back when it comes in time after it ran dry; groups, and the classes of priority
//!   beside best effort; `strict_guarantees`.

mod queue;

use super::seek::Head;
use super::wf2q::Wf2q;
use super::{Place, Pool, place};
use crate::{BadConfig, Io, IoKey, Scheduler};
use fathom_base::{Bytes, Dur, SECTOR_BYTES, Time};
use queue::{MIN_BUDGET_PART, Owner, Queue, Reason, owner, weight};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The names and the defaults of Linux, but for `rotational`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tunables {
    /// How long the drive is kept idle for the next request of a process; 8 ms. With 0, never.
    pub slice_idle: Dur,
    /// The longest turn; 125 ms (`HZ / 8`, which a kernel of 250 Hz shows as 124). Not 0.
    pub timeout_sync: Dur,
    /// The largest budget, at least 16 KiB; 0, the default, is 8 MiB (`bfq_default_max_budget`).
    pub max_budget: Bytes,
    /// After how long what is waited for goes first in its queue; 125 ms.
    pub fifo_expire_sync: Dur,
    /// The same for what nobody waits for; 250 ms.
    pub fifo_expire_async: Dur,
    /// How far the head goes back; 16 MiB.
    pub back_seek_max: Bytes,
    /// How many bytes ahead are as good as one byte back, from 1; 2.
    pub back_seek_penalty: u64,
    /// Whether the drive has a head that seeks, which Linux asks the drive (`queue/rotational`); no.
    pub rotational: bool,
}

impl Default for Tunables {
    fn default() -> Self {
        Self {
            slice_idle: Dur::ms(8),
            timeout_sync: Dur::ms(125),
            max_budget: Bytes(0),
            fifo_expire_sync: Dur::ms(125),
            fifo_expire_async: Dur::ms(250),
            back_seek_max: Bytes::mib(16),
            back_seek_penalty: 2,
            rotational: false,
        }
    }
}

/// The largest budget where none is given.
const MAX_BUDGET: Bytes = Bytes::mib(8);
/// How many times what nobody waits for is charged (`bfq_async_charge_factor`).
const ASYNC_CHARGE: u64 = 3;

/// What the queue whose turn it is does.
enum Verdict {
    Go(Place),
    Wait,
    End(Reason),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Bfq {
    tunables: Tunables,
    /// In sectors.
    max_budget: u64,
    pool: Pool,
    queues: Vec<Queue>,
    owners: BTreeMap<Owner, u32>,
    time: Wf2q,
    /// The queue whose turn it is, until when, and until when it is waited for.
    serving: Option<u32>,
    turn_end: Time,
    idle_until: Time,
    /// The end of the last request of any queue, in bytes.
    head: u64,
    held: usize,
}

impl Bfq {
    /// Nothing is held.
    ///
    /// # Errors
    /// [`BadConfig`] where turns have no time, a budget is too small, or going back costs less than going ahead.
    pub fn new(tunables: &Tunables) -> Result<Self, BadConfig> {
        let budget = match tunables.max_budget {
            Bytes(0) => MAX_BUDGET,
            budget => budget,
        };
        let smallest = MIN_BUDGET_PART * SECTOR_BYTES;
        let wrong = if tunables.timeout_sync == Dur::ZERO {
            ("timeout_sync", "is 0; a turn needs some time".to_owned())
        } else if budget.0 < smallest {
            let problem = format!("is {} bytes; it must be 0 or at least {smallest}", budget.0);
            ("max_budget", problem)
        } else if tunables.back_seek_penalty == 0 {
            (
                "back_seek_penalty",
                "is 0; it must be at least 1".to_owned(),
            )
        } else {
            return Ok(Self {
                tunables: tunables.clone(),
                max_budget: budget.0 / SECTOR_BYTES,
                pool: Pool::default(),
                queues: Vec::new(),
                owners: BTreeMap::new(),
                time: Wf2q::default(),
                serving: None,
                turn_end: Time::ZERO,
                idle_until: Time::ZERO,
                head: 0,
                held: 0,
            });
        };
        Err(BadConfig {
            part: "bfq",
            key: wrong.0,
            problem: wrong.1,
        })
    }

    /// The queue of a request; the first request of its owner makes one.
    fn queue_of(&mut self, io: &Io) -> u32 {
        let next = self.queues.len() as u32;
        let id = *self.owners.entry(owner(io)).or_insert(next);
        if id == next {
            self.time.add();
            self.queues.push(Queue::new(io, self.max_budget));
        }
        id
    }

    fn put(&mut self, io: Io) {
        let id = self.queue_of(&io);
        let charge = self.charge(id, &io);
        let queue = &mut self.queues[id as usize];
        queue.weight = weight(&io);
        queue.line.insert(&mut self.pool, io);
        self.held += 1;
        if self.time.is_idle(id) {
            queue.budget = queue.next_budget.max(charge);
            self.time.wake(id, queue.weight, queue.budget);
        }
    }

    fn take(&mut self, io: &Io) -> bool {
        let id = self.queue_of(io);
        let queue = &mut self.queues[id as usize];
        if queue.line.remove(&mut self.pool, place(io)).is_none() {
            return false;
        }
        self.held -= 1;
        if queue.line.is_empty() && self.serving != Some(id) {
            self.time.rest(id, 0);
        }
        true
    }

    /// What a request takes from the budget of its queue, in sectors.
    fn charge(&self, id: u32, io: &Io) -> u64 {
        let sectors = io.len.div_ceil(SECTOR_BYTES);
        if self.queues[id as usize].sync || self.time.weights_differ() {
            sectors
        } else {
            sectors * ASYNC_CHARGE
        }
    }

    /// Which request of a queue goes next.
    fn choose(&self, queue: &Queue, now: Time) -> Option<Place> {
        let oldest = queue.line.oldest(&self.pool)?;
        let expire = match queue.sync {
            true => self.tunables.fifo_expire_sync,
            false => self.tunables.fifo_expire_async,
        };
        if !queue.fifo_checked && oldest.queued + expire <= now {
            return Some(place(oldest));
        }
        if queue.line.len() == 1 {
            return Some(place(oldest));
        }
        let head = Head {
            at: queue.last.unwrap_or(self.head),
            back_max: self.tunables.back_seek_max.0,
            back_penalty: self.tunables.back_seek_penalty,
        };
        // What begins at this very place is no farther than it.
        head.next(&self.pool, &queue.line, (head.at, IoKey(u32::MAX)))
    }

    /// Whether the drive is kept idle for a queue that has run dry.
    fn is_worth_waiting(&self, queue: &Queue) -> bool {
        let shares_depend = self.time.weights_differ() || self.time.busy() == 1;
        queue.sync
            && self.tunables.slice_idle > Dur::ZERO
            && (shares_depend || self.tunables.rotational)
    }

    fn verdict(&self, id: u32, now: Time) -> Verdict {
        let queue = &self.queues[id as usize];
        let Some(at) = self.choose(queue, now) else {
            let waits = queue.in_flight > 0 || now < self.idle_until;
            return match self.is_worth_waiting(queue) {
                true if waits => Verdict::Wait,
                true => Verdict::End(Reason::TooIdle),
                false => Verdict::End(Reason::NoMoreRequests),
            };
        };
        if now >= self.turn_end {
            return Verdict::End(Reason::BudgetTimeout);
        }
        let charge = self.pool.get(at.1).map_or(0, |io| self.charge(id, io));
        if queue.service + charge > queue.budget {
            return Verdict::End(Reason::BudgetExhausted);
        }
        Verdict::Go(at)
    }

    /// The next queue has its turn.
    fn begin(&mut self, now: Time) -> Option<u32> {
        let id = self.time.next()?;
        let next = self.choose(&self.queues[id as usize], now);
        let io = next.and_then(|at| self.pool.get(at.1));
        let charge = io.map_or(0, |io| self.charge(id, io));
        let queue = &mut self.queues[id as usize];
        queue.service = 0;
        queue.budget = queue.budget.max(charge);
        queue.fifo_checked = false;
        self.serving = Some(id);
        self.turn_end = now + self.tunables.timeout_sync;
        Some(id)
    }

    fn end(&mut self, id: u32, reason: Reason, now: Time) {
        self.serving = None;
        let next_budget = self.queues[id as usize].budget_after(reason, self.max_budget);
        let queue = &mut self.queues[id as usize];
        queue.next_budget = next_budget;
        queue.fifo_checked = false;
        let queue = &self.queues[id as usize];
        let next = self.choose(queue, now);
        let Some(io) = next.and_then(|at| self.pool.get(at.1)) else {
            return self.time.rest(id, queue.service);
        };
        let budget = next_budget.max(self.charge(id, io));
        let (service, weight) = (queue.service, queue.weight);
        self.queues[id as usize].budget = budget;
        self.time.requeue(id, service, weight, budget);
    }

    fn go(&mut self, id: u32, at: Place) -> Option<Io> {
        let charge = self.pool.get(at.1).map_or(0, |io| self.charge(id, io));
        let queue = &mut self.queues[id as usize];
        let io = queue.line.remove(&mut self.pool, at)?;
        queue.service += charge;
        queue.in_flight += 1;
        queue.last = Some(io.offset);
        queue.fifo_checked = true;
        self.time.served(charge);
        self.head = io.end();
        self.held -= 1;
        Some(io)
    }
}

impl Scheduler for Bfq {
    fn insert(&mut self, _now: Time, io: Io) {
        self.put(io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        if owner(before) == owner(&io) {
            let id = self.queue_of(before);
            let queue = &mut self.queues[id as usize];
            queue.line.change(&mut self.pool, before, io);
        } else if self.take(before) {
            self.put(io);
        }
    }

    fn remove(&mut self, io: &Io) {
        self.take(io);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        loop {
            let id = match self.serving {
                Some(id) => id,
                None => self.begin(now)?,
            };
            match self.verdict(id, now) {
                Verdict::Go(at) => return self.go(id, at),
                Verdict::Wait => return None,
                Verdict::End(reason) => self.end(id, reason, now),
            }
        }
    }

    fn completed(&mut self, now: Time, io: &Io) {
        let id = self.queue_of(io);
        let queue = &mut self.queues[id as usize];
        queue.in_flight = queue.in_flight.saturating_sub(1);
        if self.serving == Some(id) && queue.in_flight == 0 && queue.line.is_empty() {
            self.idle_until = now + self.tunables.slice_idle;
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let queue = &self.queues[self.serving? as usize];
        let waits = self.held > 0 && queue.line.is_empty() && queue.in_flight == 0;
        waits.then_some(self.idle_until)
    }

    fn len(&self) -> usize {
        self.held
    }

    /// Requests of two queues stay apart.
    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        owner(held) == owner(new)
    }
}

#[cfg(test)]
mod tests;
