//! Plain programs, copies and reads: once one has started, nothing can delay its end, and its station does one after another.
//!
//! So it needs no ticket: its station identifies it. It waits for its station in a queue of plain operations, which all come
//! before the other operations that wait there. A copy is plain if its data stays within the planes of its lane and need not
//! cross the bus. Not possible where programs overlap, fail or can be suspended, nor where the
//! array's heat, age, parity, modes or bytes are modelled: then every program is an ordinary operation.
//!
//! A read of the host is plain on a drive with plain programs if its channel is always free after sensing.
//!
//! The copies from one block into pages that follow one another are one operation, a *run*. Each of them has an event of its own,
//! so that events of equal times keep their order and a read may come between; nothing else is done for each.
//!
//! Measured with callgrind over 300,000 random writes to a new `model:epo`, 32 in flight, as a whole process: 3620
//! instructions a write without plain programs, 3162 with them. Under collection (`crates/model/examples/performance.rs`,
//! `tight-32 steady`, write amplification 4.66) a write took 5335 instructions without runs, and takes 4325 with them. A read
//! (`tight-32 reads`) took 1464 instructions with a ticket and takes 1313 without one; 3 million (`epo reads`) took 0.384 s, and
//! 0.348 s without tickets.

use super::flash::FlashSide;
use super::issue::Issue;
use super::ticket::{NO_BATCH, NOBODY};
use crate::event::{Clock, End};
use crate::ftl::FlashOp;
use crate::nand::job::{Place, Plain};
use fathom_base::Ppn;

impl Plain {
    /// A run of copies of so many units as a place has, into page `page` of a block and lane and those after it. Its domain is
    /// still missing.
    #[inline]
    fn copies(run: u32, place: Place, page: u32) -> Self {
        Self {
            run,
            left: run,
            page,
            ..Self::of(End::Copy, place, NO_BATCH, NOBODY)
        }
    }
}

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
        let plain = Plain {
            page,
            ..Plain::of(End::Program, place, issue.releases, issue.request)
        };
        self.line_up_plain(self.g.station_of_lane(lane), at, plain, clock)
    }

    /// Starts a read for the host, if it can be a plain one. Returns whether it did.
    #[inline]
    pub(super) fn start_plain_read(
        &mut self,
        station: u32,
        place: Place,
        request: u32,
        clock: &mut Clock,
    ) -> bool {
        let can = self.plain && self.nand.reads_alone() && self.store.is_none();
        if !can || self.nand.has_queue(station) {
            return false;
        }
        let read = Plain::of(End::Read, place, NO_BATCH, request);
        self.nand.submit_plain(station, read, clock);
        true
    }

    /// Handles the end of the plain read at work on a station, and returns it.
    #[inline]
    pub(super) fn plain_read_done(&mut self, station: u32, clock: &mut Clock) -> Plain {
        self.counts.ops += 1;
        self.nand.plain_read_done(station, clock)
    }

    /// Starts the copies at the start of `ops` that can be plain. Returns their number.
    #[inline]
    pub(super) fn start_plain_copies(&mut self, ops: &[FlashOp], clock: &mut Clock) -> usize {
        if !self.plain || !self.nand.copies_back() || self.store.is_some() {
            return 0;
        }
        if self.g.units_per_cpage == 1 && self.g.lanes_per_group == 1 {
            return self.start_plain_run(ops, clock);
        }
        let Some(&FlashOp::Copy { from, to, units }) = ops.first() else {
            return 0;
        };
        let place = Place::of(&self.g, from, units);
        let (target, _) = self.g.cpage_of_unit(to.0);
        let (lane, page) = self.g.lane_and_number(target);
        let (next, _) = match ops.get(1) {
            Some(FlashOp::Copy { to, .. }) => self.g.cpage_of_unit(to.0),
            _ => (u32::MAX, 0),
        };
        // Copies into one page are programmed together.
        if next == target || self.g.lane_of_cpage(place.cpage) != lane {
            return 0;
        }
        let plain = Plain::copies(1, place, page);
        usize::from(self.line_up_plain(self.g.station_of_lane(lane), to, plain, clock))
    }

    /// Starts the copies at the start of `ops` from one block into pages of another one that follow one another, on the same lane,
    /// where a unit is a page and a block lies on one lane. They are one operation.
    fn start_plain_run(&mut self, ops: &[FlashOp], clock: &mut Clock) -> usize {
        let Some(&FlashOp::Copy { from, to, .. }) = ops.first() else {
            return 0;
        };
        let (source, target) = (self.g.cblock_of_unit(from.0), self.g.cblock_of_unit(to.0));
        let lane = self.g.group_of_cblock(target);
        if self.g.group_of_cblock(source) != lane {
            return 0;
        }
        let (station, size) = (self.g.station_of_lane(lane), self.g.units_per_cblock);
        let (first, page) = (source * size, to.0 - target * size);
        let run = (to.0..to.0 - page + size)
            .zip(ops)
            .take_while(|(next, op)| {
                matches!(op, FlashOp::Copy { from, to, .. }
                if from.0.wrapping_sub(first) < size && to.0 == *next)
            });
        let run = run.count() as u32;
        let place = Place {
            cpage: from.0,
            first: 0,
            sectors: self.g.sectors_per_unit,
        };
        match self.line_up_plain(station, to, Plain::copies(run, place, page), clock) {
            true => run as usize,
            false => 0,
        }
    }

    /// Hands a plain operation that fills the place `at` to its station, with numbers in its domain. Returns false if it has
    /// to wait for other operations.
    #[inline]
    fn line_up_plain(&mut self, station: u32, at: Ppn, plain: Plain, clock: &mut Clock) -> bool {
        let index = self.domains.of_unit(&self.g, at);
        let domain = &mut self.domains[index];
        if self.nand.has_queue(station) || domain.has_barriers() {
            return false;
        }
        let plain = Plain {
            domain: index as u32,
            number: domain.number(plain.run),
            ..plain
        };
        if plain.releases != NO_BATCH {
            self.draining.begin(station, plain.releases);
        }
        self.nand.submit_plain(station, plain, clock);
        true
    }

    /// Handles the end of the program or the copy at work on a station. Returns its operation if all of that is done.
    #[inline]
    pub(super) fn plain_done(&mut self, station: u32, clock: &mut Clock) -> Option<Plain> {
        let ended = self.nand.plain_done(station, clock);
        self.counts.ops += 1;
        self.counts.sectors_programmed += u64::from(ended.sectors);
        let plain = ended.operation?;
        let domain = plain.domain as usize;
        if self.domains[domain].complete(plain.number, plain.run) {
            self.release_deferred(domain, clock);
        }
        if plain.releases != NO_BATCH {
            self.draining.end(station, plain.releases);
        }
        Some(plain)
    }
}
