//! The effect of limits, against the closed form of a token bucket: a bucket of `burst` tokens that is filled at `rate` has
//! given at most `burst + rate x t` tokens at time `t`, and gives as much as soon as it is asked for.

use fathom_base::{Bytes, Dur, Rate, Rng, Time};
use fathom_block::devices::modelled_info;
use fathom_block::layers::Limit;
use fathom_block::{
    Completion, Device, DeviceInfo, IoErrorKind, Limited, NullDevice, Op, Request, Subject,
};

const LATENCY: Dur = Dur::us(10);
const SECOND: u128 = 1_000_000_000;

fn limited(limit: &Limit) -> Limited<NullDevice> {
    limit.check().unwrap();
    let info = DeviceInfo {
        max_request_bytes: 1 << 30,
        queue_depth: 4096,
        ..modelled_info("null", 1 << 40)
    };
    Limited::new(NullDevice::new(info, LATENCY), Some(limit))
}

fn operations(per_second: u64, burst: u64) -> Limit {
    Limit {
        operations_per_second: Some(per_second),
        operations_burst: Some(burst),
        ..Limit::default()
    }
}

fn bandwidth(per_second: u64, burst: u64) -> Limit {
    Limit {
        bandwidth: Rate::new(per_second),
        bandwidth_burst: Some(Bytes(burst)),
        ..Limit::default()
    }
}

fn request(id: u64, op: Op, len: u64) -> Request {
    match op {
        Op::Flush => Request::new(id, op, 0, 0),
        _ => Request::new(id, op, 0, len),
    }
}

/// Submits requests now, and returns the times at which they start, in order of identifiers.
fn starts<D: Device>(device: &mut D, requests: Vec<Request>) -> Vec<u64> {
    let (now, count) = (device.now(), requests.len());
    for request in requests {
        device.submit(request).unwrap();
    }
    let mut done: Vec<Completion> = Vec::new();
    while done.len() < count {
        let before = done.len();
        device.wait(Time::MAX, &mut done);
        assert!(done.len() > before, "requests were lost");
    }
    assert!(done.iter().all(|c| c.result.is_ok() && c.submitted == now));
    let order: Vec<u64> = done.iter().map(|c| c.id.0).collect();
    assert!(order.is_sorted(), "first come, first served: {order:?}");
    let start = |c: &Completion| c.completed.0 - LATENCY.0 - now.0;
    done.iter().map(start).collect()
}

/// The time at which `tokens` tokens beyond the burst have come, in nanoseconds.
fn filled(tokens: u128, per_second: u64) -> u64 {
    (tokens * SECOND).div_ceil(u128::from(per_second)) as u64
}

#[test]
fn a_burst_starts_at_once_and_the_rest_at_the_rate_of_refill() {
    for per_second in [1, 7, 1000, 3000, 999_983, 3_000_000_000] {
        for burst in [1, 10] {
            let mut device = limited(&operations(per_second, burst));
            let ops = [Op::Read, Op::Write];
            let all = (0..2000).map(|id| request(id, ops[id as usize % 2], 512));
            for (n, start) in (1..).zip(starts(&mut device, all.collect())) {
                let beyond = u128::from(u64::saturating_sub(n, burst));
                assert_eq!(start, filled(beyond, per_second), "{per_second} {burst}");
            }
        }
    }
}

#[test]
fn bytes_are_limited_whatever_the_lengths() {
    let (per_second, burst) = (125_000_003, 1 << 20);
    let mut rng = Rng::new(1, 0);
    let lens: Vec<u64> = (0..1000).map(|_| 512 * (1 + rng.below(8192))).collect();
    assert!(lens.iter().any(|&len| len > burst) && lens.iter().any(|&len| len < burst));
    let all = (0..)
        .zip(&lens)
        .map(|(id, &len)| request(id, Op::Read, len));
    let starts = starts(&mut limited(&bandwidth(per_second, burst)), all.collect());
    let (mut given, mut earlier) = (0u128, 0);
    for (start, len) in starts.into_iter().zip(lens) {
        // A request of more than the burst starts when the bucket is full.
        let wanted = given + u128::from(len.min(burst));
        earlier = earlier.max(filled(wanted.saturating_sub(u128::from(burst)), per_second));
        assert_eq!(start, earlier);
        given += u128::from(len);
    }
}

#[test]
fn a_long_request_counts_as_several_operations() {
    let limit = Limit {
        operation_size: Some(Bytes::kib(256)),
        ..operations(400, 4)
    };
    let kib = [1024, 256, 257, 1, 1024, 768];
    // Pieces: 4, 1, 2, 1, 4, 3. Those beyond the burst of 4: 0, 1, 3, 4, 8, 11 at 2.5 ms each.
    let all = (0..)
        .zip(kib)
        .map(|(id, kib)| request(id, Op::Write, kib << 10));
    let got = starts(&mut limited(&limit), all.collect());
    let want = [0, 1, 3, 4, 8, 11].map(|pieces| pieces * 2_500_000);
    assert_eq!(got, want);
}

#[test]
fn the_slower_of_both_limits_rules() {
    let limit = Limit {
        bandwidth: Rate::new(1 << 20),
        bandwidth_burst: Some(Bytes::kib(4)),
        ..operations(1000, 1)
    };
    // 512 B: 2048 a second would fit into the bandwidth. 4 KiB: 256 a second.
    for (len, per_second) in [(512, 1000), (4096, 256)] {
        let all = (0..500).map(|id| request(id, Op::Read, len));
        let got = starts(&mut limited(&limit), all.collect());
        assert_eq!(got[499], filled(499, per_second));
    }
}

#[test]
fn flush_and_trim_are_free_but_keep_their_turn() {
    let ops = [
        Op::Write,
        Op::Flush,
        Op::Trim,
        Op::Write,
        Op::Flush,
        Op::Trim,
    ];
    let all = (0..).zip(ops).map(|(id, op)| request(id, op, 512));
    let mut device = limited(&operations(1000, 1));
    let got = starts(&mut device, all.collect());
    assert_eq!(got, [0, 0, 0, 1_000_000, 1_000_000, 1_000_000]);
    // With no token left and nothing waiting.
    assert_eq!(starts(&mut device, vec![request(9, Op::Flush, 0)]), [0]);
}

#[test]
fn an_invalid_request_fails_without_a_token() {
    let mut device = limited(&operations(1000, 1));
    for id in 0..3 {
        device.submit(Request::new(id, Op::Read, 1, 512)).unwrap();
    }
    device.submit(request(3, Op::Read, 512)).unwrap();
    let mut done = Vec::new();
    device.wait(Time::MAX, &mut done);
    let failed = |c: &Completion| c.result.is_err_and(|e| e.kind == IoErrorKind::Misaligned);
    assert!(done[..3].iter().all(failed) && done[3].result.is_ok());
    assert_eq!(done[3].latency(), LATENCY);
}

#[test]
fn idle_time_refills_up_to_the_burst() {
    for (idle_us, saved) in [(0, 0), (2_500, 2), (4_999, 4), (5_000, 5), (1_000_000, 5)] {
        let mut device = limited(&operations(1000, 5));
        let burst = |first: u64| (first..first + 20).map(|id| request(id, Op::Read, 512));
        // The last one starts at 15 ms with the last token.
        assert_eq!(starts(&mut device, burst(0).collect())[19], 15_000_000);
        let began = 15_000 + idle_us;
        device.wait(Time::ZERO + Dur::us(began.max(15_010)), &mut Vec::new());
        let now = device.now().0;
        let got = starts(&mut device, burst(100).collect());
        let at_once = got.iter().filter(|&&start| start == 0).count();
        assert_eq!(at_once, saved, "{idle_us}");
        // Parts of a token count: the next one comes at its own time.
        let full_at = if saved == 5 {
            now
        } else {
            15_000_000 + 1_000_000 * saved as u64
        };
        assert_eq!(now + got[saved], full_at + 1_000_000, "{idle_us}");
    }
}

#[test]
fn an_open_loop_below_the_limit_is_not_delayed() {
    let mut device = limited(&operations(10_000, 1));
    let (mut rng, mut done) = (Rng::new(3, 0), Vec::new());
    for id in 0..2000 {
        device.submit(request(id, Op::Read, 4096)).unwrap();
        let next = device.now() + Dur::us(100) + Dur(rng.below(50_000));
        while device.now() < next {
            device.wait(next, &mut done);
        }
    }
    assert_eq!(done.len(), 2000);
    assert!(done.iter().all(|c| c.latency() == LATENCY));
}

#[test]
fn the_time_of_the_next_start_is_told() {
    let mut device = limited(&operations(1000, 1));
    assert_eq!(device.next_at(), Some(Time::MAX));
    for id in 0..3 {
        device.submit(request(id, Op::Read, 512)).unwrap();
    }
    let mut seen = Vec::new();
    while let Some(at) = device.next_at().filter(|&at| at != Time::MAX) {
        seen.push(at.0);
        device.wait(at, &mut Vec::new());
    }
    let ms = 1_000_000;
    assert_eq!(seen, [10_000, ms, ms + 10_000, 2 * ms, 2 * ms + 10_000]);
}

#[test]
fn no_request_waits_longer_than_time_lasts() {
    // One byte a second: the second request would start after 2^40 seconds.
    let mut device = limited(&bandwidth(1, 1));
    device.submit(request(0, Op::Read, 1 << 30)).unwrap();
    for id in 1..40 {
        device.submit(request(id, Op::Read, 1 << 30)).unwrap();
    }
    let mut done = Vec::new();
    while done.len() < 40 {
        let before = done.len();
        device.wait(Time::MAX, &mut done);
        assert!(done.len() > before);
    }
    assert!(device.now() <= Time::END + LATENCY);
}

#[test]
fn limits_that_limit_nothing_are_refused() {
    let refused = |limit: Limit| limit.check().unwrap_err().to_string();
    assert_eq!(
        refused(Limit::default()),
        "`limit` is empty: give operations_per_second, bandwidth or both, or leave [limit] out"
    );
    let zero = refused(operations(0, 1));
    assert_eq!(
        zero,
        "`limit.operations_per_second` is 0: 1 to 1152921504606846976"
    );
    let alone = Limit {
        operation_size: Some(Bytes::kib(16)),
        ..bandwidth(5, 5)
    };
    assert_eq!(
        refused(alone),
        "`limit.operation_size` is 16384: left out without limit.operations_per_second"
    );
    let alone = Limit {
        bandwidth_burst: Some(Bytes(1)),
        ..operations(5, 5)
    };
    assert!(refused(alone).ends_with("left out without limit.bandwidth"));
    // The default burst is that of a tenth of a second, at least one.
    for (per_second, burst) in [(1000, 100), (9, 1)] {
        let limit = Limit {
            operations_burst: None,
            ..operations(per_second, 1)
        };
        let all = (0..300).map(|id| request(id, Op::Read, 512));
        let got = starts(&mut limited(&limit), all.collect());
        assert_eq!(got.iter().filter(|&&start| start == 0).count(), burst);
    }
}
