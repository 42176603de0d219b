//! Tests of Kyber with sequences made by hand.

use super::*;
use crate::sched::hand::{LEN, next, put, read, write};

fn scheduler() -> Kyber {
    Kyber::new(&Tunables::default()).unwrap()
}

/// Dispatches until no token is left, without completions.
fn all(scheduler: &mut Kyber, now: Time) -> Vec<Io> {
    std::iter::from_fn(|| scheduler.dispatch(now)).collect()
}

/// Serves `count` requests one after another, each of which takes `latency` from arrival to completion.
fn serve(scheduler: &mut Kyber, begin: Time, io: Io, latency: Dur, count: u32) -> Time {
    let mut now = begin;
    for _ in 0..count {
        put(scheduler, now, io);
        let going = scheduler.dispatch(now).unwrap();
        now += latency;
        scheduler.completed(now, &going);
    }
    now
}

fn tokens(scheduler: &Kyber) -> [u32; DOMAINS] {
    [0, 1].map(|domain| scheduler.domains[domain].tokens)
}

#[test]
fn domains_take_turns_in_batches() {
    let mut scheduler = scheduler();
    for key in 0..20 {
        put(&mut scheduler, Time(1), read(key, u64::from(key) * LEN));
        put(
            &mut scheduler,
            Time(1),
            write(key + 100, u64::from(key) * LEN),
        );
    }
    let order = next(&mut scheduler, Time(2), usize::MAX);
    let expected: Vec<u32> = (0..16)
        .chain(100..108)
        .chain(16..20)
        .chain(108..120)
        .collect();
    assert_eq!(order, expected);
}

#[test]
fn a_request_needs_a_token_of_its_domain() {
    let mut scheduler = scheduler();
    for key in 0..300 {
        put(&mut scheduler, Time(1), write(key, u64::from(key) * LEN));
    }
    let flying = all(&mut scheduler, Time(2));
    assert_eq!(flying.len(), 128);
    put(&mut scheduler, Time(2), read(300, 0));
    assert_eq!(all(&mut scheduler, Time(2)).len(), 1);
    scheduler.completed(Time(3), &flying[0]);
    let freed: Vec<u32> = all(&mut scheduler, Time(3))
        .iter()
        .map(|io| io.key.0)
        .collect();
    assert_eq!(freed, [128]);
}

#[test]
fn slow_reads_take_tokens_from_fast_writes() {
    // Writes take a quarter of their target, then reads twice theirs; both have enough samples for percentiles.
    let mut scheduler = scheduler();
    let quarter = Dur::us(2_500);
    let now = serve(&mut scheduler, Time(0), write(0, 0), quarter, 600);
    assert_eq!(tokens(&scheduler), [256, 128]);
    let now = serve(&mut scheduler, now, read(1, 0), Dur::ms(4), 600);
    assert!(now.since(Time(0)) > Dur::ms(3_000));
    // The 99th percentile of writes is in the first bucket: a quarter. Reads have the maximum.
    assert_eq!(tokens(&scheduler), [256, 32]);
}

#[test]
fn after_a_second_few_samples_will_do() {
    let mut scheduler = scheduler();
    let now = serve(&mut scheduler, Time(0), write(0, 0), Dur::us(2_500), 600);
    let now = serve(&mut scheduler, now, read(1, 0), Dur::ms(40), 20);
    assert_eq!(tokens(&scheduler), [256, 128]);
    serve(&mut scheduler, now, read(1, 0), Dur::ms(40), 20);
    assert_eq!(tokens(&scheduler), [256, 32]);
}

#[test]
fn a_domain_that_does_badly_gets_its_tokens_back() {
    let mut scheduler = scheduler();
    scheduler.domains[1].tokens = 10;
    // 1.2 times the target is in the fifth bucket: five quarters.
    let now = serve(&mut scheduler, Time(0), write(0, 0), Dur::ms(12), 85);
    assert!(now > Time(0) + PATIENCE);
    assert_eq!(tokens(&scheduler), [256, 10]);
    // The first second was used by the 90th percentile, and so was the next: 500 samples allow the 99th.
    serve(&mut scheduler, now, write(0, 0), Dur::ms(12), 430);
    assert_eq!(tokens(&scheduler), [256, 12]);
}

#[test]
fn latencies_count_in_quarters_of_the_target() {
    let mut histogram = Histogram::default();
    let target = Dur::us(400);
    for (ns, bucket) in [
        (0, 0),
        (100_000, 0),
        (100_001, 1),
        (400_000, 3),
        (400_001, 4),
        (1 << 40, 7),
    ] {
        histogram.add(Dur(ns), target);
        assert_eq!(histogram.take(50), bucket, "{ns} ns");
    }
    for (latency, count) in [(100, 89), (500, 10), (900, 1)] {
        (0..count).for_each(|_| histogram.add(Dur::us(latency), target));
    }
    let again = histogram.clone();
    assert_eq!(histogram.take(90), 4);
    assert_eq!(again.clone().take(89), 0);
    assert_eq!(again.clone().take(100), 7);
    assert_eq!(histogram.0, [0; BUCKETS]);
}

#[test]
fn the_timer_runs_while_something_is_held() {
    let mut scheduler = scheduler();
    let now = serve(&mut scheduler, Time(0), read(0, 0), Dur::us(80), 1);
    assert_eq!(scheduler.next_timer(), None);
    put(&mut scheduler, now, read(0, 0));
    assert_eq!(scheduler.next_timer(), Some(now + PERIOD));
    assert!(scheduler.dispatch(now + PERIOD).is_some());
    assert_eq!(scheduler.next_timer(), None);
}

#[test]
fn a_target_is_above_zero() {
    let tunables = Tunables {
        write_lat: Dur::ZERO,
        ..Tunables::default()
    };
    assert_eq!(Kyber::new(&tunables).unwrap_err().key, "write_lat");
}
