//! Tests of Postmark: frequency of operations, counters, and repeatability.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers have nothing to hand an error to"
)]

use crate::program::{DRIVE, bytes, play, value};
use fathom_base::{Bytes, Dur};
use fathom_block::Op;
use fathom_fs::{FileSystem, Format, Sizes, Volume};
use fathom_platform::Benchmark;
use fathom_platform::System;
use fathom_workload::program::postmark::{self, Overrides, Settings};
use fathom_workload::program::{Config, PROGRAMS};

const CAPACITY: u64 = 1 << 30;

fn small() -> Settings {
    Settings {
        files: 100,
        transactions: 2_000,
        utilisation_percent: 20.0,
        fill_sizes: Some(Sizes {
            min: Bytes::kib(64),
            max: Bytes::kib(512),
        }),
        ..postmark::type_a()
    }
}

/// Returns true if `n` is within five standard deviations of half of `of`.
fn is_half(n: f64, of: f64) -> bool {
    (n - of / 2.0).abs() < 5.0 * (of / 4.0).sqrt()
}

#[test]
fn each_transaction_is_one_of_two_and_one_of_two() {
    for seed in 0..8 {
        let mut machine = small().build(CAPACITY, seed).unwrap();
        play(&mut machine, DRIVE);
        let counters = machine.counters();
        let count = |name| value(&counters, name);
        let transactions = count("transactions");
        assert_eq!(transactions, 2_000.0);
        assert!(
            is_half(count("files-read"), transactions),
            "seed {seed}: {counters:?}"
        );
        // An append does something unless the file is at its maximum length.
        let appended = count("files-appended");
        assert!(count("files-read") + appended <= transactions);
        assert!(
            appended > 0.8 * (transactions - count("files-read")),
            "seed {seed}"
        );
        let created = count("files-created") - 100.0;
        let deleted = count("files-deleted");
        assert!(is_half(created, transactions), "seed {seed}: {counters:?}");
        // A creation does nothing if the table is full, which can happen with 100 files.
        assert!(
            created + deleted <= transactions && is_half(deleted, transactions),
            "seed {seed}"
        );
        // File lengths are 1 KiB up to below 32 KiB, 16.5 KiB on average. With the appends they stay below the maximum.
        let mean = count("bytes-written") / count("files-created");
        assert!((15_000.0..32_768.0).contains(&mean), "seed {seed}: {mean}");
    }
}

#[test]
fn what_is_left_is_deleted_and_everything_else_is_written() {
    let settings = small();
    let mut machine = settings.build(CAPACITY, 3).unwrap();
    let before = machine.host().volume().space().free();
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    let count = |name| value(&counters, name);
    let space = machine.host().volume().space();
    // The directory may have grown by a block or two.
    assert!(before - space.free() <= 2, "{} {}", before, space.free());
    assert_eq!(
        count("dirtied-bytes"),
        count("written-back-bytes") + count("dropped-bytes")
    );
    let parts = count("creation") + count("of-transactions") + count("deletion");
    assert!(count("everything-written") >= parts);
    let rate = count("bytes-written") / parts / 1e6;
    assert!((count("write-rate") - rate).abs() < 1e-6 * rate);
    // Only metadata and directories are read: the written data stays in 2 GiB of memory.
    assert!(bytes(&played, Op::Read) < 4 << 20);
    assert!(
        played
            .iter()
            .all(|p| p.tag.process < 2 && p.access.end() <= CAPACITY)
    );
    assert!(
        played
            .iter()
            .all(|p| p.access.offset % 4096 == 0 && p.access.len % 4096 == 0)
    );
}

#[test]
fn reads_reach_the_drive_where_memory_is_short() {
    let mut settings = Settings {
        files: 40,
        transactions: 400,
        sizes: Sizes {
            min: Bytes::mib(1),
            max: Bytes::mib(4),
        },
        ..small()
    };
    settings.system.memory = Bytes::mib(16);
    let mut machine = settings.build(CAPACITY, 1).unwrap();
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    // Of 100 MB in 40 files, 16 MiB are in memory, so most reads go to the drive.
    let (read, from_drive) = (value(&counters, "bytes-read"), bytes(&played, Op::Read));
    assert!(from_drive as f64 > 0.6 * read, "{from_drive} of {read}");
    assert!((from_drive as f64) < 1.1 * read, "{from_drive} of {read}");
    // The process waits for its reads, but for no write.
    let sync = |op| {
        played
            .iter()
            .filter(move |p| p.access.op == op)
            .map(|p| p.tag.sync)
    };
    assert!(sync(Op::Read).all(|sync| sync));
    assert!(sync(Op::Write).all(|sync| !sync));
    // No read is longer than the read-ahead.
    assert!(
        played
            .iter()
            .filter(|p| p.tag.sync)
            .all(|p| p.access.len <= 128 << 10)
    );
}

#[test]
fn the_files_that_the_drive_is_filled_with_are_used_and_stay() {
    let mut settings = Settings {
        transactions: 400,
        utilisation_percent: 60.0,
        ..postmark::type_a()
    };
    settings.system.memory = Bytes::mib(64);
    let mut machine = settings.build(CAPACITY, 4).unwrap();
    let data = |volume: &Volume| -> u64 {
        let files = volume.files().filter(|&file| volume.size(file) > 0);
        files.map(|file| volume.size(file).div_ceil(4096)).sum()
    };
    let volume = machine.host().volume();
    let (used, free) = (data(volume), volume.space().free());
    // The difference is less than one file, of up to 8 blocks. Directories take the rest.
    let target = ((used + free) as f64 * 0.6) as u64;
    assert!(used.abs_diff(target) < target / 200, "{used} {target}");
    assert!(volume.space().free_runs() > 1_000);
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    let count = |name| value(&counters, name);
    assert_eq!((count("transactions"), count("creation")), (400.0, 0.0));
    assert!(is_half(count("files-created"), 400.0) && is_half(count("files-deleted"), 400.0));
    // There are about 38,000 files, so nearly every file read comes from the drive, in whole pages.
    let of_data = played.iter().filter(|p| p.access.op == Op::Read);
    assert!(bytes(of_data, Op::Read) as f64 > 0.95 * count("bytes-read"));
    // Existing files that were not deleted still exist.
    let change = data(machine.host().volume()) as f64 - used as f64;
    assert!(change.abs() < 400.0 * 8.0, "{change}");
    assert!(count("everything-written") >= count("of-transactions"));
}

#[test]
fn a_drive_that_becomes_full_cuts_writes_short_and_tells() {
    let settings = |utilisation_percent, format: Format| Settings {
        transactions: 600,
        utilisation_percent,
        file_system: FileSystem {
            format,
            ..FileSystem::default()
        },
        sizes: Sizes {
            min: Bytes::kib(64),
            max: Bytes::mib(4),
        },
        ..postmark::type_a()
    };
    let without_room = |percent, format| {
        let mut machine = settings(percent, format).build(CAPACITY, 4).unwrap();
        play(&mut machine, DRIVE);
        let counters = machine.counters();
        assert_eq!(value(&counters, "transactions"), 600.0);
        value(&counters, "writes-without-room")
    };
    for format in [Format::Ext3, Format::Ext4, Format::Reiserfs] {
        assert_eq!(without_room(20.0, format), 0.0);
        let refused = without_room(99.0, format);
        // Of about 450 writes. On ReiserFS a creation, too, needs room for the nodes of the tree.
        assert!(refused > 30.0, "{refused} on {format}");
    }
}

#[test]
fn files_of_one_size_are_never_appended_to() {
    let settings = Settings {
        transactions: 300,
        sizes: Sizes {
            min: Bytes::kib(256),
            max: Bytes::kib(256),
        },
        ..postmark::fixed()
    };
    let mut machine = settings.build(CAPACITY, 712).unwrap();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "files-appended"), 0.0);
    let created = value(&counters, "files-created");
    assert_eq!(value(&counters, "bytes-written"), created * 262_144.0);
    assert_eq!(
        value(&counters, "bytes-read"),
        value(&counters, "files-read") * 262_144.0
    );
}

#[test]
fn the_transactions_end_where_no_file_is_left() {
    let settings = Settings {
        files: 1,
        transactions: 100_000,
        ..small()
    };
    let mut machine = settings.build(CAPACITY, 1).unwrap();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert!(value(&counters, "transactions") < 100_000.0);
    assert_eq!(
        value(&counters, "files-created"),
        value(&counters, "files-deleted")
    );
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let run = |seed| {
        let mut machine = small().build(CAPACITY, seed).unwrap();
        (play(&mut machine, DRIVE), machine.counters())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}

#[test]
fn computing_takes_its_time() {
    let with = |time| {
        let mut settings = small();
        settings.system.operation_time = time;
        let mut machine = settings.build(CAPACITY, 2).unwrap();
        play(&mut machine, DRIVE);
        value(&machine.counters(), "of-transactions")
    };
    // Each of 2,000 transactions has two operations, and each operation takes a millisecond longer.
    let (short, long) = (with(Dur::us(10)), with(Dur::us(1_010)));
    assert!((long - short - 4.0).abs() < 0.1, "{short} {long}");
}

#[test]
fn a_study_file_names_a_program_and_what_differs() {
    let text = r#"
        program = "postmark-fixed"
        transactions = 300
        sizes = { min = "8MiB", max = "8MiB" }
        system = { memory = "512MiB", commit = "1s" }
    "#;
    let config: Config = toml::from_str(text).unwrap();
    assert_eq!(config.name(), "postmark-fixed");
    let Config::PostmarkFixed(overrides) = &config else {
        panic!("{config:?}");
    };
    let settings = overrides.onto(postmark::fixed());
    assert_eq!((settings.files, settings.subdirectories), (200, 200));
    assert_eq!(
        (settings.transactions, settings.sizes.max),
        (300, Bytes::mib(8))
    );
    assert_eq!(settings.system.memory, Bytes::mib(512));
    assert_eq!(settings.system.window, 128);
    let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    let unknown = "program = \"postmark-fixed\"\ntransaction = 1";
    let error = toml::from_str::<Config>(unknown).unwrap_err().to_string();
    assert!(error.contains("transaction"), "{error}");
    assert!(toml::from_str::<Config>("program = \"postmark\"").is_err());
}

#[test]
fn every_program_is_listed_with_what_it_is() {
    for entry in PROGRAMS {
        let config: Config = entry.name.parse().unwrap();
        assert_eq!(config.name(), entry.name);
        let text = toml::to_string(&config).unwrap();
        assert!(text.contains(&format!("\"{}\"", entry.name)), "{text}");
        assert!(entry.text.len() > 100);
        // The web server's files have 16 GiB in total.
        let capacity = if text.contains("postmark") { 4 } else { 32 } << 30;
        assert!(config.build(capacity, 1).is_ok(), "{text}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let refused = |overrides: Overrides, capacity| {
        let built = Config::PostmarkB(overrides).build(capacity, 1);
        built.err().unwrap_or_else(|| panic!("not refused")).key
    };
    let none = Overrides::default;
    let sizes = |min, max| {
        let (min, max) = (Bytes(min), Bytes(max));
        Some(Sizes { min, max })
    };
    let files = |files| Overrides {
        files: Some(files),
        ..none()
    };
    assert_eq!(refused(files(1 << 30), CAPACITY), "files");
    assert_eq!(refused(none(), 1 << 20), "range");
    // 100 files of up to 16 MiB do not fit in half a gigabyte.
    assert_eq!(refused(files(100), CAPACITY), "files");
    let nothing = Overrides {
        utilisation_percent: Some(0.0),
        ..none()
    };
    assert_eq!(refused(nothing, CAPACITY), "utilisation-percent");
    // Each file is longer than the drive, so that none stays.
    let too_long = Overrides {
        fill_sizes: Some(sizes(1 << 30, 1 << 30)),
        utilisation_percent: Some(50.0),
        sizes: sizes(1, 4096),
        ..files(1)
    };
    assert_eq!(refused(too_long, CAPACITY), "utilisation-percent");
    assert_eq!(
        refused(
            Overrides {
                sizes: sizes(0, 1),
                ..none()
            },
            CAPACITY
        ),
        "sizes"
    );
    assert_eq!(
        refused(
            Overrides {
                sizes: sizes(2, 1),
                ..none()
            },
            CAPACITY
        ),
        "sizes"
    );
    let full = Overrides {
        utilisation_percent: Some(100.0),
        ..none()
    };
    assert_eq!(refused(full, CAPACITY), "utilisation-percent");
    let nan = Overrides {
        utilisation_percent: Some(f64::NAN),
        ..none()
    };
    assert_eq!(refused(nan, CAPACITY), "utilisation-percent");
    let system = System {
        dirty_percent: 1.0,
        ..System::default()
    };
    let system = Overrides {
        system: Some(system),
        ..none()
    };
    assert_eq!(refused(system, CAPACITY), "system.dirty-percent");
}

/// The sets that the reference streams were recorded with.
#[test]
fn the_sets_of_the_survey_have_their_numbers() {
    let of = |settings: Settings| {
        let Settings {
            files,
            subdirectories,
            transactions,
            sizes,
            ..
        } = settings;
        (
            files,
            subdirectories,
            transactions,
            sizes.min.0,
            sizes.max.0,
        )
    };
    assert_eq!(of(postmark::cvfs()), (5_000, 50, 20_000, 512, 10_240));
    assert_eq!(
        of(postmark::cvfs_large()),
        (5_000, 50, 20_000, 512, 328_072)
    );
    assert_eq!(of(postmark::fsl()), (20_000, 200, 200_000, 512, 10_240));
}

#[test]
fn it_syncs_every_so_many_operations() {
    let settings = Settings {
        sync_every: 50,
        ..small()
    };
    let mut machine = settings.build(CAPACITY, 1).unwrap();
    play(&mut machine, DRIVE);
    let counters = machine.counters();
    let count = |name| value(&counters, name);
    let operations = count("files-created")
        + count("files-read")
        + count("files-appended")
        // All that was created is deleted in the end.
        + count("files-created");
    assert!((count("commits") - (operations / 50.0).floor()).abs() <= 2.0);
    let mut machine = small().build(CAPACITY, 1).unwrap();
    play(&mut machine, DRIVE);
    assert!(value(&machine.counters(), "commits") < 5.0);
}
