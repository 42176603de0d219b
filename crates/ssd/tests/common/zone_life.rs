//! The life of a zoned drive with power cuts, beside a shadow of every unit of every zone.
//!
//! After a cut each zone must be empty, closed or full; its write pointer must be behind everything durable and not behind
//! anything else that was written; durable units hold what was written to them, and all others that or zeros.

use super::suite::shadow::bytes_of;
use fathom_base::{Rng, SECTOR_BYTES, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request, Zone, ZoneAction, ZoneState};
use fathom_ssd::{Spec, Ssd};

type Outcome = Result<(), String>;

/// What a unit holds: the version of its write, 0 for zeros.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    version: u32,
    acknowledged: bool,
    durable: bool,
}

/// The units of a zone that were written since its last reset.
#[derive(Clone, Debug, Default)]
struct Shadow {
    units: Vec<Unit>,
    finished: bool,
    /// The action in flight.
    acting: Option<ZoneAction>,
}

/// A request in flight: for a write its zone and units, for a flush the units that it makes durable.
struct Sent {
    id: u64,
    op: Op,
    zone: usize,
    units: std::ops::Range<usize>,
    covers: Vec<(usize, usize)>,
}

pub(crate) struct Life {
    pub(crate) drive: Ssd,
    shadows: Vec<Shadow>,
    sent: Vec<Sent>,
    unit_bytes: u64,
    zone_bytes: u64,
    durable_at_once: bool,
    next_id: u64,
    pub(crate) cuts: u64,
    /// Zones found closed, and full, after a cut.
    pub(crate) found: (u64, u64),
}

impl Life {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        let drive = Ssd::new(spec, seed).unwrap().keep_data();
        let zoned = drive.info().zoned.unwrap();
        let zones = drive.info().capacity_bytes / zoned.zone_bytes;
        Self {
            drive,
            shadows: vec![Shadow::default(); zones as usize],
            sent: Vec::new(),
            unit_bytes: spec.unit(),
            zone_bytes: zoned.zone_bytes,
            durable_at_once: spec.write_buffer.as_ref().is_none_or(|b| b.battery),
            next_id: 0,
            cuts: 0,
            found: (0, 0),
        }
    }

    /// Sends `steps` random requests, and goes on after every power cut.
    pub(crate) fn live(&mut self, steps: usize, depth: usize, rng: &mut Rng) -> Outcome {
        for _ in 0..steps {
            while self.sent.len() >= depth && self.drive.is_powered() {
                self.collect()?;
            }
            self.restart_if_cut()?;
            let zone = rng.below(self.shadows.len() as u64) as usize;
            match rng.below(100) {
                0..70 => self.write(zone, 1 + rng.below(5), rng.chance(0.5))?,
                70..80 => self.flush()?,
                80..88 => self.act(zone, ZoneAction::Reset)?,
                88..91 => self.act(zone, ZoneAction::Finish)?,
                91..94 => self.act(zone, ZoneAction::Close)?,
                94..97 => self.act(zone, ZoneAction::Open)?,
                _ => self.drain()?,
            }
        }
        self.drain()?;
        self.restart_if_cut()?;
        self.drive.cut_power_after(u64::MAX);
        self.compare_all()
    }

    fn zone(&mut self, zone: usize) -> Zone {
        self.drive.zones(zone as u64 * self.zone_bytes, 1)[0]
    }

    fn send(&mut self, request: Request, sent: Sent) -> Outcome {
        self.drive.submit(request).map_err(|_| "busy".to_owned())?;
        self.sent.push(sent);
        Ok(())
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn write(&mut self, zone: usize, units: u64, append: bool) -> Outcome {
        let told = self.zone(zone);
        let left = told.end().saturating_sub(told.write_pointer) / self.unit_bytes;
        let most = self.drive.info().max_request_bytes / self.unit_bytes;
        let units = units.min(left).min(most);
        let full = matches!(told.state, ZoneState::Full | ZoneState::ReadOnly);
        if full || !self.may_be_open(&told) || units == 0 {
            return Ok(());
        }
        let id = self.id();
        let (op, offset) = match append {
            true => (Op::Append, told.start),
            false => (Op::Write, told.write_pointer),
        };
        let len = units * self.unit_bytes;
        let mut request = Request::new(id, op, offset, len);
        let first = told.write_pointer / SECTOR_BYTES;
        request.data = Some(bytes_of(first, len / SECTOR_BYTES, id as u32));
        let shadow = &mut self.shadows[zone];
        let from = shadow.units.len();
        if told.start + from as u64 * self.unit_bytes != told.write_pointer {
            return Err(format!(
                "zone {zone} points to {told:?}, {from} units were written"
            ));
        }
        let unit = Unit {
            version: id as u32,
            ..Unit::default()
        };
        shadow.units.resize(from + units as usize, unit);
        let units = from..from + units as usize;
        self.send(
            request,
            Sent {
                id,
                op,
                zone,
                units,
                covers: Vec::new(),
            },
        )
    }

    fn count(&mut self, is: fn(ZoneState) -> bool) -> u32 {
        let zones = self.drive.zones(0, usize::MAX);
        zones.iter().filter(|zone| is(zone.state)).count() as u32
    }

    /// Returns true if the limits allow a zone to be open: an implicitly open one makes room for it.
    fn may_be_open(&mut self, zone: &Zone) -> bool {
        let limits = self.drive.info().zoned.unwrap();
        let is_below = |used: u32, limit: u32| limit == 0 || used < limit;
        let explicit = self.count(|state| state == ZoneState::ExplicitlyOpen);
        zone.state.is_open()
            || is_below(explicit, limits.max_open)
                && (zone.state.is_active()
                    || is_below(self.count(ZoneState::is_active), limits.max_active))
    }

    fn flush(&mut self) -> Outcome {
        let id = self.id();
        let mut covers = Vec::new();
        for (zone, shadow) in self.shadows.iter().enumerate() {
            let units = shadow.units.iter().enumerate();
            covers.extend(
                units
                    .filter(|(_, u)| u.acknowledged)
                    .map(|(n, _)| (zone, n)),
            );
        }
        let sent = Sent {
            id,
            op: Op::Flush,
            zone: 0,
            units: 0..0,
            covers,
        };
        self.send(Request::new(id, Op::Flush, 0, 0), sent)
    }

    /// Acts on a zone, and waits until nothing is in flight.
    fn act(&mut self, zone: usize, action: ZoneAction) -> Outcome {
        let told = self.zone(zone);
        let refused = match action {
            ZoneAction::Close => !told.state.is_open(),
            ZoneAction::Open => told.state == ZoneState::Full || !self.may_be_open(&told),
            _ => false,
        };
        if refused || told.state == ZoneState::ReadOnly {
            return Ok(());
        }
        let (id, op) = (self.id(), Op::Zone(action));
        self.shadows[zone].acting = Some(action);
        let sent = Sent {
            id,
            op,
            zone,
            units: 0..0,
            covers: Vec::new(),
        };
        self.send(Request::new(id, op, told.start, self.zone_bytes), sent)?;
        self.drain()
    }

    fn collect(&mut self) -> Outcome {
        let mut done = Vec::new();
        self.drive.wait(Time::MAX, &mut done);
        if done.is_empty() && self.drive.is_powered() {
            return Err(format!("{} requests never complete", self.sent.len()));
        }
        done.iter()
            .try_for_each(|completion| self.complete(completion))
    }

    fn drain(&mut self) -> Outcome {
        while !self.sent.is_empty() && self.drive.is_powered() {
            self.collect()?;
        }
        Ok(())
    }

    fn complete(&mut self, completion: &Completion) -> Outcome {
        let at = self.sent.iter().position(|sent| sent.id == completion.id.0);
        let sent = self
            .sent
            .swap_remove(at.ok_or("a request completes twice")?);
        match completion.result {
            Err(error) if error.kind == IoErrorKind::Gone && !self.drive.is_powered() => {
                return Ok(());
            }
            result => result.map_err(|error| error.to_string())?,
        }
        let durable = self.durable_at_once;
        match sent.op {
            Op::Flush => {
                for (zone, unit) in sent.covers {
                    // A zone that was reset since has other units.
                    if let Some(unit) = self.shadows[zone].units.get_mut(unit) {
                        unit.durable |= unit.acknowledged;
                    }
                }
            }
            Op::Zone(action) => {
                let shadow = &mut self.shadows[sent.zone];
                shadow.acting = None;
                match action {
                    ZoneAction::Reset => *shadow = Shadow::default(),
                    ZoneAction::Finish => shadow.finished = true,
                    _ => {}
                }
            }
            _ => {
                if sent.op == Op::Append {
                    let start = sent.zone as u64 * self.zone_bytes;
                    let expected = start + sent.units.start as u64 * self.unit_bytes;
                    if completion.placed != expected {
                        return Err(format!("placed at {}, not {expected}", completion.placed));
                    }
                }
                // A write may be done after the reset that followed it.
                let units = self.shadows[sent.zone].units.get_mut(sent.units);
                for unit in units.into_iter().flatten() {
                    (unit.acknowledged, unit.durable) = (true, durable);
                }
            }
        }
        Ok(())
    }

    fn restart_if_cut(&mut self) -> Outcome {
        if self.drive.is_powered() {
            return Ok(());
        }
        self.cuts += 1;
        self.collect()?;
        if !self.sent.is_empty() {
            return Err("requests are in flight after a power cut".into());
        }
        self.drive.cut_power_after(u64::MAX);
        self.drive.power_on();
        self.drive.check()?;
        let limits = self.drive.info().zoned.unwrap();
        if limits.max_active > 0 && self.count(ZoneState::is_active) > limits.max_active {
            return Err("more zones are active than allowed".into());
        }
        (0..self.shadows.len()).try_for_each(|zone| self.look(zone))
    }

    /// Checks a zone after a cut, and takes over what it holds.
    fn look(&mut self, zone: usize) -> Outcome {
        let told = self.zone(zone);
        let shadow = std::mem::take(&mut self.shadows[zone]);
        let wrong = |what: &str| Err(format!("zone {zone} {what}: {told:?}, {shadow:?}"));
        let maybe_reset = shadow.acting == Some(ZoneAction::Reset);
        let pointer = ((told.write_pointer - told.start) / self.unit_bytes) as usize;
        let last = shadow.units.iter().rposition(|unit| unit.durable);
        let shown = match told.state {
            ZoneState::Empty => 0,
            ZoneState::Closed => pointer,
            ZoneState::Full => shadow.units.len(),
            _ => return wrong("is neither empty, closed nor full"),
        };
        self.found.0 += u64::from(told.state == ZoneState::Closed);
        self.found.1 += u64::from(told.state == ZoneState::Full);
        let is_empty = told.state == ZoneState::Empty;
        if shown > shadow.units.len() {
            return wrong("ends behind everything written");
        }
        if !maybe_reset && last.is_some_and(|last| shown <= last) {
            return wrong("ends before what is durable");
        }
        if !maybe_reset && shadow.finished && told.state != ZoneState::Full {
            return wrong("was finished");
        }
        if told.state == ZoneState::Closed && shown == 0 {
            return wrong("is closed and holds nothing");
        }
        let all = (told.capacity_bytes / self.unit_bytes) as usize;
        let mut found = Shadow {
            finished: told.state == ZoneState::Full,
            ..Shadow::default()
        };
        for index in 0..all {
            let written = shadow.units.get(index).copied().unwrap_or_default();
            let may_be_lost = !written.durable || (maybe_reset && is_empty);
            let version = match self.read(told.start, index, written.version)? {
                true => written.version,
                false if may_be_lost && self.read(told.start, index, 0)? => 0,
                false => return wrong(&format!("has lost unit {index}")),
            };
            if index >= shown && version != 0 {
                return wrong(&format!("shows unit {index}, behind its end"));
            }
            if index < shown {
                found.units.push(Unit {
                    version,
                    acknowledged: true,
                    durable: true,
                });
            }
        }
        self.shadows[zone] = found;
        Ok(())
    }

    /// Reads a unit. Returns true if it holds this version.
    fn read(&mut self, start: u64, index: usize, version: u32) -> Result<bool, String> {
        let (id, at) = (self.id(), start + index as u64 * self.unit_bytes);
        let mut done = Vec::new();
        let request = Request::new(id, Op::Read, at, self.unit_bytes);
        self.drive.submit(request).map_err(|_| "busy".to_owned())?;
        while !done.iter().any(|c: &Completion| c.id.0 == id) {
            self.drive.wait(Time::MAX, &mut done);
        }
        let data = done
            .pop()
            .and_then(|c| c.data)
            .ok_or("a read without data")?;
        let (first, sectors) = (at / SECTOR_BYTES, self.unit_bytes / SECTOR_BYTES);
        Ok(match version {
            0 => data.iter().all(|&byte| byte == 0),
            version => *data == *bytes_of(first, sectors, version),
        })
    }

    /// Compares every unit with what was written last.
    fn compare_all(&mut self) -> Outcome {
        self.drive.check()?;
        for zone in 0..self.shadows.len() {
            let start = zone as u64 * self.zone_bytes;
            for index in 0..self.shadows[zone].units.len() {
                let version = self.shadows[zone].units[index].version;
                if !self.read(start, index, version)? {
                    return Err(format!(
                        "unit {index} of zone {zone} is not version {version}"
                    ));
                }
            }
        }
        Ok(())
    }
}
