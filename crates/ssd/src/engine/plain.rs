//! Plain programs: once one has started, nothing can delay its end, and its station does one after another.
//!
//! So it needs no ticket: its station identifies it. It waits for its station in a queue of plain programs, which all come
//! before the other operations that wait there. Not possible where programs overlap, fail or can be suspended, nor where the
//! array's heat, age, parity, modes or bytes are modelled: then every program is an ordinary operation.
//!
//! Measured with callgrind over 300,000 random writes to a new `model:epo`, 32 in flight, as a whole process: 3620
//! instructions a write without plain programs, 3162 with them.

use super::flash::FlashSide;
use super::issue::Issue;
use super::ticket::NO_BATCH;
use crate::event::Clock;
use crate::nand::job::{Place, Plain};
use fathom_base::Ppn;

impl FlashSide {
    /// Starts a program that waits for no reads, if it can be a plain one. Returns whether it did.
    #[inline]
    pub(super) fn start_plain(
        &mut self,
        at: Ppn,
        units: u32,
        issue: &Issue<'_>,
        clock: &mut Clock,
    ) -> bool {
        if !self.plain || self.store.is_some() {
            return false;
        }
        let place = Place::of(&self.g, at, units);
        let (lane, page) = self.g.lane_and_number(place.cpage);
        let station = self.g.station_of_lane(lane);
        let index = self.domains.of_unit(&self.g, at);
        let domain = &mut self.domains[index];
        if self.nand.has_queue(station) || domain.has_barriers() {
            return false;
        }
        let plain = Plain {
            place,
            page,
            domain: index as u32,
            number: domain.number(),
            releases: issue.releases,
            request: issue.request,
        };
        if issue.releases != NO_BATCH {
            self.draining.begin(station, issue.releases);
        }
        self.nand.submit_plain(station, plain, clock);
        true
    }

    /// Handles the end of the plain program at work on a station. `None` if there is none.
    #[inline]
    pub(super) fn plain_done(&mut self, station: u32, clock: &mut Clock) -> Option<Plain> {
        let plain = self.nand.plain_done(station, clock)?;
        self.counts.ops += 1;
        self.counts.sectors_programmed += u64::from(plain.place.sectors);
        let domain = plain.domain as usize;
        self.domains[domain].complete(plain.number);
        self.release_deferred(domain, clock);
        if plain.releases != NO_BATCH {
            self.draining.end(station, plain.releases);
        }
        Some(plain)
    }
}
