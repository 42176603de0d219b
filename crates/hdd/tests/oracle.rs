//! Times compared with closed forms, which are computed here from the spec without the model's code.
//!
//! The angle at the start is drawn from the seed. Tests therefore compare requests with each other: the time between two
//! of them is determined by the layout.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{TURN_NS, bare, flush, link, one, preset, run, small};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::{Device, Op, Request};
use fathom_hdd::spec::{Destage, Scheduling, WriteCache};
use fathom_hdd::{Hdd, Spec};

const PRESETS: [&str; 2] = ["hitachi-7k160", "seagate-barracuda-iv"];

fn disk(spec: &Spec) -> Hdd {
    Hdd::new(spec, 1).unwrap()
}

/// Returns the exact duration of a turn in nanoseconds.
fn turn(spec: &Spec) -> f64 {
    60e9 / f64::from(spec.mechanics.rpm)
}

#[track_caller]
fn near(got: f64, expected: f64, within: f64) {
    assert!(
        (got - expected).abs() <= within,
        "{got}, expected {expected} within {within}"
    );
}

#[test]
fn single_average_and_full_stroke_are_as_given() {
    let mut specs = vec![small()];
    specs.extend(PRESETS.map(preset));
    for spec in specs {
        let m = &spec.mechanics;
        let curve = *disk(&spec).seek_curve();
        assert_eq!(curve.time(0), Dur::ZERO);
        assert_eq!(curve.time(1), m.seek_single);
        assert_eq!(u64::from(curve.longest()), spec.cylinders() - 1);
        assert_eq!(curve.time(curve.longest()), m.seek_full);
        // Every pair of different cylinders, as manufacturers count.
        let (mut sum, mut pairs) = (0u128, 0u128);
        for distance in 1..=curve.longest() {
            let count = 2 * u128::from(curve.longest() - distance + 1);
            sum += count * u128::from(curve.time(distance).0);
            pairs += count;
            assert!(curve.time(distance) >= curve.time(distance - 1));
        }
        near(sum as f64 / pairs as f64, m.seek_average.0 as f64, 0.5);
    }
}

#[test]
fn the_curve_is_that_of_lee_and_katz() {
    for name in PRESETS {
        let spec = preset(name);
        let m = &spec.mechanics;
        let (single, average, full) = (
            m.seek_single.0 as f64,
            m.seek_average.0 as f64,
            m.seek_full.0 as f64,
        );
        let n = spec.cylinders() as f64;
        // As printed by Lee and Katz and used by DiskSim, for a continuous distance.
        let root = (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * n.sqrt());
        let linear = (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * n);
        let (got_root, got_linear) = disk(&spec).seek_curve().coefficients_ns();
        near(got_root, root, root.abs() * 1e-3);
        near(got_linear, linear, linear.abs() * 1e-2);
    }
}

/// Returns the completion times of consecutive reads of one sector each, on a disk without caches.
fn completions(spec: &Spec, sectors: &[u64]) -> Vec<u64> {
    let mut disk = disk(spec);
    let read = |&sector: &u64| one(&mut disk, Op::Read, sector, 1).completed.0;
    sectors.iter().map(read).collect()
}

/// Returns the angle of the second sector relative to the first, in nanoseconds.
fn angle(spec: &Spec, first: u64, second: u64) -> u64 {
    let at = completions(spec, &[first, second]);
    (at[1] - at[0]) % TURN_NS
}

#[test]
fn angles_are_those_of_the_layout() {
    let spec = bare(small());
    // 64 sectors in 8 ms: 125 us each. Track skew: 900 us = 7.2, rounded up to 8 sectors; cylinder skew: 1.4 ms = 11.2,
    // rounded up to 12.
    assert_eq!(angle(&spec, 0, 0), 0);
    assert_eq!(angle(&spec, 3, 10), 7 * 125_000);
    assert_eq!(angle(&spec, 10, 3), 57 * 125_000);
    assert_eq!(angle(&spec, 63, 64), (1 + 8) * 125_000);
    assert_eq!(angle(&spec, 127, 128), (1 + 12) * 125_000);
    assert_eq!(angle(&spec, 0, 128), (8 + 12) * 125_000);
    // The inner zone starts at the angle of the outer one: 40 sectors of 200 us.
    assert_eq!(angle(&spec, 0, 1280 + 1), 75_000 + 200_000);
    assert_eq!(angle(&spec, 1280, 1280 + 40), 5 * 200_000);
}

#[test]
fn a_seek_takes_the_curve_and_then_waits_for_its_sector() {
    let spec = bare(small());
    let mut disk = disk(&spec);
    let curve = *disk.seek_curve();
    let mut rng = Rng::new(4, 0);
    let mut last = one(&mut disk, Op::Read, 0, 1);
    let (mut at, mut seen) = (disk.geometry().locate(0), 0);
    for _ in 0..2000 {
        let sector = rng.below(2000);
        let place = disk.geometry().locate(sector);
        let op = [Op::Read, Op::Write][rng.below(2) as usize];
        let done = one(&mut disk, op, sector, 1);
        // First the command, then the arm; the sector starts within one turn of that and ends one sector later.
        let move_ns = if place.track == at.track {
            0
        } else {
            let distance = place.track.cylinder.abs_diff(at.track.cylinder);
            let switch = if place.track.head == at.track.head {
                0
            } else {
                500_000
            };
            let settle = if op == Op::Write { 400_000 } else { 0 };
            curve.time(distance).0.max(switch) + settle
        };
        let sector_ns = TURN_NS / u64::from(place.sectors_per_track);
        // A sector that is read crosses the link afterwards; one that is written crosses while the arm moves.
        let (before, after) = match op {
            Op::Read => (move_ns, link(&spec, 1)),
            _ => (move_ns.max(link(&spec, 1)), 0),
        };
        let least = 50_000 + before + sector_ns + after;
        let waited = done.latency().0 - least;
        assert!(waited < TURN_NS, "{done:?}: {waited}");
        // It is served in the first possible turn: the angle determines the wait.
        let from = last.completed.0
            - if last.op == Op::Read {
                link(&spec, 1)
            } else {
                0
            };
        let to = done.completed.0 - after;
        let begins =
            |p: &fathom_hdd::Place| u64::from(p.slot) * TURN_NS / u64::from(p.sectors_per_track);
        let old_end = begins(&at) + TURN_NS / u64::from(at.sectors_per_track);
        let expected = (begins(&place) + sector_ns + TURN_NS - old_end % TURN_NS) % TURN_NS;
        let got = (to - from) % TURN_NS;
        let off = got.abs_diff(expected).min(TURN_NS - got.abs_diff(expected));
        assert!(off <= 2, "{got} {expected}");
        seen += u64::from(move_ns > 0);
        (at, last) = (place, done);
    }
    assert!(seen > 1000);
}

#[test]
fn a_full_stroke_and_a_single_track_cost_their_times() {
    for (to_cylinder, seek) in [(1u64, 1_000_000), (19, 3_000_000)] {
        let mut spec = bare(small());
        spec.capacity = Bytes::kib(1040);
        let mut shortest = u64::MAX;
        // Every sector of the target track, one of which arrives just after the arm has settled.
        let first = if to_cylinder == 1 { 128 } else { 1280 + 9 * 80 };
        let tracks = if to_cylinder == 1 { 64 } else { 40 };
        for sector in first..first + tracks {
            let mut disk = disk(&spec);
            one(&mut disk, Op::Read, 0, 1);
            shortest = shortest.min(one(&mut disk, Op::Read, sector, 1).latency().0);
        }
        let sector_ns = TURN_NS / tracks;
        let least = 50_000 + seek + sector_ns + link(&spec, 1);
        assert!(
            (least..=least + sector_ns).contains(&shortest),
            "{shortest} {least}"
        );
    }
}

/// Returns the throughput in bytes per second of one long read in a zone: the sectors of its cylinders in their turns and
/// skews.
fn sustained(spec: &Spec, zone: usize) -> f64 {
    let m = &spec.mechanics;
    let n = f64::from(spec.zones[zone].sectors_per_track);
    let sectors_of = |skew: Dur| (skew.0 as f64 / turn(spec) * n).ceil();
    let track = m.track_skew.unwrap_or(m.head_switch + m.write_settle);
    let single = m.seek_single.max(m.head_switch) + m.write_settle;
    let cylinder = m.cylinder_skew.unwrap_or(single);
    let heads = f64::from(m.heads);
    let slots = heads * n + (heads - 1.0) * sectors_of(track) + sectors_of(cylinder);
    heads * n * 512.0 / (slots * turn(spec) / n) * 1e9
}

/// Returns the throughput in bytes per second of consecutive requests of `sectors` sectors from `first` on, without the
/// first request.
fn sequential(disk: &mut Hdd, op: Op, first: u64, sectors: u64, requests: u64) -> f64 {
    one(disk, op, first, sectors);
    let begin = disk.now();
    for i in 1..=requests {
        one(disk, op, first + i * sectors, sectors);
    }
    if op == Op::Write {
        flush(disk);
    }
    (requests * sectors * 512) as f64 / disk.now().since(begin).as_secs_f64()
}

#[test]
fn sequential_throughput_is_the_sustained_rate_of_the_zone() {
    for name in PRESETS {
        let spec = preset(name);
        for zone in [0, spec.zones.len() / 2, spec.zones.len() - 1] {
            for op in [Op::Read, Op::Write] {
                let mut disk = disk(&spec);
                let first = disk.geometry().zones()[zone].first_sector;
                let got = sequential(&mut disk, op, first, 256, 1000);
                let expected = sustained(&spec, zone);
                near(got / expected, 1.0, 0.01);
            }
        }
    }
}

#[test]
fn without_reading_ahead_a_sequential_reader_loses_a_turn_each_time() {
    let mut spec = preset("hitachi-7k160");
    spec.read_cache = None;
    let mut disk = disk(&spec);
    let n = f64::from(spec.zones[0].sectors_per_track);
    one(&mut disk, Op::Read, 0, 64);
    for i in 1..20 {
        let latency = one(&mut disk, Op::Read, i * 64, 64).latency().0 as f64;
        // From the end of the previous request to the end of this one, without the link time that lies outside.
        near(
            latency,
            turn(&spec) * (1.0 + 64.0 / n),
            link(&spec, 32) as f64,
        );
    }
    let uncached = WriteCache {
        capacity: Bytes::mib(1),
        destage: Destage::Fifo,
    };
    spec.write_cache = Some(uncached);
    let mut disk = Hdd::new(&spec, 2).unwrap();
    let mut request = Request::new(0, Op::Write, 0, 64 * 512);
    request.tag.fua = true;
    let mut write = |i: u64| {
        request.offset = i * 64 * 512;
        run(&mut disk, vec![request.clone()])[0].latency().0 as f64
    };
    write(0);
    for i in 1..20 {
        near(write(i), turn(&spec) * (1.0 + 64.0 / n), 1.0);
    }
}

/// Returns the mean seek time between two uniformly drawn sectors, integrated over bins of cylinders.
fn mean_random_seek(spec: &Spec, disk: &Hdd) -> f64 {
    let curve = disk.seek_curve();
    let sectors: f64 = spec.capacity.0 as f64 / 512.0;
    let width = spec.cylinders().div_ceil(2000);
    let mut bins = Vec::new();
    let (mut first, mut held) = (0u64, 0.0);
    for zone in &spec.zones {
        let per_cylinder = f64::from(zone.sectors_per_track * spec.mechanics.heads);
        for _ in 0..zone.cylinders {
            let share = per_cylinder.min(sectors - held) / sectors;
            held += share * sectors;
            if first.is_multiple_of(width) {
                bins.push(0.0);
            }
            *bins.last_mut().unwrap() += share;
            first += 1;
        }
    }
    let mut mean = 0.0;
    for (i, a) in bins.iter().enumerate() {
        for (j, b) in bins.iter().enumerate() {
            // Two points of one bin are a third of its width apart on average.
            let apart = i.abs_diff(j) as u64 * width;
            let apart = if apart == 0 { width / 3 } else { apart };
            mean += a * b * curve.time(apart as u32).0 as f64;
        }
    }
    mean
}

#[test]
fn a_random_read_is_overhead_mean_seek_half_a_turn_and_transfer() {
    for name in PRESETS {
        let spec = bare(preset(name));
        let mut disk = disk(&spec);
        let sectors = spec.capacity.0 / 512;
        let mut rng = Rng::new(11, 0);
        let n = 40_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let latency = one(&mut disk, Op::Read, rng.below(sectors), 1).latency().0 as f64;
            sum += latency;
            squares += latency * latency;
        }
        let count = f64::from(n);
        let mean = sum / count;
        let error = ((squares / count - mean * mean) / count).sqrt();
        let held: f64 = spec
            .zones
            .iter()
            .map(|z| f64::from(z.sectors_per_track))
            .sum();
        // A uniformly drawn sector lies on a track of n sectors with a probability proportional to n, so its mean time is
        // that of the mean track.
        let sector = turn(&spec) * spec.zones.len() as f64 / held;
        let expected = spec.host.command_overhead.0 as f64
            + mean_random_seek(&spec, &disk)
            + turn(&spec) / 2.0
            + sector
            + link(&spec, 1) as f64;
        // The standard error is about 20 us of 13 ms; the limit is four of them.
        assert!(error < 25_000.0, "{error}");
        near(mean, expected, 4.0 * error);
        let counted = disk.counters();
        near(
            counted.rotation_wait.0 as f64 / count,
            turn(&spec) / 2.0,
            0.01 * turn(&spec),
        );
    }
}

#[test]
fn zones_meet_where_they_should() {
    let spec = preset("hitachi-7k160");
    let disk = disk(&spec);
    let g = disk.geometry();
    let (mut sector, mut cylinder) = (0, 0);
    for (index, zone) in (0..).zip(&spec.zones) {
        let first = g.locate(sector);
        assert_eq!((first.zone, first.track.cylinder), (index, cylinder));
        assert_eq!((first.track.head, first.sector, first.slot), (0, 0, 0));
        assert_eq!(first.sectors_per_track, zone.sectors_per_track);
        if sector > 0 {
            let last = g.locate(sector - 1);
            assert_eq!((last.zone, last.track.cylinder), (index - 1, cylinder - 1));
            assert_eq!(
                (last.track.head, last.sector),
                (1, last.sectors_per_track - 1)
            );
        }
        sector += u64::from(zone.cylinders) * 2 * u64::from(zone.sectors_per_track);
        cylinder += zone.cylinders;
    }
    assert!(g.sectors() <= sector && g.sectors() > sector - 2 * 1593 * 30);
}

#[test]
fn a_read_across_a_zone_boundary_takes_both_tracks() {
    let spec = bare(small());
    let mut disk = disk(&spec);
    // 1280 is the first sector of the inner zone.
    let read = one(&mut disk, Op::Read, 1280 - 64, 64 + 40);
    let least = 50_000 + TURN_NS + 1_000_000 + TURN_NS;
    // Before that, at most a seek of 3 ms and two waits for a sector.
    assert!(read.latency().0 >= least && read.latency().0 <= least + 3_000_000 + 2 * TURN_NS);
    let seeks = disk.counters().seeks;
    one(&mut disk, Op::Read, 1280 - 64, 64);
    one(&mut disk, Op::Read, 1280, 40);
    assert_eq!(disk.counters().seeks - seeks, 2);
}

#[test]
fn the_shortest_positioning_time_comes_first_and_first_come_is_first_served() {
    let spec = |scheduling| {
        let mut spec = bare(preset("hitachi-7k160"));
        (spec.host.queue_depth, spec.host.scheduling) = (32, scheduling);
        spec
    };
    let finish = |scheduling| {
        let spec = spec(scheduling);
        let mut rng = Rng::new(6, 0);
        let requests = (0..2000)
            .map(|i| Request::new(i, Op::Read, rng.below(spec.capacity.0 / 4096) * 4096, 4096));
        let mut disk = disk(&spec);
        let done = run(&mut disk, requests.collect());
        (done, disk.now())
    };
    let (in_order, fcfs) = finish(Scheduling::Fcfs);
    assert!(in_order.windows(2).all(|pair| pair[0].id < pair[1].id));
    let (_, sptf) = finish(Scheduling::Sptf);
    // Seltzer, Chen and Ousterhout (USENIX Winter 1990) find that scheduling by position reduces the time of long queues
    // by at least half.
    assert!(sptf.0 * 2 < fcfs.0, "{sptf:?} {fcfs:?}");

    // Among sectors of a track the nearest is served first, regardless of the order of the requests.
    let mut disk = disk(&spec(Scheduling::Sptf));
    one(&mut disk, Op::Read, 0, 1);
    let reads = [(1, 900), (2, 700), (3, 500)];
    let reads = reads.map(|(id, sector)| Request::new(id, Op::Read, sector * 512, 512));
    let order: Vec<u64> = run(&mut disk, reads.into())
        .iter()
        .map(|c| c.id.0)
        .collect();
    // The first request is chosen alone when its command has been processed. After it, the start of the track arrives
    // first.
    assert_eq!(order, [1, 3, 2]);
}
