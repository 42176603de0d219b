//! Latencies do not depend on the absolute time, up to the end of simulated time, after which requests are refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Dur, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request};
use fathom_disksim::{self as ms, MsSsd};
use fathom_ssd::spec::Noise;
use fathom_ssd::{Spec, Ssd, presets};

/// Times in seconds: just after 64-bit picoseconds have wrapped; later; and shortly before the end of simulated time.
const LATER_S: [u64; 3] = [18_446_745, 3_000_000_000, 15_778_799_999];

const CENTURY: Dur = Dur(Time::END.0 / 5);

fn at(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000)
}

fn send(drive: &mut impl Device, requests: impl IntoIterator<Item = Request>) -> Vec<Completion> {
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

/// Returns the latencies of twenty reads and then twenty writes, submitted together, on a drive that was idle until
/// `start`.
fn latencies(drive: &mut impl Device, start: Time) -> Vec<Dur> {
    let len = 64 << 10;
    let mut all = Vec::new();
    drive.wait(start, &mut Vec::new());
    assert_eq!(drive.now(), start);
    for op in [Op::Read, Op::Write] {
        let depth = u64::from(drive.info().queue_depth.min(20));
        let capacity = drive.info().capacity_bytes / len;
        let requests = (0..depth).map(|i| Request::new(i, op, i * 7 % capacity * len, len));
        let done = send(drive, requests);
        assert!(done.iter().all(|c| c.result == Ok(())));
        all.extend(done.iter().map(Completion::latency));
    }
    all
}

#[test]
fn what_a_drive_does_takes_equally_long_at_any_time() {
    for preset in presets::PRESETS.iter().chain(presets::STUDIED) {
        let mut spec = Spec::from_toml(preset.text).unwrap();
        // Noise depends on the time.
        spec.noise = Noise::default();
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let fill = (0..200).map(|i| Request::new(i, Op::Write, i * (64 << 10), 64 << 10));
        fill.for_each(|request| drop(send(&mut drive, [request])));
        let early = latencies(&mut drive.clone(), at(100));
        for seconds in LATER_S {
            let later = latencies(&mut drive.clone(), at(seconds));
            assert_eq!(early, later, "{}, {seconds} s", preset.name);
        }
    }
}

#[test]
fn the_reference_drive_holds_a_nanosecond_at_any_time() {
    let drive = MsSsd::new(&ms::Spec::default()).unwrap();
    let early = latencies(&mut drive.clone(), at(100));
    for seconds in LATER_S {
        let later = latencies(&mut drive.clone(), at(seconds));
        let close = |(a, b): (&Dur, &Dur)| a.0.abs_diff(b.0) <= 1;
        assert!(early.iter().zip(&later).all(close), "{early:?} {later:?}");
    }
}

/// Eight writes are in flight when the sums restart, and eight reads are submitted then.
#[test]
fn the_reference_drive_goes_on_while_its_sums_begin_anew() {
    let drive = MsSsd::new(&ms::Spec::default()).unwrap();
    let page = drive.page_bytes();
    let latencies = |start: Time| {
        let mut drive = drive.clone();
        let mut done = Vec::new();
        drive.wait(start, &mut done);
        let send = |drive: &mut MsSsd, op, from| {
            for i in from..from + 8 {
                let request = Request::new(i, op, i % 8 * page, page);
                drive.submit(request).unwrap();
            }
        };
        send(&mut drive, Op::Write, 0);
        drive.wait(start + Dur::us(100), &mut done);
        assert!(done.is_empty() && drive.now() == start + Dur::us(100));
        send(&mut drive, Op::Read, 8);
        while done.len() < 16 {
            drive.wait(Time::MAX, &mut done);
        }
        done.sort_by_key(|c| c.id);
        done.iter().map(Completion::latency).collect::<Vec<_>>()
    };
    let early = latencies(at(100));
    // 2^33 ms minus 50 us.
    let anew = latencies(Time((1 << 33) * 1_000_000 - 50_000));
    let close = |(a, b): (&Dur, &Dur)| a.0.abs_diff(b.0) <= 1;
    assert!(early.iter().zip(&anew).all(close), "{early:?} {anew:?}");
}

/// Sends requests before and after an idle century, which passes in `parts` waits. Returns the completions and the number
/// of events during the century.
fn around_a_century(drive: &mut Ssd, parts: u64) -> (Vec<Completion>, u64) {
    let write = |i| Request::new(i, Op::Write, i * (64 << 10), 64 << 10);
    let mut all: Vec<_> = (0..20).flat_map(|i| send(drive, [write(i)])).collect();
    let (before, start) = (drive.counters().events, drive.now());
    for part in 1..=parts {
        drive.wait(start + Dur(CENTURY.0 / parts * part), &mut Vec::new());
    }
    let events = drive.counters().events - before;
    for i in 0..100 {
        all.extend(send(drive, [Request::new(i, Op::Read, 0, 4096)]));
        drive.wait(drive.now() + Dur::ms(10_000), &mut Vec::new());
    }
    (all, events)
}

#[test]
fn an_idle_century_takes_few_events_and_background_work_goes_on_after_it() {
    for preset in presets::PRESETS {
        let spec = Spec::from_toml(preset.text).unwrap();
        assert!(spec.noise.background_interval > Dur::ZERO);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let (once, events) = around_a_century(&mut drive.clone(), 1);
        assert!(events < 300_000, "{}: {events}", preset.name);
        assert_eq!(around_a_century(&mut drive, 8).0, once, "{}", preset.name);
        let after = drive.counters().events;
        drive.wait(drive.now() + Dur::ms(1_000_000), &mut Vec::new());
        assert!(drive.counters().events > after + 500, "{}", preset.name);
    }
}

fn ends(drive: &mut impl Device) {
    let before_end = Time(Time::END.0 - 10_000);
    drive.wait(before_end, &mut Vec::new());
    let read = Request::new(7, Op::Read, 128 << 10, 64 << 10);
    let done = send(drive, [read.clone()]);
    let error = done[0].result.unwrap_err();
    assert_eq!((error.kind, error.op), (IoErrorKind::EndOfTime, Op::Read));
    assert_eq!((error.offset, error.len), (128 << 10, 64 << 10));
    assert_eq!(done[0].completed, Time::END);
    // After the end of time every request fails.
    for op in [Op::Read, Op::Write, Op::Flush] {
        let len = if op == Op::Flush { 0 } else { 4096 };
        let done = send(drive, [Request::new(8, op, 0, len)]);
        assert_eq!(done[0].result.unwrap_err().kind, IoErrorKind::EndOfTime);
    }
    let late = Time(u64::MAX - 1);
    drive.wait(late, &mut Vec::new());
    assert_eq!(drive.now(), late);
    let done = send(drive, [read]);
    assert_eq!(done[0].result.unwrap_err().kind, IoErrorKind::EndOfTime);
}

#[test]
fn what_would_end_after_the_end_of_time_fails_with_its_place() {
    for preset in presets::PRESETS {
        let mut spec = Spec::from_toml(preset.text).unwrap();
        spec.noise = Noise::default();
        ends(&mut Ssd::new(&spec, 1).unwrap());
    }
    ends(&mut MsSsd::new(&ms::Spec::default()).unwrap());
}
