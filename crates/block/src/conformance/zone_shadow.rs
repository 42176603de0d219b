//! The states that the zones of a device must have.
//!
//! Written from the rules in [`crate::zoned`], one after another, and not from [`crate::devices::Zones`]: both would
//! otherwise have the same faults.

use crate::zoned::{Zone, ZoneAction, ZoneState, Zoned};
use crate::{DeviceInfo, IoErrorKind, Op, Request};
use std::ops::Range;

/// A zone, and the order in which it was opened.
#[derive(Clone, Copy, Debug)]
struct Entry {
    zone: Zone,
    /// Number of the change that opened it implicitly.
    opened: u64,
}

/// The zones of a device; none if it is not zoned.
#[derive(Clone, Debug, Default)]
pub(super) struct ZoneShadow {
    rules: Option<Zoned>,
    entries: Vec<Entry>,
    changes: u64,
}

impl ZoneShadow {
    /// The zones that a device must have, in the states that it reports.
    pub(super) fn new(info: &DeviceInfo, told: &[Zone]) -> Self {
        let Some(rules) = info.zoned else {
            return Self::default();
        };
        let entry = |n: u64| {
            let start = n * rules.zone_bytes;
            let told = told.get(n as usize);
            let zone = Zone {
                start,
                capacity_bytes: rules.zone_capacity_bytes,
                write_pointer: told.map_or(start, |zone| zone.write_pointer),
                state: told.map_or(ZoneState::Empty, |zone| zone.state),
            };
            Entry { zone, opened: 0 }
        };
        Self {
            rules: Some(rules),
            entries: (0..info.capacity_bytes / rules.zone_bytes.max(1))
                .map(entry)
                .collect(),
            changes: 0,
        }
    }

    /// Returns the zones.
    pub(super) fn all(&self) -> impl Iterator<Item = Zone> + '_ {
        self.entries.iter().map(|entry| entry.zone)
    }

    /// Returns the number of open zones and of active ones.
    pub(super) fn used(&self) -> (u32, u32) {
        let count = |has: fn(ZoneState) -> bool| self.all().filter(|z| has(z.state)).count() as u32;
        (count(ZoneState::is_open), count(ZoneState::is_active))
    }

    fn find(&self, offset: u64) -> Option<usize> {
        let size = self.rules?.zone_bytes;
        let holds = |entry: &Entry| (entry.zone.start..entry.zone.start + size).contains(&offset);
        self.entries.iter().position(holds)
    }

    /// Returns where a request of a zoned device goes.
    pub(super) fn place(&self, request: &Request) -> Option<u64> {
        let index = self.find(request.offset)?;
        match request.op {
            Op::Append => Some(self.entries[index].zone.write_pointer),
            _ => Some(request.offset),
        }
    }

    /// Returns the bytes of the zones that a reset empties.
    pub(super) fn emptied_by(&self, request: &Request) -> Vec<Range<u64>> {
        let range = request.offset..request.end();
        let lasting = |zone: &Zone| matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline);
        let size = self.rules.map_or(0, |rules| rules.zone_bytes);
        self.all()
            .filter(|zone| range.contains(&zone.start) && !lasting(zone))
            .map(|zone| zone.start..zone.start + size)
            .collect()
    }

    /// Returns the error with which a request must fail, if it must. The request itself is valid.
    pub(super) fn refusal(&self, request: &Request) -> Option<IoErrorKind> {
        use ZoneState::{Closed, Empty, Full, Offline, ReadOnly};
        let zone = self.entries[self.find(request.offset)?].zone;
        let is_all = request.len > self.rules?.zone_bytes;
        match request.op {
            Op::Read => {
                let size = self.rules?.zone_bytes;
                let is_read = |z: &Zone| z.start < request.end() && request.offset < z.start + size;
                let lost = self.all().any(|z| is_read(&z) && z.state == Offline);
                lost.then_some(IoErrorKind::ZoneOffline)
            }
            Op::Write | Op::Append => self.refusal_of_write(request, &zone),
            Op::Zone(ZoneAction::Reset) if is_all => None,
            Op::Zone(action) => match (zone.state, action) {
                (ReadOnly | Offline, _)
                | (Full, ZoneAction::Open | ZoneAction::Close)
                | (Empty, ZoneAction::Close) => Some(IoErrorKind::ZoneTransition),
                (Empty | Closed, ZoneAction::Open) => self.refusal_of_opening(zone.state),
                _ => None,
            },
            Op::Flush | Op::Trim => None,
        }
    }

    fn refusal_of_write(&self, request: &Request, zone: &Zone) -> Option<IoErrorKind> {
        let at = zone.write_pointer;
        match zone.state {
            ZoneState::Full => Some(IoErrorKind::ZoneFull),
            ZoneState::ReadOnly => Some(IoErrorKind::ZoneReadOnly),
            ZoneState::Offline => Some(IoErrorKind::ZoneOffline),
            _ if request.op == Op::Write && request.offset != at => {
                Some(IoErrorKind::ZoneInvalidWrite)
            }
            _ if request.len > zone.end() - at => Some(IoErrorKind::ZoneBoundary),
            state if state.is_open() => None,
            state => self.refusal_of_opening(state),
        }
    }

    fn refusal_of_opening(&self, state: ZoneState) -> Option<IoErrorKind> {
        let rules = self.rules?;
        let (open, active) = self.used();
        let implicit = self.all().any(|z| z.state == ZoneState::ImplicitlyOpen);
        if state == ZoneState::Empty && rules.max_active > 0 && active == rules.max_active {
            Some(IoErrorKind::TooManyActive)
        } else if rules.max_open > 0 && open == rules.max_open && !implicit {
            Some(IoErrorKind::TooManyOpen)
        } else {
            None
        }
    }

    /// Executes a request that must succeed.
    pub(super) fn apply(&mut self, request: &Request) {
        let Some(index) = self.find(request.offset) else {
            return;
        };
        let zone = self.entries[index].zone;
        match request.op {
            Op::Write | Op::Append => {
                if !zone.state.is_open() {
                    self.open(index, ZoneState::ImplicitlyOpen);
                }
                let zone = &mut self.entries[index].zone;
                zone.write_pointer += request.len;
                if zone.write_pointer == zone.end() {
                    zone.state = ZoneState::Full;
                }
            }
            Op::Zone(ZoneAction::Open) if zone.state.is_open() => {
                self.entries[index].zone.state = ZoneState::ExplicitlyOpen;
            }
            Op::Zone(ZoneAction::Open) => self.open(index, ZoneState::ExplicitlyOpen),
            Op::Zone(ZoneAction::Close) => self.entries[index].zone.state = ZoneState::Closed,
            Op::Zone(ZoneAction::Finish) => self.entries[index].zone.state = ZoneState::Full,
            Op::Zone(ZoneAction::Reset) => {
                for range in self.emptied_by(request) {
                    if let Some(at) = self.find(range.start) {
                        let zone = &mut self.entries[at].zone;
                        (zone.state, zone.write_pointer) = (ZoneState::Empty, zone.start);
                    }
                }
            }
            Op::Read | Op::Flush | Op::Trim => {}
        }
    }

    fn open(&mut self, index: usize, state: ZoneState) {
        let limit = self.rules.map_or(0, |rules| rules.max_open);
        if limit > 0 && self.used().0 == limit {
            let implicit = |e: &&mut Entry| e.zone.state == ZoneState::ImplicitlyOpen;
            let entries = self.entries.iter_mut().filter(implicit);
            if let Some(oldest) = entries.min_by_key(|entry| entry.opened) {
                oldest.zone.state = ZoneState::Closed;
            }
        }
        self.changes += 1;
        let entry = &mut self.entries[index];
        (entry.zone.state, entry.opened) = (state, self.changes);
    }

    /// Returns the first zone that is not as expected: the expected one and the reported one.
    pub(super) fn differs(&self, told: &[Zone]) -> Option<(Zone, Option<Zone>)> {
        let same = |zone: &Zone, told: &Zone| {
            let pointed = zone.state.is_active() || zone.state == ZoneState::Empty;
            let is_there = !pointed || zone.write_pointer == told.write_pointer;
            (zone.start, zone.capacity_bytes, zone.state)
                == (told.start, told.capacity_bytes, told.state)
                && is_there
        };
        let all = self.all().enumerate();
        let mut told = all.map(|(n, zone)| (zone, told.get(n).copied()));
        told.find(|(zone, told)| !told.as_ref().is_some_and(|told| same(zone, told)))
    }
}
