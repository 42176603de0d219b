//! Reading the map that lies in flash: one read of a translation page for all that miss on it.
//!
//! DFTL loads a translation page once for what it is asked (Gupta, Kim and Urgaonkar, ASPLOS 2009, section 3). What
//! wants another entry of it while it is being read waits for that read. Of a write without a buffer, which crosses the
//! link piece by piece, the controller keeps the translation page that was read last until the write is complete.
//! A read of the host joins no read that a program waits for, which would not go before programs as its own does
//! (`flash.arbitration`).

use super::Ssd;
use super::flash::{NO_BATCH, NOBODY, Ticket};
use crate::nand::{Place, Work};

/// What waits for a part of the map.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wants {
    /// A host read, for its places.
    Read { request: u32 },
    /// A program.
    Program { program: u32 },
    /// Nothing.
    Nobody,
}

impl Wants {
    fn work(self) -> Work {
        match self {
            Wants::Read { .. } => Work::Read,
            Wants::Program { .. } | Wants::Nobody => Work::Gather,
        }
    }
}

impl Ssd {
    /// Issues what the translation layer needs to know the places of a read; false if that is nothing.
    pub(super) fn await_map(&mut self, request: u32) -> bool {
        self.issue_awaited(NOBODY, &[], NO_BATCH);
        let mut reads = std::mem::take(&mut self.map_reads);
        if let Some(active) = self.active.get_mut(request) {
            active.pending += reads.len() as u32;
        }
        let waits = !reads.is_empty();
        for place in reads.drain(..) {
            self.read_map(place, Wants::Read { request });
        }
        self.map_reads = reads;
        waits
    }

    /// Reads a unit of the map, or waits for the read of it that is under way.
    pub(super) fn read_map(&mut self, place: Place, wants: Wants) {
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
        let ticket = self.tickets.insert(Ticket::Map {
            place,
            work,
            waiting: vec![wants],
        });
        self.map_arriving.push(ticket);
        self.counters.map_reads += 1;
        self.submit_work(work, place, ticket);
    }

    /// A unit of the map has come.
    pub(super) fn map_arrived(&mut self, ticket: u32, waiting: Vec<Wants>) {
        self.map_arriving.retain(|&arriving| arriving != ticket);
        for wants in waiting {
            match wants {
                Wants::Read { request } => self.map_known(request),
                Wants::Program { program } => self.gathered(program),
                Wants::Nobody => {}
            }
        }
    }

    /// Takes out of what is to be read of the map what an unbuffered write has read before and still has.
    pub(super) fn forgo_known(&mut self, request: u32) {
        let Some(active) = self.active.get_mut(request) else {
            return;
        };
        let tickets = &self.tickets;
        let arriving = self.map_arriving.iter();
        let comes = |place: Place| {
            arriving.clone().any(|ticket| match tickets.get(*ticket) {
                Some(Ticket::Map { place: at, .. }) => *at == place,
                _ => false,
            })
        };
        let known = active.map_read;
        self.map_reads
            .retain(|place| Some(*place) != known || comes(*place));
        if let Some(last) = self.map_reads.last() {
            active.map_read = Some(*last);
        }
    }
}
