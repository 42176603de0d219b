//! What a scheduler is.

use crate::{Bundled, Io, IoKey};
use fathom_base::{BadValue, Bytes, Dur, Time, want};
use fathom_block::{DeviceInfo, Op};

/// Of which Linux a scheduler is, which says how the queue above it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// One queue for all processors, up to 4.20 (`block/ll_rw_blk.c`, later `block/blk-core.c`).
    Single,
    /// A queue for each processor, today (`block/blk-mq.c`). A direct write counts as waited for (`dio_bio_write_op`,
    /// `block/fops.c`); a plug list is searched at its end alone; requests of two priorities are not merged
    /// (`blk_rq_merge_ok`).
    Multi,
}

/// With which of the requests that a scheduler holds a new one may be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Any that is adjacent, at either end: where requests are kept by place (`elv_merge`, and `deadline_merge`,
    /// `dd_request_merge`, `bfq_request_merge`, ... for the front).
    ByPlace,
    /// Any at its end; at its beginning only the one that was last merged or came first since (`q->last_merge`).
    /// Neighbours in the order of arrival are joined (`noop_latter_request`).
    ByEnd,
    /// One of the latest eight at either end, the latest first (`blk_bio_list_merge`); two requests are never joined.
    Latest {
        /// Only reads count for a read, and only writes for a write (`kyber_bio_merge`).
        of_kind: bool,
    },
}

/// Which request goes to the drive next.
///
/// A state machine: it knows the time only from what it is told, does no I/O and draws no random number, so that equal
/// calls give equal decisions. The queue sees to it that requests that overlap are never held together unless all
/// are reads, and that flushes and trims pass by; a scheduler may order what it holds as it likes, but must let
/// everything go in the end.
pub trait Scheduler: std::fmt::Debug {
    /// Takes a request. Its key names no other request that it holds.
    fn insert(&mut self, now: Time, io: Io);

    /// A request that it holds was `before` and is `io` now: something was merged with it, at either end.
    fn changed(&mut self, now: Time, before: &Io, io: Io) {
        self.remove(before);
        self.insert(now, io);
    }

    /// A request that it holds was merged with another that it holds, and is gone.
    fn remove(&mut self, io: &Io);

    /// The request that goes next. `None` if there is none, or if it would rather wait, until something completes or
    /// comes or [`Scheduler::next_timer`].
    fn dispatch(&mut self, now: Time) -> Option<Io>;

    /// A request that it dispatched is done.
    fn completed(&mut self, _now: Time, _io: &Io) {}

    /// When to ask again, if nothing happens until then; later than the last time it was asked.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Requests that it holds.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it can stand above a drive with logical blocks of so many bytes.
    ///
    /// # Errors
    /// [`BadValue`] names the tunable that does not fit.
    fn check(&self, _logical_block: u64) -> Result<(), BadValue> {
        Ok(())
    }

    /// The longest request that it wants to begin at `offset`, in bytes; at least one logical block.
    fn room(&self, _op: Op, _offset: u64) -> u64 {
        u64::MAX
    }

    /// Whether `new` may be merged with `held`, which it holds. Both are of one kind and adjacent.
    fn may_merge(&self, _held: &Io, _new: &Io) -> bool {
        true
    }

    /// Of which Linux it is.
    fn era(&self) -> Era {
        Era::Single
    }

    /// How many of a queue's requests writes and trims may have, where all share one pool: those that somebody waits for
    /// (`sync`), and those that nobody does. At least 1.
    fn limit(&self, requests: u32, _sync: bool) -> u32 {
        requests
    }

    /// How the queue looks for what a new request can be merged with.
    fn merging(&self) -> Merging {
        Merging::ByPlace
    }

    /// The requests before and after one that it holds, where it keeps them in the order in which they came.
    fn neighbours(&self, _key: IoKey) -> [Option<IoKey>; 2] {
        [None; 2]
    }

    /// The bundles of writes that it has dispatched, where it makes any.
    fn bundles(&self) -> Option<&Bundled> {
        None
    }
}

/// What a scheduler's tunables say and make.
pub(crate) trait Policy {
    /// The longest that the check suite lets a request wait behind a stream of others: what the scheduler promises, and some
    /// to spare.
    const STARVATION: Dur;

    /// The scheduler.
    ///
    /// # Errors
    /// [`BadValue`] names the tunable that cannot be.
    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue>;

    /// Takes what it leaves to the drive.
    fn over(&mut self, _info: &DeviceInfo) {}
}

/// Refuses a size of the drive that was not given.
pub(crate) fn given(size: Bytes, key: &'static str, parameter: &str) -> Result<(), BadValue> {
    want(size > Bytes(0), key, "missing", || {
        format!("it is the drive's `{parameter}`, which `fathom probe --only {parameter}` measures")
    })
}
