//! From the translation layer's operations to the flash array's, in the order that must hold.

use super::domain::{Domain, Waiting};
use super::map::Wants;
use super::{Event, Ssd, lane};
use crate::ftl::{FlashOp, Ftl};
use crate::geometry::Geometry;
use crate::host::Way;
use crate::nand::{Job, Place, Work};
use fathom_base::{Lpn, Ppn, SECTOR_BYTES};

/// No request.
pub(super) const NOBODY: u32 = u32::MAX;
/// Not the last program of what left the buffer together.
pub(super) const NO_BATCH: u32 = u32::MAX;

/// Whose a flash operation is, and what follows when it is done.
#[derive(Clone, Debug)]
pub(super) enum Ticket {
    /// A host read: its bytes go over the link.
    Read { request: u32, bytes: u32 },
    /// A read for a program that waits for it.
    Gather { program: u32 },
    /// A program or a copy.
    Program(Program),
    /// An erase, with stations still at work.
    Erase { cblock: u32, stations: u32 },
    /// Sectors that are read ahead, and the requests that wait for them with their bytes.
    Ahead {
        first: u64,
        sectors: u32,
        waiting: Vec<(u32, u32)>,
    },
    /// A read of the map, and what waits for it.
    Map {
        place: Place,
        work: Work,
        waiting: Vec<Wants>,
    },
    /// Background work of a station.
    Busy { station: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    number: u64,
    pub(super) at: Ppn,
    units: u32,
    /// Where its station itself copies from; [`Ppn::NONE`] if the data comes from the controller.
    from: Ppn,
    /// Whether it stays within the planes of its lane.
    stays: bool,
    /// Sectors of the buffer that the batch sets free whose last program it is; [`NO_BATCH`] for any other.
    releases: u32,
    /// The unbuffered write that waits for it.
    request: u32,
    /// Reads that it waits for.
    reads: u32,
    /// A program that starts with it, because it may need what these reads bring; [`NOBODY`] if there is none.
    next: u32,
}

impl Ssd {
    /// The place of `units` units from `at` on.
    pub(super) fn place(&self, at: Ppn, units: u32) -> Place {
        let (cpage, unit) = self.g.cpage_of_unit(at.0);
        Place {
            cpage,
            first: unit * self.g.sectors_per_unit,
            sectors: units * self.g.sectors_per_unit,
        }
    }

    #[inline]
    pub(super) fn submit_work(&mut self, work: Work, place: Place, ticket: u32) {
        let (lane, number) = self.g.lane_and_number(place.cpage);
        self.submit_job((work, place, ticket), lane, (number, false));
    }

    /// `to` is the number of the page that is filled, and of a copy, whether it stays within its planes.
    #[inline]
    fn submit_job(&mut self, what: (Work, Place, u32), lane: u32, to: (u32, bool)) {
        let ((work, place, ticket), (number, stays)) = (what, to);
        let (plane, station) = self.g.station_and_plane(lane);
        self.nand.submit(
            Job {
                work,
                station,
                place,
                ticket,
                number,
                plane,
                stays,
            },
            self.now,
            &mut self.events,
        );
    }

    /// Background work on a station.
    pub(super) fn occupy(&mut self, station: u32, ns: u32) {
        let ticket = self.tickets.insert(Ticket::Busy { station });
        let place = Place {
            cpage: 0,
            first: 0,
            sectors: 0,
        };
        let job = Job {
            work: Work::Busy(ns),
            station,
            place,
            ticket,
            number: 0,
            plane: 0,
            stays: false,
        };
        self.nand.submit(job, self.now, &mut self.events);
    }

    /// Issues what the translation layer asked for of its own.
    pub(super) fn issue_own(&mut self) {
        self.issue(NOBODY, &[], NO_BATCH);
    }

    /// Issues what the translation layer asked for. All host programs wait for `reads` (old data of
    /// partly written units); the last one releases `releases` sectors of the buffer, or is none of its batches
    /// ([`NO_BATCH`]). Nothing waits for reads of the map that no program follows.
    pub(super) fn issue(&mut self, request: u32, reads: &[Place], releases: u32) {
        if let [FlashOp::Program { at, units }] = self.ops[..]
            && reads.is_empty()
        {
            // Nearly always, and nothing that is deferred waits for it.
            self.ops.clear();
            return self.start_lone_program(request, at, units, releases);
        }
        self.issue_awaited(request, reads, releases);
        for index in 0..self.map_reads.len() {
            self.read_map(self.map_reads[index], Wants::Nobody);
        }
        self.map_reads.clear();
    }

    /// The same, but reads of the map that no program follows stay in `map_reads`.
    pub(super) fn issue_awaited(&mut self, request: u32, reads: &[Place], releases: u32) {
        let ops = std::mem::take(&mut self.ops);
        let last = ops
            .iter()
            .rposition(|op| matches!(op, FlashOp::Program { .. }));
        let (mut reads, mut waiting) = (reads, NOBODY);
        let mut index = 0;
        self.map_reads.clear();
        while index < ops.len() {
            match ops[index] {
                FlashOp::Program { at, units } => {
                    let releases = if Some(index) == last {
                        releases
                    } else {
                        NO_BATCH
                    };
                    self.begin_draining(at, releases);
                    let program = Program {
                        releases,
                        request,
                        ..self.new_program(at, units)
                    };
                    waiting = self.start_host_program(program, std::mem::take(&mut reads), waiting);
                }
                FlashOp::MapRead { at } => {
                    let place = self.place(at, 1);
                    self.map_reads.push(place);
                }
                FlashOp::MapProgram { at, owner } => self.program_map(at, owner),
                FlashOp::Copy { .. } => index += self.copy_gathered(&ops[index..]) - 1,
                FlashOp::Erase { cblock } => self.domain(cblock).defer_erase(cblock),
                FlashOp::Barrier { cblock } => self.domain(cblock).set_barrier(cblock),
            }
            index += 1;
        }
        for op in &ops {
            if let FlashOp::Erase { cblock } = *op {
                self.release_deferred(self.domain_of(cblock));
            }
        }
        self.ops = ops;
        self.ops.clear();
    }

    /// Starts a program that waits for no read.
    #[inline]
    fn start_lone_program(&mut self, request: u32, at: Ppn, units: u32, releases: u32) {
        self.begin_draining(at, releases);
        let program = Program {
            releases,
            request,
            ..self.new_program(at, units)
        };
        self.start_program(program, &[]);
    }

    /// The last program of a batch is on its way, if it is one.
    #[inline]
    fn begin_draining(&mut self, at: Ppn, releases: u32) {
        if releases != NO_BATCH {
            let station = self.station_of_unit(at);
            self.draining.begin(station, releases);
        }
    }

    #[inline]
    fn station_of_unit(&self, at: Ppn) -> u32 {
        let (cpage, _) = self.g.cpage_of_unit(at.0);
        self.g.station_of_cpage(cpage)
    }

    fn program_map(&mut self, at: Ppn, owner: Lpn) {
        self.counters.map_programs += 1;
        if let Some(store) = &mut self.store {
            store.program(at, owner, &[]);
        }
        let program = self.new_program(at, 1);
        self.start_after_map(program, &[]);
    }

    /// Starts a program of the host's. The first of a batch waits for the reads, if there are any, and is told; the
    /// others start with the one before them, `waiting`.
    #[inline]
    fn start_host_program(&mut self, program: Program, reads: &[Place], waiting: u32) -> u32 {
        if !self.map_reads.is_empty() {
            self.forgo_known(program.request);
        }
        if waiting == NOBODY {
            let waits = !(reads.is_empty() && self.map_reads.is_empty());
            let ticket = self.start_after_map(program, reads);
            return if waits { ticket } else { NOBODY };
        }
        let ticket = self.insert_program(program, 0);
        if let Some(Ticket::Program(before)) = self.tickets.get_mut(waiting) {
            before.next = ticket;
        }
        ticket
    }

    /// Starts a program that waits for the reads of the map before it, too; old data is found by what they say.
    #[inline]
    fn start_after_map(&mut self, program: Program, reads: &[Place]) -> u32 {
        if self.map_reads.is_empty() {
            return self.start_program(program, reads);
        }
        let map = std::mem::take(&mut self.map_reads);
        let ticket = self.insert_program(program, map.len() as u32);
        for place in &map {
            self.read_map(*place, Wants::Program { program: ticket });
        }
        let old_data = reads.iter().map(|place| (ticket, *place));
        self.after_map.extend(old_data);
        self.map_reads = map;
        self.map_reads.clear();
        ticket
    }

    /// A program of what the controller holds, which nobody waits for.
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
        let domain = self.domain_of_unit(at);
        self.domains[domain].number()
    }

    /// What must be kept in order with a clustered block.
    #[inline]
    pub(super) fn domain_of(&self, cblock: u32) -> usize {
        match self.domains.len() {
            1 => 0,
            _ => self.g.group_of_cblock(cblock) as usize,
        }
    }

    #[inline]
    fn domain_of_unit(&self, at: Ppn) -> usize {
        match self.domains.len() {
            1 => 0,
            _ => self.domain_of(self.g.cblock_of_unit(at.0)),
        }
    }

    fn domain(&mut self, cblock: u32) -> &mut Domain {
        let domain = self.domain_of(cblock);
        &mut self.domains[domain]
    }

    fn insert_program(&mut self, program: Program, reads: u32) -> u32 {
        if program.request != NOBODY
            && let Some(active) = self.active.get_mut(program.request)
        {
            active.pending += 1;
        }
        let program = Program { reads, ..program };
        self.tickets.insert(Ticket::Program(program))
    }

    fn start_program(&mut self, program: Program, reads: &[Place]) -> u32 {
        let ticket = self.insert_program(program, reads.len() as u32);
        if reads.is_empty() {
            self.submit_ready(ticket, &program);
        }
        for place in reads {
            let gather = self.tickets.insert(Ticket::Gather { program: ticket });
            self.submit_work(Work::Gather, *place, gather);
        }
        ticket
    }

    fn submit_program(&mut self, ticket: u32) {
        let Some(Ticket::Program(program)) = self.tickets.get(ticket) else {
            return;
        };
        let program = *program;
        self.submit_ready(ticket, &program);
    }

    /// A program that waits for no read any more.
    #[inline]
    fn submit_ready(&mut self, ticket: u32, program: &Program) {
        let cblock = self.g.cblock_of_unit(program.at.0);
        let domain = self.domain(cblock);
        if let Some(after) = domain.barrier_before(cblock, program.number) {
            domain.defer_program(ticket, after);
        } else if program.from.is_some() {
            let place = self.place(program.from, program.units);
            let lane = self.g.lane_of_cpage(place.cpage);
            let (_, number) = self.g.lane_and_number(self.place(program.at, 1).cpage);
            self.submit_job((Work::Copy, place, ticket), lane, (number, program.stays));
        } else {
            self.submit_work(Work::Program, self.place(program.at, program.units), ticket);
        }
    }

    /// Issues the copies at the head of `ops` that share a target page; how many they are.
    fn copy_gathered(&mut self, ops: &[FlashOp]) -> usize {
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
                    reads.push(self.place(from, units));
                    end = to.0 + units;
                    if let Some(store) = &mut self.store {
                        store.copy((from, to), units, number);
                    }
                }
                _ => break,
            }
        }
        let copies = reads.len();
        let station = |at: Ppn| self.g.station_of_cpage(page(&self.g, at));
        let stays = copies == 1 && station(from) == station(at);
        let program = Program {
            number,
            at,
            units: end - at.0,
            from: if stays { from } else { Ppn::NONE },
            stays: stays
                && self.g.lane_of_cpage(page(&self.g, from)) == self.g.lane_of_cpage(target),
            releases: NO_BATCH,
            request: NOBODY,
            reads: 0,
            next: NOBODY,
        };
        if stays {
            reads.clear();
        }
        self.start_program(program, &reads);
        reads.clear();
        self.gather = reads;
        copies
    }

    pub(super) fn op_done(&mut self, op: u32) {
        let Some(op) = self.nand.done(op, self.now, &mut self.events) else {
            return;
        };
        self.counters.flash_ops += 1;
        if self.may_fail && self.program_failed(op) {
            return;
        }
        match self.tickets.get_mut(op.ticket) {
            Some(Ticket::Erase { stations, .. }) if *stations > 1 => *stations -= 1,
            _ => self.settle(op.ticket),
        }
        if self
            .cut_after_ops
            .is_some_and(|n| self.counters.flash_ops >= n)
        {
            self.power_cut();
        }
    }

    fn settle(&mut self, ticket: u32) {
        match self.tickets.remove(ticket) {
            Some(Ticket::Read { request, bytes }) => self.part_read(request, bytes),
            Some(Ticket::Gather { program }) => self.gathered(program),
            Some(Ticket::Program(program)) => self.programmed(program),
            Some(Ticket::Erase { cblock, .. }) => self.erased(cblock),
            Some(Ticket::Ahead {
                first,
                sectors,
                waiting,
            }) => {
                self.arriving.retain(|&t| t != ticket);
                if let Some(reads) = &mut self.reads {
                    reads.touch(first, u64::from(sectors));
                }
                waiting
                    .into_iter()
                    .for_each(|(request, bytes)| self.part_read(request, bytes));
            }
            Some(Ticket::Map { waiting, .. }) => self.map_arrived(ticket, waiting),
            Some(Ticket::Busy { station }) => self.background_work[station as usize] -= 1,
            None => {}
        }
    }

    pub(super) fn gathered(&mut self, program: u32) {
        let Some(Ticket::Program(waiting)) = self.tickets.get_mut(program) else {
            return;
        };
        waiting.reads -= 1;
        if waiting.reads > 0 {
            return;
        }
        if self.after_map.is_empty() || !self.read_old_data(program) {
            self.submit_with_others(program);
        }
    }

    /// Submits a program that has waited, and those that have waited with it.
    fn submit_with_others(&mut self, program: u32) {
        let mut next = program;
        while let Some(Ticket::Program(program)) = self.tickets.get(next) {
            let ticket = std::mem::replace(&mut next, program.next);
            self.submit_program(ticket);
        }
    }

    /// The map is read: starts the reads of old data that a program waits for; false where there are none.
    fn read_old_data(&mut self, program: u32) -> bool {
        let all = std::mem::take(&mut self.after_map);
        let (now, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| *of == program);
        self.after_map = later;
        if let Some(Ticket::Program(waiting)) = self.tickets.get_mut(program) {
            waiting.reads = now.len() as u32;
        }
        for (_, place) in &now {
            let gather = self.tickets.insert(Ticket::Gather { program });
            self.submit_work(Work::Gather, *place, gather);
        }
        !now.is_empty()
    }

    fn programmed(&mut self, program: Program) {
        self.counters.flash_sectors_programmed +=
            u64::from(program.units * self.g.sectors_per_unit);
        if let Some(store) = &mut self.store {
            store.settle(program.at, program.units, program.number);
        }
        let domain = self.domain_of_unit(program.at);
        self.domains[domain].complete(program.number);
        self.release_deferred(domain);
        if program.releases != NO_BATCH {
            self.lines.release(program.releases);
            let station = self.station_of_unit(program.at);
            self.draining.end(station, program.releases);
            self.unblock();
        }
        if program.request != NOBODY
            && let Some(active) = self.active.get_mut(program.request)
        {
            active.pending -= 1;
            self.write_progress(program.request);
        }
        if !self.flushes.is_empty() {
            self.settle_flushes();
        }
    }

    #[inline]
    fn release_deferred(&mut self, domain: usize) {
        while let Some(waiting) = self.domains[domain].release() {
            match waiting {
                Waiting::Erase { cblock } => self.start_erase(cblock),
                Waiting::Program { ticket } => self.submit_program(ticket),
            }
        }
    }

    fn start_erase(&mut self, cblock: u32) {
        let stations = self.g.lanes_per_group;
        let ticket = self.tickets.insert(Ticket::Erase { cblock, stations });
        let place = Place {
            cpage: cblock * self.g.cpages_per_cblock,
            first: 0,
            sectors: 0,
        };
        for lane in 0..stations {
            let job = Job {
                work: Work::Erase,
                station: self.g.station_of_cblock(cblock, lane),
                place,
                ticket,
                number: 0,
                plane: 0,
                stays: false,
            };
            self.nand.submit(job, self.now, &mut self.events);
        }
    }

    fn erased(&mut self, cblock: u32) {
        self.counters.erases += 1;
        self.domain(cblock).erasing -= 1;
        if let Some(store) = &mut self.store {
            store.erase(cblock);
        }
        if self.may_fail && self.erase_failed(cblock) {
            self.retire(cblock);
        } else {
            self.wear[cblock as usize] += 1;
            self.ftl.erased(cblock);
        }
        self.domain(cblock).stalled = false;
        self.pump();
        self.collect_further();
    }

    /// A part of a read is in the drive's memory: it goes over the link.
    pub(super) fn part_read(&mut self, request: u32, bytes: u32) {
        let end = self.link.transfer(Way::Out, u64::from(bytes), self.now);
        let Some(active) = self.active.get_mut(request) else {
            return;
        };
        active.last_transfer = active.last_transfer.max(end);
        active.pending -= 1;
        if active.pending == 0 {
            let at = active.last_transfer;
            self.events
                .push_in_order(lane::OUT, at, Event::Complete(request));
        }
    }

    /// Sectors as bytes.
    pub(super) fn bytes_of(sectors: u32) -> u32 {
        sectors * SECTOR_BYTES as u32
    }
}
