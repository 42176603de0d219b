//! What the two caches answer, and when, against closed forms worked out here.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{TURN_NS, bare, flush, idle, link, one, run, small};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::{Device, Op, Request};
use fathom_hdd::spec::{Destage, ReadCache, WriteCache};
use fathom_hdd::{Hdd, Spec};

fn disk(spec: &Spec) -> Hdd {
    Hdd::new(spec, 1).unwrap()
}

fn with_read_cache(ahead_sectors: u64) -> Spec {
    let mut spec = bare(small());
    spec.read_cache = Some(ReadCache {
        segments: 2,
        segment: Bytes(64 * 512),
        read_ahead: Bytes(ahead_sectors * 512),
    });
    spec
}

#[test]
fn what_was_read_ahead_comes_at_the_speed_of_the_link() {
    let spec = with_read_cache(24);
    let mut disk = disk(&spec);
    one(&mut disk, Op::Read, 8, 8);
    idle(&mut disk, Dur::ms(20));
    assert_eq!(disk.counters().read_ahead_sectors, 24);
    let hit = one(&mut disk, Op::Read, 16, 24);
    assert_eq!(hit.latency().0, 50_000 + link(&spec, 24));
    let again = one(&mut disk, Op::Read, 8, 32);
    assert_eq!(again.latency().0, 50_000 + link(&spec, 32));
    assert_eq!(disk.counters().cache_hits, 2);
    assert_eq!(disk.counters().cache_misses, 1);
    // One sector further than the head went at first: it went on behind the second read.
    idle(&mut disk, Dur::ms(20));
    one(&mut disk, Op::Read, 40, 1);
    assert_eq!(disk.counters().cache_hits, 3);
    // Nothing was read before what was asked for.
    assert!(one(&mut disk, Op::Read, 7, 1).latency() > Dur::ms(5));
}

#[test]
fn a_reader_that_follows_the_head_gets_each_sector_as_it_passes() {
    let spec = with_read_cache(64);
    let mut disk = disk(&spec);
    let mut last = one(&mut disk, Op::Read, 0, 4).completed.0;
    for i in 1..15 {
        let done = one(&mut disk, Op::Read, i * 4, 4).completed.0;
        assert_eq!(done - last, 4 * 125_000, "{i}");
        last = done;
    }
    assert_eq!(disk.counters().cache_misses, 1);
    assert_eq!(disk.counters().partial_hits, 14);
}

#[test]
fn another_read_breaks_off_reading_ahead() {
    let (ahead, none) = (with_read_cache(64), with_read_cache(0));
    let mut latencies = [ahead, none].map(|spec| {
        let mut disk = disk(&spec);
        one(&mut disk, Op::Read, 0, 1);
        one(&mut disk, Op::Read, 1300, 1).completed
    });
    latencies.sort();
    assert_eq!(latencies[0], latencies[1]);
}

#[test]
fn a_write_empties_the_cache_of_what_it_overwrites() {
    let spec = with_read_cache(24);
    let mut disk = disk(&spec);
    one(&mut disk, Op::Read, 0, 8);
    idle(&mut disk, Dur::ms(20));
    one(&mut disk, Op::Write, 10, 1);
    one(&mut disk, Op::Read, 0, 8);
    assert_eq!(disk.counters().cache_hits, 0);
}

fn with_write_cache(sectors: u64, destage: Destage) -> Spec {
    let mut spec = bare(small());
    spec.write_cache = Some(WriteCache {
        capacity: Bytes(sectors * 512),
        destage,
    });
    spec
}

#[test]
fn a_cached_write_is_complete_when_it_has_crossed_the_link() {
    let spec = with_write_cache(100, Destage::CScan);
    let mut disk = disk(&spec);
    for (i, sector) in [700, 10, 1500, 900].into_iter().enumerate() {
        let write = one(&mut disk, Op::Write, sector, 25);
        assert_eq!(write.latency().0, 50_000 + link(&spec, 25), "{i}");
    }
    // Hits, though nothing was ever read.
    let read = one(&mut disk, Op::Read, 905, 20);
    assert_eq!(read.latency().0, 50_000 + link(&spec, 20));
    assert!(disk.counters().medium_sectors_written < 100);
    flush(&mut disk);
    assert_eq!(disk.counters().medium_sectors_written, 100);
    assert_eq!(flush(&mut disk).latency().0, 50_000);
    // Written again before the arm turns to it, a sector goes to the medium once. The arm is busy with sector 0.
    one(&mut disk, Op::Write, 0, 1);
    for _ in 0..3 {
        one(&mut disk, Op::Write, 1900, 2);
    }
    flush(&mut disk);
    assert_eq!(disk.counters().medium_sectors_written, 103);
    assert_eq!(disk.counters().write_stalls, 0);
}

#[test]
fn a_write_that_is_longer_than_the_cache_waits_for_the_medium() {
    let spec = with_write_cache(32, Destage::CScan);
    let mut disk = disk(&spec);
    let write = one(&mut disk, Op::Write, 0, 64);
    // 32 sectors have to be on the medium before the last ones find room; the others come while the head writes.
    assert!(write.latency().0 >= 32 * 125_000, "{write:?}");
    assert!(write.latency().0 <= TURN_NS + 48 * 125_000 + 50_000 + link(&spec, 64));
    assert!(disk.counters().write_stalls > 0);
    let mut fua = Request::new(9, Op::Write, 0, 512);
    fua.tag.fua = true;
    flush(&mut disk);
    let done = run(&mut disk, vec![fua]);
    assert!(done[0].latency().0 > 50_000 + 125_000);
}

#[test]
fn sorted_destaging_beats_the_order_of_arrival() {
    let time = |destage| {
        let spec = with_write_cache(1000, destage);
        let mut disk = disk(&spec);
        let mut rng = Rng::new(5, 0);
        for _ in 0..150 {
            one(&mut disk, Op::Write, rng.below(1990), 2);
        }
        flush(&mut disk);
        disk.now().0
    };
    assert!(time(Destage::CScan) * 2 < time(Destage::Fifo));
}
