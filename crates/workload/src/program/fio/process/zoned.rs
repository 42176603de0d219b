//! The places of a process on a zoned drive (`zonemode=zbd`).

use super::Process;
use super::in_zones::{Place, Trouble};
use crate::program::fio::zones::{Turn, Who, Zones};
use fathom_base::Time;
use fathom_block::zoned::ZoneAction;
use fathom_block::{Access, Op};

impl Process {
    /// Returns why it cannot go on, if it cannot.
    pub(in super::super) fn trouble(&self) -> Option<Trouble> {
        let waits = self.in_flight == 0 && self.job.ends.runtime.is_none();
        let lasts = |trouble: &Trouble| waits || *trouble == Trouble::NothingHeld;
        self.zones.trouble.filter(lasts)
    }

    fn who(&self, op: Op) -> Who {
        let job = &self.job;
        Who {
            process: self.number,
            region: self.region,
            shortest: job.shortest(op),
            random: job.rw.is_random(),
            verifies: job.verify,
            beyond: job.zones.read_beyond_wp,
            most_open: job.zones.job_max_open_zones as usize,
            busy: self.in_flight > 0,
        }
    }

    /// Returns where the process goes next by an operation, or by a write if there is nothing to read yet.
    pub(super) fn place(&mut self, op: Op, zones: &mut Option<Zones>) -> Place {
        match zones {
            Some(zones) if self.zones.zbd => self.place_in(op, zones),
            _ => {
                let place = self.places.next(op);
                place.map_or(Place::None, |(offset, len)| Place::At(op, offset, len))
            }
        }
    }

    fn place_in(&mut self, op: Op, zones: &mut Zones) -> Place {
        self.zones.zone_bytes = zones.zone_bytes();
        self.zones.trouble = None;
        if self.zones.clearing {
            match zones.clear(&self.who(op)) {
                Turn::First(action, zone) => return self.first(action, zone),
                Turn::Wait => return Place::Later,
                _ => self.zones.clearing = false,
            }
        }
        let Some((op, offset, len)) = self.draw(op, zones) else {
            return Place::None;
        };
        let who = self.who(op);
        let turn = zones.turn(&who, op, offset, len);
        match turn {
            Turn::Go { offset, len } => {
                let went = Access::new(Time::ZERO, op, offset, len);
                let next = zones.onward(&went, who.shortest);
                self.places.go_on_at(op, next);
                return Place::At(op, offset, len);
            }
            Turn::Over if op == Op::Read && self.job.rw.writes() => {
                // The reads go on there when there is more to read.
                self.places.go_on_at(op, offset);
                return self.place_in(Op::Write, zones);
            }
            Turn::Over => {
                let held = self.asked.accesses > 0;
                self.zones.trouble = (!held).then_some(Trouble::NothingHeld);
                return Place::None;
            }
            Turn::First(..) | Turn::Wait | Turn::Stuck => {}
        }
        self.zones.drawn = Some((op, offset, len));
        match turn {
            Turn::First(action, zone) => return self.first(action, zone),
            Turn::Stuck => self.zones.trouble = Some(Trouble::NoZone),
            _ => {}
        }
        Place::Later
    }

    /// Returns the place that waits for its zone, or draws one. Before anything is written, a mix writes.
    fn draw(&mut self, op: Op, zones: &Zones) -> Option<(Op, u64, u64)> {
        let reads = op == Op::Read && self.job.rw.writes() && !self.job.zones.read_beyond_wp;
        let op = match reads && !zones.holds(self.region, self.job.shortest(op)) {
            true => Op::Write,
            false => op,
        };
        let drawn = self.zones.drawn.take();
        drawn.or_else(|| self.places.next(op).map(|(offset, len)| (op, offset, len)))
    }

    fn first(&self, action: ZoneAction, zone: u64) -> Place {
        Place::First(action, zone, self.zones.zone_bytes)
    }
}
