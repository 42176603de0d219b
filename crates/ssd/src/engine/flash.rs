//! The flash side: operations on their way through the flash array, in the order that must hold.
//!
//! What the translation layer asks for is issued in `issue`; here is what happens to it from then on. An operation has a
//! [`Ticket`], which says what follows when it is done. Data moves when an operation is issued and becomes durable when
//! it is done.

use super::domain::{Domain, Domains, Waiting};
use super::draining::Draining;
use super::ticket::{NO_BATCH, Program, Ticket};
use crate::event::Clock;
use crate::geometry::Geometry;
use crate::nand::Nand;
use crate::nand::job::{Job, Place, Work};
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{Ppn, Rng, Slab};

/// What was done at the flash so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlashCounts {
    pub(super) ops: u64,
    pub(super) sectors_programmed: u64,
    pub(super) erases: u64,
    pub(super) map_reads: u64,
    pub(super) map_programs: u64,
}

#[derive(Clone, Debug)]
pub(super) struct FlashSide {
    pub(super) g: Geometry,
    pub(super) nand: Nand,
    pub(super) tickets: Slab<Ticket>,
    /// The order of programs and erases: of each group, or of the whole drive.
    pub(super) domains: Domains,
    /// What is on its way from the buffer.
    pub(super) draining: Draining,
    /// What the flash array holds, where data is kept.
    pub(super) store: Option<Store>,
    pub(super) counts: FlashCounts,
    /// Places of copies that are being gathered.
    pub(super) gather: Vec<Place>,
    /// Reads of the map for what is issued next.
    pub(super) map_reads: Vec<Place>,
    /// Reads of the map that are under way.
    pub(super) map_arriving: Vec<u32>,
    /// Old data to read for programs that wait for their map first.
    pub(super) after_map: Vec<(u32, Place)>,
}

impl FlashSide {
    pub(super) fn new(spec: &Spec, g: &Geometry, rng: Rng) -> Self {
        Self {
            nand: Nand::new(spec, g, rng),
            tickets: Slab::default(),
            domains: Domains::new(spec, g),
            draining: Draining::new(spec, g),
            store: None,
            counts: FlashCounts::default(),
            gather: Vec::new(),
            map_reads: Vec::new(),
            map_arriving: Vec::new(),
            after_map: Vec::new(),
            g: g.clone(),
        }
    }

    /// Starts an operation at a place, that is neither a copy nor an erase; gives its ticket.
    #[inline]
    pub(super) fn start(
        &mut self,
        work: Work,
        place: Place,
        ticket: Ticket,
        clock: &mut Clock,
    ) -> u32 {
        let ticket = self.tickets.insert(ticket);
        self.submit(work, place, ticket, clock);
        ticket
    }

    /// Starts an operation on a station; the job's ticket is still to be given.
    #[inline]
    pub(super) fn start_job(&mut self, job: Job, ticket: Ticket, clock: &mut Clock) {
        let ticket = self.tickets.insert(ticket);
        self.nand.submit(Job { ticket, ..job }, clock);
    }

    #[inline]
    pub(super) fn submit(&mut self, work: Work, place: Place, ticket: u32, clock: &mut Clock) {
        let (lane, number) = self.g.lane_and_number(place.cpage);
        let (plane, station) = self.g.station_and_plane(lane);
        let job = Job {
            plane,
            number,
            ..Job::on(station, work, place, ticket)
        };
        self.nand.submit(job, clock);
    }

    /// Background work on a station.
    pub(super) fn occupy(&mut self, station: u32, ns: u32, clock: &mut Clock) {
        let job = Job::on(station, Work::Busy(ns), Place::default(), 0);
        self.start_job(job, Ticket::Busy { station }, clock);
    }

    #[inline]
    pub(super) fn station_of_unit(&self, at: Ppn) -> u32 {
        let (cpage, _) = self.g.cpage_of_unit(at.0);
        self.g.station_of_cpage(cpage)
    }

    /// What must be kept in order with a clustered block.
    #[inline]
    pub(super) fn domain(&mut self, cblock: u32) -> &mut Domain {
        let domain = self.domains.of_cblock(&self.g, cblock);
        &mut self.domains[domain]
    }

    /// An operation is done, if it was not interrupted meanwhile.
    #[inline]
    pub(super) fn done(&mut self, op: u32, clock: &mut Clock) -> Option<Job> {
        let job = self.nand.done(op, clock)?;
        self.counts.ops += 1;
        Some(job)
    }

    /// The program of a job has failed: it is under way again. Gives the clustered block that it fills.
    pub(super) fn repeat(&mut self, job: Job, clock: &mut Clock) -> Option<u32> {
        let Some(Ticket::Program(program)) = self.tickets.get(job.ticket) else {
            return None;
        };
        let cblock = self.g.cblock_of_unit(program.at.0);
        let work = Work::Program;
        self.nand.submit(Job { work, ..job }, clock);
        Some(cblock)
    }

    /// The ticket of an operation that is done; `None` for an erase with other stations still at work.
    #[inline]
    pub(super) fn take(&mut self, ticket: u32) -> Option<Ticket> {
        match self.tickets.get_mut(ticket) {
            Some(Ticket::Erase { stations, .. }) if *stations > 1 => {
                *stations -= 1;
                None
            }
            _ => self.tickets.remove(ticket),
        }
    }

    /// A program or a copy is done.
    pub(super) fn programmed(&mut self, program: &Program, clock: &mut Clock) {
        self.counts.sectors_programmed += u64::from(program.units * self.g.sectors_per_unit);
        if let Some(store) = &mut self.store {
            store.settle(program.at, program.units, program.number);
        }
        let domain = self.domains.of_unit(&self.g, program.at);
        self.domains[domain].complete(program.number);
        self.release_deferred(domain, clock);
        if program.releases != NO_BATCH {
            let station = self.station_of_unit(program.at);
            self.draining.end(station, program.releases);
        }
    }

    /// Starts what waits for nothing any more.
    #[inline]
    pub(super) fn release_deferred(&mut self, domain: usize, clock: &mut Clock) {
        while let Some(waiting) = self.domains[domain].release() {
            match waiting {
                Waiting::Erase { cblock } => self.start_erase(cblock, clock),
                Waiting::Program { ticket } => self.submit_program(ticket, clock),
            }
        }
    }

    fn start_erase(&mut self, cblock: u32, clock: &mut Clock) {
        let stations = self.g.lanes_per_group;
        let ticket = self.tickets.insert(Ticket::Erase { cblock, stations });
        let place = Place {
            cpage: cblock * self.g.cpages_per_cblock,
            ..Place::default()
        };
        for lane in 0..stations {
            let station = self.g.station_of_cblock(cblock, lane);
            self.nand
                .submit(Job::on(station, Work::Erase, place, ticket), clock);
        }
    }

    /// An erase is done.
    pub(super) fn erased(&mut self, cblock: u32) {
        self.counts.erases += 1;
        self.domain(cblock).erasing -= 1;
        if let Some(store) = &mut self.store {
            store.erase(cblock);
        }
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        self.nand.clear();
        self.tickets.clear();
        self.domains.clear();
        self.draining.clear();
        self.map_reads.clear();
        self.map_arriving.clear();
        self.after_map.clear();
    }
}
