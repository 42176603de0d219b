//! How a drive lays out and reads its data, planted in modelled drives: pages, stripes, dies and the reach of the map, where
//! a fast cache, a limit or a missing TRIM stood in the way.

use crate::cases;
use fathom_base::{Bytes, Dur, Rate, Time};
use fathom_block::layers::{Limit, Limited};
use fathom_block::{Busy, Completion, Device, DeviceInfo, Request};
use fathom_lab::accuracy::{Family, Outcome, Target, Truth, draw, score};
use fathom_model::{Model, find};
use fathom_probe::run::{run, solve};
use fathom_probe::{Estimate, Parameter, RunConfig, Unobserved, Value, Verdict};
use fathom_ssd::spec::{FastCache, Fold, MappingKind, ReadBuffer, WhenFull};
use fathom_ssd::{Spec, Ssd};

/// Returns a small drive of eight dies with pages of 64 KiB, and changes.
fn drive(change: impl FnOnce(&mut Spec)) -> Spec {
    let Model::Ssd(mut spec) = Model::from_toml(find("nvme").unwrap().text).unwrap() else {
        panic!("nvme is a drive of flash");
    };
    spec.flash.packages_per_channel = 1;
    spec.flash.dies_per_package = 1;
    spec.mapping.over_provisioning_percent = 20.0;
    spec.capacity = Bytes::mib(640);
    change(&mut spec);
    spec.check().unwrap();
    *spec
}

fn answer(device: &mut dyn Device, parameter: Parameter, seed: u64) -> Estimate {
    let config = RunConfig {
        seed,
        parameters: vec![parameter],
        ..RunConfig::default()
    };
    let record = run(device, &config, None, &mut Unobserved).unwrap();
    solve(&record).parameters.remove(&parameter).unwrap()
}

fn fast_cache(bytes: u64, when_full: WhenFull) -> FastCache {
    FastCache {
        bits_per_cell: 3,
        static_capacity: Bytes(bytes),
        dynamic_percent: 0.0,
        read: Dur::us(25),
        program: Dur::us(150),
        erase: Dur::us(3500),
        fold: Fold::Pressure,
        idle_delay: Dur::ms(1000),
        when_full,
    }
}

#[test]
fn a_fast_cache_hides_neither_pages_nor_stripes() {
    for seed in 0..cases(1, 10) {
        for when_full in [WhenFull::Bypass, WhenFull::Fold] {
            let spec = drive(|spec| spec.fast_cache = Some(fast_cache(96 << 20, when_full)));
            // What was folded lies on the dies in another order, so that the stripe may be left open.
            let both = [Parameter::ReadUnit, Parameter::StripeUnit];
            let asked = if when_full == WhenFull::Fold { 1 } else { 2 };
            for parameter in both.into_iter().take(asked) {
                let found = answer(&mut Ssd::new(&spec, seed).unwrap(), parameter, seed);
                let page = Some(Value::Bytes(64 << 10));
                assert_eq!(found.value, page, "{parameter} {when_full:?} {found:?}");
            }
        }
    }
}

#[test]
fn a_limit_hides_neither_pages_nor_dies() {
    let limit = Limit {
        operations_per_second: Some(1500),
        operations_burst: Some(6000),
        ..Limit::default()
    };
    let spec = drive(|spec| {
        // As far away as a volume of a cloud.
        spec.host.latency = Dur::us(300);
    });
    for (parameter, value) in [
        (Parameter::Parallelism, Value::Count(8)),
        (Parameter::ReadUnit, Value::Bytes(64 << 10)),
    ] {
        let mut volume = Limited::new(Ssd::new(&spec, 1).unwrap(), Some(&limit));
        let found = answer(&mut volume, parameter, 1);
        assert_eq!(found.value, Some(value), "{parameter} {found:?}");
    }
}

/// Streams of writes by other questions leave the data in no order; behind protected memory `clustered_page` makes them.
#[test]
fn what_was_written_at_random_is_laid_out_in_order_first() {
    for seed in 0..cases(1, 6) {
        let spec = drive(|spec| {
            spec.mapping.unit = Some(Bytes::kib(16));
            spec.write_buffer.as_mut().unwrap().battery = true;
        });
        let parameters = [
            Parameter::ClusteredPage,
            Parameter::ReadUnit,
            Parameter::StripeUnit,
        ];
        let config = RunConfig {
            seed,
            parameters: parameters.to_vec(),
            ..RunConfig::default()
        };
        let mut device = Ssd::new(&spec, seed).unwrap();
        let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
        let answers = solve(&record).parameters;
        for parameter in [Parameter::ReadUnit, Parameter::StripeUnit] {
            let found = &answers[&parameter];
            assert_eq!(found.value, Some(Value::Bytes(64 << 10)), "{found:?}");
        }
    }
}

/// A volume that saves nothing up: one request more has to wait, even after a pause.
#[test]
fn a_limit_without_a_burst_hides_no_pages() {
    let limit = Limit {
        operations_per_second: Some(1000),
        operations_burst: Some(1),
        ..Limit::default()
    };
    let spec = drive(|spec| {
        // Neighbouring pages lie on one die.
        spec.flash.channels = 1;
    });
    let mut volume = Limited::new(Ssd::new(&spec, 1).unwrap(), Some(&limit));
    let found = answer(&mut volume, Parameter::ReadUnit, 1);
    assert_eq!(found.value, Some(Value::Bytes(64 << 10)), "{found:?}");
}

/// The map's memory holds the entries of 128 KiB, and a read across its end fetches others. Pages are on two dies in turns.
#[test]
fn the_end_of_what_a_map_in_flash_keeps_is_no_page() {
    let spec = drive(|spec| {
        spec.flash.channels = 2;
        (spec.flash.planes_per_die, spec.flash.page) = (2, Bytes::kib(8));
        spec.flash.clustered_page = Bytes::kib(16);
        spec.flash.clustered_block = Bytes::kib(16 * u64::from(spec.flash.pages_per_block));
        spec.mapping.unit = Some(Bytes::kib(4));
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.map_cache = Some(Bytes(512));
        spec.capacity = Bytes::gib(1);
    });
    let found = answer(&mut Ssd::new(&spec, 1).unwrap(), Parameter::ReadUnit, 1);
    assert_ne!(found.value, Some(Value::Bytes(128 << 10)), "{found:?}");
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
}

/// While a slow link takes the first block, the die reads the next page: what is left of its time is less than half of it.
#[test]
fn a_slow_link_does_not_hide_the_end_of_a_page() {
    let Model::Ssd(mut card) = Model::from_toml(find("sd-card").unwrap().text).unwrap() else {
        panic!("a card is a drive of flash");
    };
    card.capacity = Bytes::mib(512);
    card.host.command_overhead = Dur::us(30);
    card.flash.read = Dur::us(60);
    // 4 KiB take 43 us.
    card.host.bandwidth = Rate::new(95_000_000).unwrap();
    card.noise.command_percent = 2.0;
    card.host.logical_block = Bytes::kib(4);
    card.check().unwrap();
    let found = answer(&mut Ssd::new(&card, 1).unwrap(), Parameter::ReadUnit, 1);
    assert_eq!(found.value, Some(Value::Bytes(32 << 10)), "{found:?}");
}

/// A drive without TRIM.
struct Plain {
    inner: Ssd,
    info: DeviceInfo,
}

impl Device for Plain {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.inner.submit(request)
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.inner.wait(until, done);
    }
}

#[test]
fn reads_of_one_page_stand_for_reads_of_nothing_without_trim() {
    let spec = drive(|_| {});
    for (parameter, value) in [
        (Parameter::Parallelism, Value::Count(8)),
        (Parameter::ReadUnit, Value::Bytes(64 << 10)),
    ] {
        let inner = Ssd::new(&spec, 1).unwrap();
        let mut info = inner.info().clone();
        info.trim = false;
        let found = answer(&mut Plain { inner, info }, parameter, 1);
        assert_eq!(found.value, Some(value), "{parameter} {found:?}");
    }
}

#[test]
fn a_fast_cache_does_not_hide_the_reach_of_the_map() {
    for when_full in [WhenFull::Bypass, WhenFull::Fold] {
        let spec = drive(|spec| {
            spec.fast_cache = Some(fast_cache(96 << 20, when_full));
            spec.mapping.kind = MappingKind::Dftl;
            spec.mapping.map_cache = Some(Bytes(64 << 10));
        });
        let truth = Truth::of(&spec, Parameter::MapReach);
        assert!(truth.is_identifiable());
        let found = answer(&mut Ssd::new(&spec, 1).unwrap(), Parameter::MapReach, 1);
        assert_eq!(
            score(&truth, &found),
            Outcome::Found,
            "{when_full:?} {found:?}"
        );
    }
}

#[test]
fn memory_of_the_host_that_holds_the_whole_map_leaves_no_reach() {
    let spec = drive(|spec| {
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.map_cache = Some(Bytes(64 << 10));
        spec.mapping.host_memory_buffer = Some(Bytes::mib(2));
    });
    let truth = Truth::of(&spec, Parameter::MapReach);
    assert!(!truth.is_identifiable(), "{truth}");
    let found = answer(&mut Ssd::new(&spec, 1).unwrap(), Parameter::MapReach, 1);
    assert_ne!(score(&truth, &found), Outcome::Wrong, "{found:?}");
}

/// The reads of a drive whose map lies in flash are two reads of it; a memory of data answers those that are made again.
#[test]
fn a_memory_of_data_before_a_map_in_flash_makes_no_dies() {
    let with = |map_kib: u64, data_mib: u64| {
        let spec = drive(|spec| {
            spec.capacity = Bytes::gib(1);
            spec.mapping.unit = Some(Bytes(4096));
            spec.mapping.kind = MappingKind::Dftl;
            spec.mapping.map_cache = Some(Bytes(map_kib << 10));
            spec.read_buffer = Some(ReadBuffer {
                capacity: Bytes::mib(data_mib),
                line: Bytes(4096),
                min_request: Bytes(512),
                prefetch: None,
            });
        });
        answer(&mut Ssd::new(&spec, 1).unwrap(), Parameter::Parallelism, 1)
    };
    // A pool of places that the memory of data has lost, and whose map is kept.
    let kept = with(128, 32);
    let not_wrong = kept.verdict == Verdict::Inconclusive || kept.value == Some(Value::Count(8));
    assert!(not_wrong, "{kept:?}");
    // The memory of data keeps the largest pool.
    let veiled = with(512, 128);
    assert_eq!(veiled.verdict, Verdict::Inconclusive, "{veiled:?}");
    let reason = &veiled.evidence.reason;
    assert!(reason.contains("memory of data"), "{reason}");
}

#[test]
fn a_drive_that_uses_up_its_erased_blocks_has_no_fast_cache() {
    // A card with less memory than a page: it programs every page in part, and collects after a part of its capacity.
    let Target::Drive(mut spec) = draw(Family::Modern, 11, 14).target else {
        panic!("today's drives are models");
    };
    let block = spec.flash.clustered_block.0;
    spec.capacity = Bytes((512 << 20) / block * block);
    spec.check().unwrap();
    assert!(spec.fast_cache.is_none());
    let page = spec.flash.clustered_page;
    assert!(
        spec.write_buffer
            .as_ref()
            .is_some_and(|b| b.capacity < page)
    );
    let found = answer(&mut Ssd::new(&spec, 1).unwrap(), Parameter::FastCache, 1);
    assert_ne!(found.verdict, Verdict::Identified, "{found:?}");
    let reason = &found.evidence.reason;
    assert!(reason.contains("blocks of the same kind"), "{reason}");
}
