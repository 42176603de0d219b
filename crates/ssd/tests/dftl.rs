//! Mapping tables in flash: their cost, computed by hand, and their consistency.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::life;
use crate::common::{base, drive, run};
use fathom_base::{Bytes, Dur, Rate, Rng};
use fathom_block::{Completion, Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Prefetch, ReadBuffer};
use fathom_ssd::{MapCounts, Spec, Ssd};

const UNIT: u64 = 512;
/// Number of entries of a translation page of one unit.
const PAGE: u64 = UNIT / 4;

/// One die whose pages are single units, with a cache of `entries` entries of 8 bytes.
fn single(entries: u64) -> Spec {
    let mut spec = base();
    (spec.flash.channels, spec.flash.pages_per_block) = (1, 64);
    (spec.flash.page, spec.flash.clustered_page) = (Bytes(UNIT), Bytes(UNIT));
    spec.flash.clustered_block = Bytes(64 * UNIT);
    spec.capacity = Bytes(64 * UNIT * 100);
    spec.mapping.kind = MappingKind::Dftl;
    spec.mapping.map_cache = Some(Bytes(8 * entries));
    spec.mapping.over_provisioning_percent = 4.0;
    spec
}

fn write(unit: u64) -> Request {
    Request::new(1, Op::Write, unit * UNIT, UNIT)
}

fn read(unit: u64) -> Request {
    Request::new(1, Op::Read, unit * UNIT, UNIT)
}

/// Returns reads and programs of the map, hits and misses so far.
fn map(drive: &Ssd) -> (u64, u64, u64, u64) {
    let (counters, counts) = (drive.counters(), drive.map_counts());
    let MapCounts { hits, misses, .. } = counts;
    (counters.map_reads, counters.map_programs, hits, misses)
}

fn mixed(n: u64, units: u64) -> impl Iterator<Item = Request> {
    let mut rng = Rng::new(5, 0);
    (0..n).map(move |_| {
        let unit = rng.below(units);
        match rng.below(3) {
            0 => read(unit),
            _ => write(unit),
        }
    })
}

#[test]
fn a_map_that_fits_costs_nothing() {
    let units = 64 * 100;
    let dftl = single(units);
    let mut page = dftl.clone();
    (page.mapping.kind, page.mapping.map_cache) = (MappingKind::Page, None);
    let (mut with, mut without) = (Ssd::new(&dftl, 1).unwrap(), Ssd::new(&page, 1).unwrap());
    assert_eq!(
        with.geometry().physical_units(),
        without.geometry().physical_units()
    );
    let stamps = |done: Vec<Completion>| done.iter().map(|c| c.completed).collect::<Vec<_>>();
    let a = stamps(run(&mut with, 8, mixed(40_000, units)));
    let b = stamps(run(&mut without, 8, mixed(40_000, units)));
    assert_eq!(a, b);
    assert_eq!(with.counters(), without.counters());
    assert!(with.merges().collected > 100);
    let (reads, programs, hits, misses) = map(&with);
    assert_eq!((reads, programs, misses), (0, 0, 0));
    // Except for units that were read while still on their way to the flash array.
    assert!(hits > 39_900 && hits <= 40_000);
    assert_eq!(without.map_counts(), MapCounts::default());
}

#[test]
fn map_traffic_is_what_a_hand_works_out() {
    let mut drive = Ssd::new(&single(8), 1).unwrap();
    let mut after = |requests: &[Request]| {
        run(&mut drive, 1, requests.iter().cloned());
        map(&drive)
    };
    // There are no translation pages yet: the directory says so, and the cache takes eight changed entries.
    let first: Vec<Request> = (0..8).map(|p| write(p * PAGE)).collect();
    assert_eq!(after(&first), (0, 0, 8, 0));
    // The ninth evicts the oldest entry; its translation page is new and is not read first.
    assert_eq!(after(&[write(8 * PAGE)]), (0, 1, 9, 0));
    // Page 0 is read; entry 1 x 128 is evicted for it.
    assert_eq!(after(&[read(0)]), (1, 2, 9, 1));
    assert_eq!(after(&[read(0)]), (1, 2, 10, 1));
    // Another entry of page 0: read again, because only entries are cached; 2 x 128 is evicted.
    assert_eq!(after(&[write(1)]), (2, 3, 10, 2));
    // Entries 3 x 128 to 8 x 128 are evicted for six entries of page 0 that were never written: six programs, six reads.
    let rest: Vec<Request> = (2..8).map(read).collect();
    assert_eq!(after(&rest), (8, 9, 10, 8));
    // Entry 0 was used twice and is protected; entry 1 is the oldest on probation. Page 0 exists: it is read, written
    // with the change, and read for entry 8.
    assert_eq!(after(&[read(8)]), (10, 10, 10, 9));
    // The other entries are evicted unchanged: each miss is one read.
    let more: Vec<Request> = (9..15).map(read).collect();
    assert_eq!(after(&more), (16, 10, 10, 15));
    assert_eq!(after(&[read(0)]), (16, 10, 11, 15));
    drive.check().unwrap();
}

#[test]
fn changed_entries_of_one_translation_page_are_written_together() {
    let mut drive = Ssd::new(&single(8), 1).unwrap();
    run(&mut drive, 1, (0..8).map(write));
    run(&mut drive, 1, [write(PAGE)]);
    assert_eq!(map(&drive), (0, 1, 9, 0));
    assert_eq!(drive.map_counts().written_back, 8);
    // The other seven entries are evicted unchanged.
    run(&mut drive, 1, (1..8).map(|p| write((p + 1) * PAGE)));
    assert_eq!(map(&drive), (0, 1, 16, 0));
    // Page 0 exists now, so a write to it reads it first. Entry 1 x 128, the oldest, is evicted: page 1 is new.
    run(&mut drive, 1, [write(9)]);
    assert_eq!(map(&drive), (1, 2, 16, 1));
    assert_eq!(drive.map_counts().written_back, 9);
    assert_eq!(drive.map_counts().held_max, 1);
}

/// Sends one request to an idle drive. Returns its latency in nanoseconds.
fn alone(drive: &mut Ssd, request: Request) -> u64 {
    let idle = drive.now() + Dur::ms(100);
    drive.wait(idle, &mut Vec::new());
    run(drive, 1, [request])[0].latency().0
}

fn transfer(bytes: u64, per_second: u64) -> u64 {
    (bytes * 1_000_000_000).div_ceil(per_second)
}

#[test]
fn a_miss_costs_one_flash_read_more_to_the_nanosecond() {
    let mut spec = single(8);
    // Pages of 4 KiB that are single units, and requests of single sectors.
    let page = 4096;
    (spec.flash.page, spec.flash.clustered_page) = (Bytes(page), Bytes(page));
    spec.flash.clustered_block = Bytes(64 * page);
    spec.capacity = Bytes(64 * page * 200);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let at = |unit: u64, len: u64, op: Op| Request::new(1, op, unit * page, len);
    // Entry 0 is evicted for the eight entries of page 1: 1024 entries per page.
    run(&mut drive, 1, [at(0, page, Op::Write)]);
    run(&mut drive, 1, (0..8).map(|i| at(1024 + i, page, Op::Write)));
    run(&mut drive, 1, (0..7).map(|i| at(2 + i, page, Op::Read)));
    assert_eq!(map(&drive).1, 2, "both translation pages are written");
    // 400 MT/s: a page takes 10.24 us on the bus; 1 GB/s on the link.
    let (front, sense) = (1_000 + 2_000, 25_000);
    let on_bus = transfer(page, 400_000_000);
    let of_map = sense + on_bus;
    let read = front + of_map + sense + on_bus + transfer(page, 1_000_000_000);
    let hit = read - of_map;
    assert_eq!(alone(&mut drive, at(0, page, Op::Read)), read);
    assert_eq!(alone(&mut drive, at(0, page, Op::Read)), hit);
    // A write: first the map, then the program.
    let written = front + transfer(page, 1_000_000_000) + on_bus + 200_000;
    assert_eq!(alone(&mut drive, at(9, page, Op::Write)), written + of_map);
    assert_eq!(alone(&mut drive, at(9, page, Op::Write)), written);
    // A part of a unit: first the map, then the old data, then the program.
    run(&mut drive, 1, (0..8).map(|i| at(20 + i, page, Op::Read)));
    run(&mut drive, 1, (0..8).map(|i| at(30 + i, page, Op::Read)));
    let missed = drive.map_counts().misses;
    let part = front + transfer(512, 1_000_000_000) + of_map;
    let part = part + sense + transfer(page - 512, 400_000_000) + on_bus + 200_000;
    assert_eq!(alone(&mut drive, at(1024, 512, Op::Write)), part);
    assert_eq!(drive.map_counts().misses, missed + 1);
}

/// Gupta, Kim and Urgaonkar (ASPLOS 2009), section 3: a miss loads the translation page with the entry once. Requests for
/// other entries of that page wait for this read, and so does the rest of a command, whenever it crosses the link.
#[test]
fn what_misses_on_one_translation_page_together_reads_it_once() {
    let fill = |drive: &mut Ssd| {
        run(drive, 1, (0..16 * PAGE).map(write));
        // Later evictions are of unchanged entries, from other translation pages than those used below.
        run(drive, 1, (15 * PAGE..16 * PAGE).map(read));
    };
    let long = |op, page: u64| Request::new(1, op, page * PAGE * UNIT, 32 * UNIT);
    let writes = vec![write(0), write(9), write(20), write(40)];
    let reads = vec![read(0), read(9), read(20), read(40)];
    let mixed = vec![read(0), read(9), write(20), write(40)];
    // On the slow link the command of 32 units takes 164 us, much longer than the read of 26 us.
    let slow = Rate::new(100_000_000);
    for (what, link, requests, misses) in [
        ("units of one write", None, vec![long(Op::Write, 0)], 32),
        ("a slow link", slow, vec![long(Op::Write, 0)], 32),
        ("units of one read", None, vec![long(Op::Read, 0)], 32),
        ("writes in flight", None, writes, 4),
        ("reads in flight", None, reads, 4),
        ("a write beside reads", None, mixed, 4),
    ] {
        let mut spec = single(64);
        spec.mapping.over_provisioning_percent = 50.0;
        spec.host.bandwidth = link.unwrap_or(spec.host.bandwidth);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        fill(&mut drive);
        let before = map(&drive);
        run(&mut drive, 8, requests);
        let after = map(&drive);
        assert_eq!(after.3 - before.3, misses, "{what}: misses");
        assert_eq!(after.0 - before.0, 1, "{what}: reads of the map");
        drive.check().unwrap();
    }
}

#[test]
fn what_a_buffer_holds_needs_no_map() {
    let mut spec = single(8);
    spec.read_buffer = Some(ReadBuffer {
        capacity: Bytes(64 * UNIT),
        line: Bytes(UNIT),
        min_request: Bytes(UNIT),
        prefetch: None,
    });
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 1, (0..16).map(|p| write(p * PAGE)));
    run(&mut drive, 1, (0..16).map(|p| read(p * PAGE)));
    let before = map(&drive);
    run(&mut drive, 1, (0..16).map(|p| read(p * PAGE)));
    assert_eq!(map(&drive), before);
    // Read-ahead also uses the map.
    let stream = spec.read_buffer.as_mut().unwrap();
    (stream.min_request, stream.prefetch) = (
        Bytes(UNIT),
        Some(Prefetch {
            after: 1,
            depth: Bytes(4 * UNIT),
        }),
    );
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 1, (0..16).map(write));
    run(&mut drive, 1, (1..10).map(|p| write(p * PAGE)));
    let (reads, _, hits, misses) = map(&drive);
    run(&mut drive, 1, [read(0), read(1)]);
    // 0, then 1, then 2 to 5 ahead in one read of the map.
    assert_eq!(map(&drive).0, reads + 3);
    assert_eq!((map(&drive).2, map(&drive).3), (hits, misses + 6));
}

#[test]
fn trim_forgets_translation_pages_that_say_nothing_more() {
    let mut drive = Ssd::new(&single(8), 1).unwrap();
    run(&mut drive, 1, (0..PAGE).map(write));
    let trim = |first: u64, n: u64| Request::new(1, Op::Trim, first * UNIT, n * UNIT);
    let before = map(&drive);
    run(&mut drive, 1, [trim(0, PAGE)]);
    // It is read once more, to locate the trimmed units.
    assert_eq!(map(&drive), (before.0 + 1, before.1, before.2, before.3));
    run(&mut drive, 1, (0..8).map(|i| write(i * 8)));
    let (reads, programs, hits, misses) = map(&drive);
    assert_eq!(misses, before.3, "the directory knows that it is empty");
    assert_eq!(
        (reads, programs, hits),
        (before.0 + 1, before.1, before.2 + 8)
    );
    drive.check().unwrap();
}

/// Drives with eight or more translation pages and a very small cache.
fn mapped(shape: &str, buffer: &str) -> Spec {
    let mut spec = drive(MappingKind::Dftl, shape, buffer);
    spec.mapping.unit = Some(Bytes(512));
    spec.capacity = Bytes(spec.flash.clustered_block.0 * 16);
    spec.name = format!("{} mapped", spec.name);
    spec
}

#[test]
fn a_map_of_many_pages_survives_power_cuts() {
    for shape in ["whole", "parted", "padded", "lanes", "one die", "tiny"] {
        for buffer in ["none", "lru", "fifo battery"] {
            let spec = mapped(shape, buffer);
            for seed in 0..3 {
                let drive = life(&spec, seed, 4)
                    .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
                let counters = drive.counters();
                assert!(counters.map_programs > 100 && counters.map_reads > 100);
            }
        }
    }
}

#[test]
fn failing_programs_and_erases_lose_nothing() {
    for shape in ["whole", "parted", "lanes"] {
        let mut spec = mapped(shape, "lru");
        spec.mapping.over_provisioning_percent = 60.0;
        (spec.faults.program_fail, spec.faults.erase_fail) = (0.0002, 0.001);
        let mut bad = 0;
        for seed in 0..4 {
            let drive = life(&spec, seed, 4)
                .unwrap_or_else(|why| panic!("{}, seed {seed}: {why}", spec.name));
            bad += drive.bad_blocks();
        }
        assert!(bad > 0, "{}", spec.name);
    }
}

/// Keeping the map in flash does not make the flash larger: the blocks of the map are ordinary blocks of the drive
/// (Gupta, Kim and Urgaonkar, ASPLOS 2009, 4), and are taken from the spare blocks.
#[test]
fn a_map_in_flash_takes_no_more_flash() {
    let presets = fathom_ssd::presets::PRESETS
        .iter()
        .chain(fathom_ssd::presets::STUDIED);
    for preset in presets {
        let mut spec = Spec::from_toml(preset.text).unwrap();
        let units = |spec: &Spec| fathom_ssd::Geometry::new(spec).physical_units();
        spec.mapping.kind = MappingKind::Page;
        let page = units(&spec);
        spec.mapping.kind = MappingKind::Dftl;
        assert_eq!(units(&spec), page, "{}", preset.name);
        // Without spare blocks there must still be room for the map.
        spec.mapping.over_provisioning_percent = 0.0;
        let g = fathom_ssd::Geometry::new(&spec);
        let room = g.cblocks_per_group - g.reserve_cblocks;
        let filled = u64::from(room * (g.units_per_cblock - g.units_lost_per_cblock));
        let held = u64::from(g.logical_units + g.map_units).div_ceil(u64::from(g.groups));
        assert!(filled >= held, "{}: {filled} {held}", preset.name);
    }
}
