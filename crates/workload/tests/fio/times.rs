//! Tests of the times of a job's accesses: rates, think times, time limits, and jobs that wait for others.

use super::harness::{Drive, LATENCY, Played, jobs, play};
use fathom_base::{Dur, Time};
use fathom_block::Op;

const MIB: u64 = 1 << 20;

fn asked(played: &[Played]) -> Vec<u64> {
    played.iter().map(|one| one.asked.0 / 1000).collect()
}

#[test]
fn a_rate_is_kept() {
    // 4 KiB at 4 MiB/s is one access per 1/1024 s. Due times are calculated from the start and rounded up to whole
    // nanoseconds.
    let played = play("[a]\nrate=4m\nsize=64k", MIB);
    for (index, one) in played.iter().enumerate() {
        let due = (index as u64 * 1_000_000_000).div_ceil(1024);
        assert_eq!(one.asked, Time(due));
    }
    let played = play("[a]\nrate_iops=1000\nsize=64k\nbssplit=4k/50:8k/50", MIB);
    assert!(
        asked(&played)
            .iter()
            .enumerate()
            .all(|(i, &at)| at == i as u64 * 1000)
    );
    // A rate above the drive's throughput has no effect.
    let played = play("[a]\nrate_iops=1000000\nsize=64k", MIB);
    assert!(
        asked(&played)
            .iter()
            .enumerate()
            .all(|(i, &at)| at == i as u64 * 100)
    );
}

#[test]
fn a_rate_waits_for_what_is_in_flight() {
    // One access per 50 us, and each takes 100 us: the job is always behind its rate.
    let played = play(
        "[a]\nrate_iops=20000\nsize=64k\nioengine=libaio\niodepth=4",
        MIB,
    );
    let behind = asked(&played);
    // The first access is issued. The second is due after 50 us, but waits for the first to complete.
    assert_eq!(behind[..4], [0, 100, 100, 200]);
}

#[test]
fn each_operation_has_a_rate_of_its_own() {
    let text = "[a]\nrw=randrw\nrwmixread=50\nrate_iops=1000,250\nruntime=1\ntime_based";
    let played = play(text, MIB);
    let count = |op| played.iter().filter(|one| one.access.op == op).count();
    assert!(
        (999..=1001).contains(&count(Op::Read)),
        "{}",
        count(Op::Read)
    );
    assert!(
        (249..=251).contains(&count(Op::Write)),
        "{}",
        count(Op::Write)
    );
    // Only reads are limited; writes continue.
    let played = play("[a]\nrw=randrw\nrate_iops=100,\nruntime=1\ntime_based", MIB);
    let count = |op| played.iter().filter(|one| one.access.op == op).count();
    assert!((99..=101).contains(&count(Op::Read)), "{}", count(Op::Read));
    assert!(count(Op::Write) > 9000);
}

#[test]
fn thinking_follows_so_many_blocks() {
    let played = play("[a]\nthinktime=1ms\nsize=24k", MIB);
    assert_eq!(asked(&played), [0, 1100, 2200, 3300, 4400, 5500]);
    let played = play("[a]\nthinktime=1ms\nthinktime_blocks=3\nsize=24k", MIB);
    assert_eq!(asked(&played), [0, 100, 200, 1300, 1400, 1500]);
    // As many in flight as the depth allows, and all of them complete before the think time starts.
    let deep = "[a]\nthinktime=1ms\nthinktime_blocks=3\nsize=24k\nioengine=libaio\niodepth=2";
    assert_eq!(asked(&play(deep, MIB)), [0, 0, 100, 1200, 1200, 1300]);
    // This also holds if the think time is shorter than an access.
    let short = deep.replace("1ms", "10us");
    assert_eq!(asked(&play(&short, MIB)), [0, 0, 100, 210, 210, 310]);
}

#[test]
fn a_rate_catches_up_what_was_thought() {
    let text = "[a]\nthinktime=1ms\nthinktime_blocks=4\nrate_iops=2000\nsize=48k";
    // Four accesses at 2000/s, then 1 ms. From 2.6 ms on, those due at 2.0 and 2.5 ms are caught up.
    assert_eq!(
        asked(&play(text, MIB)),
        [
            0, 500, 1000, 1500, 2600, 2700, 3000, 3500, 4600, 4700, 5000, 5500
        ]
    );
}

#[test]
fn a_runtime_ends_it_and_time_based_fills_it() {
    let last = |text: &str| {
        let played = play(text, MIB);
        (played.len(), played.last().unwrap().completed)
    };
    let done = |n: u64| Time(n * LATENCY.0);
    assert_eq!(last("[a]\nruntime=10ms"), (100, done(100)));
    assert_eq!(last("[a]\nruntime=10ms\nsize=64k"), (16, done(16)));
    assert_eq!(
        last("[a]\nruntime=10ms\nsize=64k\ntime_based"),
        (100, done(100))
    );
    assert_eq!(
        last("[a]\nruntime=10ms\nsize=64k\ntime_based\nrw=randread").0,
        100
    );
    // fio 3.33, backend.c: with `time_based`, `do_io` continues whatever limit is exceeded, and `keep_running` checks
    // it first. HOWTO, `time_based`: "run for the duration of the runtime specified even if the file(s) are completely
    // read or written".
    for text in [
        "number_ios=5",
        "number_ios=5\nloops=2",
        "io_size=8k",
        "loops=2",
    ] {
        let text = format!("[a]\nrw=randread\nsize=64k\nruntime=10ms\ntime_based\n{text}");
        assert_eq!(last(&text), (100, done(100)), "{text}");
    }
    // A rate or a think time that extends beyond the runtime does not prolong the run.
    for text in ["rate_iops=1", "thinktime=1s"] {
        let mut drive = Drive::new(MIB);
        let text = format!("[a]\nruntime=10ms\n{text}");
        drive.play(&mut jobs(&text, MIB, 1)).unwrap();
        assert_eq!(drive.ended, done(100));
    }
    // The accesses in flight at the end of the runtime complete.
    assert_eq!(last("[a]\nruntime=950us"), (10, done(10)));
}

#[test]
fn a_stonewall_waits_for_all_before_it() {
    let text = "[a]\nsize=40k\n[b]\nsize=80k\n[c]\nstonewall\nsize=40k\nnumjobs=2\n[d]\nsize=40k\n[e]\nstonewall\nsize=4k";
    for backwards in [false, true] {
        let mut drive = Drive::new(MIB);
        drive.backwards = backwards;
        let played = drive.play(&mut jobs(text, MIB, 1)).unwrap();
        let first = |actor| {
            let own = played.iter().filter(|one| one.actor == actor);
            own.map(|one| one.asked).min().unwrap()
        };
        let starts = [0, 1, 2, 3, 4, 5].map(first);
        // b ends after 20 accesses; then c, its clone and d run in parallel for 10.
        let wanted = [0, 0, 20, 20, 20, 30].map(|n| Time(n * LATENCY.0));
        assert_eq!(starts, wanted);
    }
}

#[test]
fn a_stonewall_passes_when_time_alone_has_ended_the_jobs_before_it() {
    // The first job ends at 10 ms, between two accesses, with nothing in flight that would complete.
    let text = "[a]\nrate_iops=1\nruntime=10ms\n[b]\nstonewall\nsize=4k";
    for backwards in [false, true] {
        let mut drive = Drive::new(MIB);
        drive.backwards = backwards;
        let played = drive.play(&mut jobs(text, MIB, 1)).unwrap();
        let starts: Vec<_> = played.iter().map(|one| one.asked).collect();
        assert_eq!(starts, [Time::ZERO, Time::ZERO + Dur::ms(10)]);
    }
}

#[test]
fn a_job_starts_after_its_delay() {
    let played = play(
        "[a]\nstartdelay=3ms\nsize=4k\n[b]\nstonewall\nsize=4k\n[c]\nsize=4k\nstartdelay=1s",
        MIB,
    );
    assert_eq!(asked(&played), [3000, 3100, 1_000_000]);
    // The runtime counts from the job's own start.
    let played = play("[a]\nstartdelay=3ms\nruntime=1ms", MIB);
    assert_eq!(played.len(), 10);
}
