//! Tests of the accesses of a job: offsets, lengths, order, mix, depth.

use super::harness::{Drive, LATENCY, Played, jobs, of, play, tally};
use fathom_base::Time;
use fathom_block::Op;
use fathom_workload::program::fio::PrioClass;
use std::collections::{BTreeMap, BTreeSet};

const MIB: u64 = 1 << 20;

/// Returns the offsets in units of 4 KiB, in order.
fn places(text: &str) -> Vec<u64> {
    let played = play(text, MIB);
    assert!(played.iter().all(|one| one.access.len == 4096));
    played.iter().map(|one| one.access.offset / 4096).collect()
}

/// Returns the maximum number of an actor's accesses in flight.
fn deepest(played: &[Played], actor: usize) -> usize {
    let own: Vec<_> = played.iter().filter(|one| one.actor == actor).collect();
    let open = |at: Time| {
        let open = own
            .iter()
            .filter(|one| one.asked <= at && at < one.completed);
        open.count()
    };
    own.iter().map(|one| open(one.asked)).max().unwrap_or(0)
}

#[test]
fn sequential_passes() {
    // As in the I/O logs of fio 3.33.
    assert_eq!(
        places("[a]\nsize=12k\nloops=3"),
        [0, 1, 2, 0, 1, 2, 0, 1, 2]
    );
    assert_eq!(
        places("[a]\nsize=16k\nio_size=40k"),
        [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    );
    assert_eq!(
        places("[a]\nsize=64k\nio_size=8k\nloops=3"),
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(places("[a]\nsize=18k\nrw=write"), [0, 1, 2, 3]);
    assert_eq!(places("[a]\nsize=16k\noffset=32k"), [8, 9, 10, 11]);
    assert_eq!(places("[a]").len(), 256);
}

#[test]
fn reads_and_writes_of_a_sequential_mix_have_places_of_their_own() {
    let played = play("[a]\nrw=rw\nsize=256k", MIB);
    assert_eq!(played.len(), 64);
    for op in [Op::Read, Op::Write] {
        let own = of(&played, op);
        assert!(own.len() > 10);
        for (index, one) in own.iter().enumerate() {
            assert_eq!(one.access.offset, index as u64 * 4096);
        }
    }
}

#[test]
fn the_random_map_covers_every_block_once() {
    for text in [
        "[a]\nrw=randread",
        "[a]\nrw=randrw",
        "[a]\nrw=randtrim\nioengine=libaio\niodepth=9",
    ] {
        let places = places(&format!("{text}\nloops=3"));
        assert_eq!(places.len(), 768);
        let passes: Vec<_> = places.chunks(256).collect();
        for pass in &passes {
            let distinct: BTreeSet<_> = pass.iter().collect();
            assert_eq!(distinct.len(), 256, "{text}");
            // The order is random.
            assert!(
                pass.windows(2)
                    .filter(|pair| pair[1] == pair[0] + 1)
                    .count()
                    < 10
            );
        }
        assert_ne!(passes[0], passes[1]);
    }
}

#[test]
fn the_random_map_covers_every_block_once_with_several_lengths() {
    for split in [
        "4k/50:16k/50",
        "512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10",
        "4k/0:16k/100",
    ] {
        let played = play(
            &format!("[a]\nrw=randread\nsize=999424\nbssplit={split}"),
            MIB,
        );
        let mut covered = BTreeMap::new();
        for one in &played {
            covered.insert(one.access.offset, one.access.len);
        }
        assert_eq!(covered.len(), played.len(), "{split}: twice");
        let mut end = 0;
        for (offset, len) in covered {
            assert_eq!(offset, end, "{split}");
            end += len;
        }
        assert_eq!(end, 999_424);
    }
    // If all lengths are longer than the rest of the region, one shorter access covers it.
    let played = play(
        "[a]\nrw=randread\nsize=20k\nbssplit=4k/0:16k/100\nloops=20",
        MIB,
    );
    let end = |one: &Played| (one.access.offset, one.access.len) == (8 << 10, 12 << 10);
    assert!(played.iter().any(end));
    // Every pass covers the whole region.
    let played = play(
        "[a]\nrw=randread\nsize=64k\nbssplit=4k/50:16k/50\nloops=3",
        MIB,
    );
    assert_eq!(
        played.iter().map(|one| one.access.len).sum::<u64>(),
        192 << 10
    );
    // If reads and writes have different block sizes, each operation has its own cover and its own alignment.
    let played = play("[a]\nrw=randrw\nbs=4k,8k", MIB);
    let mut seen = BTreeSet::new();
    for one in &played {
        assert!(one.access.offset.is_multiple_of(one.access.len));
        assert!(seen.insert((one.access.op, one.access.offset)));
    }
    assert!(played.len() > 128);
}

#[test]
fn without_a_map_places_are_drawn() {
    let distinct = |text: &str| {
        let places = places(&format!("[a]\nrw=randread\nio_size=4m\n{text}"));
        assert_eq!(places.len(), 1024);
        places[..256].iter().collect::<BTreeSet<_>>().len()
    };
    // 256 draws from 256 places: a share of 1 - 1/e is drawn at least once, 162 with a standard deviation of 5.
    let uniform = distinct("norandommap");
    assert!((137..=187).contains(&uniform), "{uniform}");
    assert!(distinct("random_distribution=zipf:1.2") < 137);
    assert!(distinct("random_distribution=pareto:0.1") < 137);
    // Offsets are multiples of `blockalign`, even if blocks overlap.
    let played = play("[a]\nrw=randread\nbs=8k\nba=512", MIB);
    assert!(
        played
            .iter()
            .any(|one| !one.access.offset.is_multiple_of(8192))
    );
    assert!(played.iter().all(|one| one.access.len == 8192));
}

#[test]
fn pareto_gives_a_share_of_the_accesses_to_a_share_of_the_blocks() {
    // pareto:0.2: 20 % of the blocks receive 80 % of the accesses.
    let played = play(
        "[a]\nrw=randread\nsize=4000k\nrandom_distribution=pareto:0.2\nio_size=400m",
        4 * MIB,
    );
    let counts = tally(played.iter().map(|one| one.access.offset));
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let share = counts.iter().take(200).sum::<u64>() as f64 / played.len() as f64;
    // Five standard deviations of 102,400 draws are 0.6 %.
    assert!((share - 0.8).abs() < 0.007, "{share}");
}

#[test]
fn what_is_used_often_does_not_lie_side_by_side() {
    for distribution in ["zipf:1.2", "pareto:0.1"] {
        let text = format!("[a]\nrw=randread\nio_size=40m\nrandom_distribution={distribution}");
        let played = play(&text, MIB);
        let counts = tally(played.iter().map(|one| one.access.offset / 4096));
        let mut hottest: Vec<_> = counts.into_iter().collect();
        hottest.sort_unstable_by_key(|&(_, count)| std::cmp::Reverse(count));
        let places: BTreeSet<_> = hottest[..16].iter().map(|&(place, _)| place).collect();
        // For sixteen random places of 256, one adjacent pair is expected; eight are practically impossible.
        let pairs = places.iter().filter(|&place| places.contains(&(place + 1)));
        assert!(pairs.count() < 8, "{distribution}: {places:?}");
    }
}

#[test]
fn the_mix_and_the_lengths_have_their_shares() {
    let text =
        "[a]\nrw=randrw\nrwmixread=80\nnorandommap\nbssplit=512/10:4k/60:64k/30,8k/100\nio_size=1g";
    let played = play(text, 64 * MIB);
    let n = played.len() as f64;
    let share = |name: &str, hits: usize, n: f64, share: f64| {
        let found = hits as f64 / n;
        let sigma = (share * (1.0 - share) / n).sqrt();
        assert!((found - share).abs() <= 5.0 * sigma, "{name}: {found}");
    };
    let reads = of(&played, Op::Read);
    share("reads", reads.len(), n, 0.8);
    for (len, percent) in [(512, 0.1), (4096, 0.6), (65536, 0.3)] {
        let hits = reads.iter().filter(|one| one.access.len == len).count();
        share("length", hits, reads.len() as f64, percent);
    }
    let writes = of(&played, Op::Write);
    assert!(writes.into_iter().all(|one| one.access.len == 8192));
}

#[test]
fn the_depth_is_reached_and_never_exceeded() {
    for depth in [1, 2, 7, 32] {
        let text = format!("[a]\nrw=randrw\nioengine=io_uring\niodepth={depth}\nnumjobs=2");
        let played = play(&text, MIB);
        for actor in [0, 1] {
            assert_eq!(deepest(&played, actor), depth);
            // Every access takes the same time, so the accesses form rounds of `depth` without gaps.
            let last = played
                .iter()
                .filter(|one| one.actor == actor)
                .map(|one| one.completed);
            let rounds = 256usize.div_ceil(depth) as u64;
            assert_eq!(last.max(), Some(Time(rounds * LATENCY.0)));
        }
    }
    // A synchronous engine has one access in flight.
    assert_eq!(deepest(&play("[a]\niodepth=32", MIB), 0), 1);
}

#[test]
fn somebody_waits_for_reads_and_for_what_a_synchronous_engine_does() {
    for (engine, sync_writes) in [("psync", true), ("libaio", false)] {
        let played = play(&format!("[a]\nrw=randrw\nioengine={engine}"), MIB);
        for one in played {
            let wanted = one.access.op == Op::Read || sync_writes;
            assert_eq!(one.tag.sync, wanted, "{engine}: {:?}", one.access);
            // Every access is direct.
            assert!(one.tag.direct, "{engine}: {:?}", one.access);
        }
    }
}

#[test]
fn a_flush_comes_before_the_next_access_after_so_many_writes() {
    // fio's log of the same job has a sync after every four writes, and none at the end.
    let ops: Vec<_> = play("[a]\nrw=write\nsize=48k\nfsync=4", MIB)
        .iter()
        .map(|one| one.access.op)
        .collect();
    use Op::{Flush as F, Write as W};
    assert_eq!(ops, [W, W, W, W, F, W, W, W, W, F, W, W, W, W]);
    // While the flush is in flight, the process issues nothing, whatever its depth.
    let played = play(
        "[a]\nrw=write\nsize=48k\nfsync=4\nioengine=libaio\niodepth=8",
        MIB,
    );
    let flushes = played.iter().enumerate();
    let mut flushes = flushes.filter(|(_, one)| one.access.op == Op::Flush);
    assert_eq!(flushes.clone().count(), 2);
    assert!(flushes.all(|(index, flush)| {
        let later = &played[index + 1..];
        flush.tag.sync && later.iter().all(|one| one.asked >= flush.completed)
    }));
}

#[test]
fn processes_differ_and_runs_repeat() {
    let text = "[a]\nrw=randrw\nnumjobs=2\n[b]\nrw=randrw\nrandseed=5\n[c]\nrw=randrw\nrandseed=5";
    let run = |seed| Drive::new(MIB).play(&mut jobs(text, MIB, seed)).unwrap();
    let of_actor = |played: &[Played], actor| {
        let own = played.iter().filter(|one| one.actor == actor);
        own.map(|one| (one.access.op, one.access.offset))
            .collect::<Vec<_>>()
    };
    let (one, again, other) = (run(1), run(1), run(2));
    assert_eq!(one, again);
    let each: Vec<_> = (0..4).map(|actor| of_actor(&one, actor)).collect();
    for (index, own) in each.iter().enumerate() {
        assert!(each[..index].iter().all(|earlier| earlier != own));
    }
    assert_ne!(of_actor(&other, 0), each[0]);
    // The job's `randseed` takes precedence over the seed of the run.
    assert_eq!(of_actor(&other, 2), each[2]);
}

#[test]
fn each_process_has_its_number_and_its_priority() {
    let jobs = jobs(
        "[a]\nnumjobs=2\nprio=3\nsize=64k\noffset_increment=64k\n[b]\nsize=64k",
        MIB,
        1,
    );
    let told: Vec<_> = jobs
        .processes()
        .iter()
        .map(|of| (of.job.as_str(), of.clone, of.prio, of.region.offset))
        .collect();
    let wanted = [
        ("a", 0, Some((PrioClass::BestEffort, 3)), 0),
        ("a", 1, Some((PrioClass::BestEffort, 3)), 64 << 10),
        ("b", 0, None, 0),
    ];
    assert_eq!(told, wanted);
}
