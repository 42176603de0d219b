//! The host memory buffer of a drive with its map in flash: latencies to the nanosecond over spans that the map cache, host
//! memory and the flash cover.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::life;
use crate::common::{base, drive, run};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Protocol};
use fathom_ssd::{Spec, Ssd};

const UNIT: u64 = 4096;
/// Number of entries of a translation page of one unit.
const PAGE: u64 = UNIT / 4;
/// Translation pages of the drive, and those that host memory holds.
const PAGES: u64 = 12;
const HELD: u64 = 4;
/// Entries that the map cache holds.
const CACHED: u64 = 8;
/// 4 KiB over a link of 1 GB/s, and the latency of host memory.
const FETCH: u64 = 4096 + 1500;

/// One die whose pages are single units.
fn spec() -> Spec {
    let mut spec = base();
    (spec.flash.channels, spec.flash.pages_per_block) = (1, 64);
    (spec.flash.page, spec.flash.clustered_page) = (Bytes(UNIT), Bytes(UNIT));
    spec.flash.clustered_block = Bytes(64 * UNIT);
    spec.capacity = Bytes(PAGES * PAGE * UNIT);
    spec.mapping.kind = MappingKind::Dftl;
    spec.mapping.over_provisioning_percent = 10.0;
    spec.mapping.map_cache = Some(Bytes(8 * CACHED));
    spec.mapping.host_memory_buffer = Some(Bytes(HELD * UNIT));
    spec.mapping.host_memory_latency = Dur(1500);
    spec
}

fn request(op: Op, unit: u64) -> Request {
    Request::new(unit, op, unit * UNIT, UNIT)
}

fn filled(spec: &Spec) -> Ssd {
    let mut drive = Ssd::new(spec, 1).unwrap();
    run(
        &mut drive,
        8,
        (0..PAGES * PAGE).map(|unit| request(Op::Write, unit)),
    );
    drive
}

/// Sends one request to an idle drive. Returns its latency in nanoseconds.
fn alone(drive: &mut Ssd, op: Op, unit: u64) -> u64 {
    let idle = drive.now() + Dur::ms(100);
    drive.wait(idle, &mut Vec::new());
    run(drive, 1, [request(op, unit)])[0].latency().0
}

fn read_each(drive: &mut Ssd, units: std::ops::Range<u64>) {
    for unit in units {
        alone(drive, Op::Read, unit);
    }
}

/// The latency of a read whose place is known: command, sensing, 4 KiB on the bus of 400 MB/s and over the link.
const HIT: u64 = 3_000 + FLASH + 4096;
const FLASH: u64 = 25_000 + 10_240;

#[test]
fn the_latency_of_random_reads_has_three_levels() {
    let mut drive = filled(&spec());
    for (units, known, in_host) in [
        // All in the map cache; all in host memory except what the map cache holds; a third of the pages in host memory.
        (CACHED, 1.0, 0.0),
        (HELD * PAGE, CACHED as f64 / (HELD * PAGE) as f64, 1.0),
        (
            PAGES * PAGE,
            CACHED as f64 / (PAGES * PAGE) as f64,
            HELD as f64 / PAGES as f64,
        ),
    ] {
        let mut rng = Rng::new(7, units);
        // Evicts what the writes have changed, and brings the levels into their state.
        for _ in 0..200 {
            alone(&mut drive, Op::Read, rng.below(units));
        }
        let before = drive.counters();
        let mut counts = [0u64; 3];
        for _ in 0..2000 {
            let latency = alone(&mut drive, Op::Read, rng.below(units));
            let level = [HIT, HIT + FETCH, HIT + FLASH]
                .iter()
                .position(|l| *l == latency);
            counts[level.unwrap_or_else(|| panic!("{latency} over {units} units"))] += 1;
        }
        let after = drive.counters();
        assert_eq!(after.map_fetches - before.map_fetches, counts[1]);
        assert_eq!(after.map_reads - before.map_reads, counts[2]);
        // Least recently used under uniform accesses: the share that fits. Five standard deviations of 2000 are 0.056.
        let share = |n: u64| n as f64 / 2000.0;
        let fetched = (1.0 - known) * in_host;
        assert!((share(counts[0]) - known).abs() < 0.01, "{counts:?}");
        assert!((share(counts[1]) - fetched).abs() < 0.056, "{counts:?}");
    }
    drive.check().unwrap();
}

#[test]
fn without_host_memory_every_miss_reads_flash() {
    let mut plain = spec();
    plain.mapping.host_memory_buffer = None;
    let mut drive = filled(&plain);
    read_each(&mut drive, 0..20);
    for unit in 0..20 {
        assert_eq!(alone(&mut drive, Op::Read, unit), HIT + FLASH);
    }
    assert_eq!(drive.counters().map_fetches, 0);
}

#[test]
fn a_write_and_an_eviction_use_host_memory_too() {
    let mut drive = filled(&spec());
    read_each(&mut drive, 0..20);
    let before = drive.counters();
    // The entry comes from host memory, then the unit is programmed.
    let written = 3_000 + 4096 + 10_240 + 200_000;
    assert_eq!(alone(&mut drive, Op::Write, 40), written + FETCH);
    assert_eq!(alone(&mut drive, Op::Write, 40), written);
    // The eviction of an entry that was used once reads the translation page from there, and programs it.
    assert_eq!(alone(&mut drive, Op::Write, 41), written + FETCH);
    read_each(&mut drive, 50..70);
    let after = drive.counters();
    assert_eq!(after.map_programs - before.map_programs, 1);
    assert_eq!(after.map_fetches - before.map_fetches, 2 + 20 + 1);
    assert_eq!(after.map_reads, before.map_reads);
}

#[test]
fn what_misses_on_one_page_together_fetches_it_once() {
    let mut drive = filled(&spec());
    read_each(&mut drive, 0..20);
    let before = (drive.counters(), drive.map_counts());
    run(&mut drive, 8, (40..44).map(|unit| request(Op::Read, unit)));
    let after = (drive.counters(), drive.map_counts());
    assert_eq!(after.1.misses - before.1.misses, 4);
    assert_eq!(after.0.map_fetches - before.0.map_fetches, 1);
}

#[test]
fn a_drive_with_host_memory_survives_power_cuts() {
    for shape in ["whole", "parted", "lanes"] {
        for buffer in ["none", "lru"] {
            let mut spec = drive(MappingKind::Dftl, shape, buffer);
            spec.mapping.unit = Some(Bytes(512));
            spec.capacity = Bytes(spec.flash.clustered_block.0 * 16);
            spec.mapping.host_memory_buffer = Some(Bytes(2 * 512));
            for seed in 0..2 {
                let drive = life(&spec, seed, 4)
                    .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
                let counters = drive.counters();
                assert!(counters.map_fetches > 20 && counters.map_reads > 20);
            }
        }
    }
}

#[test]
fn host_memory_needs_nvme_and_a_map_in_flash() {
    let refused = |change: fn(&mut Spec)| {
        let mut spec = spec();
        change(&mut spec);
        spec.check().unwrap_err().to_string()
    };
    for (change, message) in [
        (
            (|spec| spec.host.protocol = Protocol::Sata) as fn(&mut Spec),
            "left out for any protocol but nvme",
        ),
        (
            |spec| spec.mapping.host_memory_buffer = Some(Bytes(4095)),
            "at least a translation page of 4KiB",
        ),
        (
            |spec| {
                spec.mapping.kind = MappingKind::Page;
                spec.mapping.map_cache = None;
            },
            "left out for any kind but `dftl`",
        ),
    ] {
        let said = refused(change);
        assert!(
            said.starts_with("`mapping.host_memory_buffer` is "),
            "{said}"
        );
        assert!(said.ends_with(message), "{said}");
    }
}
