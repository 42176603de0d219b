//! BFQ, budget fair queueing: every process gets its share of the data transferred, whatever the speed of the drive.
//!
//! Linux 6.12, `block/bfq-iosched.c` and `block/bfq-wf2q.c`, which were read; `tests/kernel.rs` compares the order of
//! dispatch with that of a kernel.
//!
//! Each process has a queue for its sync requests (reads, and writes that somebody waits for). Each class and priority
//! has a queue for async requests. A queue has the drive until it has used up its *budget*, a number of sectors, or its
//! time, or has no more requests. B-WF2Q+ (`wf2q.rs`) chooses the next queue by weights of 10 * (8 - priority), within a
//! priority class. The budget adapts to the use of the last one, and a queue that made little use of its time is charged
//! for the time (`turn.rs`). Within a queue the nearest request goes (`seek.rs`); once per turn the oldest goes if it
//! has expired. Async requests are charged three times, unless weights differ.
//!
//! With `low_latency`, queues that seem interactive or soft real-time weigh at least 30 times as much (`raise.rs`). A
//! queue that makes a request soon after it ran dry preempts the one being served (`BFQQE_PREEMPTED`): it keeps its
//! budget and its place in virtual time. A sync queue that has run dry keeps the drive idle for up to `slice_idle` if
//! shares depend on it, or if idling costs no throughput. On a drive without a head that queues requests it does cost
//! throughput (`rate.rs` detects queuing). Meanwhile some requests of other queues go (`inject.rs`).
//!
//! On a drive without a head, a process shares the queue of the previous process if its first request comes within 180
//! ms of that one's and has the same priority (`bfq_do_early_stable_merge`).
//!
//! Left out: merging the queues of cooperating processes on a drive with a head or without a queue; groups, several
//! actuators, metadata; `strict_guarantees`; the exit of a process; the limit on a group's share of the requests
//! (`bfqq_request_over_limit`). A budget that is set applies from the first turn on; in Linux, after some ten. Times
//! are not rounded to ticks.

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

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("a share of the throughput for each process by weight, in budgets of sectors");

keys! {
    /// The tunables of Linux with their names and defaults.
    pub struct Tunables {
        /// Maximum time that the drive is kept idle for the next request of a process. With 0, never.
        pub slice_idle: Dur = Dur::ms(8),
        /// Maximum time of a turn (`HZ / 8`, which a kernel of 250 Hz shows as 124). Not 0.
        pub timeout_sync: Dur = Dur::ms(125),
        /// Whether queues that seem interactive or soft real-time are preferred.
        pub low_latency: bool = true,
        /// Maximum budget, at least 16 KiB. With 0, the default, it is the amount that the drive transfers in
        /// `timeout_sync` at its peak rate, and 8 MiB (`bfq_default_max_budget`) until that is known.
        pub max_budget: Bytes = Bytes(0),
        /// Time after which a waiting sync request goes first in its queue.
        pub fifo_expire_sync: Dur = Dur::ms(125),
        /// Time after which a waiting async request goes first in its queue.
        pub fifo_expire_async: Dur = Dur::ms(250),
        /// Maximum distance that the head goes back.
        pub back_seek_max: Bytes = Bytes::mib(16),
        /// Number of bytes ahead that cost as much as one byte back, from 1.
        pub back_seek_penalty: u64 = 2,
        /// Whether the drive has a head that seeks. Unless given, as the drive reports it, as in Linux
        /// (`queue/rotational`); no if it does not report it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rotational: Option<bool> = None,
    }
}

impl Policy for Tunables {
    /// Covers turns of one other process, of an eighth and a tenth of a second.
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

/// The maximum budget until the peak rate is known (`bfq_default_max_budget`), and the number of turns after which it
/// counts as known, in the fixed point of `budgets_assigned` (`bfq_stats_min_budgets`).
const DEFAULT_BUDGET: Bytes = Bytes::mib(8);
const KNOWN_BUDGETS: u32 = 194;
/// A budget is at least this fraction of the maximum (`bfq_min_budget`).
const MIN_BUDGET_PART: u64 = 32;
/// Factor by which async requests are charged (`bfq_async_charge_factor`).
const ASYNC_CHARGE: u64 = 3;

/// A process with sync requests.
#[derive(Clone, Copy, Debug)]
struct Process {
    queue: u32,
    /// Number of its requests that are not complete.
    requests: u32,
}

/// The numbers of busy queues: all, of each class, and raised ones.
#[derive(Clone, Debug, Default)]
struct Busy {
    all: u32,
    of_class: [u32; CLASSES],
    raised: u32,
}

/// The state of idling for the queue being served.
#[derive(Clone, Debug, Default)]
struct Wait {
    waits: bool,
    since: Time,
    until: Option<Time>,
    /// Whether requests of other queues went during the wait.
    injected: bool,
    /// Whether the next request is to be timed for the injection limit, the request being timed, and the start of the
    /// measurement.
    on_dispatch: bool,
    request: Option<IoKey>,
    request_since: Time,
}

/// The scheduler BFQ; see the module.
#[derive(Clone, Debug)]
pub struct Bfq {
    tunables: Tunables,
    /// Maximum budget, in sectors.
    max_budget: u64,
    pool: Pool,
    queues: Vec<Queue>,
    processes: BTreeMap<u32, Process>,
    /// The queues for async requests, by class and priority.
    unwaited: BTreeMap<(Class, u8), u32>,
    created_last: Option<u32>,
    time: Wf2q,
    /// Number of busy queues of each weight.
    weights: BTreeMap<u64, u32>,
    busy: Busy,
    burst: Burst,
    rate: Rate,
    depth: Depth,
    /// Number of turns so far, as a decaying mean that reaches 249.
    budgets: u32,
    in_flight: u32,
    /// The queue being served, and when its turn began.
    serving: Option<u32>,
    turn_began: Time,
    wait: Wait,
    last_completed: Option<u32>,
    held: usize,
}

impl Bfq {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if a turn has no time, a budget is too small, or going back costs less than going ahead.
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

    /// The request was merged with the one below it if that is adjacent. If it was to go next, that one goes next now.
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
        // Skips the check of ages, since the time is not known here.
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

    /// `bfq_limit_depth` and `bfq_depth_updated` (6.18): the limit on writes is lower while a raised queue is busy.
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

    /// Requests of two queues are not merged: `bfq_allow_bio_merge`.
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
