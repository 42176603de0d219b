//! Latencies do not depend on the absolute time, up to the end of simulated time, after which requests are refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Dur, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request};
use fathom_hdd::{Hdd, Spec, presets};

/// Whole minutes, and therefore whole turns: after 64-bit picoseconds have wrapped, later, and shortly before the end.
const LATER_MIN: [u64; 3] = [307_446, 50_000_000, 262_979_999];

fn at(minutes: u64) -> Time {
    Time(minutes * 60_000_000_000)
}

fn send(drive: &mut Hdd, requests: impl IntoIterator<Item = Request>) -> Vec<Completion> {
    let (mut all, mut done, mut sent) = (Vec::new(), Vec::new(), 0);
    for request in requests {
        drive.submit(request).unwrap();
        sent += 1;
    }
    while all.len() < sent {
        drive.wait(Time::MAX, &mut done);
        assert!(!done.is_empty());
        all.append(&mut done);
    }
    all
}

/// Returns the latencies of as many reads and writes as the queue depth allows, on a disk that was idle until `start`.
fn latencies(drive: &mut Hdd, start: Time) -> Vec<Dur> {
    let len = 64 << 10;
    let depth = u64::from(drive.info().queue_depth);
    let mut all = Vec::new();
    drive.wait(start, &mut Vec::new());
    assert_eq!(drive.now(), start);
    for op in [Op::Read, Op::Write, Op::Read] {
        let requests = (0..depth).map(|i| Request::new(i, op, i * 977 * len, len));
        let done = send(drive, requests);
        assert!(done.iter().all(|c| c.result == Ok(())));
        all.extend(done.iter().map(Completion::latency));
    }
    all
}

#[test]
fn what_a_disk_does_takes_equally_long_at_any_time() {
    for preset in presets::PRESETS {
        let mut spec = Spec::from_toml(preset.text).unwrap();
        spec.noise.command_percent = 0.0;
        let disk = Hdd::new(&spec, 1).unwrap();
        let early = latencies(&mut disk.clone(), at(1));
        for minutes in LATER_MIN {
            let later = latencies(&mut disk.clone(), at(minutes));
            assert_eq!(early, later, "{}, {minutes} min", preset.name);
        }
    }
}

#[test]
fn what_would_end_after_the_end_of_time_fails_with_its_place() {
    for preset in presets::PRESETS {
        let spec = Spec::from_toml(preset.text).unwrap();
        let mut disk = Hdd::new(&spec, 1).unwrap();
        disk.wait(Time(Time::END.0 - 100_000), &mut Vec::new());
        let read = Request::new(7, Op::Read, 128 << 10, 64 << 10);
        let done = send(&mut disk, [read.clone()]);
        let error = done[0].result.unwrap_err();
        assert_eq!((error.kind, error.op), (IoErrorKind::EndOfTime, Op::Read));
        assert_eq!((error.offset, error.len), (128 << 10, 64 << 10));
        assert_eq!(done[0].completed, Time::END);
        disk.wait(Time(u64::MAX - 1), &mut Vec::new());
        let done = send(&mut disk, [read]);
        assert_eq!(done[0].result.unwrap_err().kind, IoErrorKind::EndOfTime);
    }
}
