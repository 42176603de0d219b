//! Reads of a mapping table stored in flash; simultaneous misses on a translation page share one read.
//!
//! DFTL loads a translation page once for the requested entry (Gupta, Kim and Urgaonkar, ASPLOS 2009, section 3).
//! Requests for other entries of the page that arrive during this read wait for it. An unbuffered write crosses the link
//! piece by piece; the controller keeps the translation page that was read last for it until the write is complete. A
//! host read never joins a map read of a program, because that read has no priority over programs (`flash.arbitration`).

use super::Ssd;
use super::flash::FlashSide;
use super::issue::Issue;
use super::ticket::{MapRead, Ticket, Wants};
use crate::event::{Clock, Event};
use crate::ftl::FlashOp;
use crate::nand::job::{Place, Work};
use fathom_base::Ppn;

impl FlashSide {
    /// Issues the operations needed to translate the addresses of a read. Returns the number of map reads that the
    /// request waits for.
    pub(super) fn read_map_for(
        &mut self,
        request: u32,
        ops: &mut Vec<FlashOp>,
        clock: &mut Clock,
    ) -> u32 {
        self.issue_awaited(ops, Issue::own(), clock);
        let mut reads = std::mem::take(&mut self.map_reads);
        let waits = reads.len() as u32;
        for read in reads.drain(..) {
            self.read_map(read, Wants::Read { request }, clock);
        }
        self.map_reads = reads;
        waits
    }

    /// Adds a unit of the mapping table to those to be read for the next operation.
    pub(super) fn push_map_read(&mut self, at: Ppn, from_host: bool) {
        let place = Place::of(&self.g, at, 1);
        self.map_reads.push(MapRead { place, from_host });
    }

    /// Reads a unit of the mapping table, or joins a read of it that is in progress.
    pub(super) fn read_map(&mut self, read: MapRead, wants: Wants, clock: &mut Clock) {
        let MapRead { place, from_host } = read;
        // A read of host memory waits for no program.
        let work = if from_host { Work::Read } else { wants.work() };
        for ticket in &self.map_arriving {
            if let Some(Ticket::Map {
                place: at,
                work: by,
                waiting,
            }) = self.tickets.get_mut(*ticket)
                && *at == place
                && (from_host || *by == Work::Read || work == Work::Gather)
            {
                return waiting.push(wants);
            }
        }
        let map = Ticket::Map {
            place,
            work,
            waiting: vec![wants],
        };
        let ticket = if from_host {
            self.counts.map_fetches += 1;
            let ticket = self.tickets.insert(map);
            self.map_fetches.push(ticket);
            ticket
        } else {
            self.counts.map_reads += 1;
            self.start(work, place, map, clock)
        };
        self.map_arriving.push(ticket);
    }

    /// Handles the end of a map read.
    pub(super) fn map_arrived(&mut self, ticket: u32) {
        self.map_arriving.retain(|&arriving| arriving != ticket);
    }

    /// Removes from the pending map reads the unit that an unbuffered write has already read and still holds (`last`),
    /// and updates `last` to the unit that it reads last.
    pub(super) fn forgo_known(&mut self, last: &mut Option<Place>) {
        let (tickets, arriving) = (&self.tickets, &self.map_arriving);
        let comes = |place: Place| {
            arriving.iter().any(|ticket| match tickets.get(*ticket) {
                Some(Ticket::Map { place: at, .. }) => *at == place,
                _ => false,
            })
        };
        let known = *last;
        self.map_reads
            .retain(|read| Some(read.place) != known || comes(read.place));
        if let Some(read) = self.map_reads.last() {
            *last = Some(read.place);
        }
    }
}

impl Ssd {
    /// Starts the reads of host memory that the operations issued at this instant wait for.
    #[inline(always)]
    pub(super) fn start_map_fetches(&mut self) {
        if !self.flash.map_fetches.is_empty() {
            self.fetch_map();
        }
    }

    #[cold]
    fn fetch_map(&mut self) {
        for ticket in self.flash.map_fetches.drain(..) {
            let at = self.host.read_host_memory(self.clock.now);
            self.clock.at(at, Event::Fetched(ticket));
        }
    }

    /// A part of the mapping table has come from host memory.
    pub(super) fn map_fetched(&mut self, id: u32) {
        if let Some(ticket) = self.flash.take(id) {
            self.settle(id, ticket);
        }
    }
}
