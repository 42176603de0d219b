//! Functions of a page-mapped drive besides placing pages: wear levelling, separation of moved data, background garbage
//! collection, and operation with failing blocks until the data no longer fits.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use crate::common::waf;
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request};
use fathom_ssd::spec::{Separation, Striping, Victim, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};
use std::collections::BTreeMap;

const PAGE: u64 = 2048;

/// Two groups of 64 blocks plus spare ones, with 16 pages per block.
fn plain(over: f64) -> Spec {
    let mut spec = common::base();
    spec.flash.pages_per_block = 16;
    spec.flash.clustered_page = Bytes(PAGE);
    spec.flash.clustered_block = Bytes(16 * PAGE);
    spec.capacity = Bytes(128 * 16 * PAGE);
    spec.mapping.over_provisioning_percent = over;
    spec
}

fn write_page(page: u64) -> Request {
    Request::new(page, Op::Write, page * PAGE, PAGE)
}

fn pages_of(spec: &Spec) -> u64 {
    spec.capacity.0 / PAGE
}

/// Fills the drive, then writes `writes` random pages; all except a share of `cold` go to the first `hot` of the pages.
fn skewed(drive: &mut Ssd, spec: &Spec, writes: u64, hot: f64, cold: f64) {
    let pages = pages_of(spec);
    let few = (pages as f64 * hot) as u64;
    run(drive, 16, (0..pages).map(write_page));
    let mut rng = Rng::new(9, 0);
    let requests = (0..writes).map(|_| {
        let among = if rng.chance(cold) { pages } else { few };
        write_page(rng.below(among))
    });
    run(drive, 16, requests);
    drive.check().unwrap();
}

/// Returns the difference between the highest and the lowest erase count of a group; the maximum over the groups.
fn spread(drive: &Ssd) -> u32 {
    let per_group = drive.geometry().cblocks_per_group as usize;
    let groups = drive.erase_counts().chunks(per_group);
    let of = |group: &[u32]| group.iter().max().unwrap() - group.iter().min().unwrap();
    groups.map(of).max().unwrap()
}

fn amplification(drive: &Ssd) -> f64 {
    let counters = drive.counters();
    counters.flash_sectors_programmed as f64 / counters.host_sectors_written as f64
}

#[test]
fn erase_counts_stay_together_where_they_are_to_and_only_there() {
    let wear = |gap, least_worn_first| {
        let mut spec = plain(20.0);
        (spec.gc.wear_gap, spec.gc.least_worn_first) = (gap, least_worn_first);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        // Nine tenths of the data are written only once.
        skewed(&mut drive, &spec, 80_000, 0.1, 0.0);
        (spread(&drive), amplification(&drive))
    };
    // Twice the loosest bound.
    let (without, moved_without) = wear(0, false);
    assert!(without > 84, "{without}");
    for first in [false, true] {
        let (_, loose) = wear(32, first);
        assert!(loose > moved_without, "{loose} {moved_without}");
        for gap in [32, 8, 4] {
            let (with, moved) = wear(gap, first);
            // One lagging block is emptied for each block that the host fills. While all 58 blocks of cold data lag at
            // the same time, the others, at least 13, are erased twice per step.
            assert!(with > gap / 2 && with <= gap + 10, "{gap}: {with}");
            // For small gaps the order may reverse: data moved into a block that was just emptied for wear levelling soon
            // moves again, and how often this happens varies.
            assert!(gap == 32 || moved > loose, "{gap}: {moved} {loose}");
        }
    }
    let (dynamic, _) = wear(0, true);
    assert!(dynamic > 84, "cold data stays where it is: {dynamic}");
}

/// Returns erases, the maximum of a block, and the write amplification of 128 MiB of which 13 MiB are overwritten
/// repeatedly.
fn hot_tenth(gap: u32, least_worn_first: bool) -> (u64, u32, f64) {
    let mut spec = plain(10.0);
    spec.flash.page = Bytes(4096);
    spec.flash.clustered_page = Bytes(4096);
    spec.flash.pages_per_block = 64;
    spec.flash.clustered_block = Bytes(64 * 4096);
    spec.capacity = Bytes::mib(128);
    (spec.gc.wear_gap, spec.gc.least_worn_first) = (gap, least_worn_first);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let page = |page: u64| Request::new(page, Op::Write, page * 4096, 4096);
    run(&mut drive, 16, (0..spec.capacity.0 / 4096).map(page));
    let mut rng = Rng::new(9, 0);
    run(
        &mut drive,
        16,
        (0..1_200_000).map(|_| page(rng.below(13 << 8))),
    );
    drive.check().unwrap();
    let counts = drive.erase_counts();
    let all = counts.iter().map(|&count| u64::from(count)).sum();
    (all, *counts.iter().max().unwrap(), amplification(&drive))
}

/// Cold data that is moved lets a block rest until the others have been erased `gap` more times (Chang, ACM SAC 2007: the
/// data of the least worn block goes to the most worn one, which then stays). So one moved block per `gap` erases is
/// enough: erases increase by at most that share, and the most worn block is near the mean.
#[test]
fn even_wear_costs_a_few_percent() {
    for first in [false, true] {
        let (without, most_without, _) = hot_tenth(u32::MAX, first);
        for gap in [16, 32, 64] {
            let (erases, most, amplification) = hot_tenth(gap, first);
            let more = erases as f64 / without as f64 - 1.0;
            assert!(more > 0.0 && more < 1.0 / f64::from(gap), "{gap}: {more}");
            assert!(amplification < 1.3, "{gap}: {amplification}");
            // The mean is 40; the hot tenth alone would wear its blocks five times as much.
            assert!(most < 40 + gap + 10, "{gap}: {most}");
            assert!(most_without > 180, "{most_without}");
        }
    }
}

/// One group of 256 blocks of 75 pages, 10 % spare; a share `often` of the writes go to the first `1 - often` of the pages.
/// Returns the spread of erases and the write amplification.
fn often_written(gc: (u32, bool), often: f64, seed: u64) -> (u32, f64) {
    let mut spec = plain(10.0);
    spec.flash.channels = 1;
    spec.flash.pages_per_block = 75;
    spec.flash.clustered_block = Bytes(75 * PAGE);
    spec.capacity = Bytes(256 * 75 * PAGE);
    (spec.gc.wear_gap, spec.gc.least_worn_first) = gc;
    let mut drive = Ssd::new(&spec, seed).unwrap();
    let pages = pages_of(&spec);
    run(&mut drive, 16, (0..pages).map(write_page));
    let mut rng = Rng::new(seed, 0);
    let hot = ((1.0 - often) * pages as f64) as u64;
    let page = |_| match rng.chance(often) {
        true => write_page(rng.below(hot)),
        false => write_page(hot + rng.below(pages - hot)),
    };
    run(&mut drive, 16, (0..30 * pages).map(page));
    drive.check().unwrap();
    (spread(&drive), amplification(&drive))
}

/// The most worn erased block is reserved for data moved by wear levelling, which stays (Chang, ACM SAC 2007, cold-data
/// migration: into the head of the pool of the most worn). Data moved by garbage collection is not that cold: it would
/// wear the most worn blocks further, and wear levelling would have to follow.
#[test]
fn what_collection_moves_does_not_wear_the_most_worn_blocks() {
    for (seed, often) in [(1, 0.9), (2, 0.95)] {
        let (_, without) = often_written((0, false), often, seed);
        for gap in [8, 32] {
            let (_, in_order) = often_written((gap, false), often, seed);
            let (with, moved) = often_written((gap, true), often, seed);
            let what = format!("seed {seed}, {often}, gap {gap}");
            assert!(with <= gap + 10, "{what}: {with}");
            let least = in_order.min(without);
            assert!(moved < 1.03 * least, "{what}: {moved} {least}");
        }
    }
}

/// With one open block for all data and few spare blocks, each victim leaves less than a block of room in the block that
/// receives its data, and there are never two erased blocks. A lagging block can then be emptied only before garbage
/// collection.
#[test]
fn erase_counts_stay_together_where_collection_leaves_no_room() {
    let wear = |over, gap, first| {
        let mut spec = plain(over);
        spec.gc.separate = Separation::Nothing;
        (spec.gc.wear_gap, spec.gc.least_worn_first) = (gap, first);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        skewed(&mut drive, &spec, 80_000, 1.0, 0.0);
        spread(&drive)
    };
    for over in [1.0, 5.0] {
        for first in [false, true] {
            let without = wear(over, 0, first);
            assert!(without > 50, "{over}: {without}");
            for gap in [32, 8, 4] {
                let with = wear(over, gap, first);
                assert!(with <= gap + 10, "{over}, {gap}: {with}");
            }
        }
    }
}

/// Small blocks often hold equally many valid pages. If the first of them were always collected, wear levelling could not
/// compensate, because it raises all others alike. Choosing the least worn one of them costs nothing.
#[test]
fn of_equal_blocks_the_least_worn_one_is_collected() {
    let wear = |gap| {
        let mut spec = plain(30.0);
        spec.flash.channels = 1;
        spec.flash.pages_per_block = 2;
        spec.flash.clustered_block = Bytes(2 * PAGE);
        spec.capacity = Bytes(64 * 2 * PAGE);
        (spec.gc.separate, spec.gc.wear_gap) = (Separation::Nothing, gap);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        skewed(&mut drive, &spec, 25_600, 1.0, 0.0);
        (spread(&drive), amplification(&drive))
    };
    let (without, moved_without) = wear(0);
    assert!(without > 150, "{without}");
    for gap in [32, 8, 4] {
        let (with, moved) = wear(gap);
        assert!(with <= gap + 5, "{gap}: {with}");
        assert!(
            moved < 1.05 * moved_without,
            "{gap}: {moved} {moved_without}"
        );
    }
}

/// One group of blocks of 64 pages; nine tenths of the writes go to a tenth of the data. The number of blocks is the same
/// for any number of open blocks.
fn hot_and_cold(victim: Victim, separate: Separation) -> f64 {
    let mut spec = plain(15.0);
    spec.flash.channels = 1;
    spec.flash.pages_per_block = 64;
    spec.flash.clustered_block = Bytes(64 * PAGE);
    spec.capacity = Bytes(512 * 64 * PAGE);
    let gc = &mut spec.gc;
    (gc.victim, gc.separate, gc.choices) = (victim, separate, 10);
    if separate != Separation::HotCold {
        spec.mapping.over_provisioning_percent = 15.2;
    }
    let mut drive = Ssd::new(&spec, 1).unwrap();
    assert_eq!(drive.geometry().cblocks_per_group, 512 + 83);
    let pages = pages_of(&spec);
    let mut rng = Rng::new(9, 0);
    let mut writes = |drive: &mut Ssd, n: u64| {
        let hot = pages / 10;
        let page = |_| {
            let among = if rng.chance(0.1) { pages } else { hot };
            write_page(rng.below(among))
        };
        run(drive, 16, (0..n).map(page));
    };
    run(&mut drive, 16, (0..pages).map(write_page));
    writes(&mut drive, 6 * pages);
    let before = drive.counters();
    writes(&mut drive, 4 * pages);
    drive.check().unwrap();
    let after = drive.counters();
    let programmed = after.flash_sectors_programmed - before.flash_sectors_programmed;
    programmed as f64 / (after.host_sectors_written - before.host_sectors_written) as f64
}

/// Greedy collection reclaims blocks with the same number of valid pages, regardless of their data. If hot and cold data
/// share no block, each has spare blocks in proportion to its size, and the write amplification is that of uniform
/// writes; if they share blocks, it is higher. A policy that lets cold blocks wait comes closer to the optimal division
/// of the spare blocks, and cannot be better.
#[test]
fn hot_data_is_cheaper_to_collect_apart() {
    let spare = (83.0 - 2.5) / 512.0;
    let uniform = waf::greedy_closed(1.0 / (1.0 + spare), 64);
    let best = waf::best_division(0.1, 0.91, spare, 64);
    assert!(best > 1.5 && best < 0.5 * uniform, "{best} {uniform}");
    let of = |victim| {
        let parts = [Separation::Nothing, Separation::Copies, Separation::HotCold];
        parts.map(|separate| hot_and_cold(victim, separate))
    };
    let [nothing, copies, apart] = of(Victim::Greedy);
    assert!(
        copies < 0.95 * nothing && copies > 1.08 * uniform,
        "{copies} {nothing} {uniform}"
    );
    assert!(
        (apart / uniform - 1.0).abs() < 0.05,
        "greedy: {apart}, uniform writes {uniform}"
    );
    for victim in [Victim::CostBenefit, Victim::DChoices] {
        let [nothing, copies, apart] = of(victim);
        assert!(copies < 0.8 * nothing, "{victim:?}: {copies} {nothing}");
        assert!(
            apart < 0.9 * copies && apart < 0.7 * uniform && apart > best,
            "{victim:?}: {apart} {copies} {best}"
        );
    }
}

#[test]
fn cost_benefit_moves_less_than_greedy_where_some_is_written_often() {
    let waf = |victim| {
        let mut spec = plain(15.0);
        spec.gc.victim = victim;
        let mut drive = Ssd::new(&spec, 1).unwrap();
        skewed(&mut drive, &spec, 40_000, 0.1, 0.1);
        amplification(&drive)
    };
    // Rosenblum and Ousterhout 1992, 3.5 and figure 7; Kawaguchi, Nishioka and Motoda 1995, table 2.
    let (greedy, cost_benefit) = (waf(Victim::Greedy), waf(Victim::CostBenefit));
    assert!(cost_benefit < 0.9 * greedy, "{cost_benefit} {greedy}");
}

#[test]
fn collecting_in_idle_time_makes_the_next_writes_faster() {
    let burst = |percent| {
        let mut spec = plain(30.0);
        spec.gc.background_percent = percent;
        spec.gc.background_delay = Dur::us(1000);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        skewed(&mut drive, &spec, 8_000, 1.0, 0.0);
        drive.wait(Time(drive.now().0 + 1_000_000_000), &mut Vec::new());
        let before = drive.merges().collected;
        let mut rng = Rng::new(4, 0);
        let pages = pages_of(&spec);
        let done = run(
            &mut drive,
            1,
            (0..100).map(|_| write_page(rng.below(pages))),
        );
        let total: u64 = done.iter().map(|c| c.completed.0 - c.submitted.0).sum();
        let in_idle_time = drive.counters().background_collections;
        (total / 100, in_idle_time, drive.merges().collected - before)
    };
    let (without, none, collected) = burst(0.0);
    assert!(none == 0 && collected > 5, "{none} {collected}");
    let (with, some, later) = burst(10.0);
    // A tenth of 88 blocks is nine, for each of two groups; 100 pages fill not quite four. The valid pages of a victim
    // need room too, so two blocks may have to be collected for one that stays erased.
    assert!((10..=40).contains(&some) && later == 0, "{some} {later}");
    assert!(with < without, "{with} ns, without {without} ns");
}

#[test]
fn collecting_in_idle_time_begins_when_its_delay_is_over() {
    let mut spec = plain(30.0);
    (spec.gc.background_percent, spec.gc.background_delay) = (10.0, Dur::us(1000));
    let mut drive = Ssd::new(&spec, 1).unwrap();
    skewed(&mut drive, &spec, 8_000, 1.0, 0.0);
    let mut after = |ns: u64| {
        drive.wait(Time(drive.now().0 + ns), &mut Vec::new());
        drive.counters().background_collections
    };
    let before = after(999_999);
    assert_eq!(after(2).saturating_sub(before), 1);
}

#[test]
fn idle_time_ends_collecting_when_there_is_nothing_to_gain() {
    let mut spec = plain(10.0);
    spec.gc.background_percent = 50.0;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    skewed(&mut drive, &spec, 4_000, 1.0, 0.0);
    drive.wait(Time(drive.now().0 + 20_000_000_000), &mut Vec::new());
    let once = drive.counters().background_collections;
    drive.wait(Time(drive.now().0 + 20_000_000_000), &mut Vec::new());
    assert!(once > 10, "{once}");
    assert_eq!(drive.counters().background_collections, once);
    drive.check().unwrap();
}

fn bytes_of(page: u64, version: u64) -> Box<[u8]> {
    let words = [page.to_le_bytes(), version.to_le_bytes()].concat();
    words.repeat(PAGE as usize / 16).into_boxed_slice()
}

/// Writes random pages, each with a version, until the drive is worn out. Then every page must hold its last version, or
/// one that failed later.
fn until_worn_out(spec: &Spec, seed: u64) -> u64 {
    let pages = spec.capacity.0 / PAGE;
    let mut drive = Ssd::new(spec, seed).unwrap().keep_data();
    let mut rng = Rng::new(seed, 0);
    let mut acknowledged = vec![0; pages as usize];
    let mut sent = vec![Vec::new(); pages as usize];
    let mut page_of = vec![0];
    let (mut version, mut in_flight, mut done) = (0u64, 0, Vec::new());
    while in_flight > 0 || !drive.is_worn_out() {
        while in_flight < 16 && !drive.is_worn_out() {
            version += 1;
            let page = rng.below(pages);
            let mut request = Request::new(version, Op::Write, page * PAGE, PAGE);
            request.data = Some(bytes_of(page, version));
            sent[page as usize].push(version);
            page_of.push(page as usize);
            drive.submit(request).unwrap();
            in_flight += 1;
        }
        drive.wait(Time::MAX, &mut done);
        assert!(!done.is_empty(), "{}: no write completes", spec.name);
        for completion in std::mem::take(&mut done) {
            in_flight -= 1;
            match completion.result {
                Ok(()) => {
                    let version = completion.id.0;
                    let page = page_of[version as usize];
                    acknowledged[page] = acknowledged[page].max(version);
                }
                Err(error) => assert_eq!(error.kind, IoErrorKind::Medium, "{}", spec.name),
            }
        }
        for (sent, &last) in sent.iter_mut().zip(&acknowledged) {
            sent.retain(|&version| version >= last);
        }
    }
    drive.check().unwrap();
    assert!(drive.bad_blocks() > 0);
    let refused = Request::new(0, Op::Write, 0, PAGE);
    drive.submit(refused).unwrap();
    drive.wait(Time::MAX, &mut done);
    assert_eq!(
        done.pop().unwrap().result.unwrap_err().kind,
        IoErrorKind::ReadOnly
    );
    for page in 0..pages {
        drive
            .submit(Request::new(page, Op::Read, page * PAGE, PAGE))
            .unwrap();
        drive.wait(Time::MAX, &mut done);
        let data = done.pop().unwrap().data.unwrap();
        let may = |&version: &u64| data == bytes_of(page, version);
        let (sent, last) = (&sent[page as usize], acknowledged[page as usize]);
        let fresh = last == 0 && data.iter().all(|&b| b == 0);
        assert!(
            fresh || sent.iter().any(may),
            "{}: page {page} lost version {last}",
            spec.name
        );
    }
    version
}

#[test]
fn a_drive_whose_blocks_fail_keeps_its_data_until_it_cannot_be_written() {
    for separate in [Separation::Nothing, Separation::Copies, Separation::HotCold] {
        for striping in [Striping::Dynamic, Striping::Cwdp] {
            let mut spec = plain(50.0);
            spec.name = format!("{separate:?} {striping:?}");
            spec.capacity = Bytes(16 * 16 * PAGE);
            spec.faults.factory_bad_percent = 5.0;
            (spec.gc.separate, spec.mapping.striping) = (separate, striping);
            let mut lives = Vec::new();
            for erase_fail in [0.2, 0.02, 0.005] {
                spec.faults.erase_fail = erase_fail;
                lives.push((0..4).map(|seed| until_worn_out(&spec, seed)).sum::<u64>());
            }
            assert!(
                lives[0] * 2 < lives[1] && lives[1] * 2 < lives[2],
                "{lives:?}"
            );
        }
    }
}

/// A drive whose erases often fail; the write buffer is optional and may have a battery.
fn short_lived(buffer: Option<WriteBuffer>) -> Spec {
    let mut spec = plain(50.0);
    spec.capacity = Bytes(16 * 16 * PAGE);
    spec.faults.erase_fail = 0.2;
    spec.write_buffer = buffer;
    spec
}

/// Writes and reads, 8 of each at a time. Returns the completions that failed when the drive wore out, and the last
/// acknowledged version of each page.
fn beside_reads(drive: &mut Ssd, seed: u64) -> (Vec<Completion>, Vec<u64>) {
    let pages = drive.info().capacity_bytes / PAGE;
    let mut rng = Rng::new(seed, 0);
    let (mut failed, mut acknowledged) = (Vec::new(), vec![0; pages as usize]);
    let (mut id, mut done) = (0, Vec::new());
    while !drive.is_worn_out() {
        let mut page_of = BTreeMap::new();
        for _ in 0..8 {
            for op in [Op::Write, Op::Read] {
                id += 1;
                let page = rng.below(pages);
                let mut request = Request::new(id, op, page * PAGE, PAGE);
                if op == Op::Write {
                    request.data = Some(bytes_of(page, id));
                    page_of.insert(id, page);
                }
                drive.submit(request).unwrap();
            }
        }
        let mut left = 16;
        while left > 0 {
            drive.wait(Time::MAX, &mut done);
            assert!(!done.is_empty(), "{left} requests never complete");
            left -= done.len();
            for completion in done.drain(..) {
                match (completion.result, page_of.get(&completion.id.0)) {
                    (Ok(()), Some(&page)) => {
                        let last = &mut acknowledged[page as usize];
                        *last = completion.id.0.max(*last);
                    }
                    (Ok(()), None) => {}
                    (Err(_), _) => failed.push(completion),
                }
            }
        }
    }
    (failed, acknowledged)
}

#[test]
fn a_drive_that_wears_out_fails_no_read_in_flight() {
    let mut failed = Vec::new();
    for seed in 0..20 {
        let mut drive = Ssd::new(&short_lived(None), seed).unwrap().keep_data();
        failed.extend(beside_reads(&mut drive, seed).0);
    }
    assert!(failed.iter().all(|c| c.op == Op::Write), "{failed:?}");
    assert!(!failed.is_empty());
}

#[test]
fn a_drive_that_wears_out_keeps_what_its_battery_holds() {
    let buffer = WriteBuffer {
        battery: true,
        ..WriteBuffer::new(WritePolicy::Lru, Bytes(24 * PAGE))
    };
    for seed in 0..20 {
        let spec = short_lived(Some(buffer.clone()));
        let mut drive = Ssd::new(&spec, seed).unwrap().keep_data();
        let (failed, acknowledged) = beside_reads(&mut drive, seed);
        for cut in [false, true] {
            if cut {
                drive.cut_power();
                drive.power_on();
            }
            for (page, &version) in (0..).zip(&acknowledged) {
                let mut done = Vec::new();
                let read = Request::new(0, Op::Read, page * PAGE, PAGE);
                drive.submit(read).unwrap();
                drive.wait(Time::MAX, &mut done);
                let data = done.pop().unwrap().data.unwrap();
                let failed = failed.iter().map(|c| c.id.0).filter(|&id| id > version);
                let fits = failed.chain([version]).any(|version| match version {
                    0 => data.iter().all(|&byte| byte == 0),
                    _ => data == bytes_of(page, version),
                });
                assert!(
                    fits,
                    "seed {seed}, page {page} lost version {version}, cut: {cut}"
                );
            }
        }
    }
}

#[test]
fn blocks_that_are_bad_from_the_start_take_no_room_from_the_host() {
    let mut spec = plain(10.0);
    spec.faults.factory_bad_percent = 20.0;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let bad = drive.bad_blocks();
    assert!(
        bad as u32 * 100 / drive.geometry().cblocks_per_group >= 38,
        "{bad} in two groups"
    );
    skewed(&mut drive, &spec, 10_000, 1.0, 0.0);
    assert!(!drive.is_worn_out());
    assert_eq!(drive.bad_blocks(), bad);
    let with = amplification(&drive);
    spec.faults.factory_bad_percent = 0.0;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    skewed(&mut drive, &spec, 10_000, 1.0, 0.0);
    // Bad blocks are in addition to the spare blocks.
    assert!(
        (with / amplification(&drive) - 1.0).abs() < 0.03,
        "{with} {}",
        amplification(&drive)
    );
}
