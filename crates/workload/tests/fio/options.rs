//! Options that change the accesses, tested against fio 3.33's manual (HOWTO.rst) and sources; `fio_compare.rs` runs
//! fio itself.

use super::harness::{self, Drive, LATENCY, Played, info, jobs, play, tally};
use fathom_base::{Dur, Time};
use fathom_block::Op;
use fathom_workload::program::fio::{
    Amount, Around, HARMLESS, IGNORED, OPTIONS, PrioClass, Problem, REFUSED, parse, parse_with,
};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const BLOCK: u64 = 4096;

fn starts(text: &str) -> Vec<u64> {
    let played = play(text, MIB);
    played.iter().map(|one| one.access.offset).collect()
}

fn ops(text: &str) -> Vec<Op> {
    play(text, MIB).iter().map(|one| one.access.op).collect()
}

/// HOWTO, `readwrite`: "for a random read, it would look like rw=randread:8 for passing in an offset modifier with a
/// value of 8"; `rw_sequencer`: "you would get a new random offset for every 8 I/Os", or "the same offset 8 number of
/// times".
#[test]
fn a_number_behind_rw_is_that_of_accesses_for_a_place() {
    // A run of eight that reaches the end of the drive continues elsewhere. Without a map, places may repeat.
    let text = "[a]\nrw=randread:8\nsize=1m\nrandseed=3";
    let runs = starts(text);
    assert_eq!(runs.len(), 256);
    for run in runs.chunks(8) {
        let breaks = run.windows(2).filter(|pair| pair[1] != pair[0] + BLOCK);
        let at_the_end = run.windows(2).filter(|pair| pair[0] + BLOCK == MIB);
        assert!(breaks.count() <= at_the_end.count(), "{run:?}");
    }
    let heads: Vec<u64> = runs.chunks(8).map(|run| run[0]).collect();
    assert!(
        heads
            .windows(2)
            .filter(|pair| pair[1] == pair[0] + 8 * BLOCK)
            .count()
            < 4
    );
    // Each drawn place is repeated eight times.
    let same = starts(&format!("{text}\nrw_sequencer=identical"));
    assert!(same.chunks(8).all(|run| run.iter().all(|at| *at == run[0])));
    assert!(same.chunks(8).any(|run| run[0] != same[0]));
}

/// HOWTO, `readwrite`: "using rw=write:4k will skip 4k for every write".
#[test]
fn a_number_behind_a_sequential_rw_leaves_a_hole() {
    assert_eq!(
        starts("[a]\nrw=write:4k\nsize=32k")[..4],
        [0, 8192, 16384, 24576]
    );
    // As in fio's log: a hole across the end of the drive wraps to its start.
    let end = MIB - 16384;
    assert_eq!(starts("[a]\nrw=write:12k")[63..66], [end, 0, 16384]);
    // A hole across the end of a part of the drive ends the job.
    assert_eq!(
        starts("[a]\nrw=write:12k\nsize=64k"),
        [0, 16384, 32768, 49152]
    );
    let error = parse("[a]\nrw=read:100").unwrap().jobs[0].resolve(&info(MIB));
    assert!(error.unwrap_err().to_string().contains("`rw=read:100`"));
}

/// HOWTO, `percentage_random`: "100%, in which case the workload is fully random"; "Setting it to 0 would make the workload
/// fully sequential".
#[test]
fn a_percentage_of_a_random_job_is_random() {
    let follows = |percent: u64| {
        let places = starts(&format!(
            "[a]\nrw=randread\nnorandommap\nio_size=16m\npercentage_random={percent}"
        ));
        let pairs = places
            .windows(2)
            .filter(|pair| pair[1] == (pair[0] + BLOCK) % MIB);
        pairs.count() as f64 / (places.len() - 1) as f64
    };
    let all: Vec<u64> = (0..256).map(|block| block * BLOCK).collect();
    assert_eq!(starts("[a]\nrw=randread\npercentage_random=0"), all);
    for percent in [30, 70] {
        // One random place in 256 follows the previous one by chance, and past the end all places are drawn.
        let (found, wanted) = (follows(percent), 1.0 - percent as f64 / 100.0);
        let sigma = (wanted * (1.0 - wanted) / 4096.0).sqrt();
        assert!(
            (found - wanted).abs() < 5.0 * sigma + 2.0 / 256.0,
            "{percent}: {found}"
        );
    }
    // Each operation has its own percentage.
    let played = play(
        "[a]\nrw=randrw\nnorandommap\nio_size=4m\npercentage_random=0,100",
        MIB,
    );
    let of = |op| -> Vec<u64> {
        let own = harness::of(&played, op).into_iter();
        own.map(|one| one.access.offset).collect()
    };
    let steps = |places: &[u64]| places.windows(2).filter(|p| p[1] == p[0] + BLOCK).count();
    assert!(steps(&of(Op::Read)) > of(Op::Read).len() - 10);
    assert!(steps(&of(Op::Write)) < of(Op::Write).len() / 10);
}

/// fio 3.33, io_u.c, `get_next_buflen`: `minbs + maxbs * r`, rounded down to a multiple of `minbs`, at most `maxbs`.
/// Every multiple is equally likely.
#[test]
fn a_range_of_lengths_is_even() {
    let played = play("[a]\nrw=write\nbsrange=1k-8k\nio_size=32m", MIB);
    let counts = tally(played.iter().map(|one| one.access.len));
    assert_eq!(
        counts.keys().copied().collect::<Vec<_>>(),
        (1..=8).map(|n| n * 1024).collect::<Vec<_>>()
    );
    let (n, p) = (played.len() as f64, 1.0 / 8.0);
    for (len, count) in counts {
        // Fewer lengths fit at the end of each pass: some two in 230 accesses.
        let slack = 5.0 * (n * p * (1.0 - p)).sqrt() + n / 100.0;
        assert!(
            (count as f64 - n * p).abs() < slack,
            "{len}: {count} of {n}"
        );
    }
    // `bsrange` takes precedence over `bs`, for each operation; `bssplit` over both.
    let job = &parse("[a]\nbs=2k\nblocksize_range=8k:4k,\nrw=rw")
        .unwrap()
        .jobs[0];
    assert_eq!(
        (job.shortest(Op::Read), job.lengths(Op::Read).longest()),
        (4096, 8192)
    );
    assert_eq!(
        (job.shortest(Op::Write), job.lengths(Op::Write).longest()),
        (2048, 2048)
    );
    let job = &parse("[a]\nbsrange=4k-8k\nbssplit=1k/100").unwrap().jobs[0];
    assert_eq!(job.lengths(Op::Read).longest(), 1024);
}

/// HOWTO, `fdatasync`: "Like fsync". If both are due, fio flushes once (io_u.c, `get_rw_ddir`).
#[test]
fn both_kinds_of_flush_are_one() {
    use Op::{Flush as F, Write as W};
    assert_eq!(ops("[a]\nrw=write\nsize=16k\nfdatasync=2"), [W, W, F, W, W]);
    let both = ops("[a]\nrw=write\nsize=28k\nfdatasync=2\nfsync=3");
    assert_eq!(both, [W, W, F, W, F, W, F, W, W, F, W]);
    assert_eq!(ops("[a]\nrw=read\nsize=8k\nfdatasync=1"), [Op::Read; 2]);
}

/// HOWTO, `end_fsync`: "fsync file contents when a write stage has completed".
#[test]
fn the_end_of_a_stage_is_flushed() {
    use Op::{Flush as F, Read as R, Write as W};
    assert_eq!(
        ops("[a]\nrw=write\nsize=8k\nend_fsync=1\nloops=2"),
        [W, W, F, W, W, F]
    );
    // Nothing is flushed twice, and there is no flush without a write.
    assert_eq!(
        ops("[a]\nrw=write\nsize=8k\nend_fsync=1\nfsync=1"),
        [W, F, W, F]
    );
    assert_eq!(ops("[a]\nrw=read\nsize=8k\nend_fsync=1"), [R; 2]);
    // The flush waits for the accesses in flight, and the job ends after it.
    let text =
        "[a]\nrw=write\nsize=16k\nend_fsync=1\nioengine=libaio\niodepth=8\n[b]\nstonewall\nsize=4k";
    let played = play(text, MIB);
    let at: Vec<u64> = played.iter().map(|one| one.asked.0 / LATENCY.0).collect();
    assert_eq!(at, [0, 0, 0, 0, 1, 2]);
    // The flush comes before the verification.
    let mut drive = Drive::new(MIB);
    drive.bytes = Some(BTreeMap::new());
    let text = "[a]\nrw=write\nsize=8k\nend_fsync=1\nverify=crc32c";
    let mut played = drive.play(&mut jobs(text, MIB, 1)).unwrap();
    played.sort_by_key(|one| one.asked);
    let ops: Vec<Op> = played.iter().map(|one| one.access.op).collect();
    assert_eq!(ops, [W, W, F, R, R]);
    // A time limit ends a stage as well.
    let ops = self::ops("[a]\nrw=write\nruntime=250us\ntime_based\nend_fsync=1");
    assert_eq!(ops, [W, W, W, F]);
}

/// HOWTO, `sync`: O_SYNC or O_DSYNC for writes.
#[test]
fn synchronous_writes_are_durable() {
    for (value, durable) in [
        ("none", false),
        ("0", false),
        ("sync", true),
        ("1", true),
        ("dsync", true),
    ] {
        let played = play(&format!("[a]\nrw=rw\nsize=256k\nsync={value}"), MIB);
        for one in &played {
            assert_eq!(
                one.tag.fua,
                durable && one.access.op == Op::Write,
                "{value}"
            );
        }
    }
}

/// HOWTO, `ramp_time`: "run the specified workload for this amount of time before logging any performance numbers"; it "will
/// increase the total runtime if a special timeout or runtime is specified".
#[test]
fn a_ramp_is_before_the_runtime_and_does_not_count() {
    let played = play("[a]\nramp_time=2ms\nruntime=3ms\ntime_based", MIB);
    assert_eq!(played.len(), 50);
    let counted = |one: &&Played| one.completed >= one.counts;
    // 20 accesses complete by 2 ms, the last one exactly then; it counts.
    assert_eq!(played.iter().filter(counted).count(), 31);
    // The ramp starts with its own process. As in fio, its accesses are part of `size`.
    let played = play("[a]\nstartdelay=1ms\nramp_time=1ms\nsize=64k", MIB);
    assert_eq!(played.len(), 16);
    assert!(
        played
            .iter()
            .all(|one| one.counts == Time::ZERO + Dur::ms(2))
    );
}

/// HOWTO, `rate_process`: "the Poisson process [...] The lambda will be 10^6 / IOPS". The intervals have this mean in
/// microseconds, and a standard deviation equal to it.
#[test]
fn a_poisson_process_asks_at_exponential_times() {
    for rate in ["rate_iops=1000", "rate=4000k"] {
        let text =
            format!("[a]\n{rate}\nrate_process=poisson\nsize=16m\nioengine=libaio\niodepth=64");
        let played = play(&text, 16 * MIB);
        let mut at: Vec<u64> = played.iter().map(|one| one.asked.0).collect();
        at.sort_unstable();
        assert_eq!((at.len(), at[0]), (4096, 0));
        // Each access waits for those in flight, which delays it by at most 100 us and does not affect the others.
        let n = (at.len() - 1) as f64;
        let mean = at[at.len() - 1] as f64 / n;
        assert!(
            (mean / 1e6 - 1.0).abs() < 5.0 / n.sqrt() + 0.001,
            "{rate}: {mean}"
        );
        let gaps: Vec<f64> = at
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let long = gaps.iter().filter(|gap| **gap > 2e6).count() as f64 / n;
        let wanted = (-2.0_f64).exp();
        let slack = 5.0 * (wanted * (1.0 - wanted) / n).sqrt() + 0.02;
        assert!(
            (long - wanted).abs() < slack,
            "{rate}: {long} of the gaps are above twice the mean"
        );
    }
}

/// HOWTO, `number_ios`: "When fio reaches this number, it will exit normally"; it "does not extend the amount of I/O".
#[test]
fn a_number_of_accesses_ends_a_job() {
    let count = |text: &str| play(text, MIB).len();
    assert_eq!(count("[a]\nnumber_ios=5\nsize=64k"), 5);
    assert_eq!(count("[a]\nnumber_ios=50\nsize=64k"), 16);
    assert_eq!(count("[a]\nnumber_ios=5\nsize=64k\nloops=2"), 10);
    assert_eq!(count("[a]\nnumber_ios=5\nsize=64k\nrw=write\nfsync=1"), 9);
}

/// HOWTO, `exitall`: "terminate all jobs in the same group, as soon as one job of that group finishes";
/// `exit_what=all`: "all jobs". A `stonewall` or `new_group` starts a group.
#[test]
fn the_end_of_one_ends_its_group() {
    let text = |more: &str| {
        format!(
            "[short]\nexitall\n{more}\nsize=20k\n[long]\nrw=write\nend_fsync=1\n[slow]\nrate_iops=1\n\
             [late]\nstartdelay=1h\n[next]\nstonewall\nsize=12k\n[last]"
        )
    };
    for backwards in [false, true] {
        let mut drive = Drive::new(MIB);
        drive.backwards = backwards;
        let played = drive.play(&mut jobs(&text(""), MIB, 1)).unwrap();
        let count = |actor| played.iter().filter(|one| one.actor == actor).count();
        let counts = [0, 1, 2, 3, 4, 5].map(count);
        // The first job makes five accesses. The second completes its access in flight and flushes. The next group
        // starts, and ends with its first job.
        let long = [6, 7];
        assert!(long.contains(&counts[1]), "{counts:?}");
        assert_eq!([counts[0], counts[2], counts[3], counts[4]], [5, 1, 0, 3]);
        assert!([3, 4].contains(&counts[5]), "{counts:?}");
        // No job waits for its rate or its delay any more.
        assert!(drive.ended <= Time::ZERO + Dur::ms(2), "{:?}", drive.ended);
        let all = Drive::new(MIB).play(&mut jobs(&text("exit_what=all"), MIB, 1));
        assert!(all.unwrap().iter().all(|one| one.actor < 3));
    }
}

/// fio 3.33, os/os-linux.h, `ioprio_value`: "If no class is set, assume BE". backend.c: `prioclass` alone also sets a
/// priority. HOWTO, `prioclass`: "see man ionice(1)", whose classes are 1 for realtime, 2 for best-effort, 3 for idle.
/// ioprio_set(2): 0 is the highest level of a class.
#[test]
fn a_priority_without_a_class_is_best_effort() {
    use PrioClass::{BestEffort, Idle, RealTime};
    let priority = |text: &str| parse(&format!("[a]\n{text}")).unwrap().jobs[0].priority();
    assert_eq!(priority(""), None);
    assert_eq!(priority("prio=3"), Some((BestEffort, 3)));
    assert_eq!(priority("prioclass=2\nprio=3"), Some((BestEffort, 3)));
    assert_eq!(priority("prioclass=0\nprio=3"), Some((BestEffort, 3)));
    assert_eq!(priority("prioclass=1\nprio=3"), Some((RealTime, 3)));
    for (number, class) in [(0, BestEffort), (1, RealTime), (2, BestEffort), (3, Idle)] {
        assert_eq!(priority(&format!("prioclass={number}")), Some((class, 0)));
    }
    assert!(parse("[a]\nprioclass=4").is_err());
}

/// An environment with two variables, and included files by name; `from` is the file that names them.
struct World;

impl Around for World {
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        match name {
            "SIZE" => Ok(Some("64".into())),
            "BAD" => Err("it is no text".into()),
            _ => Ok(None),
        }
    }

    fn file(&self, name: &str, from: &str) -> Result<(String, String), String> {
        let text = match name {
            "glob.fio" => "thread=1\nsize=${SIZE}k ; a comment",
            "deep.fio" => "include inner.fio\niodepth=4",
            "inner.fio" if from == "jobs/deep.fio" => "ioengine=libaio",
            "endless.fio" => "include endless.fio",
            "section.fio" => "bs=8k\n[b]",
            "wrong.fio" => "bs=8k\n\nbs=none",
            _ => return Err(format!("there is no {name}")),
        };
        Ok((format!("jobs/{name}"), text.to_owned()))
    }
}

/// HOWTO, "Job file format" and "Environment variables".
#[test]
fn files_and_variables_stand_for_what_they_hold() {
    let text = "[global]\ninclude glob.fio\n[a]\nbs=${NOTHING}4k\ninclude deep.fio\n[b]\n";
    let file = parse_with(text, &World).unwrap();
    let said = |job: usize| {
        let job = &file.jobs[job];
        (job.area.size, job.depth(), job.blocks.bs.read)
    };
    // "Settings pulled into a section apply to that section only (except global section)".
    assert_eq!(said(0), (Some(Amount::Bytes(65536)), 4, 4096));
    assert_eq!(said(1), (Some(Amount::Bytes(65536)), 1, 4096));
    for part in [
        "`include` reads jobs/glob.fio",
        "`${SIZE}` in `size` is \"64\"",
        "`${NOTHING}` in `bs` is not set",
    ] {
        assert!(
            file.notes.iter().any(|note| note.contains(part)),
            "{:?}",
            file.notes
        );
    }
    for (text, part) in [
        (
            "[a]\ninclude nowhere.fio",
            "line 2: `include nowhere.fio`: there is no nowhere.fio",
        ),
        ("[a]\ninclude endless.fio", "more than 64 files"),
        (
            "[a]\ninclude section.fio",
            "jobs/section.fio, line 2: a section",
        ),
        (
            "[a]\ninclude wrong.fio",
            "jobs/wrong.fio, line 3: `bs` is \"none\"",
        ),
        ("include glob.fio\n[a]", "before any section"),
        ("[a]\nsize=${BAD}", "`BAD`: it is no text"),
        ("[a]\nsize=${NOTHING}", "`size` is \"\""),
        ("[a]\nsize=${SIZE", "`size` is \"${SIZE\""),
    ] {
        let error = parse_with(text, &World).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    // `parse` provides neither variables nor files.
    for text in ["[a]\nsize=${SIZE}", "[a]\ninclude glob.fio"] {
        assert!(parse(text).is_err());
    }
}

/// Each option of fio is in exactly one list, with a reason if it is not supported.
#[test]
fn no_option_is_told_twice() {
    let read = OPTIONS.iter().flat_map(|option| option.names).copied();
    let others = [IGNORED, REFUSED].into_iter().flatten();
    let others = others.flat_map(|(names, _)| names.split(' '));
    let mut all: Vec<_> = read.chain(others).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    for (names, why) in REFUSED {
        for name in names.split(' ') {
            let error = parse(&format!("[a]\n{name}=2")).unwrap_err();
            assert_eq!(
                error.problem,
                Problem::Refused {
                    option: name.to_owned(),
                    why
                }
            );
        }
    }
    for (names, why) in IGNORED {
        for name in names.split(' ') {
            // Each ignored option has one note, however often it occurs.
            let file = parse(&format!("[a]\n{name}=1\n[b]\n{name}")).unwrap();
            assert_eq!(file.notes, [format!("line 2: `{name}` is ignored: {why}")]);
        }
    }
}

/// A refused option may be set to the value that fio uses by default.
#[test]
fn a_refused_option_at_its_default_is_read() {
    for (names, value) in HARMLESS {
        for name in names.split(' ') {
            let mut refused = REFUSED.iter().flat_map(|(names, _)| names.split(' '));
            assert!(refused.any(|refused| refused == name), "{name}");
            let file = parse(&format!("[a]\n{name}={value}")).unwrap();
            assert_eq!((file.jobs.len(), file.notes.len()), (1, 0), "{name}");
        }
    }
}

/// NVMe TP4146; fio's HOWTO: `fdp` makes writes carry handles, `plids` lists them, and roundrobin takes one after the other.
#[test]
fn writes_take_the_placement_handles_in_turn() {
    let handles = |text: &str| {
        let text = format!("[a]\nsize=24k\nrw=rw\n{text}");
        let played = Drive::new(MIB).play(&mut jobs(&text, MIB, 1)).unwrap();
        let of = |op| {
            let all = played.iter().filter(move |one| one.access.op == op);
            all.map(|one| one.tag.placement).collect::<Vec<_>>()
        };
        (of(Op::Read), of(Op::Write))
    };
    let (reads, writes) = handles("rwmixread=0\nfdp=1\nplids=2,5");
    assert!(reads.is_empty());
    assert_eq!(writes, [2, 5, 2, 5, 2, 5]);
    let (reads, writes) = handles("dataplacement=fdp\nfdp_pli=3");
    assert!(!reads.is_empty() && !writes.is_empty());
    assert!(reads.iter().all(|&handle| handle == 0));
    assert!(writes.iter().all(|&handle| handle == 3));
    assert!(handles("plids=3").1.iter().all(|&handle| handle == 0));
    for wrong in [
        "fdp=1",
        "fdp=2",
        "plids=",
        "plids=1,x",
        "plid_select=random",
    ] {
        assert!(parse(&format!("[a]\n{wrong}")).is_err(), "{wrong}");
    }
}
