//! Stripes of pages with parity ([`super::parity`]): programs of parity, and the rebuilding of a lost page.

use super::flash::FlashSide;
use super::ticket::{Program, Ticket};
use crate::event::Clock;
use crate::nand::job::{Job, Work};

impl FlashSide {
    /// Adds a page whose program has ended to the open stripe. A program of the rest of a page adds none.
    pub(super) fn protect(&mut self, program: &Program, clock: &mut Clock) {
        let (_, unit) = self.g.cpage_of_unit(program.at.0);
        if unit > 0 {
            return;
        }
        self.parity.last = self.station_of_unit(program.at);
        self.parity.filled += 1;
        if self.parity.filled == self.parity.stripe - 1 {
            self.end_stripe(clock);
        }
    }

    /// Programs the parity of the open stripe, unless that is empty.
    pub(super) fn end_stripe(&mut self, clock: &mut Clock) {
        if self.parity.filled == 0 {
            return;
        }
        self.parity.filled = 0;
        self.parity.programs += 1;
        let station = (self.parity.last + 1) % self.g.stations;
        let sectors = self.g.sectors_per_cpage;
        self.program_apart(station, sectors, Ticket::Apart { sectors }, clock);
    }

    /// Starts the reads that rebuild what a read or a program has lost; the operation goes on when they are done. Returns
    /// false if nothing protects it.
    pub(super) fn rebuild(&mut self, job: Job, clock: &mut Clock) -> bool {
        let of_data = !matches!(
            self.tickets.get(job.ticket),
            None | Some(Ticket::Rebuild { .. } | Ticket::Apart { .. })
        );
        if !self.parity.is_on() || !of_data {
            return false;
        }
        self.parity.rebuilds += 1;
        let left = self.parity.stripe - 1;
        let ticket = self.tickets.insert(Ticket::Rebuild { job, left });
        for next in 1..self.parity.stripe {
            let station = (job.station + next) % self.g.stations;
            let read = Job::on(station, Work::Gather, job.place, ticket);
            self.nand.submit(read, clock);
        }
        true
    }
}
