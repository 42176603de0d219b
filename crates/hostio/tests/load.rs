//! Tests the load: every engine on files and loop devices, its counts, its limits, and the errors of bad input.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::{Loop, directory};
use fathom_base::Dur;
use fathom_hostio::HostError;
use fathom_hostio::load::{
    Caching, ClockFacts, Engine, LoadConfig, LoadReport, StampClock, ThreadLoad, run,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const CACHING: [Caching; 3] = [Caching::Direct, Caching::Miss, Caching::Hit];

fn clock() -> &'static ClockFacts {
    static CLOCK: OnceLock<ClockFacts> = OnceLock::new();
    CLOCK.get_or_init(ClockFacts::measure)
}

/// Sleeps for `ms` milliseconds, below 1000.
fn pause(ms: i64) {
    let _woken_early_is_fine = rustix::thread::nanosleep(&rustix::time::Timespec {
        tv_sec: 0,
        tv_nsec: ms * 1_000_000,
    });
}

/// Bytes that differ in every sector.
fn bytes(len: u64) -> Vec<u8> {
    let words = (0..len / 8).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes());
    words.flatten().collect()
}

/// Creates a file that is on the drive already.
fn file(len: u64) -> (TempDir, PathBuf) {
    let directory = directory();
    let path = directory.path().join("file");
    std::fs::write(&path, bytes(len)).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    (directory, path)
}

/// Returns a load of 300 reads, changed.
fn load(target: &Path, engine: Engine, change: impl FnOnce(&mut LoadConfig)) -> LoadConfig {
    let mut config = LoadConfig {
        engine,
        depth: if engine == Engine::Pread { 1 } else { 8 },
        warm_up: Dur::ms(2),
        time_max: Dur::ms(60_000),
        ios_max: Some(300),
        ..LoadConfig::new(target)
    };
    change(&mut config);
    config
}

fn go(config: &LoadConfig) -> Result<LoadReport, HostError> {
    run(config, clock(), &AtomicBool::new(false))
}

/// Returns the report, or `None` after saying that this machine has no such engine.
fn report(config: &LoadConfig) -> Option<LoadReport> {
    match go(config) {
        Err(HostError::EngineUnavailable { engine, what, .. }) => {
            println!("skipped: {engine}: {what}");
            // What every test machine has.
            assert!(!["pread", "libaio", "io-uring"].contains(&engine));
            None
        }
        other => Some(other.unwrap()),
    }
}

fn error(target: &Path, engine: Engine, change: impl FnOnce(&mut LoadConfig)) -> HostError {
    go(&load(target, engine, change)).unwrap_err()
}

/// Checks the figures of a thread that did `ios` reads.
fn is_sound(thread: &ThreadLoad, config: &LoadConfig, ios: u64) {
    assert_eq!((thread.ios, thread.latency.count()), (ios, ios));
    assert_eq!(thread.bytes, ios * config.block_bytes);
    assert_eq!(thread.mismatches, 0);
    let used = &thread.usage;
    assert!(used.cpu_ns > 0 && used.cpu_ns <= used.wall_ns, "{used:?}");
    let longest = thread.latency.max_ns().unwrap();
    assert!(
        longest <= used.wall_ns as f64 * 1.01,
        "{longest} {}",
        used.wall_ns
    );
    let stamps = ios.min(u64::from(config.stamps_max)) as usize;
    assert_eq!(thread.stamps.len(), stamps);
    for stamp in &thread.stamps {
        assert!(stamp.before <= stamp.after);
        assert_eq!(stamp.offset % config.block_bytes, 0);
    }
}

fn every_engine_on(target: &Path) {
    for (engine, caching) in Engine::ALL.iter().flat_map(|e| CACHING.map(|c| (*e, c))) {
        let polled = engine == Engine::IoUringPolled;
        for (batch_max, register_buffers) in [(None, false), (Some(1), true), (Some(3), false)] {
            if polled && caching != Caching::Direct {
                continue;
            }
            let config = load(target, engine, |c| {
                c.caching = caching;
                c.batch_max = batch_max;
                c.register_buffers = register_buffers;
                c.stamps_max = 50;
                c.verify = true;
            });
            let Some(report) = report(&config) else {
                continue;
            };
            println!("{engine} {caching:?} {batch_max:?}");
            let [thread] = report.threads.as_slice() else {
                panic!("{} threads", report.threads.len());
            };
            is_sound(thread, &config, 300);
            assert!(!report.stopped);
            assert!(thread.stamps.iter().all(|s| s.offset < 4 * MIB));
        }
    }
}

#[test]
fn every_engine_reads_what_a_file_has() {
    let (_directory, path) = file(4 * MIB);
    every_engine_on(&path);
}

#[test]
fn every_engine_reads_what_a_loop_device_has() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    disk.plant(0, &bytes(4 * MIB));
    every_engine_on(&disk.device);
}

/// `read_bytes` in /proc/PID/io counts what went to the block layer, independently of this program.
#[test]
fn misses_go_to_the_drive_and_hits_do_not() {
    let disk = or_skip!(Loop::attach(16 * MIB));
    for engine in Engine::ALL {
        for caching in CACHING {
            if engine == Engine::IoUringPolled {
                continue;
            }
            // More reads than blocks, so that a miss is read several times.
            let config = load(&disk.device, engine, |c| {
                c.caching = caching;
                c.area_bytes = Some(2 * MIB);
                c.ios_max = Some(1500);
            });
            let Some(report) = report(&config) else {
                continue;
            };
            let thread = &report.threads[0];
            is_sound(thread, &config, 1500);
            let Some(read) = thread.usage.device_read_bytes else {
                println!("skipped: the kernel does not count bytes read");
                return;
            };
            let expected = match caching {
                Caching::Hit => 0,
                _ => thread.bytes,
            };
            // udev may read the new device meanwhile, and so bring a few pages into the cache.
            let apart = read.abs_diff(expected) as f64 / thread.bytes as f64;
            assert!(apart < 0.05, "{engine} {caching:?}: {read} {expected}");
        }
    }
}

#[test]
fn threads_on_one_target_read_apart_where_nothing_may_be_read_twice() {
    let (_directory, path) = file(8 * MIB);
    for caching in [Caching::Direct, Caching::Miss] {
        let config = load(&path, Engine::Pread, |c| {
            c.caching = caching;
            c.threads = 4;
            c.stamps_max = 300;
            c.clock = StampClock::Monotonic;
        });
        let report = go(&config).unwrap();
        assert_eq!(report.clock, StampClock::Monotonic);
        let places = report.threads.iter().map(|thread| {
            is_sound(thread, &config, 300);
            let offsets = thread.stamps.iter().map(|s| s.offset);
            offsets.collect::<BTreeSet<u64>>()
        });
        let places: Vec<_> = places.collect();
        let distinct: BTreeSet<u64> = places.iter().flatten().copied().collect();
        let apart = distinct.len() == 1200;
        assert_eq!(apart, caching == Caching::Miss, "{}", distinct.len());
        let tids: BTreeSet<u32> = report.threads.iter().map(|t| t.tid).collect();
        assert_eq!(tids.len(), 4);
    }
}

#[test]
fn targets_are_given_in_turn_and_threads_stay_on_their_processor() {
    let (_one, first) = file(MIB);
    let (_two, second) = file(2 * MIB);
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let last = (0..1024).rev().find(|&cpu| allowed.is_set(cpu)).unwrap() as u32;
    let config = load(&first, Engine::IoUring, |c| {
        c.targets.push(second);
        c.threads = 3;
        c.cpus = vec![last];
        c.caching = Caching::Miss;
    });
    let report = go(&config).unwrap();
    let of: Vec<_> = report.threads.iter().map(|t| (t.target, t.cpu)).collect();
    assert_eq!(of, [(0, last), (1, last), (0, last)]);
    for thread in &report.threads {
        is_sound(thread, &config, 300);
    }
    assert!(!report.cpus.is_empty());
}

#[test]
fn a_submission_thread_is_told_apart() {
    let (_directory, path) = file(4 * MIB);
    let config = load(&path, Engine::IoUringSqThread, |_| ());
    let report = or_skip!(report(&config));
    let thread = &report.threads[0];
    is_sound(thread, &config, 300);
    let name = format!("iou-sqp-{}", thread.tid);
    let polls = thread.kernel_threads.iter().find(|t| t.name == name);
    let polls = polls.expect("the kernel's thread is not found");
    assert!(polls.cpu_ns > 0 && polls.tid != thread.tid);
}

#[test]
fn a_clock_of_the_processor_and_the_monotonic_one_agree() {
    if !clock().usable() {
        println!("skipped: no invariant time stamp counter");
        return;
    }
    let (_directory, path) = file(MIB);
    let config = load(&path, Engine::Pread, |c| c.ios_max = Some(2000));
    let report = go(&config).unwrap();
    assert_eq!(report.clock, StampClock::Tsc);
    let used = &report.threads[0].usage;
    let ns = used.wall_clocks.unwrap() as f64 / clock().tsc_hz.unwrap() * 1e9;
    // Another program may run between the two clocks, at both ends.
    let apart = (ns - used.wall_ns as f64).abs();
    assert!(
        apart < 0.01 * used.wall_ns as f64 + 100_000.0,
        "{ns} {used:?}"
    );
}

#[test]
fn a_time_ends_a_load_and_so_does_the_flag() {
    let (_directory, path) = file(4 * MIB);
    for engine in [Engine::Pread, Engine::IoUring] {
        // On a busy machine a short time may end before the first read does.
        let reads_within = |ms| {
            let timed = load(&path, engine, |c| {
                c.ios_max = None;
                c.time_max = Dur::ms(ms);
            });
            let report = go(&timed).unwrap();
            assert!(!report.stopped && report.cpus_wall_ns < 30_000_000_000);
            report.threads[0].ios
        };
        assert!([30, 300, 3000].into_iter().any(|ms| reads_within(ms) > 0));
        let endless = load(&path, engine, |c| {
            c.ios_max = None;
            c.threads = 2;
        });
        let stop = AtomicBool::new(false);
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                pause(30);
                stop.store(true, Ordering::Relaxed);
            });
            run(&endless, clock(), &stop).unwrap()
        });
        assert!(report.stopped);
        // A minute is the time that the flag cuts short.
        assert!(report.cpus_wall_ns < 30_000_000_000);
        let before = run(&endless, clock(), &AtomicBool::new(true)).unwrap();
        assert!(before.stopped && before.threads.iter().all(|t| t.ios == 0));
    }
}

#[test]
fn what_cannot_be_configured_is_refused() {
    let (_directory, path) = file(MIB);
    let unsuitable = |engine, change: fn(&mut LoadConfig), says: &str| {
        let error = error(&path, engine, change);
        assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    unsuitable(Engine::Pread, |c| c.targets.clear(), "no target");
    unsuitable(Engine::Pread, |c| c.threads = 0, "0 threads");
    unsuitable(Engine::Pread, |c| c.threads = 5000, "5000 threads");
    unsuitable(Engine::IoUring, |c| c.block_bytes = 0, "0 bytes");
    unsuitable(Engine::IoUring, |c| c.block_bytes = 2 * MIB, "2097152");
    unsuitable(Engine::IoUring, |c| c.block_bytes = 1000, "1000 bytes");
    unsuitable(Engine::Pread, |c| c.area_bytes = Some(512), "at least 4");
    let apart = |c: &mut LoadConfig| (c.caching, c.threads) = (Caching::Miss, 300);
    unsuitable(Engine::Pread, apart, "at least");
    for (engine, depth) in [
        (Engine::Pread, 2),
        (Engine::Libaio, 0),
        (Engine::IoUring, 5000),
    ] {
        let error = error(&path, engine, |c| c.depth = depth);
        assert!(matches!(error, HostError::QueueDepth { .. }), "{error}");
    }
    for change in [
        |c: &mut LoadConfig| c.cpus = vec![0, 999],
        |c: &mut LoadConfig| c.sq_cpu = Some(100_000),
    ] {
        let error = error(&path, Engine::IoUringSqThread, change);
        assert!(matches!(error, HostError::CpuNotAllowed { .. }), "{error}");
    }
}

#[test]
fn what_is_no_target_is_refused() {
    let directory = directory();
    let missing = error(&directory.path().join("none"), Engine::Pread, |_| ());
    assert!(matches!(missing, HostError::NotFound { .. }), "{missing}");
    let pipe = directory.path().join("pipe");
    common::run("mkfifo", &[pipe.to_str().unwrap()]).unwrap();
    for path in [directory.path(), Path::new("/dev/null"), &pipe] {
        for caching in [Caching::Direct, Caching::Hit] {
            let error = error(path, Engine::Pread, |c| c.caching = caching);
            assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
        }
    }
    let empty = directory.path().join("empty");
    std::fs::write(&empty, b"").unwrap();
    let error = error(&empty, Engine::Libaio, |_| ());
    assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
}

#[test]
fn a_file_in_memory_has_no_direct_reads_but_buffered_ones() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: no /dev/shm");
        return;
    };
    let path = directory.path().join("file");
    std::fs::write(&path, bytes(MIB)).unwrap();
    let direct = error(&path, Engine::Pread, |_| ());
    assert!(matches!(direct, HostError::NoDirectIo { .. }), "{direct}");
    let config = load(&path, Engine::IoUring, |c| {
        c.caching = Caching::Hit;
        c.verify = true;
    });
    is_sound(&go(&config).unwrap().threads[0], &config, 300);
}

#[test]
fn polling_without_polling_queues_is_not_available() {
    let buffered = |c: &mut LoadConfig| c.caching = Caching::Hit;
    let (_directory, path) = file(MIB);
    let buffered = error(&path, Engine::IoUringPolled, buffered);
    assert!(buffered.to_string().contains("direct"), "{buffered}");
    let disk = or_skip!(Loop::attach(MIB));
    let refused = error(&disk.device, Engine::IoUringPolled, |_| ());
    let unavailable = matches!(refused, HostError::EngineUnavailable { .. });
    assert!(
        unavailable && refused.to_string().contains("polling queues"),
        "{refused}"
    );
}

#[test]
fn a_read_that_fails_is_told_with_its_place() {
    let disk = or_skip!(Loop::attach(4 * MIB));
    // The device keeps its size when its file is truncated; reads of the lost part fail.
    std::fs::File::create(&disk.file).unwrap();
    for engine in [
        Engine::Pread,
        Engine::Libaio,
        Engine::IoUring,
        Engine::IoUringSqThread,
    ] {
        match error(&disk.device, engine, |c| c.threads = 2) {
            HostError::ReadFailed {
                offset,
                len,
                source,
                ..
            } => {
                assert!(offset < 4 * MIB && offset.is_multiple_of(4096) && len == 4096);
                assert_eq!(source.raw_os_error(), Some(5), "{source}");
            }
            other => panic!("{engine}: {other}"),
        }
    }
}

#[test]
fn a_file_that_shrinks_gives_short_reads() {
    for engine in [Engine::Pread, Engine::Libaio, Engine::IoUring] {
        let (_directory, path) = file(4 * MIB);
        let config = load(&path, engine, |c| c.ios_max = None);
        let shrinks = std::thread::spawn(move || {
            pause(50);
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(4096).unwrap();
        });
        let error = go(&config).unwrap_err();
        shrinks.join().unwrap();
        match error {
            HostError::ShortRead { read, wanted, .. } => assert_eq!((read, wanted), (0, 4096)),
            other => panic!("{engine}: {other}"),
        }
    }
}
