//! Priorities at a die, and the cost of read retries, copies and failures: times computed by hand for one die.
//!
//! The host interface takes nearly no time, so the expected times only need the small margin [`HOST`].

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, rate, run};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_ssd::spec::{Arbitration, ProgramMode};
use fathom_ssd::{Spec, Ssd};
use std::ops::Range;

const PAGE: u64 = 4096;
/// 25 us, 200 us, 1500 us, and 4096 bytes at 400 MT/s, in nanoseconds.
const READ: u64 = 25_000;
const PROGRAM: u64 = 200_000;
const ERASE: u64 = 1_500_000;
const BUS: u64 = 10_240;
/// Maximum total time of commands and transfers to the host, in nanoseconds.
const HOST: u64 = 400;

/// One die with `planes` planes; clustered blocks span `wide` of them.
fn one_die(planes: u32, wide: u32) -> Spec {
    let mut spec = base();
    let flash = &mut spec.flash;
    (flash.channels, flash.planes_per_die, flash.pages_per_block) = (1, planes, 16);
    (flash.page, flash.clustered_page) = (Bytes(PAGE), Bytes(PAGE));
    flash.clustered_block = Bytes(16 * PAGE * u64::from(wide));
    spec.capacity = Bytes(16 * PAGE * 32);
    spec.mapping.over_provisioning_percent = 15.0;
    (spec.host.command_overhead, spec.host.latency) = (Dur(10), Dur(0));
    spec.host.bandwidth = rate(1_000_000_000_000);
    spec
}

fn page(op: Op, page: u64) -> Request {
    Request::new(page, op, page * PAGE, PAGE)
}

/// A drive whose first pages were written, one after another.
fn written(spec: &Spec, pages: u64) -> Ssd {
    let mut drive = Ssd::new(spec, 1).unwrap();
    run(&mut drive, 1, (0..pages).map(|p| page(Op::Write, p)));
    drive
}

/// Waits until nothing is in progress.
fn rest(drive: &mut Ssd) {
    let later = Time(drive.now().0 + 1_000_000_000);
    while drive.now() < later {
        drive.wait(later, &mut Vec::new());
    }
}

fn around(ns: u64) -> Range<u64> {
    ns..ns + HOST
}

/// Submits all requests at once. Returns their latencies, in order of submission.
fn together(drive: &mut Ssd, requests: Vec<Request>) -> Vec<u64> {
    rest(drive);
    let ids: Vec<_> = requests.iter().map(|r| r.id).collect();
    let done = run(drive, 32, requests);
    let latency = |id| {
        done.iter()
            .find(|c: &&Completion| c.id == id)
            .unwrap()
            .latency()
            .0
    };
    ids.into_iter().map(latency).collect()
}

#[test]
fn background_work_that_the_host_leaves_no_time_for_does_not_pile_up() {
    let mut spec = one_die(1, 1);
    spec.flash.arbitration = Arbitration::ReadFirst;
    spec.noise.background_interval = Dur::ms(2);
    spec.noise.background_duration = Dur::ms(1);
    let mut drive = written(&spec, 64);
    // Reads with priority, for 500 times the interval between two pieces of background work.
    let reads = (0..40_000).map(|i| page(Op::Read, i % 64));
    run(&mut drive, 32, reads);
    assert!(drive.now() > Time(1_000_000_000));
    // A write waits for the remaining background work: a few pieces of 1 ms on average.
    let write = run(&mut drive, 1, [page(Op::Write, 0)]);
    assert!(write[0].latency() < Dur::ms(40), "{:?}", write[0].latency());
}

#[test]
fn reads_wait_for_programs_or_overtake_or_interrupt_them() {
    let of = |arbitration, overhead| {
        let mut spec = one_die(1, 1);
        (spec.flash.arbitration, spec.flash.suspend_overhead) = (arbitration, Dur(overhead));
        let mut drive = written(&spec, 64);
        let mixed = vec![
            page(Op::Write, 1),
            page(Op::Write, 2),
            page(Op::Read, 3),
            page(Op::Read, 4),
        ];
        let times = together(&mut drive, mixed);
        (times, drive.counters().suspends)
    };
    let expect = |arbitration, overhead, expected: [u64; 4], suspends| {
        let (times, got) = of(arbitration, overhead);
        for (time, expected) in times.iter().zip(expected) {
            assert!(
                around(expected).contains(time),
                "{arbitration:?}: {times:?}, not {expected}"
            );
        }
        assert_eq!(got, suspends, "{arbitration:?}");
    };
    let (read, write) = (READ + BUS, BUS + PROGRAM);
    for arbitration in [Arbitration::CommandFirst, Arbitration::InOrder] {
        expect(
            arbitration,
            0,
            [write, 2 * write, 2 * write + read, 2 * write + 2 * read],
            0,
        );
    }
    // Both reads are served before the second program and after the first, which has started.
    expect(
        Arbitration::ReadFirst,
        0,
        [write, 2 * write + 2 * read, write + read, write + 2 * read],
        0,
    );
    // The first program is suspended as soon as its data is in the page register, once for both reads.
    for overhead in [0, 5_000] {
        let first = BUS + 2 * read + overhead + PROGRAM;
        expect(
            Arbitration::Suspend,
            overhead,
            [first, first + write, BUS + read, BUS + 2 * read],
            1,
        );
    }
}

/// Data sheets state the time from the suspend command until the array can be read (tPSPD, tESPD of ONFI 4 parts).
#[test]
fn a_read_pays_for_the_interruption_and_interrupts_nothing_that_ends_before() {
    let latencies = |latency| {
        let mut spec = one_die(1, 1);
        spec.flash.arbitration = Arbitration::Suspend;
        spec.flash.suspend_latency = Dur(latency);
        let mut drive = written(&spec, 64);
        let both = vec![page(Op::Write, 1), page(Op::Read, 3), page(Op::Read, 4)];
        (together(&mut drive, both), drive.counters().suspends)
    };
    let read = READ + BUS;
    let (times, suspends) = latencies(30_000);
    let expected = [
        30_000 + 2 * read + PROGRAM,
        30_000 + read,
        30_000 + 2 * read,
    ];
    for (time, expected) in times.iter().zip(expected) {
        assert!(around(BUS + expected).contains(time), "{times:?}");
    }
    assert_eq!(suspends, 1);
    // The program ends before it could be suspended.
    let (times, suspends) = latencies(PROGRAM);
    for (time, reads) in times.iter().zip(0..) {
        let expected = BUS + PROGRAM + reads * read;
        assert!(around(expected).contains(time), "{times:?}");
    }
    assert_eq!(suspends, 0);
}

/// Returns the latency of the longest read among writes that cause garbage collection, and the number of pages moved
/// during it.
fn longest_read(spec: &Spec) -> (u64, u64) {
    let mut drive = Ssd::new(spec, 1).unwrap();
    let mut rng = Rng::new(8, 0);
    run(&mut drive, 1, (0..512).map(|p| page(Op::Write, p)));
    run(
        &mut drive,
        8,
        (0..2000).map(|_| page(Op::Write, rng.below(512))),
    );
    let before = drive.merges().moved_units;
    let mut longest = 0;
    for _ in 0..1000 {
        for _ in 0..8 {
            drive.submit(page(Op::Write, rng.below(512))).unwrap();
        }
        let later = Time(drive.now().0 + rng.below(4_000_000));
        let mut done = Vec::new();
        while drive.now() < later {
            drive.wait(later, &mut done);
        }
        drive
            .submit(Request::new(9999, Op::Read, rng.below(512) * PAGE, PAGE))
            .unwrap();
        while !done.iter().any(|c: &Completion| c.id.0 == 9999) {
            drive.wait(Time::MAX, &mut done);
        }
        let read = done.iter().find(|c| c.id.0 == 9999).unwrap();
        longest = longest.max(read.latency().0);
        rest(&mut drive);
    }
    (longest, drive.merges().moved_units - before)
}

/// Wu and He, FAST 2012: a read waits for no program or erase of any origin; most of them are copies of garbage
/// collection.
#[test]
fn a_read_interrupts_the_copies_of_a_collection() {
    let latency = 20_000;
    // Copies within one plane; between planes of one die; and, over two dies, reads followed by programs.
    for (channels, planes, wide, copy_back) in [
        (1, 1, 1, false),
        (1, 1, 1, true),
        (1, 2, 2, false),
        (2, 1, 2, false),
    ] {
        let mut spec = one_die(planes, wide);
        (spec.flash.channels, spec.flash.copy_back) = (channels, copy_back);
        spec.flash.arbitration = Arbitration::Suspend;
        spec.flash.suspend_latency = Dur(latency);
        let (longest, moved) = longest_read(&spec);
        assert!(moved > 2000, "{moved}");
        // The read arrives while a page is sensed or crosses the bus, out for correction and back; nothing else precedes
        // it.
        let most = READ + 3 * BUS + latency + READ + BUS;
        assert!(
            longest <= most + HOST,
            "{channels} {planes} {wide}: {longest}, not {most}"
        );
        spec.flash.arbitration = Arbitration::ReadFirst;
        let (waits, _) = longest_read(&spec);
        assert!(waits > PROGRAM, "{waits}");
    }
}

/// Returns the nanoseconds from the first submission to the last completion of `n` sequential page writes at queue depth
/// 8.
fn programs(spec: &Spec, n: u64) -> u64 {
    let mut drive = Ssd::new(spec, 1).unwrap();
    run(&mut drive, 8, (0..n).map(|p| page(Op::Write, p)));
    drive.now().0
}

/// Data sheets (cache program; ONFI 4, Page Cache Program): the next page crosses the bus while the array works, so the
/// die is limited by the slower of the two.
#[test]
fn a_cache_program_hides_the_shorter_of_transfer_and_program() {
    for (program, slower) in [(PROGRAM, PROGRAM), (BUS / 2, BUS)] {
        let mut spec = one_die(1, 1);
        spec.flash.program = Dur(program);
        assert!(around(100 * (BUS + program)).contains(&programs(&spec, 100)));
        spec.flash.program_mode = ProgramMode::Cache;
        let (took, shorter) = (programs(&spec, 100), BUS + program - slower);
        assert!(around(100 * slower + shorter).contains(&took), "{took}");
        // Reads still wait for earlier operations, and a suspending read may find the next program loaded.
        spec.flash.arbitration = Arbitration::Suspend;
        let mut drive = written(&spec, 64);
        let mixed = (0..9).map(|p| page(if p == 8 { Op::Read } else { Op::Write }, p));
        let times = together(&mut drive, mixed.collect());
        assert!(
            times[7] <= 8 * (BUS + program) + READ + BUS + HOST,
            "{times:?}"
        );
    }
}

/// ONFI 4, Page Cache Program: data loaded while the array works must be programmed before the die does anything else, so
/// a read with priority waits for that program and no other.
#[test]
fn a_read_waits_for_no_more_than_what_is_loaded() {
    for (mode, programs) in [(ProgramMode::Page, 1), (ProgramMode::Cache, 2)] {
        let mut spec = one_die(1, 1);
        spec.flash.arbitration = Arbitration::ReadFirst;
        spec.flash.program_mode = mode;
        let mut drive = written(&spec, 64);
        let mixed = (0..32).map(|p| page(if p == 8 { Op::Read } else { Op::Write }, p));
        let read = together(&mut drive, mixed.collect())[8];
        assert!(
            read <= programs * (BUS + PROGRAM) + READ + BUS + HOST,
            "{mode:?}: {read}"
        );
    }
}

/// ONFI 4, Multi-plane Program: different planes, same page number. Four planes take four transfers and one program.
#[test]
fn programs_of_several_planes_go_in_step() {
    for planes in [1u64, 2, 4] {
        let mut spec = one_die(planes as u32, 1);
        spec.flash.program_mode = ProgramMode::MultiPlane;
        let took = programs(&spec, 64);
        let round = planes * BUS + PROGRAM;
        assert!(
            around(64 / planes * round).contains(&took),
            "{planes}: {took}"
        );
        // One command for all planes: its other pages arrive while the first crosses the bus.
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let command = Request::new(0, Op::Write, 0, planes * PAGE);
        let done = run(
            &mut drive,
            1,
            [
                command,
                page(Op::Write, 8),
                Request::new(2, Op::Flush, 0, 0),
            ],
        );
        assert!(
            around(round).contains(&done[0].latency().0),
            "{planes}: {done:?}"
        );
        spec.flash.program_mode = ProgramMode::Page;
        assert!(around(64 * (BUS + PROGRAM)).contains(&programs(&spec, 64)));
    }
    let mut spec = one_die(2, 1);
    spec.flash.program_mode = ProgramMode::MultiPlane;
    spec.flash.arbitration = Arbitration::Suspend;
    let refused = spec.check().unwrap_err().to_string();
    assert!(refused.contains("flash.program_mode"), "{refused}");
}

/// ONFI 4, Multi-plane Program requires the same page number. A plane that waits for its erase, while writes for the
/// others are queued, must not stay out of step permanently: four programs run together, and each plane erases its
/// blocks.
#[test]
fn planes_stay_in_step_however_many_writes_wait() {
    let mut spec = one_die(4, 1);
    spec.flash.program_mode = ProgramMode::MultiPlane;
    spec.host.queue_depth = 256;
    let pages = spec.capacity.0 / PAGE;
    for depth in [8, 64, 256] {
        let mut drive = Ssd::new(&spec, 1).unwrap();
        run(
            &mut drive,
            depth,
            (0..2 * pages).map(|i| page(Op::Write, i % pages)),
        );
        let (began, erases) = (drive.now(), drive.counters().erases);
        run(
            &mut drive,
            depth,
            (0..4 * pages).map(|i| page(Op::Write, i % pages)),
        );
        let erases = drive.counters().erases - erases;
        let took = drive.now().since(began).0;
        let least = pages * (4 * BUS + PROGRAM) + erases * ERASE;
        assert!(erases >= 4 * pages / 16 - 16, "{erases}");
        assert!(
            (least..least * 21 / 20).contains(&took),
            "{depth}: {took}, not {least}"
        );
    }
}

/// Data sheets of TLC flash state program times of LSB, CSB and MSB pages that differ by a factor of four or more.
#[test]
fn the_pages_of_a_word_line_take_turns() {
    let mut spec = one_die(1, 1);
    let steps = [PROGRAM / 2, PROGRAM, 3 * PROGRAM / 2];
    spec.flash.program_steps = steps.map(Dur).to_vec();
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let done = run(&mut drive, 1, (0..32).map(|p| page(Op::Write, p)));
    for (p, done) in (0..).zip(&done) {
        // Blocks of sixteen pages; each block starts with the first page of a word line.
        let expected = BUS + steps[p % 16 % 3];
        assert!(
            around(expected).contains(&done.latency().0),
            "{p}: {done:?}"
        );
    }
    spec.flash.program = Dur(PROGRAM + 1);
    let refused = spec.check().unwrap_err().to_string();
    assert!(
        refused.contains("the mean of flash.program_steps"),
        "{refused}"
    );
}

#[test]
fn a_read_interrupts_an_erase() {
    for (arbitration, waits) in [
        (Arbitration::CommandFirst, true),
        (Arbitration::ReadFirst, true),
        (Arbitration::Suspend, false),
    ] {
        let mut spec = one_die(1, 1);
        spec.flash.arbitration = arbitration;
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let mut next = 0;
        let erases = |drive: &Ssd| drive.counters().erases;
        // Finds a write that completes while an erase is outstanding.
        loop {
            let (before, done) = (
                erases(&drive),
                run(&mut drive, 1, [page(Op::Write, next % 512)]),
            );
            assert_eq!((done.len(), erases(&drive)), (1, before));
            let now = drive.now();
            let mut fork = drive.clone();
            rest(&mut fork);
            if erases(&fork) > before {
                let done = run(&mut drive, 1, [page(Op::Read, next % 512)]);
                let latency = done[0].completed.since(now).0;
                let expected = if waits {
                    ERASE + READ + BUS
                } else {
                    READ + BUS
                };
                // The erase started when the program ended, or a moment before.
                assert!(
                    around(expected).contains(&latency),
                    "{arbitration:?}: {latency}"
                );
                assert_eq!(drive.counters().suspends, u64::from(!waits));
                rest(&mut drive);
                assert_eq!(erases(&drive), before + 1, "the erase goes on");
                break;
            }
            rest(&mut drive);
            next += 1;
        }
    }
}

/// Sends random writes at queue depth 1. Returns the time of the last completion, and the number of pages moved.
fn collected(copy_back: bool, planes: u32, wide: u32) -> (u64, u64) {
    let mut spec = one_die(planes, wide);
    spec.flash.copy_back = copy_back;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let mut rng = Rng::new(8, 0);
    for _ in 0..3000 {
        run(&mut drive, 1, [page(Op::Write, rng.below(512))]);
    }
    (drive.now().0, drive.merges().moved_units)
}

#[test]
fn copy_back_saves_both_transfers_of_a_copy_within_a_plane() {
    for planes in [1, 2] {
        let (with, moved) = collected(true, planes, 1);
        let (without, also) = collected(false, planes, 1);
        assert_eq!(moved, also);
        assert!(moved > 1000, "{moved}");
        assert_eq!(without - with, moved * 2 * BUS);
    }
    // A block spans two planes: pages moved to the other plane cross the bus.
    let (with, moved) = collected(true, 2, 2);
    let (without, _) = collected(false, 2, 2);
    let saved = (without - with) as f64 / (moved * 2 * BUS) as f64;
    assert!((0.3..0.7).contains(&saved), "{saved}");
}

#[test]
fn a_read_is_repeated_as_often_as_its_probability_says() {
    let (p, most) = (0.3f64, 4);
    let mut spec = one_die(1, 1);
    (spec.faults.read_retry, spec.faults.read_retries_max) = (p, most);
    let mut drive = written(&spec, 512);
    rest(&mut drive);
    let before = drive.counters().read_retries;
    let n = 20_000;
    let done = run(&mut drive, 1, (0..n).map(|i| page(Op::Read, i % 512)));
    let mut repeated = vec![0u64; most as usize + 1];
    for completion in &done {
        let over = completion.latency().0 - (READ + BUS);
        assert!(around(over / READ * READ).contains(&over), "{over}");
        repeated[(over / READ) as usize] += 1;
    }
    for (k, &got) in (0..).zip(&repeated) {
        let expected = p.powi(k) * if k < most as i32 { 1.0 - p } else { 1.0 };
        let deviation = (n as f64 * expected * (1.0 - expected)).sqrt();
        let off = got as f64 - n as f64 * expected;
        assert!(off.abs() < 4.0 * deviation, "{k} times: {repeated:?}");
    }
    let all: u64 = (0..).zip(&repeated).map(|(k, n)| k * n).sum();
    assert_eq!(drive.counters().read_retries - before, all);
}

#[test]
fn a_program_that_fails_is_done_again_and_its_block_is_lost_after_its_next_erase() {
    let mut spec = one_die(1, 1);
    spec.mapping.over_provisioning_percent = 400.0;
    spec.faults.program_fail = 0.02;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    // No garbage collection yet: a write takes one program, plus one for each failure.
    let done = run(&mut drive, 1, (0..512).map(|i| page(Op::Write, i)));
    let write = BUS + PROGRAM;
    let fails = done.iter().map(|c| c.latency().0 / write - 1).sum::<u64>();
    assert!(
        done.iter()
            .all(|c| around(c.latency().0 / write * write).contains(&c.latency().0))
    );
    assert_eq!(drive.counters().program_fails, fails);
    assert!((2..=25).contains(&fails), "{fails} of 512 programs at 0.02");
    assert_eq!(
        drive.bad_blocks(),
        0,
        "what such a block holds stays where it is"
    );
    // Every one of these blocks is erased now.
    while drive.counters().erases < 50 {
        run(&mut drive, 1, (0..512).map(|i| page(Op::Write, i)));
    }
    rest(&mut drive);
    assert!(drive.bad_blocks() > 0);
    let erased: u64 = drive.erase_counts().iter().map(|&n| u64::from(n)).sum();
    assert_eq!(drive.counters().erases - erased, drive.bad_blocks() as u64);
    assert_eq!(drive.counters().erase_fails, 0);
}

/// A write in two programs whose last unit is half old: one unit fills a page, three units start the next page on another
/// die. The second program contains the old half, which lies on the die of the first one, and must not start before that
/// has been read.
#[test]
fn no_program_begins_before_the_old_data_in_it_is_read() {
    let mut spec = one_die(1, 1);
    (spec.flash.channels, spec.flash.clustered_block) = (2, Bytes(2 * 16 * PAGE));
    (spec.mapping.unit, spec.mapping.partial_program) = (Some(Bytes(1024)), true);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    assert_eq!(drive.geometry().lanes_per_group, 2);
    run(&mut drive, 1, (0..64).map(|i| page(Op::Write, i)));
    let part = |at: u64, len: u64| Request::new(1, Op::Write, at * PAGE, len);
    run(&mut drive, 1, [part(1, 3 * 1024)]);
    let before = drive.counters().flash_ops;
    let took = together(&mut drive, vec![part(6, 3 * 1024 + 512)])[0];
    assert_eq!(
        drive.counters().flash_ops - before,
        3,
        "one read, two programs"
    );
    let old = READ + BUS / 8;
    assert!(
        around(old + 3 * BUS / 4 + PROGRAM).contains(&took),
        "{took}"
    );
}
