//! The fast cache against what follows from the times of the two modes: size, speeds, folding, write amplification.
//!
//! The drives have one or two dies and no buffer, and one write at a time. The latency of a write then tells the mode of the
//! block that it went to: it is the time of the program, and a constant.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, Dur, Rate, Rng, Time};
use fathom_block::{Device, Op, Request, Subject};
use fathom_ssd::spec::{FastCache, Fold, MappingKind, ProgramMode, Striping, WhenFull};
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
/// Pages of a block in native mode and in SLC mode.
const NATIVE: u64 = 48;
const FAST: u64 = 16;
/// Blocks of the capacity.
const BLOCKS: u64 = 64;
/// Times in nanoseconds: reads, programs and erases of the two modes.
const READ: u64 = 60_000;
const PROGRAM: u64 = 900_000;
const FAST_READ: u64 = 20_000;
const FAST_PROGRAM: u64 = 150_000;
const FAST_ERASE: u64 = 2_000_000;
/// Time of a page on the bus, 4096 B at 400 MB/s.
const BUS: u64 = 10_240;
/// Moving a page out of the cache: it crosses the bus twice.
const FOLDED: u64 = FAST_READ + 2 * BUS + PROGRAM;
const IDLE_DELAY: Dur = Dur::ms(100);

/// A TLC drive with one die for each channel, each a group of its own.
fn drive(channels: u32, change: impl FnOnce(&mut FastCache)) -> Spec {
    let mut spec = base();
    let flash = &mut spec.flash;
    (flash.channels, flash.pages_per_block) = (channels, NATIVE as u32);
    (flash.page, flash.clustered_page) = (Bytes(PAGE), Bytes(PAGE));
    flash.clustered_block = Bytes(PAGE * NATIVE);
    (flash.read, flash.program) = (Dur(READ), Dur(PROGRAM));
    spec.capacity = Bytes(u64::from(channels) * BLOCKS * NATIVE * PAGE);
    spec.mapping.over_provisioning_percent = 10.0;
    spec.host.bandwidth = Rate::new(1_000_000_000_000).unwrap();
    let mut cache = FastCache {
        bits_per_cell: 3,
        static_capacity: Bytes(0),
        dynamic_percent: 0.0,
        read: Dur(FAST_READ),
        program: Dur(FAST_PROGRAM),
        erase: Dur(FAST_ERASE),
        fold: Fold::Idle,
        idle_delay: IDLE_DELAY,
        when_full: WhenFull::Bypass,
    };
    change(&mut cache);
    spec.fast_cache = Some(cache);
    spec
}

/// A drive of one die with `blocks` blocks in the static part.
fn with_static(blocks: u64, change: impl FnOnce(&mut FastCache)) -> Ssd {
    let spec = drive(1, |cache| {
        cache.static_capacity = Bytes(blocks * FAST * PAGE);
        change(cache);
    });
    Ssd::new(&spec, 1).unwrap()
}

/// Writes pages one by one. Returns their latencies in nanoseconds.
fn write(drive: &mut Ssd, pages: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let request = |page| Request::new(page, Op::Write, page * PAGE, PAGE);
    let done = run(drive, 1, pages.into_iter().map(request));
    done.iter().map(|done| done.latency().0).collect()
}

fn read(drive: &mut Ssd, page: u64) -> u64 {
    let request = Request::new(page, Op::Read, page * PAGE, PAGE);
    run(drive, 1, [request])[0].latency().0
}

fn idle(drive: &mut Ssd, time: Dur) {
    let until = drive.now() + time;
    while drive.now() < until {
        drive.wait(until, &mut Vec::new());
    }
}

/// Number of writes at the head that went into the cache.
fn fast(latencies: &[u64]) -> u64 {
    let limit = latencies[0] + (PROGRAM - FAST_PROGRAM) / 2;
    latencies.iter().take_while(|&&time| time < limit).count() as u64
}

fn mean(latencies: &[u64]) -> f64 {
    latencies.iter().sum::<u64>() as f64 / latencies.len() as f64
}

fn close(found: f64, expected: f64, percent: f64) {
    let off = (found / expected - 1.0).abs() * 100.0;
    assert!(off <= percent, "{found}, expected {expected}: {off:.2} %");
}

#[test]
fn a_static_cache_takes_its_size_and_then_writes_go_around_it() {
    for (channels, blocks) in [(1, 4), (2, 4), (2, 3)] {
        let channels = u64::from(channels as u32);
        let spec = drive(channels as u32, |cache| {
            cache.static_capacity = Bytes(channels * blocks * FAST * PAGE);
        });
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let size = channels * blocks * FAST;
        let latencies = write(&mut drive, 0..size + 200);
        assert_eq!(fast(&latencies), size);
        let differences: Vec<u64> = latencies.iter().map(|time| time - latencies[0]).collect();
        let (cached, direct) = differences.split_at(size as usize);
        assert!(cached.iter().all(|&more| more == 0));
        assert!(direct.iter().all(|&more| more == PROGRAM - FAST_PROGRAM));
        let stats = drive.stats().unwrap();
        assert_eq!(stats.flash_bytes_programmed, stats.host_bytes_written);
        drive.check().unwrap();
    }
}

/// The size of a dynamic cache is (free bytes / bits per cell) x share, in whole blocks.
#[test]
fn a_dynamic_cache_shrinks_as_the_drive_is_filled() {
    for share in [100, 50] {
        for filled in [0, BLOCKS / 2, BLOCKS * 9 / 10] {
            let spec = drive(1, |cache| cache.dynamic_percent = share as f64);
            let mut drive = Ssd::new(&spec, 1).unwrap();
            for block in 0..filled {
                write(&mut drive, block * NATIVE..(block + 1) * NATIVE);
                idle(&mut drive, Dur::ms(1000));
            }
            let free = BLOCKS - filled;
            let pages = free * NATIVE / 3 * share / 100 / FAST * FAST;
            let rest = filled * NATIVE..BLOCKS * NATIVE;
            let latencies = write(&mut drive, rest);
            assert_eq!(fast(&latencies), pages, "{share} % of {free} blocks");
            drive.check().unwrap();
        }
    }
}

/// A half of the free space in SLC mode: then the other half is written directly, and at last each page has to wait for the
/// room of folded blocks. A folded block frees two thirds of a block, so that half a page is moved for every page.
#[test]
fn a_dynamic_cache_that_is_bypassed_has_three_speeds() {
    let spec = drive(1, |cache| cache.dynamic_percent = 50.0);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let latencies = write(&mut drive, 0..BLOCKS * NATIVE);
    let cached = BLOCKS / 2 * FAST;
    assert_eq!(fast(&latencies), cached);
    let (head, direct) = latencies.split_at(cached as usize);
    let constant = head[0] - FAST_PROGRAM;
    let is_direct = |&&time: &&u64| time == constant + PROGRAM;
    let count = direct.iter().take_while(is_direct).count();
    // Collection starts when fewer than three blocks are erased or being erased.
    let blocks = u64::from(drive.geometry().cblocks_per_group);
    assert_eq!(count as u64, (blocks - BLOCKS / 2 - 2) * NATIVE);
    // From one folding to the next: the pages of two blocks, for which three were folded.
    let last = &direct[count..];
    let last = &last[..last.len() / (2 * NATIVE) as usize * (2 * NATIVE) as usize];
    assert!(last.len() > 400, "{}", last.len());
    let moved = FOLDED as f64 / 2.0 + 1.5 * FAST_ERASE as f64 / NATIVE as f64;
    close(mean(last), (constant + PROGRAM) as f64 + moved, 4.0);
    drive.check().unwrap();
}

/// Where writes wait for folding, every page is programmed in SLC mode, read, and programmed again; every 16 pages a block
/// is erased.
#[test]
fn a_folded_cache_is_slower_than_none_when_it_is_full() {
    let mut drive = with_static(4, |cache| cache.when_full = WhenFull::Fold);
    let size = (4 * FAST) as usize;
    let latencies = write(&mut drive, 0..40 * FAST);
    assert_eq!(fast(&latencies), 4 * FAST);
    let constant = latencies[0] - FAST_PROGRAM;
    let steady = &latencies[size + FAST as usize..];
    let page = constant + FAST_PROGRAM + FOLDED + FAST_ERASE / FAST;
    close(mean(steady), page as f64, 1.0);
    assert!(mean(steady) > (constant + PROGRAM) as f64);
    let stats = drive.stats().unwrap();
    let cached = 4 * FAST * PAGE;
    assert_eq!(
        stats.flash_bytes_programmed,
        2 * stats.host_bytes_written - cached
    );
    drive.check().unwrap();
}

#[test]
fn idle_time_gives_the_cache_back_at_the_rate_of_folding() {
    let block = FAST * FOLDED + FAST_ERASE;
    for (blocks, halves) in [(0, 1), (1, 3), (2, 5), (5, 40)] {
        let mut drive = with_static(5, |_| {});
        assert_eq!(fast(&write(&mut drive, 0..300)), 5 * FAST);
        idle(&mut drive, IDLE_DELAY + Dur(block * halves / 2));
        let again = write(&mut drive, 300..600);
        // The first write after idle time may wait for a step of folding.
        let again = &again[1..];
        let expected = (blocks * FAST).saturating_sub(1);
        let found = if blocks == 0 { 0 } else { fast(again) };
        assert_eq!(found, expected, "after {halves} halves of a block");
        if blocks == 0 {
            assert!(again.iter().all(|&time| time > PROGRAM));
        }
        drive.check().unwrap();
    }
}

#[test]
fn folding_in_idle_time_stops_for_requests() {
    let mut drive = with_static(5, |_| {});
    write(&mut drive, 0..5 * FAST);
    let alone = read(&mut drive, 0);
    idle(&mut drive, IDLE_DELAY + Dur(FOLDED * 10));
    let moved = drive.merges().folded_units;
    assert!((9..=11).contains(&moved), "{moved}");
    // It waits for the page that is being moved, and is all that happens until the delay is over.
    let latency = read(&mut drive, 4 * FAST);
    assert!(latency > alone && latency <= alone + FOLDED, "{latency}");
    let after = drive.merges().folded_units;
    assert!(after <= moved + 1);
    idle(&mut drive, IDLE_DELAY - Dur::ms(1));
    assert_eq!(drive.merges().folded_units, after);
    idle(&mut drive, Dur::ms(1000));
    assert_eq!(drive.merges().folded_units, 5 * FAST);
    let stats = drive.stats().unwrap();
    assert_eq!(stats.host_bytes_written, 5 * FAST * PAGE);
    assert_eq!(stats.flash_bytes_programmed, 10 * FAST * PAGE);
    assert_eq!(stats.erases, 5);
}

#[test]
fn a_cached_page_is_read_faster_than_a_folded_one() {
    for (fold, more) in [(Fold::Idle, READ - FAST_READ), (Fold::Pressure, 0)] {
        let mut drive = with_static(5, |cache| cache.fold = fold);
        write(&mut drive, 0..5 * FAST);
        let cached = read(&mut drive, 7);
        idle(&mut drive, Dur::ms(10_000));
        assert_eq!(read(&mut drive, 7), cached + more, "{fold:?}");
    }
}

#[test]
fn what_is_trimmed_or_written_again_is_not_folded() {
    let mut drive = with_static(5, |_| {});
    write(&mut drive, 0..5 * FAST);
    let trim = Request::new(0, Op::Trim, 0, 3 * FAST * PAGE);
    run(&mut drive, 1, [trim]);
    // The trimmed blocks are free as soon as they are erased.
    let next = 6 * FAST;
    write(&mut drive, [next]);
    idle(&mut drive, Dur::ms(50));
    assert_eq!(fast(&write(&mut drive, next..next + 100)), 3 * FAST - 1);
    assert_eq!(drive.merges().folded_units, 0);
    idle(&mut drive, Dur::ms(10_000));
    // One page was written twice.
    assert_eq!(drive.merges().folded_units, 5 * FAST - 1);
    drive.check().unwrap();
}

#[test]
fn a_trimmed_drive_has_all_of_its_dynamic_cache_again() {
    let spec = drive(1, |cache| cache.dynamic_percent = 50.0);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let pages = BLOCKS * NATIVE;
    let first = fast(&write(&mut drive, 0..pages));
    for _ in 0..3 {
        run(&mut drive, 1, [Request::new(0, Op::Trim, 0, pages * PAGE)]);
        idle(&mut drive, Dur::ms(1000));
        // Apart from the block of the cache that was open.
        let again = fast(&write(&mut drive, 0..pages));
        assert!(again.abs_diff(first) <= FAST, "{again} and {first}");
    }
    drive.check().unwrap();
}

#[test]
fn the_cache_of_a_full_drive_that_is_overwritten_keeps_its_size() {
    let mut drive = with_static(6, |cache| cache.idle_delay = Dur::ms(1000));
    let pages = BLOCKS * NATIVE;
    write(&mut drive, 0..pages);
    let mut rng = Rng::new(3, 0);
    let mut all: Vec<u64> = (0..pages).collect();
    for _ in 0..20 {
        idle(&mut drive, Dur::ms(4000));
        rng.shuffle(&mut all);
        let written = &all[..200];
        write(&mut drive, written.iter().copied());
        // The last collection ends before folding starts.
        idle(&mut drive, Dur::ms(500));
        // Reads tell where the pages are. Those that were written first are cached.
        let reads: Vec<u64> = written.iter().map(|&page| read(&mut drive, page)).collect();
        let (cached, direct) = reads.split_at(6 * FAST as usize);
        let constant = reads[0] - FAST_READ;
        assert!(cached.iter().all(|&time| time == constant + FAST_READ));
        assert!(direct.iter().all(|&time| time == constant + READ));
    }
    drive.check().unwrap();
}

#[test]
fn stripes_and_planes_share_the_cache() {
    let time = |cached: bool, mode: ProgramMode, striping: Striping| {
        let mut spec = drive(2, |cache| {
            cache.static_capacity = Bytes(4 * 8 * FAST * PAGE);
        });
        spec.flash.planes_per_die = 2;
        spec.capacity = Bytes(2 * spec.capacity.0);
        (spec.flash.program_mode, spec.mapping.striping) = (mode, striping);
        spec.host.max_request = Bytes::mib(1);
        if !cached {
            spec.fast_cache = None;
        }
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let length = 8 * PAGE;
        let requests =
            (0..4 * 8 * FAST / 8).map(|i| Request::new(i, Op::Write, i * length, length));
        run(&mut drive, 4, requests);
        drive.check().unwrap();
        drive.now().since(Time::ZERO).0 as f64
    };
    for mode in [ProgramMode::Page, ProgramMode::MultiPlane] {
        for striping in [Striping::Dynamic, Striping::Cwdp] {
            // The bus carries as many pages in either mode.
            let planes = if mode == ProgramMode::Page { 1 } else { 2 };
            let expected = (PROGRAM + planes * BUS) as f64 / (FAST_PROGRAM + planes * BUS) as f64;
            close(
                time(false, mode, striping) / time(true, mode, striping),
                expected,
                5.0,
            );
        }
    }
}

#[test]
fn a_map_in_flash_shares_the_cache() {
    let mut spec = drive(1, |cache| cache.static_capacity = Bytes(8 * FAST * PAGE));
    (spec.mapping.kind, spec.mapping.map_cache) = (MappingKind::Dftl, Some(Bytes::kib(1)));
    let mut drive = Ssd::new(&spec, 1).unwrap();
    write(&mut drive, 0..BLOCKS * NATIVE);
    let maps = drive.counters().map_programs;
    assert!(maps > 0);
    idle(&mut drive, Dur::ms(10_000));
    drive.check().unwrap();
    let folded = drive.merges().folded_units;
    assert!(folded >= 7 * FAST - maps && folded <= 8 * FAST, "{folded}");
}

#[test]
fn a_drive_file_without_the_section_is_written_without_it() {
    assert!(!base().to_toml().contains("fast_cache"));
    let spec = drive(1, |cache| cache.dynamic_percent = 12.5);
    assert_eq!(Spec::from_toml(&spec.to_toml()), Ok(spec));
}

#[test]
fn a_cache_that_cannot_be_names_its_key() {
    let key = |change: fn(&mut Spec)| {
        let mut spec = drive(1, |cache| cache.dynamic_percent = 10.0);
        change(&mut spec);
        let error = spec.check().unwrap_err();
        assert!(Ssd::new(&spec, 1).is_err());
        error.key
    };
    fn cache(spec: &mut Spec) -> &mut FastCache {
        spec.fast_cache.as_mut().unwrap()
    }
    let block = |spec: &mut Spec| spec.mapping.kind = MappingKind::Block;
    assert_eq!(key(block), "mapping.kind");
    let bits = "fast_cache.bits_per_cell";
    assert_eq!(key(|spec| cache(spec).bits_per_cell = 1), bits);
    assert_eq!(key(|spec| cache(spec).bits_per_cell = 6), bits);
    let few = |spec: &mut Spec| {
        spec.flash.pages_per_block = 2;
        spec.flash.clustered_block = Bytes(2 * PAGE);
    };
    assert_eq!(key(few), bits);
    let dynamic = "fast_cache.dynamic_percent";
    assert_eq!(key(|spec| cache(spec).dynamic_percent = 101.0), dynamic);
    assert_eq!(key(|spec| cache(spec).dynamic_percent = f64::NAN), dynamic);
    let size = "fast_cache.static_capacity";
    assert_eq!(key(|spec| cache(spec).dynamic_percent = 0.0), size);
    let all = |spec: &mut Spec| cache(spec).static_capacity = Bytes(u64::MAX);
    assert_eq!(key(all), "capacity");
    let read = |spec: &mut Spec| cache(spec).read = Dur(u64::MAX / 2);
    assert_eq!(key(read), "fast_cache.read");
    let program = |spec: &mut Spec| cache(spec).program = Dur(u64::MAX / 2);
    assert_eq!(key(program), "fast_cache.program");
    let erase = |spec: &mut Spec| cache(spec).erase = Dur(u64::MAX / 2);
    assert_eq!(key(erase), "fast_cache.erase");
    let delay = |spec: &mut Spec| cache(spec).idle_delay = Dur(u64::MAX / 2);
    assert_eq!(key(delay), "fast_cache.idle_delay");
}
