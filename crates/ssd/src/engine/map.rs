//! Reading the map that lies in flash: one read of a translation page for all that miss on it.
//!
//! DFTL loads a translation page once for what it is asked (Gupta, Kim and Urgaonkar, ASPLOS 2009, section 3). What
//! wants another entry of it while it is being read waits for that read. Of a write without a buffer, which crosses the
//! link piece by piece, the controller keeps the translation page that was read last until the write is complete.
//! A read of the host joins no read that a program waits for, which would not go before programs as its own does
//! (`flash.arbitration`).

use super::flash::FlashSide;
use super::issue::Issue;
use super::ticket::{Ticket, Wants};
use crate::event::Clock;
use crate::ftl::FlashOp;
use crate::nand::job::{Place, Work};

impl FlashSide {
    /// Issues what the translation layer needs to know the places of a read; how many reads of the map that one waits for.
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

    /// Reads a unit of the map, or waits for the read of it that is under way.
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

    /// A unit of the map has come.
    pub(super) fn map_arrived(&mut self, ticket: u32) {
        self.map_arriving.retain(|&arriving| arriving != ticket);
    }

    /// Takes out of what is to be read of the map what an unbuffered write has read before and still has: `last`, which
    /// is what it reads last from then on.
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
