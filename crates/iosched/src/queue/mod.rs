//! The block layer: a device that wraps a device and lets a scheduler decide which request goes next.
//!
//! A request passes through these steps, as in Linux (Documentation/block/biodoc.rst). It is split into pieces no
//! longer than the longest request that may begin at their offset. Each piece is merged with an adjacent held request
//! or becomes a request of its own. That waits in the plug, then in the scheduler, until the drive has room. The
//! submitted request completes with its last piece. The scheduler decides which requests are searched for a merge
//! ([`crate::Merging`], [`Era`]).
//!
//! - Overlapping requests that are not both reads are serialized: the later one enters when the earlier one completes.
//!   So a read returns the latest written data under any scheduler.
//! - Flushes bypass the scheduler: they cover completed writes only. So do trims, once the requests that they overlap
//!   are complete. A FUA write keeps its flag down to the drive and is never merged (`rq_mergeable`).
//! - Requests of two processes may be merged; the scheduler can forbid that.
//! - Under the schedulers of 2.6 reads have one pool of requests and everything else has another: the queue can be busy
//!   for one direction and have room for the other. Under current ones there is one pool ([`Scheduler::limit`]).
//!   [`DeviceInfo::queue_depth`] is the size of all pools together; if requests are merged, the queue takes more.
//!
//! The queue has no cache and does not sort plug lists.

mod config;
mod drive;
mod enter;
mod join;
mod merge;
mod order;
mod parts;
mod plug;
mod state;
mod stats;
mod table;
mod work;

pub use config::{Plug, QueueConfig};
pub use stats::{Bundled, Dispatched, QueueStats};

use crate::{Era, Priority, Scheduler};
use fathom_base::{BadValue, Dur, Slab, Time};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveLog, IoErrorKind, Op, QueueWork, Request, RequestId,
};
use merge::Mergeable;
use order::{Open, Order};
use parts::{Ending, Parent, Part, Parts, Piece, Place};
use state::{Counts, Merges, Plugged, Pools};
use std::collections::{BTreeMap, VecDeque};

/// Maximum length of a submitted request, in bytes. The queue splits requests that are too long for the drive.
const LONGEST: u64 = 1 << 30;
/// Flag in the id of a request to the drive: a flush or a trim, which has no pieces.
const WHOLE: u64 = 1 << 63;

/// A drive behind a block layer.
#[derive(Debug)]
pub struct BlockQueue<D> {
    inner: D,
    info: DeviceInfo,
    config: QueueConfig,
    scheduler: Box<dyn Scheduler>,
    priorities: Priorities,
    era: Era,
    depth: u32,
    /// The longest request that the drive takes, in bytes.
    longest: u64,
    parents: Slab<Parent>,
    pieces: Slab<Piece>,
    order: Order,
    merges: Merges,
    plug: Plugged,
    pools: Pools,
    /// Flushes and trims that wait for room in the drive.
    whole: VecDeque<u32>,
    /// The request that is dispatched first: one that the drive refused, or one taken from the scheduler ahead of time.
    next: Option<RequestId>,
    in_flight: u32,
    /// Completions of refused requests that were not returned yet.
    ready: Vec<Completion>,
    /// Completions of the drive, while they are handled.
    came: Vec<Completion>,
    counts: Counts,
}

/// The priorities of processes, by number.
type Priorities = BTreeMap<u32, Priority>;

/// The index of the pool that a request belongs to.
#[inline]
fn pool(op: Op) -> usize {
    usize::from(!matches!(op, Op::Read))
}

/// Refuses a zoned drive: a scheduler may reorder the writes to a zone, and a splitter may cut an append.
fn want_ordinary(info: &DeviceInfo) -> Result<(), BadValue> {
    match info.zoned {
        None => Ok(()),
        Some(_) => {
            let found = format!("{}, a zoned drive", info.name);
            let allowed = "it is for drives without zones, because it keeps no write pointers, and its scheduler and splitter \
                           move writes";
            Err(BadValue::new("drive", found, allowed).of("block layer"))
        }
    }
}

impl<D: Device> BlockQueue<D> {
    /// Creates an empty queue with the configured scheduler.
    ///
    /// # Errors
    /// [`BadValue`] names the invalid setting, or the drive if it is zoned.
    pub fn new(inner: D, config: QueueConfig) -> Result<Self, BadValue> {
        let scheduler = config.scheduler.over(inner.info()).build()?;
        let name = config.scheduler.name();
        Self::with_scheduler(inner, config, scheduler).map_err(|bad| bad.of(name))
    }

    /// Creates an empty queue with a custom scheduler. The scheduler in `config` is not used, except that it determines
    /// the number of requests in the pools.
    ///
    /// # Errors
    /// As [`BlockQueue::new`].
    pub fn with_scheduler(
        inner: D,
        config: QueueConfig,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Self, BadValue> {
        let block = u64::from(inner.info().logical_block_bytes);
        want_ordinary(inner.info())?;
        let priorities = config.priorities()?;
        config.split.check(block)?;
        scheduler.check(block)?;
        config.check()?;
        let most = inner.info().queue_depth;
        let era = scheduler.era();
        let requests = config.room(&config.scheduler, era, most);
        let info = DeviceInfo {
            max_request_bytes: LONGEST,
            queue_depth: match era {
                Era::Single => requests.saturating_mul(2),
                Era::Multi => requests,
            },
            ..inner.info().clone()
        };
        Ok(Self {
            depth: config.depth.map_or(most, |depth| depth.min(most)),
            longest: inner.info().max_request_bytes,
            counts: Counts {
                since: inner.now(),
                work: QueueWork::default(),
                lengths: Default::default(),
            },
            info,
            era,
            pools: Pools {
                each: requests,
                used: [0; 2],
                full: [false; 2],
            },
            merges: Merges {
                how: scheduler.merging(),
                mergeable: Mergeable::default(),
                last: None,
                latest: Default::default(),
            },
            scheduler,
            priorities,
            config,
            inner,
            parents: Slab::default(),
            pieces: Slab::default(),
            order: Order::default(),
            plug: Plugged::default(),
            whole: VecDeque::new(),
            next: None,
            in_flight: 0,
            ready: Vec::new(),
            came: Vec::new(),
        })
    }

    /// Returns the drive.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// Returns the settings.
    pub fn config(&self) -> &QueueConfig {
        &self.config
    }

    /// Returns why a request is invalid, if it is. The queue must reject it as a whole, since some pieces of it could
    /// be valid.
    fn refusal(&self, request: &Request) -> Option<IoErrorKind> {
        let data = request.data.as_ref();
        match self.info.check(request) {
            Err(error) => Some(error.kind),
            Ok(()) if data.is_some_and(|data| data.len() as u64 != request.len) => {
                Some(IoErrorKind::Misaligned)
            }
            Ok(()) => None,
        }
    }

    /// The next time at which the queue has to act even if nothing completes.
    fn next_timer(&self) -> Time {
        match self.scheduler.next_timer() {
            _ if self.is_closed() => self.plug.until,
            Some(at) if self.in_flight < self.depth => at.max(self.time() + Dur(1)),
            _ => Time::MAX,
        }
    }
}

impl<D: Device> Device for BlockQueue<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn log(&mut self) -> Option<DriveLog> {
        self.inner.log()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let op = request.op;
        let side = pool(op);
        let now = self.elapse();
        if self.pools.full[side] || (!self.has_room(&request) && !self.needs_no_room(&request)) {
            self.pools.full[side] = true;
            // `get_request_wait`.
            self.open();
            return Err(Busy(request));
        }
        if let Some(kind) = self.refusal(&request) {
            let error = request.error(kind);
            let refused = Completion::of(&request, now..now, Err(error), None);
            self.ready.push(refused);
            return Ok(());
        }
        let open = Open::new(&request);
        let slot = self.parents.insert(Parent::new(request, now));
        let has_pieces = matches!(op, Op::Read | Op::Write);
        self.counts.work.submitted += u64::from(has_pieces);
        let free = matches!(op, Op::Flush) || self.order.admit(slot, open);
        if !free || !has_pieces {
            self.pools.used[side] += 1;
        }
        if free {
            self.enter(slot);
        } else {
            self.counts.work.held_back += 1;
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let mut now = self.elapse();
        loop {
            self.pull_plug_if_due();
            self.pump();
            let target = match self.ready.is_empty() {
                true => until.min(self.next_timer()),
                false => now,
            };
            self.inner.wait(target, &mut self.came);
            now = self.elapse();
            let nothing_came = self.came.is_empty();
            let before = done.len();
            if !self.ready.is_empty() {
                done.append(&mut self.ready);
            }
            for index in 0..self.came.len() {
                let completion = &mut self.came[index];
                let (id, op) = (completion.id, completion.op);
                let ending = Ending::of(completion);
                self.settle(id, op, ending, done);
            }
            self.came.clear();
            if done.len() > before {
                // Keeps the drive busy while the caller handles the completions.
                self.pull_plug_if_due();
                self.pump();
                return;
            }
            // Prevents an endless loop if a drive loses a request.
            if now >= until || (nothing_came && target == Time::MAX) {
                return;
            }
        }
    }
}
