//! The states of the zones of a device: decides which request is allowed, where it goes and what it changes.
//!
//! A state machine without time and without data, for devices that model a zoned drive. The conformance suite has its own
//! ([`crate::conformance`]) and does not use this one.

use crate::zoned::{Zone, ZoneAction, ZoneState, Zoned};
use crate::{DeviceInfo, IoErrorKind, Op, Request};
use std::collections::VecDeque;

/// The zones of a device and their states.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    limits: Option<Zoned>,
    all: Vec<Zone>,
    /// The implicitly open zones, the one opened first in front.
    implicit: VecDeque<usize>,
    /// Number of zones that are open, and that are open or closed.
    open: u32,
    active: u32,
}

/// Returns true if `used` leaves no room below `limit`, where 0 is no limit.
fn is_spent(used: u32, limit: u32) -> bool {
    limit > 0 && used >= limit
}

impl Zones {
    /// Creates the zones of a new device: all are empty. There are none if the device is not zoned.
    pub fn new(info: &DeviceInfo) -> Self {
        let zone = |zoned: Zoned| {
            let count = info.capacity_bytes / zoned.zone_bytes.max(1);
            (0..count).map(move |n| Zone {
                start: n * zoned.zone_bytes,
                capacity_bytes: zoned.zone_capacity_bytes,
                write_pointer: n * zoned.zone_bytes,
                state: ZoneState::Empty,
            })
        };
        Self {
            limits: info.zoned,
            all: info.zoned.into_iter().flat_map(zone).collect(),
            ..Self::default()
        }
    }

    /// Takes over the states that a device reports. Which of its implicitly open zones was opened first is unknown then; it
    /// counts as the first one.
    pub fn adopt(&mut self, report: &[Zone]) {
        for zone in report {
            let index = self.index(zone.start);
            if index < self.all.len() {
                self.change(index, zone.state);
                self.all[index] = *zone;
            }
        }
    }

    /// Returns up to `count` zones from the one that holds byte `from` on.
    pub fn report(&self, from: u64, count: usize) -> Vec<Zone> {
        let first = self.index(from);
        self.all.iter().skip(first).take(count).copied().collect()
    }

    /// Returns the zone that holds a byte.
    pub fn at(&self, offset: u64) -> Option<&Zone> {
        self.all.get(self.index(offset))
    }

    fn index(&self, offset: u64) -> usize {
        let zone_bytes = self
            .limits
            .map_or(u64::MAX, |zoned| zoned.zone_bytes.max(1));
        (offset / zone_bytes) as usize
    }

    /// Executes a request that [`DeviceInfo::check`] accepts. Returns the offset at which a write or an append begins, and the
    /// request's own offset for any other.
    ///
    /// # Errors
    /// The reason why the request fails; then it changes nothing.
    pub fn execute(&mut self, request: &Request) -> Result<u64, IoErrorKind> {
        let &Request {
            op, offset, len, ..
        } = request;
        let index = self.index(offset);
        let Some(&zone) = self.all.get(index) else {
            return Ok(offset);
        };
        match op {
            Op::Read => {
                let last = self.index(request.end().saturating_sub(1));
                let mut read = self.all[index..].iter().take(last - index + 1);
                match read.any(|zone| zone.state == ZoneState::Offline) {
                    true => Err(IoErrorKind::ZoneOffline),
                    false => Ok(offset),
                }
            }
            Op::Write | Op::Append => self.write(index, request),
            Op::Zone(action) if len > self.stride() => {
                self.all_zones(action);
                Ok(offset)
            }
            Op::Zone(action) => self.act(index, zone.state, action).map(|()| offset),
            Op::Flush | Op::Trim => Ok(offset),
        }
    }

    fn stride(&self) -> u64 {
        self.limits.map_or(u64::MAX, |zoned| zoned.zone_bytes)
    }

    fn write(&mut self, index: usize, request: &Request) -> Result<u64, IoErrorKind> {
        let zone = self.all[index];
        match zone.state {
            ZoneState::Full => return Err(IoErrorKind::ZoneFull),
            ZoneState::ReadOnly => return Err(IoErrorKind::ZoneReadOnly),
            ZoneState::Offline => return Err(IoErrorKind::ZoneOffline),
            _ => {}
        }
        let at = zone.write_pointer;
        if request.op == Op::Write && request.offset != at {
            return Err(IoErrorKind::ZoneInvalidWrite);
        }
        let end = at.saturating_add(request.len);
        if end > zone.end() {
            return Err(IoErrorKind::ZoneBoundary);
        }
        if !zone.state.is_open() {
            self.make_room(zone.state)?;
            self.change(index, ZoneState::ImplicitlyOpen);
        }
        self.all[index].write_pointer = end;
        if end == zone.end() {
            self.change(index, ZoneState::Full);
        }
        Ok(at)
    }

    /// Makes room for one more open zone, which is in `state` now.
    fn make_room(&mut self, state: ZoneState) -> Result<(), IoErrorKind> {
        let Some(limits) = self.limits else {
            return Ok(());
        };
        if !state.is_active() && is_spent(self.active, limits.max_active) {
            return Err(IoErrorKind::TooManyActive);
        }
        if is_spent(self.open, limits.max_open) {
            let oldest = *self.implicit.front().ok_or(IoErrorKind::TooManyOpen)?;
            self.change(oldest, ZoneState::Closed);
        }
        Ok(())
    }

    fn act(
        &mut self,
        index: usize,
        state: ZoneState,
        action: ZoneAction,
    ) -> Result<(), IoErrorKind> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
        match (action, state) {
            (_, ReadOnly | Offline) => return Err(IoErrorKind::ZoneTransition),
            (ZoneAction::Open, Empty | Closed) => {
                self.make_room(state)?;
                self.change(index, ExplicitlyOpen);
            }
            (ZoneAction::Open, ImplicitlyOpen) => self.change(index, ExplicitlyOpen),
            (ZoneAction::Close, ImplicitlyOpen | ExplicitlyOpen) => self.change(index, Closed),
            (ZoneAction::Open, ExplicitlyOpen) | (ZoneAction::Close, Closed) => {}
            (ZoneAction::Open, Full) | (ZoneAction::Close, Empty | Full) => {
                return Err(IoErrorKind::ZoneTransition);
            }
            (ZoneAction::Finish, _) => self.change(index, Full),
            (ZoneAction::Reset, _) => {
                self.change(index, Empty);
                self.all[index].write_pointer = self.all[index].start;
            }
        }
        Ok(())
    }

    /// Acts on all zones for which that is possible.
    fn all_zones(&mut self, action: ZoneAction) {
        for index in 0..self.all.len() {
            let _ = self.act(index, self.all[index].state, action);
        }
    }

    /// Sets the state of a zone, and counts the resources.
    fn change(&mut self, index: usize, state: ZoneState) {
        let before = std::mem::replace(&mut self.all[index].state, state);
        let change = |count: u32, was: bool, is: bool| count - u32::from(was) + u32::from(is);
        self.open = change(self.open, before.is_open(), state.is_open());
        self.active = change(self.active, before.is_active(), state.is_active());
        if before == ZoneState::ImplicitlyOpen {
            self.implicit.retain(|&other| other != index);
        }
        if state == ZoneState::ImplicitlyOpen {
            self.implicit.push_back(index);
        }
    }

    /// Sets the state of the zone that holds byte `offset`, as a failing medium does: for [`ZoneState::ReadOnly`] and
    /// [`ZoneState::Offline`].
    pub fn fail(&mut self, offset: u64, state: ZoneState) {
        let index = self.index(offset);
        if index < self.all.len() {
            self.change(index, state);
        }
    }

    /// Closes the open zones, as a loss of power does. `pointer` returns the write pointer that a zone has after it: a zone
    /// that holds nothing is empty, one whose pointer is at its end is full. If more zones than may be active are neither,
    /// the last ones count as full. Read-only and offline zones stay so.
    pub fn restart(&mut self, mut pointer: impl FnMut(&Zone) -> u64) {
        let most = self.limits.map_or(0, |limits| limits.max_active);
        let lasting = |zone: &Zone| matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline);
        let among: Vec<usize> = (0..self.all.len())
            .filter(|&n| !lasting(&self.all[n]))
            .collect();
        for &index in &among {
            self.change(index, ZoneState::Empty);
        }
        for index in among {
            let zone = self.all[index];
            let at = pointer(&zone).clamp(zone.start, zone.end());
            self.all[index].write_pointer = at;
            if at == zone.end() || (at > zone.start && is_spent(self.active, most)) {
                self.change(index, ZoneState::Full);
            } else if at > zone.start {
                self.change(index, ZoneState::Closed);
            }
        }
    }
}
