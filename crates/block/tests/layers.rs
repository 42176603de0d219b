//! What each layer does to what passes through it.

#[allow(dead_code, reason = "shared; not every test file needs all of it")]
mod common;

use common::{Numbered, RealLike, ram};
use fathom_base::{Dur, Rate, Rng, Time};
use fathom_block::devices::modelled_info;
use fathom_block::layers::{Event, Fault, Limits, OpDelay, PerOp, Stage, When};
use fathom_block::{
    Completion, Delayed, Device, DeviceInfo, Faulty, IoErrorKind, Narrow, Noisy, NullDevice, Op,
    Paced, Request, RequestId, Stats, Traced,
};
use proptest::prelude::*;
use std::num::NonZeroU32;

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Trim];

fn null(latency: Dur) -> NullDevice {
    NullDevice::new(modelled_info("null", 1 << 30), latency)
}

/// Waits for everything in flight.
fn drain<D: Device>(device: &mut D) -> Vec<Completion> {
    let mut done = Vec::new();
    loop {
        let before = done.len();
        device.wait(Time::MAX, &mut done);
        if done.len() == before {
            return done;
        }
    }
}

fn request(id: u64, op: Op, blocks: u64) -> Request {
    match op {
        Op::Flush => Request::new(id, op, 0, 0),
        _ => Request::new(id, op, id % 100 * 512, blocks * 512),
    }
}

/// Random requests with random waits between them; everything that completed.
fn load<D: Device>(device: &mut D, seed: u64, count: u64, gap: u64) -> Vec<Completion> {
    let mut rng = Rng::new(seed, 0);
    let mut done = Vec::new();
    for id in 0..count {
        let op = OPS[rng.below(4) as usize];
        let mut next = request(id, op, 1 + rng.below(64));
        while let Err(busy) = device.submit(next) {
            next = busy.0;
            device.wait(Time::MAX, &mut done);
        }
        let until = device.now() + Dur(rng.below(gap));
        device.wait(until, &mut done);
    }
    done.extend(drain(device));
    assert_eq!(done.len() as u64, count);
    done
}

fn submissions(events: &[Event]) -> Vec<(Time, RequestId, Op, u64)> {
    let of = |event: &Event| match *event {
        Event::Submitted {
            at, id, op, len, ..
        } => Some((at, id, op, len)),
        Event::Completed { .. } => None,
    };
    events.iter().filter_map(of).collect()
}

fn completion_time(events: &[Event], which: RequestId) -> Time {
    let of = |event: &Event| match *event {
        Event::Completed { at, id, .. } if id == which => Some(at),
        _ => None,
    };
    events.iter().find_map(of).expect("it completed below")
}

/// Every completion lies between the device's own and the longest delay after it.
fn delayed_rightly<D: Device>(
    inner: D,
    delays: PerOp<OpDelay>,
    seed: u64,
) -> Result<(), TestCaseError> {
    let mut device = Delayed::new(Traced::new(inner, Vec::new()), delays, seed);
    for done in load(&mut device, seed, 60, 3000) {
        let own = completion_time(device.inner().sink(), done.id);
        let OpDelay { fixed, jitter } = *delays.of(done.op);
        prop_assert!(
            done.completed >= own + fixed,
            "{done:?} too early after {own:?}"
        );
        prop_assert!(
            done.completed <= own + fixed + jitter,
            "{done:?} too late after {own:?}"
        );
    }
    Ok(())
}

/// Between any two requests that pass lies the time that the limits want for the first and all up to the second, but
/// for the burst and the rounding to a nanosecond.
fn paced_rightly<D: Device>(
    inner: D,
    limits: Limits,
    seed: u64,
    gap: u64,
) -> Result<(), TestCaseError> {
    let mut device = Paced::new(Traced::new(inner, Vec::new()), limits);
    load(&mut device, seed, 60, gap);
    let passed = submissions(device.inner().sink());
    prop_assert!(passed.windows(2).all(|w| w[0].1 < w[1].1), "out of order");
    for (i, first) in passed.iter().enumerate() {
        let (mut requests, mut bytes) = (0u128, 0u128);
        for last in &passed[i..] {
            let time = u128::from(last.0.since(first.0).0 + limits.burst.0 + 1);
            if let Some(iops) = limits.iops {
                prop_assert!(requests * 1_000_000_000 <= u128::from(iops.get()) * time);
            }
            if let Some(rate) = limits.bandwidth {
                let most = u128::from(rate.bytes_per_second()) * time;
                prop_assert!(bytes * 1_000_000_000 <= most);
            }
            requests += 1;
            if matches!(last.2, Op::Read | Op::Write) {
                bytes += u128::from(last.3);
            }
        }
    }
    Ok(())
}

fn op_delay() -> impl Strategy<Value = OpDelay> {
    (0u64..100_000, 0u64..50_000).prop_map(|(fixed, jitter)| OpDelay {
        fixed: Dur(fixed),
        jitter: Dur(jitter),
    })
}

fn delays() -> impl Strategy<Value = PerOp<OpDelay>> {
    (op_delay(), op_delay(), op_delay(), op_delay()).prop_map(|(read, write, flush, trim)| PerOp {
        read,
        write,
        flush,
        trim,
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    let iops = proptest::option::of(1u32..3_000_000);
    let rate = proptest::option::of(1u64..5_000_000_000);
    (iops, rate, 0u64..2_000_000).prop_map(|(iops, rate, burst)| Limits {
        iops: iops.and_then(NonZeroU32::new),
        bandwidth: rate.and_then(Rate::new),
        burst: Dur(burst),
    })
}

proptest! {
    #[test]
    fn a_delay_is_never_shorter_nor_longer(delays in delays(), seed: u64, latency in 0u64..20_000) {
        delayed_rightly(ram(Dur(latency)), delays, seed)?;
    }

    #[test]
    fn a_delay_is_right_over_a_real_drive(delays in delays(), seed: u64, latency in 0u64..20_000) {
        // With other delays a later one may be out first, and what comes after it is then not before it.
        let fixed = |d: OpDelay| OpDelay { jitter: Dur::ZERO, ..d };
        let delays = PerOp {
            read: fixed(delays.read),
            write: fixed(delays.read),
            flush: fixed(delays.read),
            trim: fixed(delays.read),
        };
        delayed_rightly(RealLike::new(ram(Dur(latency))), delays, seed)?;
    }

    #[test]
    fn pacing_is_never_above_its_limits(limits in limits(), seed: u64, latency in 0u64..20_000, gap in 1u64..1_000_000) {
        paced_rightly(null(Dur(latency)), limits, seed, gap)?;
        paced_rightly(RealLike::new(ram(Dur(latency))), limits, seed, gap)?;
    }
}

#[test]
fn delays_run_side_by_side_and_the_same_seed_repeats() {
    let delays = PerOp {
        read: OpDelay {
            fixed: Dur(1000),
            jitter: Dur(500),
        },
        ..PerOp::default()
    };
    let run = |seed| {
        let mut device = Delayed::new(null(Dur(10)), delays, seed);
        for id in 0..32 {
            device.submit(request(id, Op::Read, 1)).unwrap();
        }
        drain(&mut device)
    };
    let done = run(1);
    assert!(done.iter().all(|c| (1010..=1510).contains(&c.completed.0)));
    assert!(done.windows(2).any(|w| w[0].completed < w[1].completed));
    assert_eq!(done, run(1));
    assert_ne!(done, run(2));
}

#[test]
fn a_backlog_passes_at_exactly_the_limit() {
    let limits = Limits {
        iops: NonZeroU32::new(3_200_000),
        ..Limits::default()
    };
    let mut device = Paced::new(null(Dur(7)), limits);
    for id in 0..31 {
        device.submit(request(id, Op::Flush, 0)).unwrap();
    }
    for done in drain(&mut device) {
        // One every 312.5 ns, each rounded up to a whole one: the halves are not lost.
        let passes = (done.id.0 * 3125).div_ceil(10);
        assert_eq!(
            (done.submitted, done.completed),
            (Time::ZERO, Time(passes + 7))
        );
    }
}

#[test]
fn bytes_are_paced_and_trims_and_wrong_requests_carry_none() {
    let limits = Limits {
        bandwidth: Rate::new(512_000_000),
        ..Limits::default()
    };
    let mut device = Paced::new(null(Dur::ZERO), limits);
    let huge = Request::new(1, Op::Write, 0, u64::MAX);
    let trim = Request::new(2, Op::Trim, 0, 1 << 30);
    let write = |id| request(id, Op::Write, 10);
    for request in [huge, trim, write(3), write(4), write(5)] {
        device.submit(request).unwrap();
    }
    // 5120 bytes at 512 MB/s are 10 us.
    let times: Vec<u64> = drain(&mut device).iter().map(|c| c.completed.0).collect();
    assert_eq!(times, [0, 0, 0, 10_000, 20_000]);
}

#[test]
fn what_passes_and_completes_at_one_instant_comes_with_the_rest_of_it() {
    let limits = Limits {
        iops: NonZeroU32::new(1_000_000),
        ..Limits::default()
    };
    let mut delays = PerOp::<OpDelay>::default();
    delays.read.fixed = Dur(1000);
    let mut device = Paced::new(Delayed::new(null(Dur::ZERO), delays, 0), limits);
    // The read passes at 0 and is done at 1000 ns, when the flush passes and is done.
    device.submit(request(1, Op::Read, 1)).unwrap();
    device.submit(request(2, Op::Flush, 0)).unwrap();
    let mut done = Vec::new();
    device.wait(Time::MAX, &mut done);
    let times: Vec<u64> = done.iter().map(|c| c.completed.0).collect();
    assert_eq!(times, [1000, 1000]);
}

#[test]
fn a_burst_saves_up_unused_time_and_no_more() {
    let limits = Limits {
        iops: NonZeroU32::new(1_000_000),
        burst: Dur::us(3),
        ..Limits::default()
    };
    let mut device = Paced::new(null(Dur::ZERO), limits);
    device.wait(Time(1_000_000), &mut Vec::new());
    for id in 0..6 {
        device.submit(request(id, Op::Read, 1)).unwrap();
    }
    let after: Vec<u64> = drain(&mut device).iter().map(|c| c.latency().0).collect();
    assert_eq!(after, [0, 0, 0, 0, 1000, 2000]);
}

fn fault(ops: &[Op], when: When, stage: Stage) -> Fault {
    Fault {
        ops: ops.to_vec(),
        when,
        stage,
        kind: IoErrorKind::Os(5),
    }
}

#[test]
fn the_nth_fails_on_the_way_down_or_on_the_way_up() {
    for (stage, done_by_device) in [(Stage::Before, 9), (Stage::After, 10)] {
        let faults = vec![fault(&[Op::Write], When::Nth(2), stage)];
        let mut device = Faulty::new(Stats::new(null(Dur(50))), faults, 0);
        for id in 0..20 {
            let op = [Op::Read, Op::Write][id as usize % 2];
            device.submit(request(id, op, 1)).unwrap();
        }
        let failed: Vec<_> = drain(&mut device)
            .into_iter()
            .filter_map(|c| {
                c.result
                    .err()
                    .map(|e| (c.id.0, e.kind, e.op, e.offset, c.completed.0))
            })
            .collect();
        let at = if stage == Stage::Before { 0 } else { 50 };
        assert_eq!(failed, [(3, IoErrorKind::Os(5), Op::Write, 3 * 512, at)]);
        assert_eq!(device.inner().snapshot().write.completed, done_by_device);
    }
}

#[test]
fn chance_fails_its_share_and_repeats() {
    let run = |seed| {
        let faults = vec![
            fault(&[Op::Read], When::Chance(0.25), Stage::After),
            fault(&[Op::Trim], When::Chance(1.0), Stage::Before),
        ];
        let mut device = Faulty::new(null(Dur(50)), faults, seed);
        let mut done = load(&mut device, 7, 8000, 60);
        done.sort_by_key(|c| c.id);
        done.iter()
            .map(|c| (c.op, c.result.is_err()))
            .collect::<Vec<_>>()
    };
    let share = |results: &[(Op, bool)], op| {
        let of: Vec<bool> = results.iter().filter(|r| r.0 == op).map(|r| r.1).collect();
        of.iter().filter(|failed| **failed).count() as f64 / of.len() as f64
    };
    let results = run(1);
    // About 2000 reads: five standard deviations are 0.048.
    assert!((share(&results, Op::Read) - 0.25).abs() < 0.05);
    assert_eq!(share(&results, Op::Trim), 1.0);
    assert_eq!(share(&results, Op::Write), 0.0);
    assert_eq!(results, run(1));
    assert_ne!(results, run(2));
}

#[test]
fn a_request_that_was_refused_by_a_full_queue_is_not_counted() {
    let info = DeviceInfo {
        queue_depth: 1,
        ..modelled_info("null", 1 << 20)
    };
    let faults = vec![fault(&[Op::Read], When::Nth(2), Stage::After)];
    let mut device = Faulty::new(NullDevice::new(info, Dur(5)), faults, 0);
    device.submit(request(0, Op::Read, 1)).unwrap();
    for _ in 0..3 {
        device.submit(request(1, Op::Read, 1)).unwrap_err();
    }
    assert!(drain(&mut device)[0].result.is_ok());
    device.submit(request(1, Op::Read, 1)).unwrap();
    assert!(drain(&mut device)[0].result.is_err());
}

#[test]
fn statistics_add_up() {
    let faults = vec![fault(&[Op::Read], When::Nth(1), Stage::After)];
    let mut device = Stats::new(Faulty::new(null(Dur::us(40)), faults, 0));
    for (id, op) in [
        (0, Op::Read),
        (1, Op::Read),
        (2, Op::Read),
        (3, Op::Write),
        (4, Op::Flush),
    ] {
        device.submit(request(id, op, 8)).unwrap();
    }
    assert_eq!(device.in_flight(), 5);
    drain(&mut device);
    let counts = |op| {
        let of = device.snapshot().of(op);
        (of.completed, of.failed, of.bytes, of.latency_ns.len())
    };
    assert_eq!(counts(Op::Read), (3, 1, 2 * 4096, 2));
    assert_eq!(counts(Op::Write), (1, 0, 4096, 1));
    assert_eq!(counts(Op::Flush), (1, 0, 0, 1));
    assert_eq!(counts(Op::Trim), (0, 0, 0, 0));
    let median = device.snapshot().read.latency_ns.value_at_quantile(0.5);
    assert!(median.abs_diff(40_000) <= 40, "{median}");
    device.reset();
    assert_eq!(
        (device.snapshot().read.completed, device.in_flight()),
        (0, 0)
    );
}

#[test]
fn a_trace_tells_all_in_order() {
    let mut events = Vec::new();
    let info = DeviceInfo {
        queue_depth: 1,
        ..modelled_info("null", 1 << 20)
    };
    let mut device = Traced::new(NullDevice::new(info, Dur(5)), &mut events);
    device.submit(request(3, Op::Read, 2)).unwrap();
    device.submit(request(4, Op::Read, 2)).unwrap_err();
    drain(&mut device);
    device.submit(request(4, Op::Trim, 0)).unwrap();
    drain(&mut device);
    let tag = Default::default();
    let submitted = |at, id, op, offset, len| Event::Submitted {
        at: Time(at),
        id: RequestId(id),
        op,
        offset,
        len,
        tag,
    };
    let completed = |at, id, op, submitted, error| Event::Completed {
        at: Time(at),
        id: RequestId(id),
        op,
        submitted: Time(submitted),
        error,
    };
    let expected = [
        submitted(0, 3, Op::Read, 1536, 1024),
        completed(5, 3, Op::Read, 0, None),
        submitted(5, 4, Op::Trim, 2048, 0),
        completed(10, 4, Op::Trim, 5, Some(IoErrorKind::Misaligned)),
    ];
    assert_eq!(events, expected);
}

#[test]
fn noise_is_asked_once_a_request_in_order_and_added_side_by_side() {
    let mut device = Noisy::new(null(Dur::us(10)), Numbered::default());
    for id in 0..3 {
        device
            .submit(request(id, OPS[id as usize], id + 1))
            .unwrap();
    }
    let done = drain(&mut device);
    let completed: Vec<(u64, Time)> = done.iter().map(|c| (c.id.0, c.completed)).collect();
    let at = |us| Time::ZERO + Dur::us(us);
    assert_eq!(completed, [(0, at(11)), (1, at(12)), (2, at(13))]);
    device.submit(request(7, Op::Trim, 4)).unwrap();
    assert_eq!(drain(&mut device)[0].latency(), Dur::us(14));
    let asked = [
        (Op::Read, 512, at(0)),
        (Op::Write, 1024, at(0)),
        (Op::Flush, 0, at(0)),
        (Op::Trim, 2048, at(13)),
    ];
    assert_eq!(device.latencies().asked, asked);
}

#[test]
fn a_request_that_is_not_taken_has_no_noise() {
    let info = DeviceInfo {
        queue_depth: 1,
        ..modelled_info("narrow", 1 << 20)
    };
    let inner = NullDevice::new(info, Dur::us(10));
    let mut device = Noisy::new(inner, Numbered::default());
    device.submit(request(0, Op::Read, 1)).unwrap();
    assert!(device.submit(request(1, Op::Read, 1)).is_err());
    assert_eq!(drain(&mut device).len(), 1);
    assert_eq!(device.latencies().asked.len(), 1);
}

#[test]
fn a_smaller_depth_is_kept_and_told() {
    for (depth, shown) in [(1, 1), (4, 4), (1 << 20, modelled_info("", 1).queue_depth)] {
        let mut device = Narrow::new(null(Dur::us(10)), NonZeroU32::new(depth).unwrap());
        assert_eq!(device.info().queue_depth, shown);
        // As many as it says, and one more when one of them is done.
        for round in 0..2 {
            for id in 0..u64::from(shown) {
                assert!(device.submit(request(id, Op::Read, 1)).is_ok(), "{round}");
            }
            assert!(device.submit(request(9999, Op::Read, 1)).is_err());
            assert_eq!(drain(&mut device).len(), shown as usize);
        }
    }
}
