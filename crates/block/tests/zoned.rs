//! Zoned devices pass the conformance suite, and it finds each way to break the rules of zones.

use crate::common::{Numbered, RealLike};
use fathom_base::{Dur, Time};
use fathom_block::conformance::{Breach, Options, Report, Violation, check};
use fathom_block::devices::modelled_info;
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, Faulty, IoErrorKind, Narrow, Noisy, Op, RamDevice,
    Request, RequestId, Zone, ZoneAction, ZoneState, Zoned, ZonedRam,
};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

const KIB: u64 = 1024;

/// Eight zones of 64 KiB that hold 56 KiB each; at most three are open and five active.
fn zones() -> Zoned {
    Zoned {
        zone_bytes: 64 * KIB,
        zone_capacity_bytes: 56 * KIB,
        max_open: 3,
        max_active: 5,
        max_append_bytes: 16 * KIB,
        reads_cross: false,
    }
}

fn info(zoned: Zoned) -> DeviceInfo {
    DeviceInfo {
        queue_depth: 8,
        zoned: Some(zoned),
        trim: false,
        ..modelled_info("zoned ram", 8 * zoned.zone_bytes)
    }
}

fn device(zoned: Zoned) -> ZonedRam {
    ZonedRam::zoned(info(zoned), Dur(100))
}

fn options() -> Options {
    Options {
        region: 0..8 * 64 * KIB,
        ..Options::default()
    }
}

fn conforms<D: Device>(mut make: impl FnMut() -> D, options: &Options) -> Report {
    let report = check(&mut make, options).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(report.bytes_compared > 100_000, "{report:?}");
    report
}

#[test]
fn zoned_ram_conforms_with_every_kind_of_limit() {
    for (max_open, max_active) in [(3, 5), (0, 0), (1, 1), (8, 8), (2, 0), (0, 4), (1, 2)] {
        for (zone_capacity_bytes, reads_cross) in [(56 * KIB, false), (64 * KIB, true)] {
            let zoned = Zoned {
                max_open,
                max_active,
                zone_capacity_bytes,
                reads_cross,
                ..zones()
            };
            for seed in 1..4 {
                let options = Options { seed, ..options() };
                let report = conforms(|| device(zoned), &options);
                assert!(report.skipped.keys().eq(&["order: writes"]), "{report:?}");
            }
        }
    }
}

#[test]
fn every_layer_passes_zones_through() {
    let make = || device(zones());
    conforms(|| RealLike::new(make()), &options());
    conforms(|| Faulty::new(make(), Vec::new(), 4), &options());
    conforms(|| Noisy::new(make(), Numbered::default()), &options());
    let depth = NonZeroU32::new(3).unwrap();
    let boxed = || -> Box<dyn Device> { Box::new(Narrow::new(make(), depth)) };
    conforms(boxed, &options());
}

fn one(device: &mut impl Device, request: Request) -> Completion {
    device.submit(request).unwrap();
    let mut done = Vec::new();
    device.wait(Time::MAX, &mut done);
    done.pop().unwrap()
}

fn ask(device: &mut impl Device, op: Op, offset: u64, len: u64) -> Result<u64, IoErrorKind> {
    let done = one(device, Request::new(1, op, offset, len));
    done.result
        .map(|()| done.placed)
        .map_err(|error| error.kind)
}

/// Zones that fail (NVMe ZNS 1.1, figures 6 and 7): read-only ones keep their data, offline ones do not.
#[test]
fn failed_zones_refuse_what_the_specification_says() {
    let zone = zones().zone_bytes;
    let mut device = device(zones());
    for start in [0, zone] {
        assert_eq!(ask(&mut device, Op::Append, start, 4 * KIB), Ok(start));
    }
    device.fail_zone(0, ZoneState::ReadOnly);
    device.fail_zone(zone, ZoneState::Offline);
    for (start, write, read) in [
        (0, IoErrorKind::ZoneReadOnly, Ok(0)),
        (
            zone,
            IoErrorKind::ZoneOffline,
            Err(IoErrorKind::ZoneOffline),
        ),
    ] {
        for op in [Op::Write, Op::Append] {
            assert_eq!(ask(&mut device, op, start, 4 * KIB), Err(write));
        }
        for action in ZoneAction::ALL {
            let refused = ask(&mut device, Op::Zone(action), start, zone);
            assert_eq!(refused, Err(IoErrorKind::ZoneTransition));
        }
        assert_eq!(ask(&mut device, Op::Read, start, 4 * KIB), read);
    }
    assert_eq!(
        ask(&mut device, Op::Zone(ZoneAction::Reset), 0, 8 * zone),
        Ok(0)
    );
    let states: Vec<ZoneState> = device.zones(0, 3).iter().map(|zone| zone.state).collect();
    let expected = [ZoneState::ReadOnly, ZoneState::Offline, ZoneState::Empty];
    assert_eq!(states, expected);
}

#[test]
fn a_report_begins_with_the_zone_of_its_first_byte() {
    let mut device = device(zones());
    let told = device.zones(130 * KIB, 2);
    let starts: Vec<(u64, u64)> = told.iter().map(|z| (z.start, z.end())).collect();
    assert_eq!(starts, [(128 * KIB, 184 * KIB), (192 * KIB, 248 * KIB)]);
    assert_eq!(device.zones(0, usize::MAX).len(), 8);
    let mut ordinary = RamDevice::new(modelled_info("ram", 1 << 20), Dur(1));
    assert!(ordinary.zones(0, 8).is_empty());
}

/// A way to break the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Nothing,
    /// Requests that must fail with this error succeed.
    Forgives(IoErrorKind),
    /// They fail with another error.
    Mistakes(IoErrorKind),
    /// This action does nothing.
    Ignores(ZoneAction),
    ReportsNothing,
    ReportsAnotherPointer,
    ReportsAnother(ZoneState),
    ResetsTheNextZone,
    ReadsOldDataOfEmptyZones,
    TellsTheZoneOfAnAppend,
    TellsAPlaceOfWrites,
    AppendsABlockTooFew,
    /// An honest device of other rules breaks those that it tells.
    Is(Zoned),
}
use Flaw::*;

/// A zoned device with a fault.
struct Broken {
    inner: ZonedRam,
    info: DeviceInfo,
    flaw: Flaw,
    /// The requests in flight as they were submitted.
    asked: BTreeMap<RequestId, Request>,
}

impl Broken {
    fn new(flaw: Flaw) -> Self {
        let truth = match flaw {
            Is(truth) => truth,
            _ => zones(),
        };
        Self {
            inner: device(truth),
            info: info(zones()),
            flaw,
            asked: BTreeMap::new(),
        }
    }

    /// Returns true if an action on a zone that is not full succeeds.
    fn succeeds(&mut self, request: &Request) -> bool {
        let zone = self.inner.zones(request.offset, 1);
        let is_active = zone.first().is_some_and(|zone| zone.state.is_active());
        self.info.check(request).is_ok() && (is_active || request.op == Op::Zone(ZoneAction::Reset))
    }

    fn spoil_request(&mut self, request: &mut Request) {
        let (zone, block) = (zones().zone_bytes, 512);
        match (self.flaw, request.op) {
            (Ignores(action), op) if op == Op::Zone(action) && self.succeeds(request) => {
                (request.op, request.data) = (Op::Flush, None);
            }
            (ResetsTheNextZone, Op::Zone(ZoneAction::Reset)) if request.offset < 7 * zone => {
                let next = Request::new(u64::MAX, request.op, request.offset + zone, zone);
                self.inner.submit(next).expect("there is room");
            }
            (AppendsABlockTooFew, Op::Append)
                if request.len > block && self.info.check(request).is_ok() =>
            {
                request.len -= block;
                let data = request.data.take();
                request.data = data.map(|data| data[..request.len as usize].into());
            }
            _ => {}
        }
    }

    fn spoil_completion(&mut self, asked: &Request, completion: &mut Completion) {
        completion.op = asked.op;
        let kind = completion.result.map_err(|error| error.kind).err();
        match self.flaw {
            Forgives(forgiven) if kind == Some(forgiven) => completion.result = Ok(()),
            Mistakes(mistaken) if kind == Some(mistaken) => {
                completion.result = Err(asked.error(IoErrorKind::Medium));
            }
            TellsTheZoneOfAnAppend if asked.op == Op::Append => completion.placed = asked.offset,
            TellsAPlaceOfWrites if asked.op == Op::Write => completion.placed = asked.offset,
            ReadsOldDataOfEmptyZones if asked.op == Op::Read => {
                let zone = self.inner.zones(asked.offset, 1);
                let is_empty = zone.first().is_some_and(|z| z.state == ZoneState::Empty);
                if let Some(data) = completion.data.as_mut().filter(|_| is_empty) {
                    data.fill(7);
                }
            }
            _ => {}
        }
    }
}

impl Device for Broken {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.asked.len() >= self.info.queue_depth as usize {
            return Err(Busy(request));
        }
        let mut passed = request.clone();
        self.spoil_request(&mut passed);
        self.asked.insert(request.id, request);
        self.inner.submit(passed)
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let mut came = Vec::new();
        self.inner.wait(until, &mut came);
        for mut completion in came {
            if let Some(asked) = self.asked.remove(&completion.id) {
                self.spoil_completion(&asked, &mut completion);
                done.push(completion);
            }
        }
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        let mut told = self.inner.zones(from, count);
        match self.flaw {
            ReportsNothing => told.clear(),
            ReportsAnotherPointer => told[3].write_pointer += 512,
            ReportsAnother(state) => {
                for zone in told.iter_mut().filter(|zone| zone.state == state) {
                    zone.state = match state {
                        ZoneState::Full => ZoneState::Closed,
                        _ => ZoneState::Full,
                    };
                }
            }
            _ => {}
        }
        told
    }
}

fn run(flaw: Flaw) -> Result<(), Violation> {
    check(&mut || Broken::new(flaw), &options()).map(|_| ())
}

#[test]
fn without_a_flaw_nothing_is_found() {
    run(Nothing).unwrap();
}

#[test]
fn errors_that_must_be_are_missed_and_their_kinds_compared() {
    use IoErrorKind::*;
    for kind in [
        NotAZone,
        ZoneInvalidWrite,
        ZoneBoundary,
        ZoneFull,
        TooManyOpen,
        TooManyActive,
        ZoneTransition,
        Unsupported,
    ] {
        for flaw in [Forgives(kind), Mistakes(kind)] {
            let found = run(flaw).expect_err("the flaw was not found").breach;
            assert!(
                matches!(found, Breach::WrongResult { .. }),
                "{flaw:?}: {found}"
            );
        }
    }
}

/// Checks that the suite reports a flaw as the expected breach.
macro_rules! found {
    ($($name:ident: $flaw:expr => $breach:pat,)*) => {$(
        #[test]
        fn $name() {
            let violation = run($flaw).expect_err("the flaw was not found");
            assert!(matches!(violation.breach, $breach), "found as: {violation}");
        }
    )*};
}

found! {
    zones_that_are_not_reported: ReportsNothing => Breach::WrongZone { .. } | Breach::WrongResult { .. },
    a_wrong_write_pointer: ReportsAnotherPointer => Breach::WrongZone { .. },
    full_zones_reported_as_closed: ReportsAnother(ZoneState::Full) => Breach::WrongZone { .. },
    closed_zones_reported_as_full: ReportsAnother(ZoneState::Closed) => Breach::WrongZone { .. },
    explicitly_open_zones_reported_as_full: ReportsAnother(ZoneState::ExplicitlyOpen) => Breach::WrongZone { .. },
    a_reset_that_is_none: Ignores(ZoneAction::Reset) => Breach::WrongZone { .. },
    an_open_that_is_none: Ignores(ZoneAction::Open) => Breach::WrongZone { .. },
    a_close_that_is_none: Ignores(ZoneAction::Close) => Breach::WrongZone { .. },
    a_finish_that_is_none: Ignores(ZoneAction::Finish) => Breach::WrongZone { .. },
    a_reset_of_the_next_zone_too: ResetsTheNextZone => Breach::WrongZone { .. },
    old_data_of_an_empty_zone: ReadsOldDataOfEmptyZones => Breach::WrongData { .. },
    an_append_that_tells_its_zone: TellsTheZoneOfAnAppend => Breach::WrongPlace { .. },
    a_write_that_tells_a_place: TellsAPlaceOfWrites => Breach::WrongPlace { .. },
    an_append_cut_short: AppendsABlockTooFew => Breach::WrongZone { .. },
    more_capacity_than_told: Is(Zoned { zone_capacity_bytes: 64 * KIB, ..zones() })
        => Breach::WrongZone { .. },
    more_open_zones_than_told: Is(Zoned { max_open: 0, ..zones() })
        => Breach::WrongZone { .. } | Breach::WrongResult { .. },
    fewer_open_zones_than_told: Is(Zoned { max_open: 2, ..zones() })
        => Breach::WrongZone { .. } | Breach::WrongResult { .. },
    more_active_zones_than_told: Is(Zoned { max_active: 6, ..zones() })
        => Breach::WrongResult { expected: Err(Some(IoErrorKind::TooManyActive)), got: Ok(()), .. } | Breach::WrongZone { .. },
    longer_appends_than_told: Is(Zoned { max_append_bytes: 32 * KIB, ..zones() })
        => Breach::WrongResult { expected: Err(Some(IoErrorKind::Misaligned)), got: Ok(()), .. },
    reads_across_that_are_not_told: Is(Zoned { reads_cross: true, ..zones() })
        => Breach::WrongResult { expected: Err(Some(IoErrorKind::ZoneBoundary)), got: Ok(()), .. },
}
