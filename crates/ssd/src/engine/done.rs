//! Handling of flash operations that are done or have failed.
//!
//! A failed program is repeated from the page register, or from the other pages of its stripe, and its block goes out of use after its next erase. A failed
//! erase puts the block out of use at once. [`super::worn`] handles a drive that has run out of spare blocks.

use super::Ssd;
use super::issue::Issue;
use super::ticket::{FOLDING, NOBODY, Program, Ticket};
use crate::nand::job::{Job, Work};
use fathom_base::SECTOR_BYTES;

impl Ssd {
    pub(super) fn op_done(&mut self, op: u32) {
        let Some(job) = self.flash.done(op, &mut self.clock) else {
            return;
        };
        if self.health.may_fail() && self.has_failed(job) {
            return;
        }
        if job.failed && self.flash.rebuild(job, &mut self.clock) {
            return;
        }
        if let Some(ticket) = self.flash.take(job.ticket) {
            self.settle(job.ticket, ticket);
        }
        if self
            .cut_after_ops
            .is_some_and(|n| self.flash.counts.ops >= n)
        {
            self.power_cut();
        }
    }

    /// Returns true if the operation is a program that has failed; it has then been started again.
    fn has_failed(&mut self, job: Job) -> bool {
        let programs = matches!(job.work, Work::Program | Work::Copy);
        if !programs || !self.health.draw_program() {
            return false;
        }
        let Some(cblock) = self.flash.filled_by(job) else {
            return false;
        };
        self.health.doom(cblock);
        if !self.flash.rebuild(job, &mut self.clock) {
            self.flash.repeat(job, &mut self.clock);
        }
        true
    }

    pub(super) fn settle(&mut self, id: u32, ticket: Ticket) {
        let clock = &mut self.clock;
        match ticket {
            Ticket::Read { request, bytes } => self.host.send_part(request, bytes, clock),
            Ticket::Gather { program } => self.flash.gathered(program, clock),
            Ticket::Program(program) => self.programmed(program),
            Ticket::Erase { cblock, .. } => self.erased(cblock),
            Ticket::Ahead => {
                for (request, bytes) in self.reads.arrived(id) {
                    self.host.send_part(request, bytes, clock);
                }
            }
            Ticket::Map { waiting, .. } => self.map_arrived(id, waiting),
            Ticket::Apart { sectors } => {
                self.flash.counts.sectors_programmed += u64::from(sectors);
            }
            Ticket::Rebuild { job, .. } => self.rebuilt(job),
            Ticket::Busy { station } => self.background.done(station),
        }
    }

    /// The data that an operation had lost is known again.
    fn rebuilt(&mut self, job: Job) {
        if matches!(job.work, Work::Program | Work::Copy) {
            self.flash.repeat(job, &mut self.clock);
        } else if let Some(ticket) = self.flash.take(job.ticket) {
            self.settle(job.ticket, ticket);
        }
    }

    fn programmed(&mut self, program: Program) {
        self.flash.programmed(&program, &mut self.clock);
        self.end_program(program.releases, program.request);
    }

    /// Handles the end of a plain read.
    #[inline]
    pub(super) fn plain_read_done(&mut self, station: u32) {
        let read = self.flash.plain_read_done(station, &mut self.clock);
        let bytes = read.place.sectors * SECTOR_BYTES as u32;
        self.host.send_part(read.request, bytes, &mut self.clock);
    }

    /// Handles the end of a plain program, or of a copy.
    #[inline]
    pub(super) fn plain_done(&mut self, station: u32) {
        if let Some(plain) = self.flash.plain_done(station, &mut self.clock) {
            self.end_program(plain.releases, plain.request);
        }
    }

    /// Releases the room of a program that is done, and goes on with the request that waits for it.
    #[inline]
    fn end_program(&mut self, releases: u32, request: u32) {
        self.release(releases);
        match request {
            NOBODY => {}
            FOLDING => self.folded_part(),
            request => self.part_written(request),
        }
        if !self.host.flushes.is_empty() {
            self.settle_flushes();
        }
    }

    fn erased(&mut self, cblock: u32) {
        self.flash.erased(cblock);
        if self.health.erase(cblock) {
            if !self.ftl.retire(cblock) && !self.health.worn_out {
                self.wear_out();
            }
        } else {
            self.ftl.erased(cblock);
        }
        self.flash.domain(cblock).stalled = false;
        self.pump();
        self.collection.go_on(&mut self.clock);
        if self.flash.folding == 0 {
            self.folding.go_on(&mut self.clock);
        }
    }

    /// Collects a block if the host has been idle for long enough.
    pub(super) fn collect(&mut self) {
        let may = self.clock.is_idle() && self.powered && !self.health.worn_out;
        if !self.collection.is_due(may, &mut self.clock) {
            return;
        }
        let collected = self.ftl.background(&mut self.ops);
        // A step that finds no room now may find it when an outstanding erase is done.
        let erasing = self.flash.domains.is_erasing();
        self.collection.stepped(collected, erasing);
        self.issue_own();
    }

    /// Folds some pages of the fast cache if the host has been idle for long enough.
    pub(super) fn fold(&mut self) {
        let may = self.clock.is_idle() && self.powered && !self.health.worn_out;
        if !self.folding.is_due(may, &mut self.clock) {
            return;
        }
        let folded = self.ftl.fold(&mut self.ops);
        let erasing = self.flash.domains.is_erasing();
        self.folding.stepped(folded, erasing);
        let (ops, clock) = (&mut self.ops, &mut self.clock);
        self.flash.issue(ops, Issue::folding(), clock);
    }

    /// A program of a step of folding is done: after the last one the next step may follow.
    fn folded_part(&mut self) {
        self.flash.folding -= 1;
        if self.flash.folding == 0 {
            self.folding.go_on(&mut self.clock);
        }
    }

    /// Starts a piece of background work.
    pub(super) fn background(&mut self) {
        if let Some((station, ns)) = self.background.draw() {
            self.flash.occupy(station, ns, &mut self.clock);
        }
        self.background.schedule(&mut self.clock);
    }
}
