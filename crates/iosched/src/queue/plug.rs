//! The plug: requests that are held back for a little, so that more can join them.
//!
//! `batch` is a list for each task, in front of the scheduler (Linux since 2.6.39). `timer` holds nothing back from the
//! scheduler: a queue that was empty is closed towards the drive (Linux 2.6.23, `block/ll_rw_blk.c`, `block/elevator.c`).

use super::config::{BATCH_MAX, FLUSH_BYTES};
use super::{BlockQueue, Place, Plug};
use crate::{Era, Io};
use fathom_base::Time;
use fathom_block::{Device, Op, Tag};

impl<D: Device> BlockQueue<D> {
    /// A new request goes into the plug, or to the scheduler.
    pub(super) fn add(&mut self, slot: u32, io: &Io) {
        match self.config.plug {
            Plug::Off => self.hand_over(slot),
            Plug::Batch => {
                let list = self.plug.tasks.of(io.process);
                if list.len() >= BATCH_MAX || self.is_long(list.first()) {
                    self.flush_task(io.process);
                }
                self.plug.tasks.push(io.process, slot);
            }
            Plug::Timer { requests, delay } => {
                // `__make_request`: `elv_queue_empty`, then `blk_plug_device`, which leaves a timer that runs.
                if self.waiting() == 0 && !self.is_closed() {
                    self.plug.until = self.inner.now() + delay;
                }
                self.hand_over(slot);
                // `elv_insert`: what has a request, less what the drive has.
                if self.is_closed() && self.waiting() >= requests as usize {
                    self.open();
                }
            }
        }
    }

    /// `blk_add_rq_to_plug`: a request of 128 KiB at the head of a list ends it (6.18, where the head is the oldest).
    fn is_long(&self, slot: Option<&u32>) -> bool {
        let piece = slot.and_then(|&slot| self.pieces.get(slot));
        let long = piece.is_some_and(|piece| piece.io.len >= FLUSH_BYTES);
        long && self.config.merge && self.era == Era::Multi
    }

    /// Requests that the drive has not got, without those in plug lists.
    fn waiting(&self) -> usize {
        self.scheduler.len() + self.whole.len() + usize::from(self.next.is_some())
    }

    /// Whether the timer plug holds the drive back.
    pub(super) fn is_closed(&self) -> bool {
        self.plug.until != Time::MAX
    }

    /// `__generic_unplug_device`: the timer plug goes, and the drive gets what it has room for.
    pub(super) fn open(&mut self) {
        if self.is_closed() {
            self.plug.until = Time::MAX;
            self.pump();
        }
    }

    /// A request that a task made is in: whether the timer plug goes at once, or as soon as somebody waits.
    ///
    /// At once for a write that is waited for (`bio_sync`, `__make_request`) and for direct I/O, each of which runs the
    /// queue at its end (`blk_run_address_space`, `direct_io_worker`, `fs/direct-io.c`).
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

    /// The submitter waits: its plug list goes to the scheduler, or the timer plug goes if it is time.
    pub(super) fn pull_plug_if_due(&mut self) {
        if self.plug.tasks.used > 0 {
            for index in 0..self.plug.tasks.used {
                self.flush_list(index);
            }
            self.plug.tasks.used = 0;
            self.plug.tasks.of_task.clear();
        }
        let awaited = std::mem::take(&mut self.plug.awaited);
        if self.is_closed() && (awaited || self.inner.now() >= self.plug.until) {
            self.open();
        }
    }

    fn flush_task(&mut self, task: u32) {
        if let Some(&index) = self.plug.tasks.of_task.get(&task) {
            self.flush_list(index);
        }
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

    /// The scheduler gets a request.
    fn hand_over(&mut self, slot: u32) {
        let Some(piece) = self.pieces.get_mut(slot) else {
            return;
        };
        piece.place = Place::Scheduler;
        let io = piece.io;
        if self.config.merge {
            self.note_mergeable(&io);
        }
        self.scheduler.insert(self.inner.now(), io);
    }
}
