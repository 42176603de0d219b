//! The plug: holds requests back for a short time so that others can be merged with them.
//!
//! `batch` is a list for each task, before the scheduler (Linux since 2.6.39). `timer` passes all requests to the
//! scheduler at once, but closes a queue that was empty towards the drive (Linux 2.6.23, `block/ll_rw_blk.c`,
//! `block/elevator.c`).

use super::config::{BATCH_MAX, FLUSH_BYTES};
use super::{BlockQueue, Place, Plug};
use crate::Era;
use fathom_base::Time;
use fathom_block::{Device, Op, Tag};

impl<D: Device> BlockQueue<D> {
    /// Adds a new request to the plug or to the scheduler.
    pub(super) fn add(&mut self, slot: u32, process: u32) {
        match self.config.plug {
            Plug::Off => self.hand_over(slot),
            Plug::Batch => {
                let index = self.plug.tasks.list(process);
                let list = &self.plug.tasks.lists[index];
                if list.len() >= BATCH_MAX || self.is_long(list.first()) {
                    self.flush_list(index);
                }
                self.plug.tasks.lists[index].push(slot);
            }
            Plug::Timer { requests, delay } => {
                // `__make_request`: `elv_queue_empty`, then `blk_plug_device`, which does not restart a running timer.
                if self.waiting() == 0 && !self.is_closed() {
                    self.plug.until = self.time() + delay;
                }
                self.hand_over(slot);
                // `elv_insert`: the allocated requests less those at the drive.
                if self.is_closed() && self.waiting() >= requests as usize {
                    self.open();
                }
            }
        }
    }

    /// `blk_add_rq_to_plug`: a first request of at least 128 KiB ends a plug list (6.18, where the head is the oldest
    /// request).
    fn is_long(&self, slot: Option<&u32>) -> bool {
        let piece = slot.and_then(|&slot| self.pieces.get(slot));
        let long = piece.is_some_and(|piece| piece.io.len >= FLUSH_BYTES);
        long && self.config.merge && self.era == Era::Multi
    }

    /// Returns true if there is no request that a new one could be merged with.
    #[inline]
    pub(super) fn holds_nothing(&self) -> bool {
        self.plug.tasks.used() == 0 && self.scheduler.is_empty()
    }

    /// Number of requests that were not dispatched, without those in plug lists.
    fn waiting(&self) -> usize {
        self.scheduler.len() + self.whole.len() + usize::from(self.next.is_some())
    }

    /// Returns whether the timer plug blocks dispatch.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.plug.until != Time::MAX
    }

    /// `__generic_unplug_device`: removes the timer plug and dispatches.
    #[inline]
    pub(super) fn open(&mut self) {
        if self.is_closed() {
            self.plug.until = Time::MAX;
            self.pump();
        }
    }

    /// Notes that a task has submitted a request, and decides whether the timer plug goes at once or when somebody
    /// waits.
    ///
    /// At once for a write that somebody waits for (`bio_sync`, `__make_request`) and for direct I/O: both run the
    /// queue at their end (`blk_run_address_space`, `direct_io_worker`, `fs/direct-io.c`). For other reads, when the
    /// submitter waits.
    pub(super) fn note_waiter(&mut self, op: Op, tag: Tag) {
        if !self.is_closed() {
            return;
        }
        if tag.direct || (tag.sync && op != Op::Read) {
            self.open();
        } else if op == Op::Read {
            self.plug.awaited = true;
        }
    }

    /// Called when the submitter waits: moves the plug lists to the scheduler, and removes the timer plug if it is due.
    #[inline]
    pub(super) fn pull_plug_if_due(&mut self) {
        if self.plug.tasks.used() > 0 {
            self.pull_plug();
        }
        let awaited = std::mem::take(&mut self.plug.awaited);
        if self.is_closed() && (awaited || self.time() >= self.plug.until) {
            self.open();
        }
    }

    #[inline(never)]
    fn pull_plug(&mut self) {
        match self.plug.tasks.only() {
            Some(slot) if self.goes_on() => self.pass(slot),
            _ => (0..self.plug.tasks.used()).for_each(|index| self.flush_list(index)),
        }
        self.plug.tasks.clear();
    }

    fn flush_list(&mut self, index: usize) {
        let mut pieces = std::mem::take(&mut self.plug.tasks.lists[index]);
        for slot in pieces.drain(..) {
            if !(self.config.merge && self.merge_inserted(slot)) {
                self.hand_over(slot);
            }
        }
        self.plug.tasks.lists[index] = pieces;
    }

    /// Returns true if the scheduler is asked for a request as soon as it has one.
    fn goes_on(&self) -> bool {
        let has_room = self.in_flight < self.depth || self.takes_ahead();
        has_room && self.waiting() == 0 && !self.is_closed()
    }

    /// Passes a request through a scheduler that holds no other: it mostly goes on to the drive at once.
    fn pass(&mut self, slot: u32) {
        let Some(piece) = self.pieces.get_mut(slot) else {
            return;
        };
        piece.place = Place::Scheduler;
        let io = piece.io;
        let now = self.time();
        self.scheduler.insert(now, io);
        match self.scheduler.dispatch(now) {
            Some(io) => self.next = self.leaves(&io),
            None if self.config.merge => self.note_mergeable(&io),
            None => {}
        }
    }

    /// Passes a request to the scheduler.
    fn hand_over(&mut self, slot: u32) {
        let Some(piece) = self.pieces.get_mut(slot) else {
            return;
        };
        piece.place = Place::Scheduler;
        let io = piece.io;
        if self.config.merge {
            self.note_mergeable(&io);
        }
        self.scheduler.insert(self.time(), io);
    }
}
