//! Writes: over the link into the write memory; flush and TRIM.

use super::Ssd;
use super::ticket::NOBODY;
use crate::buffer::lines::Piece;
use fathom_base::{Lpn, SECTOR_BYTES};
use fathom_block::{IoErrorKind, Request};

impl Ssd {
    /// Tells the translation layer the placement handle of a write. An unknown handle counts as 0.
    pub(super) fn note_placement(&mut self, request: &Request) {
        let known = request.tag.placement < self.info.placement_handles;
        let handle = if known {
            request.tag.placement as u8
        } else {
            0
        };
        self.misplaced += u64::from(!known);
        let (from, _) = self.g.unit_of_sector(request.offset / SECTOR_BYTES);
        let (last, _) = self.g.unit_of_sector((request.end() - 1) / SECTOR_BYTES);
        self.ftl.note_placement(Lpn(from), Lpn(last + 1), handle);
    }

    /// Queues a write for the link; its command has been processed.
    #[inline(always)]
    pub(super) fn begin_write(&mut self, id: u32) {
        if self.host.line_up(id) {
            self.next_piece();
        }
    }

    /// Sends the next piece of the first queued write over the link, once there is room for it.
    #[inline]
    fn next_piece(&mut self) {
        let most = self.memory.lines.capacity();
        let cut = self.memory.settings.cut;
        let Some(piece) = self.host.next_piece(&self.g, cut, most) else {
            return;
        };
        match self.memory.make_room(piece) {
            Some(reserved) => self.host.send_piece(piece, reserved, &mut self.clock),
            None => self.pump(),
        }
    }

    /// Handles the arrival of a piece of a write.
    pub(super) fn arrived(&mut self, id: u32) {
        let Some(arrival) = self.host.arrived(id, &self.g) else {
            return;
        };
        if arrival.failed {
            return self.arrived_failed(id, arrival.piece.reserved);
        }
        let placed = self.take_in(id, arrival.piece, arrival.at);
        self.reads
            .invalidate(arrival.sector, u64::from(arrival.piece.sectors));
        self.memory.note_write(&mut self.clock);
        if !placed {
            self.pump();
        } else if !self.host.flushes.is_empty() {
            self.settle_flushes();
        }
        if !arrival.is_last {
            return self.next_piece();
        }
        self.host.hazards.received(id);
        if self.host.hazards.has_free() {
            self.begin_held();
        }
        let through = self.memory.passes(arrival.length);
        match (self.memory.unbuffered, arrival.fua, through) {
            (true, ..) => {} // completes with its last program
            (false, _, true) => self.flush_through(id),
            (false, true, _) => self.flush(id),
            (false, false, _) => self.complete(id, Ok(())),
        }
        // The turn ends only now, so that a write that was held back by this one queues for the link instead of starting
        // in `begin_held`.
        if self.host.next_turn() {
            self.next_piece();
        }
    }

    /// Inserts a piece of a write into the memory, or places it at once where nothing else waits there. Returns whether it is
    /// placed. `at` is the offset of its data in the write, in bytes.
    #[inline]
    fn take_in(&mut self, id: u32, piece: Piece, at: usize) -> bool {
        let unbuffered = self.memory.unbuffered;
        let owner = if unbuffered { id } else { NOBODY };
        let piece = Piece { owner, ..piece };
        // This part is pending until the translation layer has placed the piece; each of its programs is counted
        // separately.
        self.host.expect(owner, 1);
        let plain = self.flash.store.is_none() && !self.memory.shrinking.is_on();
        let direct = unbuffered && plain && self.memory.lines.is_empty();
        if direct
            && !self.flash.domains.is_stalled(piece.cline)
            && self.place_directly(piece).is_ok()
        {
            return true;
        }
        let line = self.memory.lines.insert(piece, self.memory.drain_mark);
        let len = piece.sectors as usize * SECTOR_BYTES as usize;
        let data = self.host.data(id, at, len);
        let payload = self.host.payload(id);
        self.memory.shrinking.note(line, piece, payload, data);
        if self.flash.store.is_some() {
            self.memory.keep(line, piece, data);
        }
        false
    }

    /// Notes that a part of an unbuffered write is programmed, or was trimmed before that.
    #[inline]
    pub(super) fn part_written(&mut self, id: u32) {
        match self.host.part_written(id) {
            Some(true) => self.complete(id, Ok(())),
            Some(false) => self.end_failed(id),
            None => {}
        }
    }

    /// Drains everything if no write has arrived for the idle delay.
    pub(super) fn idle(&mut self) {
        if self.memory.is_idle(&mut self.clock) {
            self.pump();
        }
    }

    /// Room in the memory was released.
    pub(super) fn unblock(&mut self) {
        if self.memory.may_retry(&self.flash.draining) {
            self.next_piece();
        }
    }

    pub(super) fn flush(&mut self, id: u32) {
        match self.memory.settings.battery {
            true => self.complete(id, Ok(())),
            false => self.flush_through(id),
        }
    }

    /// Completes a request when the data that the memory holds now is in the flash array.
    pub(super) fn flush_through(&mut self, id: u32) {
        if self.health.worn_out && !self.memory.lines.is_empty() {
            return self.complete(id, Err(IoErrorKind::Medium));
        }
        let mark = self.memory.mark_due();
        self.host.flushes.push(id, mark);
        self.pump();
        self.settle_flushes();
    }

    pub(super) fn trim(&mut self, id: u32) {
        let Some((first, sectors)) = self.host.sectors(id) else {
            return;
        };
        let per_unit = u64::from(self.g.sectors_per_unit);
        // Only whole units can be unmapped; the rest keeps its data, as TRIM allows.
        let (from, to) = (first.div_ceil(per_unit), (first + sectors) / per_unit);
        if from < to {
            self.forget_lines(from * per_unit, to * per_unit);
            self.ftl
                .trim(Lpn(from as u32), (to - from) as u32, &mut self.ops);
            self.issue_own();
            self.reads
                .invalidate(from * per_unit, (to - from) * per_unit);
        }
        self.complete(id, Ok(()));
        self.unblock();
    }

    /// Removes a range of sectors from the memory.
    pub(super) fn forget_lines(&mut self, from: u64, to: u64) {
        let mut sector = from;
        while sector < to && !self.memory.lines.is_empty() {
            let (cline, first) = self.g.line_of_sector(sector);
            let left = u64::from(self.g.sectors_per_cpage - first);
            let n = (to - sector).min(left);
            let owners = self.memory.lines.discard(cline, first, n as u32);
            owners.into_iter().for_each(|id| self.part_written(id));
            sector += n;
        }
    }
}
