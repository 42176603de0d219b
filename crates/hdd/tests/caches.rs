//! Hits and latencies of the two caches, compared with closed forms worked out here.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{TURN_NS, bare, flush, idle, link, one, run, small};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_hdd::spec::{Destage, ReadCache, Scheduling, WriteCache};
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
    // One sector beyond the first read-ahead: the head continued behind the second read.
    idle(&mut disk, Dur::ms(20));
    one(&mut disk, Op::Read, 40, 1);
    assert_eq!(disk.counters().cache_hits, 3);
    // Sectors before the requested ones were not read.
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
fn what_was_read_for_one_request_answers_another_that_waits() {
    let mut spec = with_read_cache(0);
    spec.host.queue_depth = 32;
    let mut disk = disk(&spec);
    let reads = [(1, 650), (2, 650), (3, 652)];
    let reads = reads.map(|(id, sector)| Request::new(id, Op::Read, sector * 512, 4 * 512));
    let done = run(&mut disk, reads.into());
    let apart = |a: usize| done[a].completed.since(done[0].completed);
    // The second read crosses the link behind the first; two sectors of the third have yet to be read.
    assert_eq!(done[1].id.0, 2);
    assert!(apart(1) <= Dur(link(&spec, 4) + 2));
    assert!(apart(2) <= Dur(2 * 125_000 + link(&spec, 8)));
    let counters = disk.counters();
    assert_eq!(counters.medium_sectors_read, 6);
    assert_eq!(
        (
            counters.cache_misses,
            counters.cache_hits,
            counters.partial_hits
        ),
        (1, 1, 1)
    );
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
fn a_head_switch_that_has_begun_is_finished() {
    // After the last sector of its track the head switches to the next track: 500 us, and 500 us back. Sectors of the
    // first track that start less than 1 ms after the last one are missed, which costs a turn.
    let late = |sector| {
        let spec = with_read_cache(64);
        let mut disk = disk(&spec);
        one(&mut disk, Op::Read, 63, 1);
        let read = one(&mut disk, Op::Read, sector, 1);
        assert_eq!(disk.counters().head_switches, 2);
        read.latency() > Dur::ms(8)
    };
    assert_eq!([5, 7, 8, 9].map(late), [true, true, false, false]);
}

#[test]
fn a_write_empties_the_cache_of_what_it_overwrites() {
    for write_cache in [None, with_write_cache(100, Destage::CScan).write_cache] {
        let mut spec = with_read_cache(24);
        spec.write_cache = write_cache;
        let mut disk = disk(&spec);
        one(&mut disk, Op::Read, 0, 8);
        idle(&mut disk, Dur::ms(20));
        one(&mut disk, Op::Write, 10, 1);
        flush(&mut disk);
        one(&mut disk, Op::Read, 10, 1);
        assert_eq!(disk.counters().cache_hits, 0, "{spec:?}");
    }
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
    // Hits from the write cache; nothing was read from the medium.
    let read = one(&mut disk, Op::Read, 905, 20);
    assert_eq!(read.latency().0, 50_000 + link(&spec, 20));
    assert!(disk.counters().medium_sectors_written < 100);
    flush(&mut disk);
    assert_eq!(disk.counters().medium_sectors_written, 100);
    assert_eq!(flush(&mut disk).latency().0, 50_000);
    // A sector that is written again before it is destaged goes to the medium once. The arm is busy with sector 0.
    one(&mut disk, Op::Write, 0, 1);
    for _ in 0..3 {
        one(&mut disk, Op::Write, 1900, 2);
    }
    flush(&mut disk);
    assert_eq!(disk.counters().medium_sectors_written, 103);
    assert_eq!(disk.counters().write_stalls, 0);
}

#[test]
fn sectors_on_their_way_to_the_medium_still_answer_reads() {
    let spec = with_write_cache(100, Destage::CScan);
    let mut disk = disk(&spec);
    one(&mut disk, Op::Write, 1000, 4);
    // The arm was idle and is already destaging.
    let read = one(&mut disk, Op::Read, 1000, 4);
    assert_eq!(read.latency().0, 50_000 + link(&spec, 4));
    assert_eq!(disk.counters().medium_sectors_read, 0);
}

#[test]
fn commands_pass_the_controller_and_data_the_link_one_after_another() {
    let mut spec = with_write_cache(1000, Destage::CScan);
    spec.host.queue_depth = 4;
    for (sectors, apart) in [(1, 50_000), (32, link(&spec, 32))] {
        let mut disk = disk(&spec);
        let write = |i| Request::new(i, Op::Write, i * 100 * 512, sectors * 512);
        let done = run(&mut disk, (0..4).map(write).collect());
        let first = 50_000 + link(&spec, sectors);
        // The slower of the two sets the pace; the link is exact overall, so each time may be off by 1 ns.
        for (i, write) in (0..).zip(done) {
            let expected = first + i * apart;
            assert!(write.latency().0.abs_diff(expected) <= 4, "{write:?}");
        }
    }
}

#[test]
fn what_an_uncached_write_replaces_is_not_written_any_more() {
    let spec = with_write_cache(100, Destage::CScan);
    let mut disk = disk(&spec);
    // The arm is busy with sector 0.
    one(&mut disk, Op::Write, 0, 1);
    one(&mut disk, Op::Write, 700, 8);
    let mut fua = Request::new(1, Op::Write, 702 * 512, 3 * 512);
    fua.tag.fua = true;
    run(&mut disk, vec![fua]);
    flush(&mut disk);
    assert_eq!(disk.counters().medium_sectors_written, 1 + 5 + 3);
}

#[test]
fn a_write_that_is_longer_than_the_cache_waits_for_the_medium() {
    let spec = with_write_cache(32, Destage::CScan);
    let mut disk = disk(&spec);
    let write = one(&mut disk, Op::Write, 0, 64);
    // 32 sectors must reach the medium before the last ones find room; the others arrive while the head writes.
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

#[test]
fn a_read_waits_for_one_track_of_a_long_destage_at_most() {
    let spec = with_write_cache(1000, Destage::CScan);
    let mut disk = disk(&spec);
    // Destages four tracks, which takes 36 ms.
    one(&mut disk, Op::Write, 0, 256);
    let read = one(&mut disk, Op::Read, 1500, 1);
    // Two turns: until the first sector and over its track. Then a seek of at most 3 ms and a turn.
    assert!(read.latency() < Dur::ms(8 + 8 + 3 + 8 + 1), "{read:?}");
    assert!(disk.counters().medium_sectors_written >= 64);
}

/// Keeps eight requests of `crowd` in flight until `lone` is complete. Returns how many of the crowd completed earlier.
fn overtaken(spec: &Spec, lone: Request, crowd: impl Fn(u64) -> Request) -> u64 {
    let mut disk = disk(spec);
    let (mut sent, mut done) = (0, Vec::new());
    let mut send = |disk: &mut Hdd, n: u64| {
        for _ in 0..n {
            sent += 1;
            disk.submit(crowd(sent)).unwrap();
        }
    };
    send(&mut disk, 8);
    let mut faster = 0;
    while faster < 100 {
        disk.wait(Time::MAX, &mut done);
        faster += done.len() as u64;
        send(&mut disk, done.len() as u64);
        done.clear();
    }
    let id = lone.id;
    disk.submit(lone).unwrap();
    faster = 0;
    loop {
        disk.wait(Time::MAX, &mut done);
        if done.iter().any(|c| c.id == id) || faster > 1000 {
            return faster;
        }
        faster += done.len() as u64;
        send(&mut disk, done.len() as u64);
        done.clear();
    }
}

#[test]
fn neither_reads_nor_writes_starve() {
    for scheduling in [Scheduling::Fcfs, Scheduling::Sptf] {
        let mut spec = with_write_cache(32, Destage::CScan);
        (spec.host.queue_depth, spec.host.scheduling) = (32, scheduling);
        // Reads and writes use separate halves of the disk, so that no request waits for an overlapping one.
        let place = |i: u64| i * 7919 % 900 * 512;
        let read = |i| Request::new(i, Op::Read, place(i), 512);
        let write = |i| Request::new(i, Op::Write, 512_000 + place(i), 4 * 512);
        let long = Request::new(0, Op::Write, 512_000, 128 * 512);
        let reads = overtaken(&spec, long, read);
        // Six pieces must be written to make room, each in turn with one read.
        assert!(reads < 20, "{reads}");
        let writes = overtaken(&spec, read(0), write);
        assert!(writes < 20, "{writes}");
    }
}

#[test]
fn a_hit_far_from_the_head_does_not_send_it_there_sector_by_sector() {
    let spec = with_read_cache(24);
    let mut disk = disk(&spec);
    let far = disk.info().capacity_bytes / 512 / 2;
    // The far sectors are in one segment, read-ahead continues in the other.
    one(&mut disk, Op::Read, far, 8);
    idle(&mut disk, Dur::ms(20));
    one(&mut disk, Op::Read, 0, 8);
    let hit = one(&mut disk, Op::Read, far, 8);
    assert_eq!(hit.latency().0, 50_000 + link(&spec, 8));
    idle(&mut disk, Dur::ms(20));
    // Read-ahead behind each of the two reads from the medium, and no more.
    assert_eq!(disk.counters().read_ahead_sectors, 2 * 24);
    // A sector between the two is sought; the disk does not wait until read-ahead reaches it.
    let between = one(&mut disk, Op::Read, far / 2, 8);
    let longest = Dur(2 * TURN_NS) + Dur::ms(20);
    assert!(between.latency() < longest, "{:?}", between.latency());
}
