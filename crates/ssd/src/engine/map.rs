//! Reads of a mapping table stored in flash; simultaneous misses on a translation page share one read.
//!
//! DFTL loads a translation page once for the requested entry (Gupta, Kim and Urgaonkar, ASPLOS 2009, section 3).
//! Requests for other entries of the page that arrive during this read wait for it. An unbuffered write crosses the link
//! piece by piece; the controller keeps the translation page that was read last for it until the write is complete. A
//! host read never joins a map read of a program, because that read has no priority over programs (`flash.arbitration`).

use super::flash::FlashSide;
use super::issue::Issue;
use super::ticket::{Ticket, Wants};
use crate::event::Clock;
use crate::ftl::FlashOp;
use crate::nand::job::{Place, Work};

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
        for place in reads.drain(..) {
            self.read_map(place, Wants::Read { request }, clock);
        }
        self.map_reads = reads;
        waits
    }

    /// Reads a unit of the mapping table, or joins a read of it that is in progress.
    pub(super) fn read_map(&mut self, place: Place, wants: Wants, clock: &mut Clock) {
        let work = wants.work();
        for ticket in &self.map_arriving {
            if let Some(Ticket::Map {
                place: at,
                work: by,
                waiting,
            }) = self.tickets.get_mut(*ticket)
                && *at == place
                && (*by == Work::Read || work == Work::Gather)
            {
                return waiting.push(wants);
            }
        }
        let map = Ticket::Map {
            place,
            work,
            waiting: vec![wants],
        };
        self.counts.map_reads += 1;
        let ticket = self.start(work, place, map, clock);
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
            .retain(|place| Some(*place) != known || comes(*place));
        if let Some(place) = self.map_reads.last() {
            *last = Some(*place);
        }
    }
}
