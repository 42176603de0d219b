//! Mapping units of any size, whole clustered pages or parts of them, are found, and none is found if the unit is a logical
//! block.

use crate::asked::answer;
use crate::cases;
use fathom_base::{Bytes, Dur};
use fathom_model::{Model, find};
use fathom_probe::run::{run, solve};
use fathom_probe::{Level, Parameter, RunConfig, Unobserved, Value, Verdict};
use fathom_ssd::Spec;
use fathom_ssd::spec::MappingKind;

/// Returns a small `ssd-a` with this mapping and unit, and clustered pages of `planes` planes of 4 KiB each.
fn drive(kind: MappingKind, planes: u32, unit: Option<u64>) -> Spec {
    with_pages(kind, (planes, 4096), unit)
}

/// Returns the same with planes of `plane` bytes.
fn with_pages(kind: MappingKind, (planes, plane): (u32, u64), unit: Option<u64>) -> Spec {
    let model = Model::from_toml(find("ssd-a").unwrap().text).unwrap();
    let Model::Ssd(mut spec) = model else {
        panic!("ssd-a is a drive of flash");
    };
    let page = u64::from(planes) * plane;
    let block = page * 4 * u64::from(spec.flash.pages_per_block);
    spec.flash.planes_per_die = planes;
    spec.flash.page = Bytes(plane);
    spec.flash.clustered_page = Bytes(page);
    spec.flash.clustered_block = Bytes(block);
    spec.capacity = Bytes((512 << 20) / block * block);
    spec.mapping.kind = kind;
    spec.mapping.unit = unit.map(Bytes);
    if kind.is_paged() {
        spec.mapping.log_blocks = 0;
        spec.mapping.over_provisioning_percent = 20.0;
    }
    spec.check().unwrap();
    *spec
}

#[test]
fn units_of_odd_sizes_are_found() {
    use MappingKind::{Block, Fast, Page};
    for (kind, planes) in [
        (Block, 3),
        (Block, 5),
        (Block, 11),
        (Fast, 6),
        (Page, 3),
        (Page, 2),
    ] {
        let spec = drive(kind, planes, None);
        for seed in 0..cases(1, 3) {
            let found = answer(&spec, Parameter::ClusteredPage, seed);
            let unit = u64::from(planes) * 4096;
            assert_eq!(found.value, Some(Value::Bytes(unit)), "{kind:?} {found:?}");
        }
    }
}

#[test]
fn a_unit_above_what_is_named_is_left_open_and_no_part_of_it_is_named() {
    use MappingKind::{Block, Page};
    for (kind, planes, kib) in [
        (Page, 3, 128),
        (Page, 4, 128),
        (Block, 8, 64),
        (Block, 8, 128),
    ] {
        let spec = with_pages(kind, (planes, kib << 10), None);
        for seed in 0..cases(1, 2) {
            let found = answer(&spec, Parameter::ClusteredPage, seed);
            assert_eq!(found.verdict, Verdict::Inconclusive, "{kind:?} {found:?}");
        }
    }
}

#[test]
fn a_unit_of_a_logical_block_is_none() {
    // Two planes are programmed together, which long writes show; with a single plane nothing shows.
    for (planes, verdict) in [(2, Verdict::NotIdentifiable), (1, Verdict::Absent)] {
        let spec = drive(MappingKind::Page, planes, Some(512));
        for seed in 0..cases(2, 5) {
            let found = answer(&spec, Parameter::ClusteredPage, seed);
            assert_eq!(found.verdict, verdict, "{found:?}");
        }
    }
}

#[test]
fn protected_memory_that_answers_flushed_writes_leaves_it_open() {
    let mut spec = drive(MappingKind::Page, 2, Some(512));
    let buffer = spec.write_buffer.as_mut().unwrap();
    (buffer.battery, buffer.capacity) = (true, Bytes(32 << 20));
    spec.check().unwrap();
    let found = answer(&spec, Parameter::ClusteredPage, 0);
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
    let reason = &found.evidence.reason;
    assert!(reason.contains("sooner than reads"), "{reason}");
}

/// A write and its flush are two ways to such a volume, a read is one.
#[test]
fn protected_memory_far_away_leaves_it_open() {
    let mut spec = drive(MappingKind::Page, 1, Some(4096));
    spec.host.latency = Dur::us(350);
    let buffer = spec.write_buffer.as_mut().unwrap();
    (buffer.battery, buffer.capacity) = (true, Bytes(32 << 20));
    spec.check().unwrap();
    for parameter in [Parameter::ClusteredPage, Parameter::IndirectionUnit] {
        let found = answer(&spec, parameter, 0);
        assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
    }
}

#[test]
fn streams_show_the_unit_behind_protected_memory() {
    use MappingKind::Page;
    for (kind, planes, unit) in [(Page, 2, None), (Page, 3, None), (Page, 4, Some(8192))] {
        let mut spec = drive(kind, planes, unit);
        let buffer = spec.write_buffer.as_mut().unwrap();
        (buffer.battery, buffer.capacity) = (true, Bytes(1 << 20));
        spec.check().unwrap();
        let unit = unit.unwrap_or(u64::from(planes) * 4096);
        for seed in 0..cases(1, 2) {
            let found = answer(&spec, Parameter::ClusteredPage, seed);
            assert_eq!(found.value, Some(Value::Bytes(unit)), "{kind:?} {found:?}");
            assert!(found.evidence.reason.contains("streams"), "{found:?}");
        }
    }
}

/// In a quick run the longest streams are those that were written before the drive's log was asked.
#[test]
fn a_unit_that_only_the_log_shows_is_confirmed_once() {
    let text = r#"
        kind = "ssd"
        name = "cached"
        capacity = "2904MiB"
        [host]
        protocol = "sata"
        bandwidth = "6Gbps"
        command_overhead = "8us"
        latency = "6us"
        queue_depth = 32
        logical_block = "4KiB"
        max_request = "1MiB"
        log = "media"
        [flash]
        channels = 1
        packages_per_channel = 1
        dies_per_package = 2
        planes_per_die = 4
        pages_per_block = 192
        page = "16KiB"
        bus = "1200MT/s"
        read = "25us"
        program = "220us"
        erase = "2ms"
        clustered_page = "64KiB"
        clustered_block = "12MiB"
        arbitration = "command-first"
        suspend_latency = "5us"
        suspend_overhead = "20us"
        [mapping]
        kind = "page"
        unit = "64KiB"
        over_provisioning_percent = 8.0
        striping = "dynamic"
        [fast_cache]
        bits_per_cell = 3
        static_capacity = "64MiB"
        dynamic_percent = 50.0
        read = "25us"
        program = "150us"
        erase = "2ms"
        fold = "idle"
        idle_delay = "1s"
        when_full = "fold"
        [write_buffer]
        policy = "lru"
        capacity = "640KiB"
        drain = "on-full"
        battery = true
    "#;
    let spec = Spec::from_toml(text).unwrap();
    let config = RunConfig {
        parameters: vec![Parameter::IndirectionUnit],
        level: Level::Quick,
        budget_bytes: Some(4 << 30),
        budget_time: Some(Dur::ms(120_000)),
        ..RunConfig::default()
    };
    let mut drive = Model::Ssd(Box::new(spec)).build(0).unwrap();
    let found = solve(&run(&mut drive, &config, None, &mut Unobserved).unwrap());
    let found = &found.parameters[&Parameter::IndirectionUnit];
    assert_eq!(found.value, Some(Value::Bytes(64 << 10)), "{found:?}");
}
