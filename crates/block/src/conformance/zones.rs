//! The rules of zoned devices: every state with every request, the limits, and random requests.
//!
//! Each request is legal or illegal as the shadow of the zones says, and must end accordingly.

use super::Breach;
use super::driver::{Driver, Expect};
use crate::zoned::{Zone, ZoneAction, ZoneState};
use crate::{Device, Op, Request};
use fathom_base::{Dur, Rng};

type Check = Result<(), Breach>;

/// Fewest whole zones of the region that can be tested.
const ZONES_MIN: usize = 2;
/// Most zones that the random requests address.
const ZONES_MAX: usize = 24;

/// A request to a zone, drawn or from the list of all.
#[derive(Clone, Copy, Debug)]
enum Ask {
    /// Write so many blocks, so many blocks behind the write pointer.
    Write(u64, u64),
    /// Append so many blocks.
    Append(u64),
    /// Write or append one block more than there is room for.
    TooMuch(Op),
    Act(ZoneAction),
    /// Read so many blocks from so many blocks after the start of the zone.
    Read(u64, u64),
}

impl<D: Device> Driver<'_, D> {
    /// Returns the zones that lie in the region.
    fn whole_zones(&self) -> Vec<Zone> {
        let size = self.info.zoned.map_or(0, |zoned| zoned.zone_bytes);
        let region = &self.options.region;
        let inside = |zone: &Zone| region.start <= zone.start && zone.start + size <= region.end;
        let usable = |zone: &Zone| !matches!(zone.state, ZoneState::ReadOnly | ZoneState::Offline);
        let zones = self.zones.all().filter(|z| inside(z) && usable(z));
        zones.take(ZONES_MAX).collect()
    }

    /// Empties the zones of the region and returns them; none if there are too few of them.
    fn fresh_zones(&mut self, rule: &'static str) -> Result<Vec<Zone>, Breach> {
        self.check_zones()?;
        let zones = self.whole_zones();
        let writable = !self.info.read_only && !self.options.may_fail;
        if zones.len() < ZONES_MIN || !writable {
            let why = "the region holds fewer than two zones that can be written";
            self.skip(rule, why);
            return Ok(Vec::new());
        }
        for zone in &zones {
            self.ask_and_wait(*zone, Ask::Act(ZoneAction::Reset))?;
        }
        Ok(zones)
    }

    /// Returns the zone as it must be now.
    fn now_of(&self, zone: Zone) -> Zone {
        let mut all = self.zones.all();
        all.find(|other| other.start == zone.start).unwrap_or(zone)
    }

    /// Makes the request for `ask` to a zone.
    fn request_for(&mut self, zone: Zone, ask: Ask) -> Request {
        let zone = self.now_of(zone);
        let block = self.block_bytes();
        let (start, at) = (zone.start, zone.write_pointer);
        let left = zone.end().saturating_sub(at) / block;
        let size = self.info.zoned.map_or(0, |zoned| zoned.zone_bytes);
        match ask {
            Ask::Write(behind, blocks) => self.raw(Op::Write, at + behind * block, blocks * block),
            Ask::Append(blocks) => self.written(Op::Append, start, blocks * block, at),
            Ask::TooMuch(Op::Append) => self.written(Op::Append, start, (left + 1) * block, at),
            Ask::TooMuch(op) => self.raw(op, at, (left + 1) * block),
            Ask::Act(action) => self.raw(Op::Zone(action), start, size),
            Ask::Read(behind, blocks) => self.raw(Op::Read, start + behind * block, blocks * block),
        }
    }

    /// Offers a request to a zone, with the result that it must have. A request that the device could refuse for another
    /// reason is left out.
    fn ask(&mut self, zone: Zone, ask: Ask) -> Check {
        let request = self.request_for(zone, ask);
        if self.info.check(&request).is_err() {
            return Ok(());
        }
        while !self.has_room(1) {
            self.wait_some()?;
        }
        let refusal = self.zones.refusal(&request);
        self.offer(request, refusal.map_or(Expect::Success, Expect::Error))?;
        if self.info.modelled {
            self.check_zones()?;
        }
        Ok(())
    }

    fn ask_and_wait(&mut self, zone: Zone, ask: Ask) -> Check {
        self.ask(zone, ask)?;
        self.drain()?;
        self.check_zones()
    }

    /// Compares the zones that the device reports with those that it must have.
    fn check_zones(&mut self) -> Check {
        let told = self.device.zones(0, usize::MAX);
        match self.zones.differs(&told) {
            Some((expected, got)) => Err(Breach::WrongZone { expected, got }),
            None => Ok(()),
        }
    }

    /// Brings an empty zone into a state.
    fn bring(&mut self, zone: Zone, state: ZoneState) -> Check {
        let asks: &[Ask] = match state {
            ZoneState::ImplicitlyOpen => &[Ask::Write(0, 1)],
            ZoneState::ExplicitlyOpen => &[Ask::Act(ZoneAction::Open), Ask::Append(1)],
            ZoneState::Closed => &[Ask::Append(1), Ask::Act(ZoneAction::Close)],
            ZoneState::Full => &[Ask::Write(0, 1), Ask::Act(ZoneAction::Finish)],
            _ => &[],
        };
        asks.iter()
            .try_for_each(|&ask| self.ask_and_wait(zone, ask))
    }
}

/// Every request in every state: its result, the state after it, and the content of the zone and of its neighbour.
pub(super) fn states<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let zones = driver.fresh_zones("zones")?;
    let [zone, other, ..] = zones[..] else {
        return Ok(());
    };
    // The neighbour is full, so that it is no active zone.
    driver.bring(other, ZoneState::Full)?;
    let mut asks: Vec<Ask> = ZoneAction::ALL.map(Ask::Act).to_vec();
    asks.extend([
        Ask::Write(0, 1),
        Ask::Write(1, 1),
        Ask::Append(1),
        Ask::TooMuch(Op::Write),
        Ask::TooMuch(Op::Append),
        Ask::Read(0, 2),
    ]);
    for state in [
        ZoneState::Empty,
        ZoneState::ImplicitlyOpen,
        ZoneState::ExplicitlyOpen,
        ZoneState::Closed,
        ZoneState::Full,
    ] {
        for &ask in &asks {
            driver.bring(zone, state)?;
            driver.ask_and_wait(zone, ask)?;
            driver.verify()?;
            driver.ask_and_wait(zone, Ask::Act(ZoneAction::Reset))?;
        }
    }
    fill(driver, zone)?;
    driver.verify()?;
    // The zone before the write pointer is written again only after a reset.
    for ask in [
        Ask::Append(1),
        Ask::Write(0, 1),
        Ask::Act(ZoneAction::Reset),
        Ask::Append(1),
    ] {
        driver.ask_and_wait(zone, ask)?;
    }
    driver.verify()
}

/// Fills a zone to its end in steps that grow, so that the last one may be short.
fn fill<D: Device>(driver: &mut Driver<'_, D>, zone: Zone) -> Check {
    let block = driver.block_bytes();
    let longest = longest(driver);
    for n in 0..=zone.capacity_bytes / block {
        let now = driver.now_of(zone);
        if now.state == ZoneState::Full {
            break;
        }
        let left = now.end().saturating_sub(now.write_pointer) / block;
        let blocks = (n + 1).min(longest).min(left);
        let ask = match n % 2 {
            0 => Ask::Write(0, blocks),
            _ => Ask::Append(blocks),
        };
        driver.ask(zone, ask)?;
    }
    driver.drain()
}

/// Returns the longest write and append, in blocks.
fn longest<D: Device>(driver: &Driver<'_, D>) -> u64 {
    let append = driver.info.zoned.map_or(0, |zoned| zoned.max_append_bytes);
    let bytes = driver.info.max_request_bytes.min(append);
    (bytes / driver.block_bytes()).max(1)
}

/// No more zones are open or active than the device says.
pub(super) fn limits<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let zones = driver.fresh_zones("zone limits")?;
    // Explicitly open zones stay open: one too many fails.
    for &zone in &zones {
        driver.ask_and_wait(zone, Ask::Act(ZoneAction::Open))?;
    }
    for &zone in &zones {
        driver.ask_and_wait(zone, Ask::Append(1))?;
    }
    // Closed ones stay active.
    for &zone in &zones {
        driver.ask_and_wait(zone, Ask::Act(ZoneAction::Close))?;
        let last = zones[zones.len() - 1];
        driver.ask_and_wait(last, Ask::Write(0, 1))?;
    }
    for &zone in &zones {
        driver.ask_and_wait(zone, Ask::Act(ZoneAction::Reset))?;
    }
    // Implicitly open ones make room for each other, the oldest first.
    for round in 0..2 {
        for &zone in &zones {
            driver.ask_and_wait(zone, Ask::Write(0, 1 + round))?;
        }
    }
    for &zone in &zones {
        driver.ask_and_wait(zone, Ask::Act(ZoneAction::Finish))?;
    }
    driver.verify()
}

/// Random requests to several zones, several in flight.
pub(super) fn random<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let zones = driver.fresh_zones("random zones")?;
    if zones.is_empty() {
        return Ok(());
    }
    let mut rng = Rng::new(driver.options.seed, 1);
    let depth = u64::from(driver.info.queue_depth.clamp(1, 16));
    let mut deepest = depth;
    for n in 0..driver.options.operations {
        if n % 64 == 0 {
            deepest = 1 + rng.below(depth);
        }
        let zone = zones[rng.below(zones.len() as u64) as usize];
        let ask = draw(driver, &mut rng, zone);
        while driver.in_flight() as u64 >= deepest || !may_overlap(driver, zone) {
            driver.wait_some()?;
        }
        match rng.below(40) {
            0 => {
                let flush = driver.raw(Op::Flush, 0, 0);
                driver.offer(flush, Expect::Success)?;
            }
            1 if rng.chance(0.2) => reset_all(driver)?,
            _ => driver.ask(zone, ask)?,
        }
        if rng.chance(0.1) {
            let until = driver.after(Dur(rng.below(200_000)))?;
            driver.wait(until)?;
        }
    }
    driver.drain()?;
    driver.check_zones()?;
    driver.verify()
}

/// A real drive does not order requests in flight.
fn may_overlap<D: Device>(driver: &Driver<'_, D>, zone: Zone) -> bool {
    let size = driver.info.zoned.map_or(0, |zoned| zoned.zone_bytes);
    let range = zone.start..zone.start + size;
    let mut sent = driver.in_flight.values();
    driver.info.modelled || !sent.any(|sent| range.contains(&sent.offset))
}

/// Resets the whole device, if all of it may be written.
fn reset_all<D: Device>(driver: &mut Driver<'_, D>) -> Check {
    let all = 0..driver.info.capacity_bytes;
    if !driver.info.modelled || driver.options.region != all {
        return Ok(());
    }
    let reset = driver.raw(Op::Zone(ZoneAction::Reset), 0, all.end);
    driver.insist(reset)
}

fn draw<D: Device>(driver: &Driver<'_, D>, rng: &mut Rng, zone: Zone) -> Ask {
    let block = driver.block_bytes();
    let now = driver.now_of(zone);
    let left = now.end().saturating_sub(now.write_pointer) / block;
    let most = longest(driver);
    let size = driver.info.zoned.map_or(0, |zoned| zoned.zone_bytes) / block;
    let long = if rng.chance(0.1) { 64 } else { 6 };
    let blocks = 1 + rng.below(most.min(long));
    match rng.below(100) {
        0..30 => Ask::Write(0, blocks.min(left.max(1))),
        30..55 => Ask::Append(blocks.min(left.max(1))),
        55..60 => Ask::Write(1 + rng.below(3), blocks),
        60..63 => Ask::TooMuch(if rng.chance(0.5) {
            Op::Write
        } else {
            Op::Append
        }),
        63..68 => Ask::Act(ZoneAction::Open),
        68..72 => Ask::Act(ZoneAction::Close),
        72..74 => Ask::Act(ZoneAction::Finish),
        74..80 => Ask::Act(ZoneAction::Reset),
        _ => {
            let from = rng.below(size);
            Ask::Read(from, blocks.min(size - from))
        }
    }
}
