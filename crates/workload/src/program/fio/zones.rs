//! The zones of a drive as its jobs see them (`zonemode=zbd`): where a write goes, what can be read, and what is reset.
//!
//! The rules are those of fio (man page, "Zone options"; its behaviour with a zoned device). A write goes to the write
//! pointer of a zone, whatever place was drawn. Random writes go to at most as many zones at a time as may be open, and
//! to another zone when one of these is full. A write that begins at a full zone has it reset. A read reads below the
//! write pointer.
//!
//! Requests take effect in order of submission ([`fathom_block::zoned`]), so that the state here is that of the drive
//! without asking it again. A zone is reset only when nothing is in flight there.

use super::region::Region;
use fathom_block::zoned::{Zone, ZoneAction, ZoneState, Zoned};
use fathom_block::{Access, Op};

/// What a process does to reach a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Access these bytes.
    Go { offset: u64, len: u64 },
    /// First reset or finish the zone that starts there.
    First(ZoneAction, u64),
    /// Wait for completions: of accesses to a zone that is to be reset, or of its reset.
    Wait,
    /// No other zone may be opened, and those that are open are outside of the region.
    Stuck,
    /// Nothing is left: no zone holds data to read or to reset, or none can be written.
    Over,
}

/// The process that asks, and what it may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) process: usize,
    /// Its region: whole zones.
    pub(super) region: Region,
    /// The shortest length of the operation, in bytes.
    pub(super) shortest: u64,
    pub(super) random: bool,
    /// True if it verifies what it writes: then no zone is reset beside the writes.
    pub(super) verifies: bool,
    /// `read_beyond_wp`.
    pub(super) beyond: bool,
    /// `job_max_open_zones`.
    pub(super) most_open: usize,
    /// True if it has accesses in flight.
    pub(super) busy: bool,
}

/// A zone, by what was submitted.
#[derive(Clone, Copy, Debug)]
struct State {
    start: u64,
    /// End of what it can hold.
    end: u64,
    /// Its write pointer; the end of its data where it is full.
    at: u64,
    full: bool,
    /// True if it can be neither written nor reset.
    fixed: bool,
    /// The process that has begun to write it, if it is being written.
    writer: Option<usize>,
    in_flight: u32,
    /// True while it is reset.
    resets: bool,
}

impl State {
    fn has_room(&self, bytes: u64) -> bool {
        !self.full && !self.fixed && self.at + bytes <= self.end
    }

    fn held(&self) -> u64 {
        match self.resets {
            true => 0,
            false => self.at - self.start,
        }
    }
}

/// The zones of a drive, shared by all processes.
#[derive(Clone, Debug)]
pub(super) struct Zones {
    zone_bytes: u64,
    all: Vec<State>,
    /// The zones that are being written, in the order in which that began. They are open or closed: both are limited.
    written: Vec<usize>,
    /// Maximum number of them; 0 for no limit.
    most: usize,
}

impl Zones {
    /// Makes the zones of an empty drive, of which at most `most` are written at a time; 0 for no limit.
    pub(super) fn new(zoned: &Zoned, capacity: u64, most: u32) -> Self {
        let count = capacity / zoned.zone_bytes.max(1);
        let state = |number: u64| {
            let start = number * zoned.zone_bytes;
            State {
                start,
                end: start + zoned.zone_capacity_bytes,
                at: start,
                full: false,
                fixed: false,
                writer: None,
                in_flight: 0,
                resets: false,
            }
        };
        Self {
            zone_bytes: zoned.zone_bytes.max(1),
            all: (0..count).map(state).collect(),
            written: Vec::new(),
            most: most as usize,
        }
    }

    /// Takes over the states that a drive reports.
    pub(super) fn reported(&mut self, report: &[Zone]) {
        for zone in report {
            let index = self.index(zone.start);
            let Some(state) = self.all.get_mut(index) else {
                continue;
            };
            (state.end, state.full) = (zone.end(), zone.state == ZoneState::Full);
            state.fixed = matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline);
            state.at = match zone.state {
                ZoneState::Full | ZoneState::ReadOnly => zone.end(),
                ZoneState::Offline | ZoneState::Empty => zone.start,
                _ => zone.write_pointer,
            };
            if zone.state.is_active() {
                self.written.push(index);
            }
        }
    }

    pub(super) fn zone_bytes(&self) -> u64 {
        self.zone_bytes
    }

    fn index(&self, offset: u64) -> usize {
        (offset / self.zone_bytes) as usize
    }

    /// Returns the zones of a region.
    fn within(&self, region: Region) -> std::ops::Range<usize> {
        self.index(region.offset)..self.index(region.end()).min(self.all.len())
    }

    /// Returns true if a zone of the region holds so many bytes to read.
    pub(super) fn holds(&self, region: Region, bytes: u64) -> bool {
        let zones = &self.all[self.within(region)];
        zones.iter().any(|zone| zone.held() >= bytes.max(1))
    }

    /// Returns what a process does that drew this place.
    pub(super) fn turn(&mut self, who: &Who, op: Op, offset: u64, len: u64) -> Turn {
        match op {
            Op::Read if who.beyond => {
                let end = (self.index(offset) as u64 + 1) * self.zone_bytes;
                let len = len.min(end - offset);
                Turn::Go { offset, len }
            }
            Op::Read => self.read(who, offset, len),
            Op::Write => self.write(who, offset, len),
            Op::Trim => self.reset(who, offset),
            Op::Flush | Op::Append | Op::Zone(_) => Turn::Go { offset, len },
        }
    }

    /// Returns a zone with so much data: this one, or the next one; for a random access the nearest.
    fn holding(&self, who: &Who, from: usize, bytes: u64) -> Option<usize> {
        let zones = self.within(who.region);
        let holds = |index: &usize| self.all[*index].held() >= bytes;
        let after = (from..zones.end).find(holds);
        if !who.random {
            return after;
        }
        let before = (zones.start..from).rev().find(holds);
        match (before, after) {
            (Some(before), Some(after)) if from - before < after - from => Some(before),
            (before, after) => after.or(before),
        }
    }

    fn read(&self, who: &Who, offset: u64, len: u64) -> Turn {
        let own = self.index(offset);
        let within = offset - self.all[own].start;
        // A sequential read goes on in the next zone when it has read what this one holds.
        let is_read = !who.random && within + who.shortest > self.all[own].held();
        let Some(found) = self.holding(who, own + usize::from(is_read), who.shortest) else {
            return Turn::Over;
        };
        let zone = &self.all[found];
        let whole = |len: u64| len / who.shortest * who.shortest;
        let len = whole(len.min(zone.held()));
        let to = match found == own {
            true if !who.random || within + len <= zone.held() => within,
            false if !who.random => 0,
            // Spread over what the zone holds.
            _ => within / who.shortest % ((zone.held() - len) / who.shortest + 1) * who.shortest,
        };
        Turn::Go {
            offset: zone.start + to,
            len: whole(len.min(zone.held() - to)),
        }
    }

    /// Returns the reset that a trim is: of a zone that holds data.
    fn reset(&mut self, who: &Who, offset: u64) -> Turn {
        let Some(found) = self.holding(who, self.index(offset), 1) else {
            return Turn::Over;
        };
        match self.all[found] {
            zone if zone.fixed => Turn::Over,
            zone if zone.in_flight > 0 => Turn::Wait,
            zone => {
                self.leave(found);
                Turn::Go {
                    offset: zone.start,
                    len: self.zone_bytes,
                }
            }
        }
    }

    /// Returns the first reset that empties the region; [`Turn::Over`] if it is empty.
    pub(super) fn clear(&mut self, who: &Who) -> Turn {
        let mut zones = self.within(who.region);
        let holds = |zone: &State| (zone.at > zone.start || zone.full) && !zone.fixed;
        let Some(found) = zones.find(|&index| holds(&self.all[index])) else {
            return Turn::Over;
        };
        if who.busy || self.all[found].in_flight > 0 || self.all[found].resets {
            return Turn::Wait;
        }
        self.leave(found);
        Turn::First(ZoneAction::Reset, self.all[found].start)
    }

    /// Returns true if the process may begin to write another zone.
    fn may_open(&self, who: &Who) -> bool {
        let is_own = |index: &&usize| self.all[**index].writer == Some(who.process);
        let own = || self.written.iter().filter(is_own).count();
        (self.most == 0 || self.written.len() < self.most)
            && (who.most_open == 0 || own() < who.most_open)
    }

    fn write(&mut self, who: &Who, offset: u64, len: u64) -> Turn {
        let zones = self.within(who.region);
        let is_in = |index: &usize| zones.contains(index);
        // A zone whose rest is too short for a write would stay open for nothing.
        let short = |index: &usize| is_in(index) && !self.all[*index].has_room(who.shortest);
        if let Some(&index) = self.written.iter().find(|index| short(index)) {
            return self.finish(index);
        }
        let found = self.index(offset);
        if self.written.contains(&found) {
            return self.into(who, found, len);
        }
        let usable = |state: &State| match who.verifies {
            true => state.has_room(who.shortest),
            false => !state.fixed,
        };
        let may_open = self.may_open(who);
        if may_open && usable(&self.all[found]) {
            return self.into(who, found, len);
        }
        let open: Vec<usize> = self.written.iter().copied().filter(is_in).collect();
        if !open.is_empty() {
            let way = u128::from(offset - who.region.offset) * open.len() as u128;
            let pick = (way / u128::from(who.region.size.max(1))) as usize;
            return self.into(who, open[pick.min(open.len() - 1)], len);
        }
        let next = (found..zones.end).chain(zones.start..found);
        match next.into_iter().find(|&index| usable(&self.all[index])) {
            Some(index) if may_open => self.into(who, index, len),
            Some(_) => Turn::Stuck,
            None => Turn::Over,
        }
    }

    fn finish(&mut self, index: usize) -> Turn {
        self.leave(index);
        self.all[index].full = true;
        Turn::First(ZoneAction::Finish, self.all[index].start)
    }

    /// Writes to a zone, which is reset first if it is full.
    fn into(&mut self, who: &Who, index: usize, len: u64) -> Turn {
        let zone = self.all[index];
        if zone.resets {
            return Turn::Wait;
        }
        if !zone.has_room(who.shortest) {
            if who.busy || zone.in_flight > 0 {
                return Turn::Wait;
            }
            self.enter(who, index);
            return Turn::First(ZoneAction::Reset, zone.start);
        }
        self.enter(who, index);
        let len = len.min(zone.end - zone.at) / who.shortest * who.shortest;
        Turn::Go {
            offset: zone.at,
            len,
        }
    }

    fn enter(&mut self, who: &Who, index: usize) {
        if !self.written.contains(&index) {
            self.written.push(index);
            self.all[index].writer = Some(who.process);
        }
    }

    fn leave(&mut self, index: usize) {
        self.written.retain(|&other| other != index);
        self.all[index].writer = None;
    }

    /// Records an access that is submitted.
    pub(super) fn begin(&mut self, access: &Access) {
        let index = self.index(access.offset);
        let Some(zone) = self.all.get_mut(index) else {
            return;
        };
        match access.op {
            Op::Flush | Op::Trim => return,
            Op::Zone(ZoneAction::Reset) => {
                (zone.resets, zone.full, zone.at) = (true, false, zone.start);
            }
            Op::Zone(_) | Op::Read => {}
            Op::Write | Op::Append => {
                zone.at += access.len;
                zone.full = zone.at >= zone.end;
                if zone.full {
                    self.leave(index);
                }
            }
        }
        self.all[index].in_flight += 1;
    }

    /// Records an access that has completed.
    pub(super) fn end(&mut self, access: &Access) {
        let index = self.index(access.offset);
        let Some(zone) = self.all.get_mut(index) else {
            return;
        };
        if matches!(access.op, Op::Flush | Op::Trim) {
            return;
        }
        zone.in_flight = zone.in_flight.saturating_sub(1);
        if access.op == Op::Zone(ZoneAction::Reset) {
            zone.resets = false;
        }
    }

    /// Returns where a sequential process goes on after an access.
    pub(super) fn onward(&self, access: &Access, shortest: u64) -> u64 {
        let end = access.end();
        match self.all.get(self.index(access.offset)) {
            Some(zone) if access.op != Op::Read && end + shortest > zone.end => {
                zone.start + self.zone_bytes
            }
            _ => end,
        }
    }
}
