//! The drive `ms-ssd`: it conforms to the device contract, its times are the sums of their parts, and its files are
//! checked.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::BadValue;
use fathom_base::{Bytes, Dur, Time};
use fathom_block::conformance::{Options, check};
use fathom_block::{Device, IoErrorKind, Op, Request};
use fathom_disksim::spec::{PlaneMapping, Policy, Pool};
use fathom_disksim::{MsSsd, Spec, SpecError};

const PAGE: u64 = 4096;

/// Four elements of two planes of 64 blocks.
fn small() -> Spec {
    let mut spec = Spec {
        elements: 4,
        ..Spec::default()
    };
    spec.element.planes = 2;
    spec.element.blocks_per_plane = 64;
    spec.driver.depth = 64;
    spec
}

fn latency(drive: &mut MsSsd, op: Op, offset: u64, len: u64) -> Dur {
    let mut done = Vec::new();
    drive.submit(Request::new(1, op, offset, len)).unwrap();
    drive.wait(Time::MAX, &mut done);
    assert_eq!(done[0].result, Ok(()));
    done[0].latency()
}

/// Writes random pages at queue depth 32. Returns the number of failed writes.
fn write_randomly(drive: &mut MsSsd, n: u64, pages: u64) -> usize {
    let mut rng = fathom_base::Rng::new(5, 0);
    let (mut sent, mut ended, mut failed) = (0, 0, 0);
    let mut done = Vec::new();
    while ended < n {
        while sent < n && sent - ended < 32 {
            drive
                .submit(Request::new(sent, Op::Write, rng.below(pages) * PAGE, PAGE))
                .unwrap();
            sent += 1;
        }
        done.clear();
        drive.wait(Time::MAX, &mut done);
        ended += done.len() as u64;
        failed += done.iter().filter(|c| c.result.is_err()).count();
        let full =
            |c: &fathom_block::Completion| c.result.is_err_and(|e| e.kind != IoErrorKind::NoSpace);
        assert!(!done.iter().any(full));
    }
    failed
}

#[test]
fn the_drive_of_the_paper_exports_what_its_reserve_leaves() {
    let spec = Spec::default();
    assert_eq!(spec.reserve_blocks(), 307);
    assert_eq!(spec.low_blocks(), 102);
    assert_eq!(spec.pages_per_element(), 877_464);
    assert_eq!(spec.capacity(), Bytes(42_118_272 * PAGE));
    let drive = MsSsd::new(&spec).unwrap();
    assert_eq!(drive.info().capacity_bytes, 42_118_272 * PAGE);
    assert!(drive.state_bytes() < 400 << 20);
}

#[test]
fn one_at_a_time_a_request_takes_the_sum_of_its_parts() {
    let mut drive = MsSsd::new(&Spec::default()).unwrap();
    // 25 us + 8 x 528 B x 25 ns + 8 x 238.4 ns = 132 507.2 ns, rounded up.
    assert_eq!(latency(&mut drive, Op::Read, 0, PAGE), Dur(132_508));
    // 8 x 238.4 ns + 105.6 us + 200 us = 307 507.2 ns; the start is rounded to a whole nanosecond.
    assert_eq!(latency(&mut drive, Op::Write, 0, PAGE), Dur(307_508));
    // The two pages of one request lie in two elements and share only the channel: 130.6 us + 2 x 1907.2 ns.
    assert_eq!(latency(&mut drive, Op::Read, 0, 2 * PAGE), Dur(134_415));
    // Rounded out to whole pages: two halves occupy two pages.
    assert_eq!(latency(&mut drive, Op::Read, PAGE / 2, PAGE), Dur(134_415));
    assert_eq!(latency(&mut drive, Op::Flush, 0, 0), Dur(0));
    let mut spec = Spec::default();
    spec.timing.command_overhead = Dur::us(20);
    let mut slow = MsSsd::new(&spec).unwrap();
    assert_eq!(latency(&mut slow, Op::Read, 0, PAGE), Dur(152_508));
}

#[test]
fn the_last_page_of_a_block_brings_the_summary() {
    let mut spec = small();
    spec.elements = 1;
    spec.element.planes = 1;
    let mut drive = MsSsd::new(&spec).unwrap();
    for n in 1..=200u64 {
        let took = latency(&mut drive, Op::Write, 0, PAGE);
        // Adds one sector of 528 B over the pins and another program: 213.2 us.
        let wanted = if n % 63 == 0 { 520_708 } else { 307_508 };
        assert_eq!(took, Dur(wanted), "write {n}");
    }
    assert_eq!(drive.counters().pages_written, 200);
    assert_eq!(drive.counters().waf(), Some(1.0));
}

#[test]
fn every_kind_of_drive_is_a_device() {
    let mut kinds = vec![small(); 8];
    kinds[1].cleaning.background = true;
    kinds[2].element.copy_back = false;
    kinds[3].allocation.pool = Pool::Plane;
    kinds[4].element.parallel_units = 2;
    kinds[5].element.plane_mapping = PlaneMapping::Concatenate;
    kinds[5].driver.policy = Policy::Elevator;
    kinds[5].stride = 3;
    kinds[6].allocation.pool = Pool::Gang;
    kinds[6].allocation.gang = 2;
    kinds[7].cleaning.wear_aware = true;
    kinds[7].timing.command_overhead = Dur::us(20);
    for spec in kinds {
        let options = Options {
            operations: 2000,
            keeps_bytes: false,
            ..Options::default()
        };
        let mut make = || {
            let mut drive = MsSsd::new(&spec).unwrap();
            // Close to the first cleaning pass.
            let pages = drive.info().capacity_bytes / PAGE;
            write_randomly(&mut drive, 4200, pages);
            drive
        };
        check(&mut make, &options)
            .unwrap_or_else(|violation| panic!("{violation}\n{}", spec.to_toml()));
    }
}

#[test]
fn a_drive_that_is_worn_out_refuses_writes_and_goes_on_reading() {
    for wear_aware in [false, true] {
        let mut spec = small();
        spec.cleaning.endurance = 3;
        spec.cleaning.wear_aware = wear_aware;
        let mut drive = MsSsd::new(&spec).unwrap();
        let pages = drive.info().capacity_bytes / PAGE;
        assert!(write_randomly(&mut drive, 60_000, pages) > 0);
        assert!(drive.counters().erases <= 4 * 128 * 3);
        latency(&mut drive, Op::Read, 0, PAGE);
    }
}

#[test]
fn a_fork_goes_the_same_way_and_its_cleanings_are_kept() {
    let mut drive = MsSsd::new(&small()).unwrap().keep_cleanings();
    write_randomly(&mut drive, 6000, 27_720);
    let mut fork = drive.clone();
    write_randomly(&mut drive, 6000, 27_720);
    write_randomly(&mut fork, 6000, 27_720);
    assert_eq!(drive.cleanings(), fork.cleanings());
    assert_eq!(
        (drive.now(), drive.counters()),
        (fork.now(), fork.counters())
    );
    let counters = drive.counters();
    assert_eq!(drive.cleanings().len() as u64, counters.cleanings);
    // A pass costs its erase plus 225 us per page; a block that becomes full adds its summary.
    let cost_ns: u64 = (drive.cleanings().iter())
        .map(|c| (c.cost_ms * 1e6).round() as u64)
        .sum();
    let least = counters.cleanings * 1_500_000 + counters.pages_moved * 225_000;
    let summaries = (cost_ns - least) / 213_200;
    assert_eq!(cost_ns, least + summaries * 213_200);
    // At most 62 pages are moved, so at most one block becomes full during a pass.
    assert!(summaries <= counters.cleanings);
}

#[test]
fn a_drive_file_may_say_little_and_nothing_unknown() {
    assert_eq!(Spec::from_toml(""), Ok(Spec::default()));
    let text = "elements = 16\n[element]\npage = \"2KiB\"\n[cleaning]\nbackground = true\n";
    let spec = Spec::from_toml(text).unwrap();
    assert_eq!(
        (spec.elements, spec.element.page, spec.cleaning.background),
        (16, Bytes::kib(2), true)
    );
    assert_eq!(Spec::from_toml(&spec.to_toml()), Ok(spec));
    match Spec::from_toml("[element]\nplains = 3\n") {
        Err(SpecError::Syntax {
            line: 2, message, ..
        }) => assert!(message.contains("plains")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_built_is_refused_by_its_key() {
    let cases = [
        ("elements = 0", "elements"),
        ("elements = 4096", "elements"),
        ("stride = 0", "stride"),
        (
            "stride = 65536\n[element]\nblocks_per_plane = 20\nplanes = 1\n[allocation]\nreserve_percent = 20.0",
            "stride",
        ),
        ("[element]\nplanes = 65", "element.planes"),
        ("[element]\nparallel_units = 3", "element.parallel_units"),
        ("[element]\npages_per_block = 1", "element.pages_per_block"),
        ("[element]\npage = \"1000B\"", "element.page"),
        ("[timing]\nerase = \"11s\"", "timing.erase"),
        ("[timing]\npins = \"1B/s\"", "timing.pins"),
        ("[allocation]\ngang = 2", "allocation.gang"),
        ("[allocation]\npool = \"gang\"\ngang = 5", "allocation.gang"),
        (
            "[element]\ncopy_back = false\n[allocation]\npool = \"gang\"",
            "allocation.pool",
        ),
        (
            "[allocation]\nreserve_percent = 5.0",
            "allocation.reserve_percent",
        ),
        (
            "[allocation]\nreserve_percent = nan",
            "allocation.reserve_percent",
        ),
        (
            "[cleaning]\nmin_free_percent = 0.01",
            "cleaning.min_free_percent",
        ),
        (
            "[element]\ncopy_back = false\n[cleaning]\nwear_aware = true",
            "cleaning.wear_aware",
        ),
        ("[cleaning]\nendurance = 0", "cleaning.endurance"),
        ("[driver]\nqueue_length = 0", "driver.queue_length"),
        ("[driver]\ndepth = 0", "driver.depth"),
    ];
    for (text, wanted) in cases {
        match Spec::from_toml(text) {
            Err(SpecError::Value(BadValue { key, .. })) => assert_eq!(key, wanted, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}
