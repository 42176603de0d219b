//! Recording of constant units ([`super::constant`]), and their recovery after a power cut.

use super::Ssd;
use super::batch::Batch;
use super::ticket::{NO_BATCH, NOBODY, Ticket};
use crate::event::Event;
use crate::nand::job::{Place, Work};
use fathom_base::{Lpn, SECTOR_BYTES};

impl Ssd {
    /// Records the constant units of a batch that has been placed.
    pub(super) fn shrink(&mut self, batch: &Batch) {
        let units = batch.constant.len() as u32;
        if units == 0 {
            return;
        }
        for &lpn in &batch.constant {
            if let Some(store) = &mut self.flash.store {
                store.record_constant(lpn);
            }
            self.ftl.trim(lpn, 1, &mut self.ops);
        }
        self.issue_own();
        let bytes = f64::from(self.g.sectors_per_unit) * SECTOR_BYTES as f64;
        for _ in 0..self.memory.shrinking.record(units, bytes) {
            self.program_records();
        }
        if batch.units > 0 {
            // The programs of the batch release its room and complete its write.
            return;
        }
        let now = self.clock.now;
        match batch.owner {
            NOBODY => self.clock.at(now, Event::Released(batch.dirty)),
            owner => self.clock.at(now, Event::Recorded(owner)),
        }
    }

    /// Programs a unit of records into the log of the controller.
    fn program_records(&mut self) {
        let shrinking = &mut self.memory.shrinking;
        let station = shrinking.next_station % self.g.stations;
        shrinking.next_station = station + 1;
        let sectors = self.g.sectors_per_unit;
        self.flash
            .program_apart(station, sectors, Ticket::Apart { sectors }, &mut self.clock);
    }

    /// Room of constant units is free again.
    pub(super) fn released(&mut self, sectors: u32) {
        debug_assert_ne!(sectors, NO_BATCH);
        self.release(sectors);
        self.settle_flushes();
    }

    /// After a power cut: makes the units constant again whose record is newer than what was found in the flash array.
    pub(super) fn recover_constants(&mut self) {
        let Some(store) = &mut self.flash.store else {
            return;
        };
        let mut constant: Vec<Lpn> = Vec::new();
        store.keep_newest_constants(|lpn| self.ftl.lookup(lpn), &mut constant);
        for lpn in constant {
            self.ftl.trim(lpn, 1, &mut self.ops);
        }
    }
}

impl super::flash::FlashSide {
    /// Starts a program outside of the mapped blocks.
    pub(super) fn program_apart(
        &mut self,
        station: u32,
        sectors: u32,
        ticket: Ticket,
        clock: &mut crate::event::Clock,
    ) {
        let place = Place {
            sectors,
            ..Place::default()
        };
        let job = crate::nand::job::Job::on(station, Work::Program, place, 0);
        self.start_job(job, ticket, clock);
    }
}
