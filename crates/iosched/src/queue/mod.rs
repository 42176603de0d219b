//! The block layer: a device that wraps a device, and asks a scheduler what goes next.
//!
//! The way of a request, as in Linux (Documentation/block/biodoc.rst): it is split at the longest request that may begin
//! where it begins; every piece is merged with one that is held and adjacent, or becomes one of its own; it waits in the
//! plug, then in the scheduler, until the drive has room. It completes with its last piece. Which requests are looked at
//! for merging depends on the scheduler ([`crate::Merging`], [`Era`]).
//!
//! - Requests that overlap, and are not both reads, pass one after another: the next one enters when the one before it is
//!   done. So what is read is what was written last, whatever the scheduler.
//! - A flush goes to the drive ahead of what is held, for it concerns only what is done. A trim does, too, once what it
//!   overlaps is done. A FUA write is marked as such down to the drive and never merged (`rq_mergeable`).
//! - Merging may join what two processes asked for; the scheduler can forbid that.
//! - Under the schedulers of 2.6 reads have a pool of their own, and all else has another: the queue is busy for one
//!   direction while it has room for the other. Under those of today there is one pool ([`Scheduler::limit`]).
//!   [`DeviceInfo::queue_depth`] is what is in all pools; where requests are merged it takes more.
//!
//! It does not cache, nor does it sort the plug lists.

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
mod work;

pub use config::{Plug, QueueConfig};
pub use stats::{Bundled, Dispatched, QueueStats};

use crate::{Era, Priority, Scheduler};
use fathom_base::{BadValue, Dur, Slab, Time};
use fathom_block::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Op, QueueWork, Request};
use merge::Mergeable;
use order::Order;
use parts::{Parent, Part, Parts, Piece, Place};
use state::{Counts, Merges, Plugged, Pools};
use std::collections::{BTreeMap, VecDeque};

/// The longest request that the queue takes; it is split.
const LONGEST: u64 = 1 << 30;
/// In the number of a request to the drive: a flush or a trim, which has no pieces.
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
    parents: Slab<Parent>,
    pieces: Slab<Piece>,
    order: Order,
    merges: Merges,
    plug: Plugged,
    pools: Pools,
    /// Flushes and trims that wait for room in the drive.
    whole: VecDeque<u32>,
    /// It goes first: what the drive has handed back, or what was taken from the scheduler ahead of time.
    next: Option<Request>,
    in_flight: u32,
    /// Done, and not given out yet.
    ready: Vec<Completion>,
    came: Vec<Completion>,
    freed: Vec<u32>,
    counts: Counts,
}

/// The priorities of processes.
type Priorities = BTreeMap<u32, Priority>;

/// In which of the two pools a request is.
fn pool(op: Op) -> usize {
    usize::from(op != Op::Read)
}

impl<D: Device> BlockQueue<D> {
    /// A queue with nothing in it.
    ///
    /// # Errors
    /// [`BadValue`] names the setting that cannot be.
    pub fn new(inner: D, config: QueueConfig) -> Result<Self, BadValue> {
        let scheduler = config.scheduler.over(inner.info()).build()?;
        let name = config.scheduler.name();
        Self::with_scheduler(inner, config, scheduler).map_err(|bad| bad.of(name))
    }

    /// A queue with nothing in it, under a scheduler of one's own; what `config` says of a scheduler only decides how many
    /// requests there may be.
    ///
    /// # Errors
    /// As [`BlockQueue::new`].
    pub fn with_scheduler(
        inner: D,
        config: QueueConfig,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Self, BadValue> {
        let block = u64::from(inner.info().logical_block_bytes);
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
            freed: Vec::new(),
        })
    }

    /// The drive.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// What it is set to.
    pub fn config(&self) -> &QueueConfig {
        &self.config
    }

    /// What is wrong with a request, if anything: it is not passed on, for a part of it might be right.
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

    /// When something has to be done though nothing completes.
    fn next_timer(&self) -> Time {
        let now = self.inner.now();
        match self.scheduler.next_timer() {
            _ if self.is_closed() => self.plug.until,
            Some(at) if self.in_flight < self.depth => at.max(now + Dur(1)),
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

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let op = request.op;
        let side = pool(op);
        if self.pools.full[side] || (!self.has_room(&request) && !self.needs_no_room(&request)) {
            self.pools.full[side] = true;
            // `get_request_wait`.
            self.open();
            return Err(Busy(request));
        }
        let now = self.elapse();
        let refused = self.refusal(&request);
        let mut parent = Parent::new(request, now);
        if refused.is_some() {
            parent.failed = refused;
            self.ready.push(parent.finish());
            return Ok(());
        }
        let slot = self.parents.insert(parent);
        if matches!(op, Op::Read | Op::Write) {
            self.counts.work.submitted += 1;
        }
        let free = match self.parents.get(slot) {
            Some(parent) if op != Op::Flush => self.order.admit(slot, &parent.request),
            _ => true,
        };
        if !free || !matches!(op, Op::Read | Op::Write) {
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
        loop {
            self.pull_plug_if_due();
            self.pump();
            let before = self.inner.now();
            let target = match self.ready.is_empty() {
                true => until.min(self.next_timer()),
                false => before,
            };
            let mut came = std::mem::take(&mut self.came);
            self.inner.wait(target, &mut came);
            self.elapse();
            let nothing_came = came.is_empty();
            for completion in came.drain(..) {
                self.settle(&completion);
            }
            self.came = came;
            if !self.ready.is_empty() {
                // The drive is not left idle while the caller looks at what is done.
                self.pull_plug_if_due();
                self.pump();
                done.append(&mut self.ready);
                return;
            }
            let now = self.inner.now();
            // A drive that has lost a request must not turn this into an endless loop.
            if now >= until || (nothing_came && target == Time::MAX) {
                return;
            }
        }
    }
}
