//! A drive without spare blocks: it can only be read from then on, and all that it acknowledged can be.
//!
//! What was handed to the flash array is done to its end, and reads go on. The buffer keeps what it holds and is read
//! like before; a battery keeps it through a power cut. Writes of which a part has no place yet fail, and so do flushes
//! that wait for the buffer to be drained.

use super::Ssd;
use super::domain::Domain;
use fathom_block::IoErrorKind;

impl Ssd {
    /// A write waits for an erased block. If none is being erased none will ever be: a power cut has brought back more
    /// than blocks that went bad have left room for.
    pub(super) fn exhausted(&mut self) {
        let stuck = |domain: &Domain| domain.stalled && domain.erasing == 0;
        if self.domains.iter().any(stuck) && !self.worn_out {
            self.wear_out();
        }
    }

    /// No spare block is left.
    pub(super) fn wear_out(&mut self) {
        self.worn_out = true;
        self.settle_flushes();
        let flushes = std::mem::take(&mut self.flushes);
        let (drained, waiting) = flushes.into_iter().partition(|flush| flush.after.is_some());
        self.flushes = drained;
        for flush in waiting {
            self.complete(flush.request, Err(IoErrorKind::Medium));
        }
        self.fail_placing();
        self.fail_incoming();
        self.begin_held();
    }

    /// Without a buffer, what is in memory has no place, and its writes wait for one.
    fn fail_placing(&mut self) {
        if !self.unbuffered {
            return;
        }
        let lines = self.lines.take_all();
        self.line_bytes.clear();
        for line in &lines {
            if let Some(active) = self.active.get_mut(line.owner) {
                active.pending -= 1;
                active.failed = true;
            }
        }
        lines.iter().for_each(|line| self.end_failed(line.owner));
    }

    /// No more of a write comes over the link but the piece that is on it.
    fn fail_incoming(&mut self) {
        let mut incoming = std::mem::take(&mut self.incoming);
        for &id in &incoming {
            if let Some(active) = self.active.get_mut(id) {
                active.failed = true;
            }
        }
        if !std::mem::take(&mut self.waits_for_room) {
            self.incoming.extend(incoming.pop_front());
        }
        for id in incoming {
            self.hazards.received(id);
            self.end_failed(id);
        }
    }

    /// The last piece of a write has crossed the link that fails.
    pub(super) fn arrived_failed(&mut self, id: u32, reserved: u32) {
        self.lines.give_back(reserved);
        self.incoming.pop_front();
        self.hazards.received(id);
        self.end_failed(id);
        self.begin_held();
    }

    /// Completes a write that fails, if nothing of it is under way.
    pub(super) fn end_failed(&mut self, id: u32) {
        let on_link = self.incoming.front() == Some(&id);
        let over = |active: &super::Active| active.failed && active.pending == 0;
        if !on_link && self.active.get(id).is_some_and(over) {
            self.complete(id, Err(IoErrorKind::Medium));
        }
    }

    /// A write or a TRIM whose turn it is comes too late.
    pub(super) fn refuse(&mut self, id: u32) {
        self.hazards.received(id);
        self.complete(id, Err(IoErrorKind::Medium));
    }
}
