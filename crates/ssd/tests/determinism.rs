//! A run is a function of (spec, seed): identical to the byte, also on forks and on threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::case::Case;
use crate::common::{KINDS, drive, drives};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Noise, Prefetch, ReadBuffer};
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
