//! Draining of the write memory into the flash array.

use super::Ssd;
use super::batch::Batch;
use super::issue::Issue;
use super::ticket::{NO_BATCH, NOBODY};
use crate::buffer::lines::{Out, Piece};
use crate::event::Event;
use crate::ftl::Stall;
use crate::nand::job::Place;
use fathom_base::Lpn;

impl Ssd {
    /// Drains the memory as long as it needs draining and blocks are available.
    #[inline]
    pub(super) fn pump(&mut self) {
        while !self.health.worn_out && self.memory.should_drain(&self.flash.draining) {
            let (draining, domains) = (&self.flash.draining, &self.flash.domains);
            let Some(out) = self.memory.first_ready(draining, domains) else {
                break;
            };
            let domain = domains.of_line(self.memory.lines.cline(out));
            if self.drain_batch(out) == Err(Stall) {
                self.stall(domain);
            }
        }
        if !self.host.flushes.is_empty() {
            self.settle_flushes();
        }
    }

    /// Hands the next batch to the translation layer.
    fn drain_batch(&mut self, first: Out) -> Result<(), Stall> {
        let batch = self.memory.take_batch(first, &self.ftl);
        let result = self.place_batch(&batch);
        self.memory.batch = batch;
        result
    }

    /// Places a piece of an unbuffered write without creating a line for it.
    #[inline]
    pub(super) fn place_directly(&mut self, piece: Piece) -> Result<(), Stall> {
        let result = if piece.sectors == self.g.sectors_per_cpage {
            self.place_page(piece)
        } else {
            self.place_part(piece)
        };
        if result == Err(Stall) {
            self.stall(self.flash.domains.of_line(piece.cline));
        }
        result
    }

    /// Places a whole clustered page. Needs no plan, because no old data is read, and releases no room, because a drive without
    /// a buffer has enough.
    #[inline]
    fn place_page(&mut self, piece: Piece) -> Result<(), Stall> {
        let units = self.g.units_per_cpage;
        let run = (Lpn(piece.cline * units), units);
        let result = self.ftl.write(&[run], &mut self.ops);
        match result {
            Ok(()) => self.issue_placed(piece.owner, &[], NO_BATCH),
            Err(Stall) => self.issue_own(),
        }
        result
    }

    fn place_part(&mut self, piece: Piece) -> Result<(), Stall> {
        let batch = self.memory.take_piece(piece, &self.ftl);
        let result = self.place_batch(&batch);
        self.memory.batch = batch;
        if result.is_ok() {
            self.memory.lines.pass(piece);
        }
        result
    }

    fn place_batch(&mut self, batch: &Batch) -> Result<(), Stall> {
        let bytes = self.merged_bytes(batch);
        let result = match batch.runs.is_empty() {
            true => Ok(()),
            false => self.ftl.write(&batch.runs, &mut self.ops),
        };
        match result {
            Ok(()) => {
                self.keep_units(batch, &bytes);
                batch.outs.iter().for_each(|&o| self.memory.lines.leave(o));
                if batch.units > 0 {
                    self.issue_placed(batch.owner, &batch.reads, batch.dirty);
                }
                self.shrink(batch);
            }
            Err(Stall) => self.issue_own(),
        }
        result
    }

    /// No erased block is available: the domain waits for an erase.
    fn stall(&mut self, domain: usize) {
        let domain = &mut self.flash.domains[domain];
        domain.stalled = true;
        self.memory.stalls += 1;
        if domain.erasing == 0 && self.health.has_lost_blocks() {
            self.clock.at(self.clock.now, Event::Exhausted);
        }
    }

    /// Issues the operations of a placed write, for an unbuffered write or for [`NOBODY`]. They release the room of `releases`
    /// sectors.
    #[inline]
    fn issue_placed(&mut self, owner: u32, reads: &[Place], releases: u32) {
        let issue = Issue {
            request: owner,
            reads,
            releases,
            map_read: self.host.map_read(owner),
            copies: NOBODY,
        };
        let programs = self.flash.issue(&mut self.ops, issue, &mut self.clock);
        // The part of the piece stands for its only program.
        if owner != NOBODY && programs != 1 {
            self.host.placed(owner, programs);
        }
    }

    /// Issues operations that the translation layer started on its own.
    pub(super) fn issue_own(&mut self) {
        self.flash
            .issue(&mut self.ops, Issue::own(), &mut self.clock);
    }

    /// Completes the flushes whose data is in the flash array.
    pub(super) fn settle_flushes(&mut self) {
        let (lines, domains) = (&self.memory.lines, &self.flash.domains);
        let settled = self.host.flushes.settle(lines, domains);
        if !settled.is_empty() {
            self.flash.end_stripe(&mut self.clock);
        }
        for request in settled {
            match self.host.finishes(request) {
                Some(start) => self.pad_zone(request, start),
                None => self.complete(request, Ok(())),
            }
        }
    }

    /// Frees the room that a finished program releases in the memory, if any.
    #[inline]
    pub(super) fn release(&mut self, sectors: u32) {
        if sectors != NO_BATCH {
            self.memory.lines.release(sectors);
            self.unblock();
        }
    }
}
