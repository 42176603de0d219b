//! What a drive does besides serving: collecting in idle time, waiting for its map, living with what fails.
//!
//! A failed program is done again from the page register, and its block goes out of use after its next erase. A
//! failed erase puts the block out of use at once; how a drive ends that runs out of spare blocks stands in
//! [`super::worn`]. It does not model bit errors that a retry does not mend.

use super::flash::Ticket;
use super::{Event, Ssd};
use crate::ftl::Ftl;
use crate::nand::{Job, Work};
use fathom_base::{Rng, SECTOR_BYTES};

impl Ssd {
    /// Puts the blocks out of use that were bad when the drive was made.
    pub(super) fn mark_factory_bad(&mut self, mut rng: Rng) {
        for group in 0..self.g.groups {
            let first = group * self.g.cblocks_per_group;
            let mut left = self.g.bad_cblocks_per_group;
            while left > 0 {
                let cblock = first + rng.below(u64::from(self.g.cblocks_per_group)) as u32;
                if self.bad.insert(cblock) {
                    self.ftl.retire(cblock);
                    left -= 1;
                }
            }
        }
        self.bad_at_first = self.bad.len();
    }

    /// A request is complete: if it was the last one, collecting may begin after a while.
    pub(super) fn note_idle(&mut self) {
        self.last_activity = self.now;
        if let Some(delay) = self.collect_after
            && self.active.is_empty()
            && !self.collect_scheduled
        {
            self.collect_scheduled = true;
            self.events.push(self.now + delay, Event::Collect);
        }
    }

    /// Collects a block if the host has been idle for long enough.
    pub(super) fn collect_in_idle_time(&mut self) {
        self.collect_scheduled = false;
        let Some(delay) = self.collect_after else {
            return;
        };
        if !self.active.is_empty() || !self.powered || self.worn_out || self.collecting {
            return;
        }
        let due = self.last_activity + delay;
        if due > self.now {
            self.collect_scheduled = true;
            return self.events.push(due, Event::Collect);
        }
        let collects = self.ftl.background(&mut self.ops);
        self.counters.background_collections += u64::from(collects);
        // What finds no room now may find it when an erase is done that is under way.
        self.collecting = collects || self.domains.iter().any(|domain| domain.erasing > 0);
        self.issue_own();
    }

    /// An erase is done: goes on collecting if the host is still idle.
    pub(super) fn collect_further(&mut self) {
        if std::mem::take(&mut self.collecting) && !self.collect_scheduled {
            self.collect_scheduled = true;
            self.events.push(self.now, Event::Collect);
        }
    }

    /// A part of the map has come that a read waits for.
    pub(super) fn map_known(&mut self, request: u32) {
        let Some(active) = self.active.get_mut(request) else {
            return;
        };
        active.pending -= 1;
        if active.pending == 0 {
            let first = active.request.offset / SECTOR_BYTES;
            let sectors = active.request.len / SECTOR_BYTES;
            self.read_known(request, first, sectors);
        }
    }

    /// Whether the program that is done has failed; it is then under way again.
    pub(super) fn program_failed(&mut self, job: Job) -> bool {
        let programs = matches!(job.work, Work::Program | Work::Copy);
        if !programs || !self.rng_faults.chance(self.faults.program_fail) {
            return false;
        }
        let target = match self.tickets.get(job.ticket) {
            Some(Ticket::Program(program)) => program.at,
            _ => return false,
        };
        self.counters.program_fails += 1;
        self.doomed.insert(self.g.cblock_of_unit(target.0));
        let again = Job {
            work: Work::Program,
            ..job
        };
        self.nand.submit(again, self.now, &mut self.events);
        true
    }

    /// Whether the erase that is done has failed, or its block must not be used again.
    pub(super) fn erase_failed(&mut self, cblock: u32) -> bool {
        let failed = self.rng_faults.chance(self.faults.erase_fail);
        self.counters.erase_fails += u64::from(failed);
        self.doomed.remove(&cblock) || failed
    }

    /// Puts a block out of use.
    pub(super) fn retire(&mut self, cblock: u32) {
        self.bad.insert(cblock);
        if !self.ftl.retire(cblock) && !self.worn_out {
            self.wear_out();
        }
    }
}
