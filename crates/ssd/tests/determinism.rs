//! A run is a function of (spec, seed): identical to the byte, also on forks and on threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::case::Case;
use crate::common::{KINDS, drive, drives};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Noise, Prefetch, ReadBuffer, Victim};
use fathom_ssd::{Spec, Ssd};

fn noisy(kind: MappingKind, shape: &str) -> Spec {
    let mut spec = drive(kind, shape, "lru");
    spec.read_buffer = Some(ReadBuffer {
        capacity: Bytes::kib(16),
        line: Bytes::kib(4),
        min_request: Bytes(512),
        prefetch: Some(Prefetch {
            after: 2,
            depth: Bytes::kib(8),
        }),
    });
    spec.noise = Noise {
        command_percent: 10.0,
        flash_percent: 5.0,
        background_interval: Dur::ms(5),
        background_duration: Dur::us(500),
    };
    spec
}

/// Sends random requests from number `from` on. Returns all completions.
fn work(drive: &mut Ssd, from: u64, n: u64) -> Vec<Completion> {
    let mut rng = Rng::new(9, from);
    let sectors = drive.info().capacity_bytes / 512;
    let (mut done, mut sent) = (Vec::new(), from);
    while sent < from + n {
        let op = [
            Op::Read,
            Op::Write,
            Op::Write,
            Op::Write,
            Op::Trim,
            Op::Flush,
        ][rng.below(6) as usize];
        let first = rng.below(sectors);
        let len = 1 + rng.below((sectors - first).min(24));
        let mut request = Request::new(sent, op, first * 512, len * 512);
        if op == Op::Flush {
            (request.offset, request.len) = (0, 0);
        }
        if op == Op::Write {
            request.data = Some(vec![sent as u8; request.len as usize].into());
        }
        match drive.submit(request) {
            Ok(()) => sent += 1,
            Err(_) => drive.wait(Time::MAX, &mut done),
        }
    }
    while (done.len() as u64) < n {
        drive.wait(Time::MAX, &mut done);
    }
    done
}

fn run(spec: &Spec, seed: u64) -> Vec<Completion> {
    work(&mut Ssd::new(spec, seed).unwrap().keep_data(), 0, 1500)
}

#[test]
fn equal_spec_and_seed_give_equal_completions_and_another_seed_does_not() {
    for kind in KINDS {
        for shape in ["whole", "padded", "lanes"] {
            let spec = noisy(kind, shape);
            let first = run(&spec, 1);
            assert_eq!(first.len(), 1500);
            assert_eq!(first, run(&spec, 1));
            assert_ne!(first, run(&spec, 2));
        }
    }
}

/// Writes a whole drive in order, then sends random requests. Returns everything that can be seen of it.
fn life(spec: &Spec, seed: u64) -> (Vec<Completion>, String) {
    let (mut drive, mut done) = (Ssd::new(spec, seed).unwrap(), Vec::new());
    let (mut at, mut sent) = (drive.fill(), 0);
    while at < spec.capacity.0 {
        let len = spec.host.max_request.0.min(spec.capacity.0 - at);
        match drive.submit(Request::new(at, Op::Write, at, len)) {
            Ok(()) => (at, sent) = (at + len, sent + 1),
            Err(_) => drive.wait(Time::MAX, &mut done),
        }
    }
    while done.len() < sent {
        drive.wait(Time::MAX, &mut done);
    }
    done.extend(work(&mut drive, 1 << 40, 600));
    let seen = (drive.counters(), drive.merges(), drive.map_counts());
    (done, format!("{seen:?} {:?}", drive.erase_counts()))
}

#[test]
fn a_drive_that_does_not_depend_on_its_seed_is_the_same_for_all_seeds() {
    let (mut same, mut others) = (0, 0);
    for number in 2000..2300 {
        let spec = Case::spec(number);
        let is_same = life(&spec, 1) == life(&spec, 2);
        if !spec.depends_on_seed() {
            assert!(is_same, "case {number}: {}", spec.name);
            same += 1;
        }
        others += usize::from(!is_same);
    }
    assert!(same > 50 && others > 50, "{same} and {others} of 300");
}

/// Each setting that draws makes the drive depend on the seed, and is seen.
#[test]
fn every_setting_that_draws_makes_a_drive_depend_on_its_seed() {
    let settings: [fn(&mut Spec); 9] = [
        |spec| spec.noise.command_percent = 5.0,
        |spec| spec.noise.flash_percent = 5.0,
        |spec| {
            spec.noise.background_interval = Dur::ms(1);
            spec.noise.background_duration = Dur::us(300);
        },
        |spec| (spec.faults.read_retry, spec.faults.read_retries_max) = (0.1, 3),
        |spec| {
            (spec.faults.age_cycles, spec.faults.read_retries_max) = (1000, 3);
            spec.faults.read_retry_per_1000_cycles = 0.2;
        },
        |spec| spec.faults.factory_bad_percent = 20.0,
        |spec| spec.faults.program_fail = 0.01,
        |spec| spec.faults.erase_fail = 0.01,
        |spec| spec.gc.victim = Victim::DChoices,
    ];
    let mut plain = drive(MappingKind::Page, "whole", "none");
    plain.mapping.over_provisioning_percent = 200.0;
    assert!(!plain.depends_on_seed());
    assert_eq!(life(&plain, 1), life(&plain, 2));
    for (number, set) in settings.iter().enumerate() {
        let mut spec = plain.clone();
        set(&mut spec);
        assert!(spec.depends_on_seed(), "setting {number}");
        assert_ne!(life(&spec, 1), life(&spec, 2), "setting {number}");
    }
    // A mapping without garbage collection draws no victims.
    let mut hybrid = drive(MappingKind::Fast, "whole", "none");
    hybrid.gc.victim = Victim::DChoices;
    assert!(!hybrid.depends_on_seed());
}

#[test]
fn a_fork_goes_on_as_its_origin_does() {
    for kind in KINDS {
        let mut origin = Ssd::new(&noisy(kind, "lanes"), 3).unwrap().keep_data();
        work(&mut origin, 0, 1000);
        // Forks the drive with requests in flight, which are collected with those of the work.
        for i in 0..8 {
            origin
                .submit(Request::new(5000 + i, Op::Write, i * 512, 512))
                .unwrap();
        }
        let mut fork = origin.clone();
        let ahead = work(&mut fork.clone(), 1000, 700);
        let of_origin = work(&mut origin, 1000, 700);
        assert_eq!(of_origin, ahead);
        assert_eq!(of_origin, work(&mut fork, 1000, 700));
        assert_eq!(origin.counters(), fork.counters());
    }
}

/// A drive that keeps bytes takes the general way for every write; others place pages directly, and time most programs at
/// once.
#[test]
fn keeping_bytes_changes_no_time() {
    let drawn = (1000..1300).map(Case::spec);
    for spec in drives().into_iter().chain(drawn) {
        let stamps = |drive: Ssd| {
            let mut drive = drive;
            let done = work(&mut drive, 0, 1000);
            let stamps: Vec<_> = done.iter().map(|c| (c.id, c.completed)).collect();
            (stamps, drive.counters(), drive.merges())
        };
        let drive = Ssd::new(&spec, 4).unwrap();
        assert_eq!(
            stamps(drive.clone()),
            stamps(drive.keep_data()),
            "{}",
            spec.name
        );
    }
}

#[test]
fn threads_change_nothing() {
    let spec = noisy(MappingKind::Page, "parted");
    let alone: Vec<_> = (0..8).map(|seed| run(&spec, seed)).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|seed| {
                scope.spawn({
                    let spec = &spec;
                    move || run(spec, seed)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}
