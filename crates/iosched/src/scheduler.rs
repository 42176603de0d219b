//! The interface of a scheduler: the trait [`Scheduler`], and what the queue asks of it.

use crate::{Bundled, Io, IoKey};
use fathom_base::{BadValue, Bytes, Dur, Time, want};
use fathom_block::{DeviceInfo, Op};

/// The Linux block layer that a scheduler belongs to. It decides how the queue above the scheduler works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// One queue for all processors: Linux up to 4.20 (`block/ll_rw_blk.c`, later `block/blk-core.c`).
    Single,
    /// A queue for each processor: current Linux (`block/blk-mq.c`). A direct write counts as waited for
    /// (`dio_bio_write_op`, `block/fops.c`). Only the end of a plug list is searched for merges. Requests of different
    /// priorities are not merged (`blk_rq_merge_ok`).
    Multi,
}

/// Which of the requests that a scheduler holds a new one may be merged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Any adjacent request, at either end. For schedulers that sort requests by place (`elv_merge`, and
    /// `deadline_merge`, `dd_request_merge`, `bfq_request_merge`, ... for front merges).
    ByPlace,
    /// Any request, at its end. At its beginning only the one that was last merged or that arrived first since then
    /// (`q->last_merge`). Neighbours in the order of arrival are joined (`noop_latter_request`).
    ByEnd,
    /// One of the latest eight requests, at either end, searched from the latest (`blk_bio_list_merge`). Two held
    /// requests are never joined.
    Latest {
        /// Whether only reads count for a read, and only writes for a write (`kyber_bio_merge`).
        of_kind: bool,
    },
}

/// Decides which request goes to the drive next.
///
/// A scheduler is a state machine. It knows the time only from its arguments, does no I/O and draws no random numbers,
/// so equal calls give equal decisions. The queue guarantees that overlapping requests are never held together unless
/// all are reads, and that flushes and trims bypass the scheduler. A scheduler may order the held requests in any way,
/// but must dispatch each of them eventually.
pub trait Scheduler: std::fmt::Debug {
    /// Takes a request. No other held request has the same key.
    fn insert(&mut self, now: Time, io: Io);

    /// Replaces the held request `before` by `io`, after something was merged with it at either end.
    fn changed(&mut self, now: Time, before: &Io, io: Io) {
        self.remove(before);
        self.insert(now, io);
    }

    /// Removes a held request that was merged into another held request.
    fn remove(&mut self, io: &Io);

    /// Returns the next request and releases it. `None` if none is held, or if the scheduler waits for the next
    /// arrival, the next completion or [`Scheduler::next_timer`].
    fn dispatch(&mut self, now: Time) -> Option<Io>;

    /// Tells the scheduler that a dispatched request is complete.
    fn completed(&mut self, _now: Time, _io: &Io) {}

    /// When to call [`Scheduler::dispatch`] again if nothing happens until then. It is later than the time of the last
    /// call.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Returns the number of held requests.
    fn len(&self) -> usize;

    /// Returns true if no request is held.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that the scheduler works above a drive with logical blocks of `logical_block` bytes.
    ///
    /// # Errors
    /// [`BadValue`] names the tunable that does not fit.
    fn check(&self, _logical_block: u64) -> Result<(), BadValue> {
        Ok(())
    }

    /// The longest request that may begin at `offset`, in bytes; at least one logical block.
    fn room(&self, _op: Op, _offset: u64) -> u64 {
        u64::MAX
    }

    /// Returns whether `new` may be merged with the held request `held`. Both are of one kind and adjacent.
    fn may_merge(&self, _held: &Io, _new: &Io) -> bool {
        true
    }

    /// The Linux block layer that the scheduler belongs to.
    fn era(&self) -> Era {
        Era::Single
    }

    /// Limits how many of a queue's `requests` writes and trims may occupy where all requests share one pool. The limit
    /// may differ for those that somebody waits for (`sync`) and the others. At least 1.
    fn limit(&self, requests: u32, _sync: bool) -> u32 {
        requests
    }

    /// How the queue finds the request that a new one can be merged with.
    fn merging(&self) -> Merging {
        Merging::ByPlace
    }

    /// The requests before and after a held one, if the scheduler keeps requests in order of arrival.
    fn neighbours(&self, _key: IoKey) -> [Option<IoKey>; 2] {
        [None; 2]
    }

    /// The bundles of writes dispatched so far, if the scheduler makes bundles.
    fn bundles(&self) -> Option<&Bundled> {
        None
    }
}

/// The interface of a scheduler's tunables.
pub(crate) trait Policy {
    /// The longest time that the check suite lets a request wait behind a stream of others: the bound that the
    /// scheduler promises, plus a margin.
    const STARVATION: Dur;

    /// Builds the scheduler.
    ///
    /// # Errors
    /// [`BadValue`] names the invalid tunable.
    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue>;

    /// Takes values that are not set from the drive.
    fn over(&mut self, _info: &DeviceInfo) {}
}

/// Rejects a size of the drive that is missing or 0.
pub(crate) fn given(size: Bytes, key: &'static str, parameter: &str) -> Result<(), BadValue> {
    want(size > Bytes(0), key, size, || {
        format!(
            "it is larger than that: the drive's `{parameter}`, which `fathom probe --only {parameter}` measures"
        )
    })
}
