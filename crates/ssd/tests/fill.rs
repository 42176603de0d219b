//! A drive filled by [`Ssd::fill`] is equivalent to a drive filled by requests.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{FastCache, Fold, MappingKind, Noise, Striping, Victim, WhenFull};
use fathom_ssd::{Spec, Ssd, presets};

const PIECE: u64 = 1 << 20;
const DEPTH: usize = 32;

/// Writes the drive sequentially from `from` on, and waits.
fn write_rest(drive: &mut Ssd, from: u64) {
    let info = drive.info().clone();
    let piece = PIECE.min(info.max_request_bytes);
    let starts = (from / piece..info.capacity_bytes.div_ceil(piece)).map(|i| (i * piece).max(from));
    let depth = DEPTH.min(info.queue_depth as usize);
    let end = |at: u64| (at / piece + 1) * piece;
    let request = |at: u64| {
        let len = end(at).min(info.capacity_bytes) - at;
        Request::new(at, Op::Write, at, len)
    };
    run(drive, depth, starts.map(request));
    let until = drive.now() + Dur::ms(1_000);
    while drive.now() < until {
        drive.wait(until, &mut Vec::new());
    }
}

/// Returns the latencies of random reads and writes, some of them of single sectors, and the flash work during them.
fn what_follows(drive: &mut Ssd) -> (Vec<Dur>, u64, u64) {
    let (start, info) = (drive.now(), drive.info().clone());
    let mut rng = Rng::new(7, 0);
    let before = drive.counters();
    let requests: Vec<Request> = (0..4_000)
        .map(|i| {
            let op = if rng.chance(0.4) { Op::Read } else { Op::Write };
            let len = [512, 4096, 16_384, 65_536][rng.below(4) as usize];
            let len = len.max(u64::from(info.logical_block_bytes));
            let places = info.capacity_bytes / len;
            Request::new(i, op, rng.below(places) * len, len)
        })
        .collect();
    let depth = 8.min(info.queue_depth as usize);
    let done = run(drive, depth, requests);
    assert!(drive.now() > start);
    let after = drive.counters();
    (
        done.iter().map(|completion| completion.latency()).collect(),
        after.flash_sectors_programmed - before.flash_sectors_programmed,
        after.erases - before.erases,
    )
}

/// Returns what differs between the two drives; `None` if they are equal.
fn difference(spec: &Spec) -> Option<String> {
    let mut by_requests = Ssd::new(spec, 1).unwrap();
    let mut at_once = by_requests.clone();
    let filled = at_once.fill();
    assert_eq!(at_once.now(), Time::ZERO);
    write_rest(&mut at_once, filled);
    write_rest(&mut by_requests, 0);
    at_once.check().unwrap();
    let written = |drive: &Ssd| drive.counters().host_sectors_written;
    assert_eq!(written(&at_once), written(&by_requests));
    let (a, b) = (what_follows(&mut at_once), what_follows(&mut by_requests));
    let differ = a.0.iter().zip(&b.0).filter(|(a, b)| a != b).count();
    (a != b).then(|| {
        format!(
            "{filled} B at once: {differ} of {} differ, programmed {} and {}, erases {} and {}",
            a.0.len(),
            a.1,
            b.1,
            a.2,
            b.2
        )
    })
}

fn quiet(mut spec: Spec) -> Spec {
    spec.noise = Noise::default();
    spec
}

#[test]
fn every_preset_is_filled_at_once_as_by_requests() {
    for preset in presets::PRESETS {
        let spec = quiet(Spec::from_toml(preset.text).unwrap());
        assert_eq!(difference(&spec), None, "{}", preset.name);
    }
}

/// The place of each unit follows from the eviction order. Two policies evict whole blocks, and first the block that was
/// written in order; with page mapping, their pages are then placed in a different order.
#[test]
fn every_mapping_and_policy_is_filled_at_once_as_by_requests() {
    for kind in common::KINDS {
        for (shape, buffer) in ["whole", "padded", "lanes"]
            .into_iter()
            .flat_map(|shape| common::BUFFERS.map(|buffer| (shape, buffer)))
        {
            let mut spec = common::drive(kind, shape, buffer);
            spec.capacity = Bytes::mib(72);
            let in_order = !kind.is_paged() || !["bplru", "lb-clock"].contains(&buffer);
            let difference = difference(&quiet(spec.clone()));
            assert!(
                difference.is_none() || !in_order,
                "{}: {difference:?}",
                spec.name
            );
        }
    }
}

#[test]
fn static_stripes_are_filled_at_once_as_by_requests() {
    for (striping, victim) in [
        (Striping::Cwdp, Victim::Fifo),
        (Striping::Pdwc, Victim::CostBenefit),
    ] {
        let mut spec = common::drive(MappingKind::Page, "lanes", "none");
        (spec.capacity, spec.mapping.striping) = (Bytes::mib(72), striping);
        (spec.gc.victim, spec.gc.wear_gap) = (victim, 8);
        assert_eq!(difference(&quiet(spec)), None, "{striping:?} {victim:?}");
    }
}

/// The fill of a drive with a small cache writes translation pages so often that it collects blocks, and writes wait for
/// erases.
#[test]
fn a_drive_that_collects_while_it_is_filled_is_filled_at_once_as_by_requests() {
    let mut spec = quiet(Spec::from_toml(presets::find("nvme").unwrap().text).unwrap());
    (spec.flash.channels, spec.flash.pages_per_block) = (2, 16);
    (spec.flash.clustered_block, spec.capacity) = (Bytes::mib(1), Bytes::mib(768));
    spec.mapping.kind = MappingKind::Dftl;
    for (bytes, collects) in [
        (64, true),
        (512, true),
        (576, true),
        (640, true),
        (65_536, false),
    ] {
        spec.mapping.map_cache = Some(Bytes(bytes));
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let filled = drive.fill();
        assert_eq!(filled < spec.capacity.0 / 2, collects, "{bytes} B of cache");
        write_rest(&mut drive, filled);
        assert_eq!(drive.merges().collected > 0, collects, "{bytes} B of cache");
        assert_eq!(difference(&spec), None, "{bytes} B of cache");
    }
}

/// The fast cache takes its share, then writes go around it, until the data in it has to be folded: from there on the drive is
/// written by requests.
#[test]
fn a_drive_with_a_fast_cache_is_filled_at_once_until_it_has_to_fold() {
    let mut spec = quiet(Spec::from_toml(presets::find("nvme").unwrap().text).unwrap());
    (spec.flash.channels, spec.flash.pages_per_block) = (2, 16);
    (spec.flash.clustered_block, spec.capacity) = (Bytes::mib(1), Bytes::mib(768));
    let cache = |dynamic_percent, when_full| FastCache {
        bits_per_cell: 4,
        static_capacity: Bytes::mib(100),
        dynamic_percent,
        read: Dur::us(20),
        program: Dur::us(100),
        erase: Dur::ms(2),
        fold: Fold::Idle,
        idle_delay: Dur::ms(100),
        when_full,
    };
    // Blocks of 1 MiB, a quarter of that in SLC mode.
    for (percent, when_full, cached) in [
        (0.0, WhenFull::Bypass, 100),
        (0.0, WhenFull::Fold, 100),
        (50.0, WhenFull::Fold, 196),
        (50.0, WhenFull::Bypass, 196),
    ] {
        spec.fast_cache = Some(cache(percent, when_full));
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let g = drive.geometry();
        let native = u64::from(g.groups * g.cblocks_per_group) - 4 * cached;
        let groups = u64::from(g.groups);
        let until = match when_full {
            WhenFull::Fold => cached,
            WhenFull::Bypass => (cached + native).min(768),
        };
        // 64 MiB are left to requests. A group has up to one block more or less, and keeps two erased ones.
        let filled = (drive.fill() >> 20) + 64;
        let fits = filled <= until + groups && filled + 3 * groups >= until;
        assert!(fits, "{filled} of {until} MiB, {when_full:?} {percent}");
        assert_eq!(difference(&spec), None, "{when_full:?} {percent}");
    }
    spec.mapping.kind = MappingKind::Dftl;
    spec.mapping.map_cache = Some(Bytes::mib(1));
    assert_eq!(Ssd::new(&spec, 1).unwrap().fill(), 0);
}

#[test]
fn what_was_written_before_is_not_filled_at_once() {
    let spec = Spec::from_toml(presets::find("nvme").unwrap().text).unwrap();
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 1, [Request::new(0, Op::Write, 0, 4096)]);
    assert_eq!(drive.fill(), 0);
    assert_eq!(Ssd::new(&spec, 1).unwrap().keep_data().fill(), 0);
    assert_eq!(Ssd::new(&spec, 1).unwrap().fill(), 0, "it has noise");
    let filled = Ssd::new(&quiet(spec.clone()), 1).unwrap().fill();
    assert!(filled > spec.capacity.0 / 100 * 98, "{filled}");
}
