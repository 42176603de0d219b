//! A drive that has run out of spare blocks: it becomes read-only, and all acknowledged data stays readable.
//!
//! Operations already handed to the flash array are completed, and reads continue. The buffer keeps its data and remains
//! readable; a battery preserves it through a power cut. Writes with a part that has not been placed fail, and so do
//! flushes that wait for the buffer to be drained.

use super::Ssd;
use fathom_block::IoErrorKind;

impl Ssd {
    /// A write waits for an erased block. If no erase is outstanding, there will never be one: after a power cut, more
    /// data was recovered than fits into the blocks that are still good.
    pub(super) fn exhausted(&mut self) {
        if self.flash.domains.is_stuck() && !self.health.worn_out {
            self.wear_out();
        }
    }

    /// No spare block is left.
    pub(super) fn wear_out(&mut self) {
        self.health.worn_out = true;
        self.retire_zones();
        self.settle_flushes();
        for request in self.host.flushes.take_undrained() {
            self.host.hazards.received(request);
            self.complete(request, Err(IoErrorKind::Medium));
        }
        self.fail_placing();
        self.fail_incoming();
        self.begin_held();
    }

    /// Without a buffer, the writes in memory wait to be placed and now fail.
    fn fail_placing(&mut self) {
        if !self.memory.unbuffered {
            return;
        }
        let owners = self.memory.take_unplaced();
        for &id in &owners {
            self.host.part_done(id);
            self.host.fail(id);
        }
        owners.into_iter().for_each(|id| self.end_failed(id));
    }

    /// Fails the writes that wait for the link; a piece that is on the link still arrives.
    fn fail_incoming(&mut self) {
        let on_link = !self.memory.stop_waiting();
        for id in self.host.fail_incoming(on_link) {
            self.host.hazards.received(id);
            self.end_failed(id);
        }
    }

    /// Handles the last piece of a failing write, which has crossed the link.
    pub(super) fn arrived_failed(&mut self, id: u32, reserved: u32) {
        self.memory.lines.give_back(reserved);
        self.host.next_turn();
        self.host.hazards.received(id);
        self.end_failed(id);
        self.begin_held();
    }

    /// Completes a failed write if nothing of it is in progress.
    pub(super) fn end_failed(&mut self, id: u32) {
        if self.host.has_failed(id) {
            self.complete(id, Err(IoErrorKind::Medium));
        }
    }

    /// Fails a write or a TRIM that starts after the drive has worn out.
    pub(super) fn refuse(&mut self, id: u32) {
        self.host.hazards.received(id);
        self.complete(id, Err(IoErrorKind::Medium));
    }
}
