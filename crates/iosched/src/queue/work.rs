//! Access to the counters of a queue.

use super::stats::{QueueStats, elapse};
use super::{BlockQueue, pool};
use fathom_base::Time;
use fathom_block::{Device, DriveStats, Op, QueueWork, Subject};

impl<D: Device> BlockQueue<D> {
    /// Returns all counters.
    pub fn stats(&self) -> QueueStats {
        let work = self.work();
        QueueStats {
            submitted: work.submitted,
            pieces: work.pieces,
            back_merges: work.back_merges,
            front_merges: work.front_merges,
            joined: work.joined,
            held_back: work.held_back,
            reads: self.counts.lengths[pool(Op::Read)].with(work.reads),
            writes: self.counts.lengths[pool(Op::Write)].with(work.writes),
            depth_sum: work.depth_sum,
            elapsed_ns: work.at.since(self.counts.since).0,
            held_ns: work.held_ns,
            in_flight_ns: work.in_flight_ns,
            bundles: self.scheduler.bundles().cloned(),
        }
    }

    /// Returns the counters without lengths and bundles. Cheap: copies a few numbers.
    pub fn work(&self) -> QueueWork {
        let mut work = self.counts.work;
        elapse(
            &mut work,
            self.inner.now(),
            self.parents.len(),
            self.in_flight,
        );
        work
    }

    /// Updates the time integrals before the numbers of requests change. Returns the current time.
    pub(super) fn elapse(&mut self) -> Time {
        let now = self.inner.now();
        elapse(
            &mut self.counts.work,
            now,
            self.parents.len(),
            self.in_flight,
        );
        now
    }

    /// Returns the time at which [`BlockQueue::elapse`] was called last: at the beginning of every call of the queue.
    #[inline]
    pub(super) fn time(&self) -> Time {
        self.counts.work.at
    }
}

impl<D: Subject> Subject for BlockQueue<D> {
    fn stats(&self) -> Option<DriveStats> {
        self.inner.stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        Some(self.work())
    }

    /// What the queue can do at once counts as now: something to return, to unplug or to dispatch.
    fn next_at(&mut self) -> Option<Time> {
        let now = self.elapse();
        let inner = self.inner.next_at()?;
        let acts = !self.ready.is_empty() || self.plug.tasks.used() > 0;
        Some(if acts {
            now
        } else {
            inner.min(self.next_timer()).max(now)
        })
    }
}
