//! The effect of each layer on requests and completions.

#[allow(dead_code, reason = "shared; not every test file needs all of it")]
use crate::common::Numbered;
use fathom_base::{Dur, Rng, Time};
use fathom_block::devices::modelled_info;
use fathom_block::layers::{Fault, Stage, When};
use fathom_block::{
    Completion, Device, DeviceInfo, Faulty, IoErrorKind, Narrow, Noisy, NullDevice, Op, Request,
};
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

/// Sends random requests with random waits between them. Returns all completions.
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
        let mut device = Faulty::new(Noisy::new(null(Dur(50)), Numbered::default()), faults, 0);
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
        // The noise of the fourth request.
        let at = if stage == Stage::Before { 0 } else { 4050 };
        assert_eq!(failed, [(3, IoErrorKind::Os(5), Op::Write, 3 * 512, at)]);
        let asked = &device.inner().latencies().asked;
        let writes = asked.iter().filter(|(op, ..)| *op == Op::Write);
        assert_eq!(writes.count(), done_by_device);
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
        // Accepts as many as it reports, and one more after a completion.
        for round in 0..2 {
            for id in 0..u64::from(shown) {
                assert!(device.submit(request(id, Op::Read, 1)).is_ok(), "{round}");
            }
            assert!(device.submit(request(9999, Op::Read, 1)).is_err());
            assert_eq!(drain(&mut device).len(), shown as usize);
        }
    }
}
