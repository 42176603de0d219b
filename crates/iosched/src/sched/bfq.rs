//! BFQ, budget fair queueing: every process gets its share of what is transferred, whatever the drive makes of it.
//!
//! Linux 6.12, `block/bfq-iosched.c` and `block/bfq-wf2q.c`, which were read; `tests/kernel.rs` compares the order of
//! dispatch with that of a kernel.
//!
//! A queue for what each process waits for (sync), one for each priority for what nobody waits for (async). A queue has
//! the drive until it has used up its *budget*, a number of sectors, or its time, or has nothing more to ask. Which queue
//! is next is B-WF2Q+ (`wf2q.rs`), by weights of 10 times 8 less the priority, within a class of
//! priority. The budget follows what the queue made of
//! the last one, and a queue that made little of its time is charged for the time (`turn.rs`). Within a queue requests go
//! by nearness (`seek.rs`), and the oldest goes once a turn if it has expired. What nobody waits for is charged three
//! times, unless weights differ.
//!
//! With `low_latency`, what seems to be interactive or soft real-time weighs 30 times as much or more (`raise.rs`). A
//! queue that asks again soon after it ran dry takes the drive from the one that has it (`BFQQE_PREEMPTED`): it keeps its
//! budget and its place in virtual time. A sync queue that has run dry keeps the drive idle for up to `slice_idle`
//! where shares depend on it, or where that costs no throughput: not on a drive without a head that queues (`rate.rs`
//! sees whether it does). Meanwhile some requests of others go (`inject.rs`).
//!
//! On a drive without a head, a process whose first request comes within 180 ms of that of the one before it and has its
//! priority shares its queue (`bfq_do_early_stable_merge`).
//!
//! What is left out: merging the queues of cooperating processes on a drive with a head or without a queue; groups, the
//! several actuators, metadata; `strict_guarantees`; the end of a process; the
//! share of the requests that one group may have (`bfqq_request_over_limit`). A budget that is set is in force from the
//! first turn on; in Linux, after some ten. Times are not rounded to ticks.

mod enter;
mod inject;
mod leave;
mod queue;
mod raise;
mod raised;
mod rate;
mod share;
mod turn;

use super::seek::Head;
use super::wf2q::{CLASSES, Wf2q};
use super::{Place, Pool, place};
use crate::scheduler::Policy;
use crate::{Class, Era, Io, IoKey, Scheduler};
use fathom_base::{About, BadValue, Bytes, Dur, SECTOR_BYTES, Time, keys, want};
use fathom_block::DeviceInfo;
use queue::Queue;
use raised::Burst;
use rate::{Depth, Rate};
use std::collections::BTreeMap;

/// What the list says of it.
pub(crate) const ABOUT: About =
    About::new("a share of the throughput for each process by weight, in budgets of sectors");

keys! {
    /// The names and the defaults of Linux.
    pub struct Tunables {
        /// How long the drive is kept idle for the next request of a process. With 0, never.
        pub slice_idle: Dur = Dur::ms(8),
        /// The longest turn (`HZ / 8`, which a kernel of 250 Hz shows as 124). Not 0.
        pub timeout_sync: Dur = Dur::ms(125),
        /// Whether what seems to be interactive or soft real-time is preferred.
        pub low_latency: bool = true,
        /// The largest budget, at least 16 KiB; 0, the default, is what the drive transfers in `timeout_sync` at its peak
        /// rate, and 8 MiB (`bfq_default_max_budget`) before that is known.
        pub max_budget: Bytes = Bytes(0),
        /// After how long what is waited for goes first in its queue.
        pub fifo_expire_sync: Dur = Dur::ms(125),
        /// The same for what nobody waits for.
        pub fifo_expire_async: Dur = Dur::ms(250),
        /// How far the head goes back.
        pub back_seek_max: Bytes = Bytes::mib(16),
        /// How many bytes ahead are as good as one byte back, from 1.
        pub back_seek_penalty: u64 = 2,
        /// Whether the drive has a head that seeks. Unless given, what the drive says of itself, as in Linux
        /// (`queue/rotational`); no where it says nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rotational: Option<bool> = None,
    }
}

impl Policy for Tunables {
    /// Turns of one other process, of an eighth of a second and a tenth.
    const STARVATION: Dur = Dur::ms(500);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Bfq::new(self)?))
    }

    /// Linux 6.12, `block/bfq-iosched.c`: `blk_queue_nonrot(bfqd->queue)`, which is `queue/rotational`.
    fn over(&mut self, info: &DeviceInfo) {
        self.rotational = self.rotational.or(info.rotational);
    }
}

impl Tunables {
    pub(crate) fn is_rotational(&self) -> bool {
        self.rotational == Some(true)
    }
}

/// The largest budget before the peak rate is known (`bfq_default_max_budget`), and after how many turns that counts, in
/// the fixed point of `budgets_assigned` (`bfq_stats_min_budgets`).
const DEFAULT_BUDGET: Bytes = Bytes::mib(8);
const KNOWN_BUDGETS: u32 = 194;
/// A budget is at least this part of the largest (`bfq_min_budget`).
const MIN_BUDGET_PART: u64 = 32;
/// How many times what nobody waits for is charged (`bfq_async_charge_factor`).
const ASYNC_CHARGE: u64 = 3;

/// A process that waits for its requests.
#[derive(Clone, Copy, Debug)]
struct Process {
    queue: u32,
    /// Its requests that are not done.
    requests: u32,
}

/// How many queues are busy: all, those of each class, those that are raised.
#[derive(Clone, Debug, Default)]
struct Busy {
    all: u32,
    of_class: [u32; CLASSES],
    raised: u32,
}

/// Whether the drive waits for the queue whose turn it is.
#[derive(Clone, Debug, Default)]
struct Wait {
    waits: bool,
    since: Time,
    until: Option<Time>,
    /// Requests of others went meanwhile.
    injected: bool,
    /// The next request is watched: which one it is, and since when.
    on_dispatch: bool,
    request: Option<IoKey>,
    request_since: Time,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Bfq {
    tunables: Tunables,
    /// In sectors.
    max_budget: u64,
    pool: Pool,
    queues: Vec<Queue>,
    processes: BTreeMap<u32, Process>,
    /// The queues of what nobody waits for, by class and priority.
    unwaited: BTreeMap<(Class, u8), u32>,
    created_last: Option<u32>,
    time: Wf2q,
    /// How many queues that want service have that weight.
    weights: BTreeMap<u64, u32>,
    busy: Busy,
    burst: Burst,
    rate: Rate,
    depth: Depth,
    /// Turns so far, as a mean that forgets: up to 249.
    budgets: u32,
    in_flight: u32,
    /// The queue whose turn it is, and since when.
    serving: Option<u32>,
    turn_began: Time,
    wait: Wait,
    last_completed: Option<u32>,
    held: usize,
}

impl Bfq {
    /// Nothing is held.
    ///
    /// # Errors
    /// [`BadValue`] where turns have no time, a budget is too small, or going back costs less than going ahead.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        check(tunables)?;
        let budget = match tunables.max_budget {
            Bytes(0) => DEFAULT_BUDGET,
            budget => budget,
        };
        Ok(Self {
            tunables: tunables.clone(),
            max_budget: budget.0 / SECTOR_BYTES,
            pool: Pool::default(),
            queues: Vec::new(),
            processes: BTreeMap::new(),
            unwaited: BTreeMap::new(),
            created_last: None,
            time: Wf2q::default(),
            weights: BTreeMap::new(),
            busy: Busy::default(),
            burst: Burst::default(),
            rate: Rate::new(tunables.is_rotational()),
            depth: Depth::default(),
            budgets: 0,
            in_flight: 0,
            serving: None,
            turn_began: Time::ZERO,
            wait: Wait::default(),
            last_completed: None,
            held: 0,
        })
    }
}

fn head(tunables: &Tunables, at: u64) -> Head {
    Head {
        at,
        back_max: tunables.back_seek_max.0,
        back_penalty: tunables.back_seek_penalty,
    }
}

fn check(tunables: &Tunables) -> Result<(), BadValue> {
    let smallest = MIN_BUDGET_PART * SECTOR_BYTES;
    let budget = tunables.max_budget;
    let timed = tunables.timeout_sync > Dur::ZERO;
    want(timed, "timeout_sync", 0, || "a turn needs some time".into())?;
    want(
        budget == Bytes(0) || budget.0 >= smallest,
        "max_budget",
        format!("{} bytes", budget.0),
        || format!("it must be 0 or at least {smallest}"),
    )?;
    let costs = tunables.back_seek_penalty > 0;
    want(costs, "back_seek_penalty", 0, || {
        "it must be at least 1".into()
    })
}

impl Scheduler for Bfq {
    fn insert(&mut self, now: Time, io: Io) {
        self.tick(now);
        self.put(now, io);
    }

    fn changed(&mut self, now: Time, before: &Io, io: Io) {
        let Some(id) = self.known(before) else {
            return;
        };
        if self.known(&io) != Some(id) {
            self.remove(before);
            return self.put(now, io);
        }
        let queue = &mut self.queues[id as usize];
        queue.sorted.change(&mut self.pool, before, io);
        queue.rename_next(io.key, place(&io));
        let next = queue.next;
        if io.offset != before.offset {
            let head = head(&self.tunables, self.rate.place);
            self.queues[id as usize].next = head.nearer(next, Some(place(&io)));
            if self.queues[id as usize].next != next {
                self.rebudget(id);
            }
        }
    }

    /// It was merged with the one below it, if that is adjacent: where it was next, that one is now.
    fn remove(&mut self, io: &Io) {
        let Some(id) = self.known(io) else {
            return;
        };
        if let Some(process) = self.processes.get_mut(&io.process).filter(|_| io.sync) {
            process.requests = process.requests.saturating_sub(1);
        }
        let queue = &mut self.queues[id as usize];
        if queue.next == Some(place(io))
            && let Some(below) = queue.sorted.before(&self.pool, place(io))
            && self
                .pool
                .get(below.1)
                .is_some_and(|it| it.end() == io.offset)
        {
            queue.next = Some(below);
        }
        // Without a look at ages: the time is not known here.
        self.take(id, place(io), Time::ZERO);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        self.tick(now);
        if self.busy.all == 0 {
            return None;
        }
        let id = self.select(now)?;
        self.go(id, now)
    }

    fn completed(&mut self, now: Time, io: &Io) {
        self.tick(now);
        let Some(id) = self.known(io) else {
            return;
        };
        if self.wait.request == Some(io.key) {
            self.update_injection(id, now);
        }
        self.settle(id, now);
        if let Some(process) = self.processes.get_mut(&io.process).filter(|_| io.sync) {
            process.requests = process.requests.saturating_sub(1);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        self.wait.until.filter(|_| self.held > 0)
    }

    fn era(&self) -> Era {
        Era::Multi
    }

    /// `bfq_limit_depth` and `bfq_depth_updated` (6.18): less for writes while a queue is raised that wants service.
    fn limit(&self, requests: u32, sync: bool) -> u32 {
        let sixteenths = match (self.busy.raised > 0, sync) {
            (false, false) => 8,
            (false, true) => 12,
            (true, false) => 3,
            (true, true) => 6,
        };
        (u64::from(requests) * sixteenths / 16).max(1) as u32
    }

    fn len(&self) -> usize {
        self.held
    }

    /// Requests of two queues stay apart: `bfq_allow_bio_merge`.
    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        let same_owner = match held.sync {
            true => held.process == new.process,
            false => (held.class, held.priority) == (new.class, new.priority),
        };
        let shared = || {
            let queue = self.known(held);
            queue.is_some() && queue == self.known(new)
        };
        held.sync == new.sync && (same_owner || shared())
    }
}

#[cfg(test)]
mod tests;
