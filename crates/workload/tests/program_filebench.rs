//! Tests of filebench's personalities: frequency of operations, waiting between threads, and repeatability.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers have nothing to hand an error to"
)]

use crate::program::{DRIVE, Drive, Played, bytes, play, value};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::Op;
use fathom_platform::Benchmark;
use fathom_workload::program::filebench::{
    FileSettings, OltpSettings, Server, fileserver, oltp, varmail, webserver,
};

const CAPACITY: u64 = 4 << 30;

fn web() -> FileSettings {
    FileSettings {
        files: 100,
        mean_size: Bytes::mib(1),
        threads: 4,
        operations: Some(31 * 40),
        ..webserver()
    }
}

fn files() -> FileSettings {
    FileSettings {
        files: 500,
        mean_size: Bytes::kib(256),
        threads: 8,
        operations: Some(11 * 300),
        ..fileserver()
    }
}

fn transactions() -> OltpSettings {
    OltpSettings {
        shadows: 20,
        writers: 3,
        duration: Dur::ms(4_000),
        ..oltp()
    }
}

#[test]
fn the_web_server_reads_ten_files_for_each_append() {
    let mut machine = web().build(Server::Web, CAPACITY, 1).unwrap();
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "operations"), 1240.0);
    // 400 reads go four times around 100 files. Their lengths have mean 1 MiB and standard deviation 0.82 MiB.
    let read = value(&counters, "bytes-read") / 400.0 / 1_048_576.0;
    assert!((read - 1.0).abs() < 0.4, "{read}");
    // 40 rounds of 31 operations, in which the four threads need not be equally far.
    let (reads, writes) = (value(&counters, "reads"), value(&counters, "writes"));
    assert!(
        (reads - 400.0).abs() <= 8.0 && (writes - 40.0).abs() <= 4.0,
        "{reads} {writes}"
    );
    // 40 appends of 0 to 16 KiB: mean 8 KiB, standard deviation 4.7 KiB.
    let appended = value(&counters, "bytes-written") / 40.0 / 1024.0;
    assert!((appended - 8.0).abs() < 3.8, "{appended}");
    // Each file is read from the drive at most once, because 100 MiB fit in 2 GiB of memory.
    let whole = value(&counters, "bytes-read") / 4.0;
    let from_drive = bytes(played.iter().filter(|p| p.access.len > 4096), Op::Read) as f64;
    assert!(
        (from_drive / whole - 1.0).abs() < 0.05,
        "{from_drive} {whole}"
    );
    // A thread waits for its reads. Calls of 1 MiB cause read-ahead of 128 KiB at once.
    let longest = played.iter().filter(|p| p.access.op == Op::Read);
    assert_eq!(longest.map(|p| p.access.len).max(), Some(128 << 10));
    assert!((0..4).all(|thread| played.iter().any(|p| p.tag.process == thread)));
}

#[test]
fn the_file_server_makes_reads_and_deletes_files() {
    let mut machine = files().build(Server::File, CAPACITY, 1).unwrap();
    let before = machine.host().volume().space().free();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "operations"), 3300.0);
    // 300 creations with mean 256 KiB and standard deviation 209 KiB, and as many appends of 8 KiB.
    let written = value(&counters, "bytes-written") / 300.0 / 1024.0;
    assert!((written - 264.0).abs() < 61.0, "{written}");
    let read = value(&counters, "bytes-read") / 300.0 / 1024.0;
    assert!((read - 264.0).abs() < 61.0, "{read}");
    // Creations and deletions balance, except that open files are not deleted, so the set hardly changes in size.
    let after = machine.host().volume().space().free();
    let grown = before as f64 - after as f64;
    assert!(grown.abs() * 4096.0 < 100.0 * 262_144.0, "{grown}");
    assert_eq!(machine.host().unwritten(), 0);
}

fn mails() -> FileSettings {
    FileSettings {
        operations: Some(13 * 100),
        ..varmail()
    }
}

#[test]
fn the_mail_server_waits_for_what_it_writes() {
    let mut machine = mails().build(Server::Mail, CAPACITY, 1).unwrap();
    let before = machine.host().volume().space().free();
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    let count = |name| value(&counters, name);
    // 100 rounds of 13 operations; the 16 threads are within a round of each other.
    assert!((count("file-syncs") - 200.0).abs() <= 16.0, "{counters:?}");
    assert!((count("reads") - 200.0).abs() <= 16.0 && (count("writes") - 200.0).abs() <= 16.0);
    // An append has 8 KiB on average, with a standard deviation of 4.7 KiB.
    let appended = count("bytes-written") / count("writes") / 1024.0;
    assert!((appended - 8.0).abs() < 1.7, "{appended}");
    // Each sync waits for a commit, so at most one for each of the 16 threads shares it.
    assert!(count("commits") >= 200.0 / 16.0, "{counters:?}");
    // Of everything that a thread writes, nothing stays behind a sync: the last ones come at the end of the program.
    let (ran, everything) = (count("ran"), count("everything-written"));
    assert!(everything < ran + 0.1, "{ran} {everything}");
    assert!(
        played
            .iter()
            .any(|p| p.access.op == Op::Write && p.asked < Time(1_000_000_000))
    );
    let after = machine.host().volume().space().free();
    assert!(
        before.abs_diff(after) * 4096 < 100 * 16_384,
        "{before} {after}"
    );
}

#[test]
fn a_run_ends_where_there_is_no_file_to_create() {
    let settings = FileSettings {
        preallocated_percent: 100.0,
        ..files()
    };
    let mut machine = settings.build(Server::File, CAPACITY, 1).unwrap();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "stopped-early"), 1.0);
    assert_eq!(value(&counters, "operations"), 0.0);
}

#[test]
fn a_file_that_is_open_is_not_deleted() {
    // About 60 of the 300 files exist. At most 224 are created, and at most 24 more are deleted than created, so there
    // is always a file to create and one to open.
    let settings = FileSettings {
        files: 300,
        preallocated_percent: 20.0,
        threads: 24,
        operations: Some(11 * 200),
        ..files()
    };
    let mut machine = settings.build(Server::File, CAPACITY, 1).unwrap();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "operations"), 2200.0);
    assert_eq!(value(&counters, "stopped-early"), 0.0);
}

#[test]
fn a_run_ends_after_its_time() {
    let settings = FileSettings {
        operations: None,
        duration: Dur::ms(500),
        ..web()
    };
    let slow = Drive {
        latency: Dur::ms(1),
        depth: 4,
    };
    let mut machine = settings.build(Server::Web, CAPACITY, 1).unwrap();
    play(&mut machine, slow);
    let ran = value(&machine.counters(), "ran");
    // The last operation of a thread reads a file of some megabytes, at 128 KiB per millisecond.
    assert!((0.5..0.7).contains(&ran), "{ran}");
}

/// Returns the bytes written by these actors.
fn written(played: &[Played], actors: std::ops::Range<usize>) -> u64 {
    bytes(
        played.iter().filter(|p| actors.contains(&p.actor)),
        Op::Write,
    )
}

#[test]
fn readers_and_writers_keep_pace() {
    let mut machine = transactions().build(CAPACITY, 1).unwrap();
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    let count = |name| value(&counters, name);
    let reads = count("reads");
    let log = written(&played, 0..1) as f64 / 262_144.0;
    let writes = count("writes") - log;
    assert!(reads > 5_000.0, "{counters:?}");
    // A writer writes 100 times, then again for every 1,000 posts. Readers may be ahead of it by somewhat more than
    // 2,000 posts, and each reader is at most once between its read and its posts.
    let rounds = writes / 3.0 / 100.0;
    assert!(
        rounds <= 2.0 + (reads / 1_000.0) && rounds >= (reads - 20.0 - 4_000.0) / 1_000.0,
        "{reads} {writes}"
    );
    assert!(
        log <= 2.0 + reads / 3_200.0 && log >= (reads - 20.0 - 4_200.0) / 3_200.0,
        "{reads} {log}"
    );
    // A write of 2 KiB is a page of 4 KiB on the drive; a write of the log is 256 KiB.
    assert_eq!(log.fract(), 0.0);
    assert_eq!(written(&played, 1..4) as f64, writes * 4096.0);
    assert!(played.iter().filter(|p| p.actor < 24).all(|p| p.tag.sync));
    // At most ten writes of one writer are in flight.
    let of_one: Vec<&Played> = played
        .iter()
        .filter(|p| p.actor == 1 && p.access.op == Op::Write)
        .collect();
    let most = of_one.iter().map(|p| {
        let at_once = of_one
            .iter()
            .filter(|q| q.asked <= p.asked && p.asked < q.done);
        at_once.count()
    });
    assert!(most.max().unwrap() <= 10);
    let ends = played
        .iter()
        .filter(|p| p.actor < 24)
        .map(|p| p.asked)
        .max();
    assert!(ends.unwrap() <= Time(4_100_000_000));
}

#[test]
fn readers_wait_for_writers_on_a_drive_that_is_slow() {
    let slow = Drive {
        latency: Dur::ms(5),
        depth: 2,
    };
    // The data is small and soon in memory, so a reader waits only for the CPU and for the writers.
    let settings = OltpSettings {
        file_size: Bytes::kib(64),
        ..transactions()
    };
    let reads = |drive| {
        let mut machine = settings.build(CAPACITY, 1).unwrap();
        play(&mut machine, drive);
        value(&machine.counters(), "reads")
    };
    // 2 requests per 5 ms are 1,600 in 4 s. Every 1,000 reads need 300 writes, so the reads beyond 4,000 are bounded.
    let bound = 1_600.0 / 300.0 * 1_000.0 + 4_020.0;
    let (fast, slow) = (reads(DRIVE), reads(slow));
    assert!(slow <= bound && fast > 1.5 * bound, "{slow} {bound} {fast}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut machine = files().build(Server::File, CAPACITY, seed).unwrap();
        let first = play(&mut machine, DRIVE);
        let mut machine = transactions().build(CAPACITY, seed).unwrap();
        (first, play(&mut machine, DRIVE))
    };
    let (one, two) = (run(5), run(6));
    assert_eq!(one, run(5));
    assert_ne!(one.0, two.0);
    assert_ne!(one.1, two.1);
}

#[test]
fn what_does_not_fit_is_refused_by_its_key() {
    let key = |settings: FileSettings| settings.build(Server::Web, 1 << 30, 1).err().unwrap().key;
    assert_eq!(key(webserver()), "files");
    assert_eq!(
        key(FileSettings {
            threads: 0,
            ..web()
        }),
        "threads"
    );
    assert_eq!(
        key(FileSettings {
            preallocated_percent: 101.0,
            ..web()
        }),
        "preallocated-percent"
    );
    let short = OltpSettings {
        log_size: Bytes::kib(4),
        ..oltp()
    };
    assert_eq!(short.build(1 << 30, 1).err().unwrap().key, "log-size");
}
