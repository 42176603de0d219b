//! Translates the operations of the translation layer into operations of the flash array.
//!
//! A program waits for the reads of its old data, which wait for the map reads that locate it. Copies with the same
//! target page are gathered and programmed at once.

use super::flash::FlashSide;
use super::ticket::{FOLDING, NO_BATCH, NOBODY, Program, Ticket, Wants};
use crate::event::Clock;
use crate::ftl::FlashOp;
use crate::geometry::Geometry;
use crate::nand::job::{Job, Place, Work};
use fathom_base::{Lpn, Ppn};

/// A batch of operations to issue: their owner and dependencies.
pub(super) struct Issue<'a> {
    /// The unbuffered write that waits for the host programs in the batch, or [`NOBODY`].
    pub(super) request: u32,
    /// Old data of partly written units; all of these programs wait for it.
    pub(super) reads: &'a [Place],
    /// Sectors of the buffer that the last of these programs releases; [`NO_BATCH`] if the operations do not come from a
    /// buffer batch.
    pub(super) releases: u32,
    /// The unit of the mapping table that was read last for this write.
    pub(super) map_read: Option<&'a mut Option<Place>>,
    /// The request of the copies in the batch: [`NOBODY`], or [`FOLDING`] for a step of folding.
    pub(super) copies: u32,
}

impl Issue<'_> {
    /// Operations that the translation layer starts on its own.
    pub(super) fn own() -> Self {
        Self {
            request: NOBODY,
            reads: &[],
            releases: NO_BATCH,
            map_read: None,
            copies: NOBODY,
        }
    }

    /// A step of folding in idle time.
    pub(super) fn folding() -> Self {
        Self {
            copies: FOLDING,
            ..Self::own()
        }
    }
}

impl FlashSide {
    /// Issues the operations in `ops`. Returns the number of host programs among them. Nothing waits for map reads that
    /// no program follows.
    #[inline]
    pub(super) fn issue(
        &mut self,
        ops: &mut Vec<FlashOp>,
        issue: Issue<'_>,
        clock: &mut Clock,
    ) -> u32 {
        if let [FlashOp::Program { at, units }] = ops[..]
            && issue.reads.is_empty()
        {
            // The most common case. No deferred operation waits for a single program.
            ops.clear();
            if self.start_plain(at, units, &issue, clock) {
                return 1;
            }
            let program = self.host_program(at, units, &issue, true);
            self.start_program(program, &[], clock);
            return 1;
        }
        let programs = self.issue_awaited(ops, issue, clock);
        for index in 0..self.map_reads.len() {
            self.read_map(self.map_reads[index], Wants::Nobody, clock);
        }
        self.map_reads.clear();
        programs
    }

    /// Like [`FlashSide::issue`], but leaves map reads that no program follows in `map_reads`.
    pub(super) fn issue_awaited(
        &mut self,
        ops: &mut Vec<FlashOp>,
        mut issue: Issue<'_>,
        clock: &mut Clock,
    ) -> u32 {
        let is_host = |op: &FlashOp| matches!(op, FlashOp::Program { .. });
        let last = ops.iter().rposition(is_host);
        let (mut programs, mut waiting, mut index) = (0, NOBODY, 0);
        self.map_reads.clear();
        while index < ops.len() {
            match ops[index] {
                FlashOp::Program { at, units } => {
                    let program = self.host_program(at, units, &issue, Some(index) == last);
                    waiting = self.start_host_program(program, &mut issue, waiting, clock);
                    programs += 1;
                }
                FlashOp::MapRead { at } => self.push_map_read(at, false),
                FlashOp::MapFetch { at } => self.push_map_read(at, true),
                FlashOp::MapProgram { at, owner } => self.program_map(at, owner, clock),
                FlashOp::Copy { .. } => {
                    index += self.copy(&ops[index..], issue.copies, clock) - 1;
                }
                FlashOp::Erase { cblock } => self.domain(cblock).defer_erase(cblock),
                FlashOp::Barrier { cblock } => self.domain(cblock).set_barrier(cblock),
                FlashOp::Mode { cblock, fast } => self.set_mode(cblock, fast),
            }
            index += 1;
        }
        for op in ops.drain(..) {
            if let FlashOp::Erase { cblock } = op {
                self.release_deferred(self.domains.of_cblock(&self.g, cblock), clock);
            }
        }
        programs
    }

    /// Notes the mode of an erased block.
    pub(super) fn set_mode(&mut self, cblock: u32, fast: bool) {
        if let Some(mode) = self.fast.get_mut(cblock as usize) {
            *mode = fast;
        }
    }

    /// Creates a program of host data. `is_last` is true for the last one of its batch.
    #[inline]
    fn host_program(&mut self, at: Ppn, units: u32, issue: &Issue<'_>, is_last: bool) -> Program {
        let releases = if is_last { issue.releases } else { NO_BATCH };
        if releases != NO_BATCH {
            let station = self.station_of_unit(at);
            self.draining.begin(station, releases);
        }
        Program {
            releases,
            request: issue.request,
            ..self.new_program(at, units)
        }
    }

    /// Starts a program of host data. The first one of a batch waits for the reads, if there are any; the others start
    /// together with it, linked to the one before them (`waiting`). Returns the ticket to link the next program to, or
    /// [`NOBODY`].
    #[inline]
    fn start_host_program(
        &mut self,
        program: Program,
        issue: &mut Issue<'_>,
        waiting: u32,
        clock: &mut Clock,
    ) -> u32 {
        let reads = std::mem::take(&mut issue.reads);
        if let Some(last) = issue.map_read.as_deref_mut()
            && !self.map_reads.is_empty()
        {
            self.forgo_known(last);
        }
        if waiting == NOBODY {
            let waits = !(reads.is_empty() && self.map_reads.is_empty());
            let ticket = self.start_after_map(program, reads, clock);
            return if waits { ticket } else { NOBODY };
        }
        let ticket = self.tickets.insert(Ticket::Program(program));
        if let Some(Ticket::Program(before)) = self.tickets.get_mut(waiting) {
            before.next = ticket;
        }
        ticket
    }

    fn program_map(&mut self, at: Ppn, owner: Lpn, clock: &mut Clock) {
        self.counts.map_programs += 1;
        if let Some(store) = &mut self.store {
            store.program(at, owner, &[]);
        }
        let program = self.new_program(at, 1);
        self.start_after_map(program, &[], clock);
    }

    /// Starts a program that also waits for the preceding map reads; old data is located by them.
    #[inline]
    fn start_after_map(&mut self, program: Program, reads: &[Place], clock: &mut Clock) -> u32 {
        if self.map_reads.is_empty() {
            return self.start_program(program, reads, clock);
        }
        let mut map = std::mem::take(&mut self.map_reads);
        let program = Program {
            reads: map.len() as u32,
            ..program
        };
        let ticket = self.tickets.insert(Ticket::Program(program));
        for read in map.drain(..) {
            self.read_map(read, Wants::Program { program: ticket }, clock);
        }
        self.map_reads = map;
        let old_data = reads.iter().map(|place| (ticket, *place));
        self.after_map.extend(old_data);
        ticket
    }

    /// Creates a program of data that the controller holds, with no request waiting for it.
    #[inline]
    fn new_program(&mut self, at: Ppn, units: u32) -> Program {
        let number = self.number_program(at);
        if let Some(store) = &mut self.store {
            store.issue(at, units, number);
        }
        Program {
            number,
            at,
            units,
            from: Ppn::NONE,
            stays: false,
            releases: NO_BATCH,
            request: NOBODY,
            reads: 0,
            next: NOBODY,
        }
    }

    #[inline]
    fn number_program(&mut self, at: Ppn) -> u64 {
        let domain = self.domains.of_unit(&self.g, at);
        self.domains[domain].number(1)
    }

    fn start_program(&mut self, program: Program, reads: &[Place], clock: &mut Clock) -> u32 {
        let reads_left = reads.len() as u32;
        let ticket = self.tickets.insert(Ticket::Program(Program {
            reads: reads_left,
            ..program
        }));
        if reads.is_empty() {
            self.submit_ready(ticket, &program, clock);
        }
        for place in reads {
            let gather = Ticket::Gather { program: ticket };
            self.start(Work::Gather, *place, gather, clock);
        }
        ticket
    }

    pub(super) fn submit_program(&mut self, ticket: u32, clock: &mut Clock) {
        if let Some(&Ticket::Program(program)) = self.tickets.get(ticket) {
            self.submit_ready(ticket, &program, clock);
        }
    }

    /// Submits a program that waits for no more reads.
    #[inline]
    fn submit_ready(&mut self, ticket: u32, program: &Program, clock: &mut Clock) {
        let cblock = self.g.cblock_of_unit(program.at.0);
        let domain = self.domain(cblock);
        if let Some(after) = domain.barrier_before(cblock, program.number) {
            domain.defer_program(ticket, after);
        } else if program.from.is_some() {
            let place = Place::of(&self.g, program.from, program.units);
            let lane = self.g.lane_of_cpage(place.cpage);
            let (plane, station) = self.g.station_and_plane(lane);
            let (target, _) = self.g.cpage_of_unit(program.at.0);
            let job = Job {
                plane,
                number: self.g.lane_and_number(target).1,
                stays: program.stays,
                fast: self.is_fast(place.cpage),
                ..Job::on(station, Work::Copy, place, ticket)
            };
            self.nand.submit(job, clock);
        } else {
            let place = Place::of(&self.g, program.at, program.units);
            self.submit(Work::Program, place, ticket, clock);
        }
    }

    /// Issues copies at the start of `ops`, for `request`. Returns their number.
    #[inline]
    fn copy(&mut self, ops: &[FlashOp], request: u32, clock: &mut Clock) -> usize {
        let plain = match request {
            NOBODY => self.start_plain_copies(ops, clock),
            _ => 0,
        };
        match plain {
            0 => self.copy_gathered(ops, request, clock),
            copies => copies,
        }
    }

    /// Issues the copies at the start of `ops` that share a target page, for `request`. Returns their number.
    fn copy_gathered(&mut self, ops: &[FlashOp], request: u32, clock: &mut Clock) -> usize {
        let Some(&FlashOp::Copy { from, to: at, .. }) = ops.first() else {
            return 1;
        };
        let page = |g: &Geometry, at: Ppn| g.cpage_of_unit(at.0).0;
        let target = page(&self.g, at);
        let mut reads = std::mem::take(&mut self.gather);
        let number = self.number_program(at);
        let mut end = at.0;
        for op in ops {
            match *op {
                FlashOp::Copy { from, to, units } if page(&self.g, to) == target => {
                    reads.push(Place::of(&self.g, from, units));
                    end = to.0 + units;
                    if let Some(store) = &mut self.store {
                        store.copy(from, to, units, number);
                    }
                }
                _ => break,
            }
        }
        let copies = reads.len();
        self.folding += u32::from(request == FOLDING);
        let lane = |at: Ppn| self.g.lane_of_cpage(page(&self.g, at));
        let is_alone = copies == 1 && self.station_of_unit(from) == self.station_of_unit(at);
        let program = Program {
            number,
            at,
            units: end - at.0,
            from: if is_alone { from } else { Ppn::NONE },
            stays: is_alone && lane(from) == lane(at),
            releases: NO_BATCH,
            request,
            reads: 0,
            next: NOBODY,
        };
        if is_alone {
            reads.clear();
        }
        self.start_program(program, &reads, clock);
        reads.clear();
        self.gather = reads;
        copies
    }

    /// Handles the end of a read that a program waits for.
    pub(super) fn gathered(&mut self, program: u32, clock: &mut Clock) {
        let Some(Ticket::Program(waiting)) = self.tickets.get_mut(program) else {
            return;
        };
        waiting.reads -= 1;
        if waiting.reads > 0 {
            return;
        }
        if self.after_map.is_empty() || !self.read_old_data(program, clock) {
            self.submit_with_others(program, clock);
        }
    }

    /// Submits a program that has waited, and the programs linked to it.
    fn submit_with_others(&mut self, program: u32, clock: &mut Clock) {
        let mut next = program;
        while let Some(Ticket::Program(program)) = self.tickets.get(next) {
            let ticket = std::mem::replace(&mut next, program.next);
            self.submit_program(ticket, clock);
        }
    }

    /// The map has been read: starts the reads of old data that a program waits for. Returns false if there are none.
    fn read_old_data(&mut self, program: u32, clock: &mut Clock) -> bool {
        let all = std::mem::take(&mut self.after_map);
        let (now, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| *of == program);
        self.after_map = later;
        if let Some(Ticket::Program(waiting)) = self.tickets.get_mut(program) {
            waiting.reads = now.len() as u32;
        }
        for (_, place) in &now {
            self.start(Work::Gather, *place, Ticket::Gather { program }, clock);
        }
        !now.is_empty()
    }
}
