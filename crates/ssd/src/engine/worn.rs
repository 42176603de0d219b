//! A drive without spare blocks: it can only be read from then on, and all that it acknowledged can be.
//!
//! What was handed to the flash array is done to its end, and reads go on. The buffer keeps what it holds and is read
//! like before; a battery keeps it through a power cut. Writes of which a part has no place yet fail, and so do flushes
//! that wait for the buffer to be drained.

use super::Ssd;
use fathom_block::IoErrorKind;

impl Ssd {
    /// A write waits for an erased block. If none is being erased none will ever be: a power cut has brought back more
    /// than blocks that went bad have left room for.
    pub(super) fn exhausted(&mut self) {
        if self.flash.domains.is_stuck() && !self.health.worn_out {
            self.wear_out();
        }
    }

    /// No spare block is left.
    pub(super) fn wear_out(&mut self) {
        self.health.worn_out = true;
        self.settle_flushes();
        for request in self.host.flushes.take_undrained() {
            self.complete(request, Err(IoErrorKind::Medium));
        }
        self.fail_placing();
        self.fail_incoming();
        self.begin_held();
    }

    /// Without a buffer, what is in memory has no place, and its writes wait for one.
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

    /// No more of a write comes over the link but the piece that is on it.
    fn fail_incoming(&mut self) {
        let on_link = !self.memory.stop_waiting();
        for id in self.host.fail_incoming(on_link) {
            self.host.hazards.received(id);
            self.end_failed(id);
        }
    }

    /// The last piece of a write has crossed the link that fails.
    pub(super) fn arrived_failed(&mut self, id: u32, reserved: u32) {
        self.memory.lines.give_back(reserved);
        self.host.next_turn();
        self.host.hazards.received(id);
        self.end_failed(id);
        self.begin_held();
    }

    /// Completes a write that fails, if nothing of it is under way.
    pub(super) fn end_failed(&mut self, id: u32) {
        if self.host.has_failed(id) {
            self.complete(id, Err(IoErrorKind::Medium));
        }
    }

    /// A write or a TRIM whose turn it is comes too late.
    pub(super) fn refuse(&mut self, id: u32) {
        self.host.hazards.received(id);
        self.complete(id, Err(IoErrorKind::Medium));
    }
}
