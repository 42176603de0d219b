//! The flash side: operations in flight in the flash array, in their required order.
//!
//! `issue` starts the operations that the translation layer requests; this module handles them from then on. Each
//! operation has a [`Ticket`], which determines the action when it is done. Data moves when an operation is issued and
//! becomes durable when it is done.

use super::domain::{Domain, Domains, Waiting};
use super::draining::Draining;
use super::parity::Parity;
use super::ticket::{MapRead, NO_BATCH, Program, Ticket};
use crate::event::Clock;
use crate::geometry::Geometry;
use crate::nand::Nand;
use crate::nand::job::{Job, Place, Work};
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{Ppn, Rng, Slab};

/// Counts of completed flash work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlashCounts {
    pub(super) ops: u64,
    pub(super) sectors_programmed: u64,
    pub(super) erases: u64,
    pub(super) map_reads: u64,
    pub(super) map_fetches: u64,
    pub(super) map_programs: u64,
}

/// Returns true if the programs of a drive can be plain ([`super::plain`]).
fn are_plain(spec: &Spec, nand: &Nand) -> bool {
    let is_special =
        spec.faults.fail() || spec.flash.parity_stripe > 0 || spec.fast_cache.is_some();
    nand.allows_plain() && !is_special
}

#[derive(Clone, Debug)]
pub(super) struct FlashSide {
    pub(super) g: Geometry,
    pub(super) nand: Nand,
    pub(super) tickets: Slab<Ticket>,
    /// True if programs can be plain.
    pub(super) plain: bool,
    /// Order of programs and erases, for each group or for the whole drive.
    pub(super) domains: Domains,
    /// Batches on their way from the buffer.
    pub(super) draining: Draining,
    /// Contents of the flash array, if data is kept.
    pub(super) store: Option<Store>,
    pub(super) counts: FlashCounts,
    /// The stripe of pages that is being filled, if pages are protected by parity.
    pub(super) parity: Parity,
    /// For every clustered block, whether it is in SLC mode; empty without a fast cache.
    pub(super) fast: Vec<bool>,
    /// Programs of the current step of folding in idle time that are not done yet.
    pub(super) folding: u32,
    /// Sources of the copies that are being gathered.
    pub(super) gather: Vec<Place>,
    /// Reads of the mapping table for the next operations to be issued.
    pub(super) map_reads: Vec<MapRead>,
    /// Tickets of the map reads in progress.
    pub(super) map_arriving: Vec<u32>,
    /// Tickets of the reads of host memory that have not been started yet.
    pub(super) map_fetches: Vec<u32>,
    /// Reads of old data for programs that wait for map reads first: (ticket of the program, place).
    pub(super) after_map: Vec<(u32, Place)>,
}

impl FlashSide {
    pub(super) fn new(spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self {
        let nand = Nand::new(spec, g, rng);
        Self {
            plain: are_plain(spec, &nand),
            nand,
            tickets: Slab::default(),
            domains: Domains::new(spec, g),
            draining: Draining::new(spec, g),
            store: None,
            counts: FlashCounts::default(),
            parity: Parity::new(spec),
            fast: vec![false; spec.fast_cache.as_ref().map_or(0, |_| g.cblocks() as usize)],
            folding: 0,
            gather: Vec::new(),
            map_reads: Vec::new(),
            map_arriving: Vec::new(),
            map_fetches: Vec::new(),
            after_map: Vec::new(),
            g: g.clone(),
        }
    }

    /// Starts an operation that is neither a copy nor an erase. Returns its ticket.
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

    /// Starts an operation on a station; the ticket of the job is filled in here.
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
            fast: self.is_fast(place.cpage),
            ..Job::on(station, work, place, ticket)
        };
        self.nand.submit(job, clock);
    }

    /// Returns true if a clustered page is in a block in SLC mode.
    #[inline]
    pub(super) fn is_fast(&self, cpage: u32) -> bool {
        !self.fast.is_empty() && self.fast[(cpage / self.g.cpages_per_cblock) as usize]
    }

    /// Starts background work on a station.
    pub(super) fn occupy(&mut self, station: u32, ns: u32, clock: &mut Clock) {
        let job = Job::on(station, Work::Busy(ns), Place::default(), 0);
        self.start_job(job, Ticket::Busy { station }, clock);
    }

    #[inline]
    pub(super) fn station_of_unit(&self, at: Ppn) -> u32 {
        let (cpage, _) = self.g.cpage_of_unit(at.0);
        self.g.station_of_cpage(cpage)
    }

    /// Returns the domain of a clustered block.
    #[inline]
    pub(super) fn domain(&mut self, cblock: u32) -> &mut Domain {
        let domain = self.domains.of_cblock(&self.g, cblock);
        &mut self.domains[domain]
    }

    /// Handles the end of an operation; `None` if it was suspended in the meantime.
    #[inline]
    pub(super) fn done(&mut self, op: u32, clock: &mut Clock) -> Option<Job> {
        let job = self.nand.done(op, clock)?;
        self.counts.ops += 1;
        Some(job)
    }

    /// Repeats the failed program of a job.
    pub(super) fn repeat(&mut self, job: Job, clock: &mut Clock) {
        let work = Work::Program;
        self.nand.submit(Job { work, ..job }, clock);
    }

    /// Returns the clustered block that the program of a job fills.
    pub(super) fn filled_by(&self, job: Job) -> Option<u32> {
        let Some(Ticket::Program(program)) = self.tickets.get(job.ticket) else {
            return None;
        };
        Some(self.g.cblock_of_unit(program.at.0))
    }

    /// Removes the ticket of an operation that is done; `None` for an erase or a rebuilding that is still in progress on
    /// other stations.
    #[inline]
    pub(super) fn take(&mut self, ticket: u32) -> Option<Ticket> {
        match self.tickets.get_mut(ticket) {
            Some(Ticket::Erase { stations: left, .. } | Ticket::Rebuild { left, .. })
                if *left > 1 =>
            {
                *left -= 1;
                None
            }
            _ => self.tickets.remove(ticket),
        }
    }

    /// Handles the end of a program or a copy.
    pub(super) fn programmed(&mut self, program: &Program, clock: &mut Clock) {
        self.counts.sectors_programmed += u64::from(program.units * self.g.sectors_per_unit);
        if let Some(store) = &mut self.store {
            store.settle(program.at, program.units, program.number);
        }
        if self.parity.is_on() {
            self.protect(program, clock);
        }
        if self.nand.age.matters() {
            let cblock = self.g.cblock_of_unit(program.at.0);
            self.nand.age.programmed(cblock, clock.now);
        }
        let domain = self.domains.of_unit(&self.g, program.at);
        if self.domains[domain].complete(program.number, 1) {
            self.release_deferred(domain, clock);
        }
        if program.releases != NO_BATCH {
            let station = self.station_of_unit(program.at);
            self.draining.end(station, program.releases);
        }
    }

    /// Starts the deferred operations of a domain whose wait is over.
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
            let job = Job {
                fast: self.is_fast(place.cpage),
                ..Job::on(station, Work::Erase, place, ticket)
            };
            self.nand.submit(job, clock);
        }
    }

    /// Handles the end of an erase.
    pub(super) fn erased(&mut self, cblock: u32) {
        self.counts.erases += 1;
        self.nand.age.erased(cblock);
        self.domain(cblock).erasing -= 1;
        if let Some(store) = &mut self.store {
            store.erase(cblock);
        }
    }

    /// Forgets the operations in flight.
    pub(super) fn clear(&mut self) {
        self.nand.clear();
        self.tickets.clear();
        self.domains.clear();
        self.draining.clear();
        self.parity.clear();
        self.folding = 0;
        self.map_reads.clear();
        self.map_arriving.clear();
        self.map_fetches.clear();
        self.after_map.clear();
    }
}
