//! The policy of BFQ, by hand-made sequences.

use super::*;
use crate::sched::hand::{LEN, next, of, put, read, write};

const ALL: usize = usize::MAX;

fn scheduler(change: impl FnOnce(&mut Tunables)) -> Bfq {
    let mut tunables = Tunables::default();
    change(&mut tunables);
    Bfq::new(&tunables).unwrap()
}

fn with_priority(priority: u8, io: Io) -> Io {
    Io { priority, ..io }
}

/// Whose the next requests are, as runs of one process.
fn runs(scheduler: &mut Bfq, now: Time, count: usize) -> Vec<(u32, usize)> {
    let mut runs: Vec<(u32, usize)> = Vec::new();
    for _ in 0..count {
        let Some(io) = scheduler.dispatch(now) else {
            break;
        };
        scheduler.completed(now, &io);
        match runs.last_mut() {
            Some((process, count)) if *process == io.process => *count += 1,
            _ => runs.push((io.process, 1)),
        }
    }
    runs
}

/// Dispatches for a long time while every one of `requests` is asked for again at once, a little farther; the bytes
/// that each of them got.
fn shares(scheduler: &mut Bfq, requests: &[Io]) -> Vec<u64> {
    let mut got = vec![0; requests.len()];
    for (key, io) in (0..).zip(requests) {
        for ahead in 0..8 {
            let io = Io {
                key: IoKey(ahead * requests.len() as u32 + key),
                offset: io.offset + u64::from(ahead) * LEN,
                ..*io
            };
            put(scheduler, Time(1), io);
        }
    }
    for _ in 0..20_000 {
        let io = scheduler.dispatch(Time(2)).unwrap();
        scheduler.completed(Time(2), &io);
        got[io.key.0 as usize % requests.len()] += io.len;
        let again = Io {
            offset: io.offset + 8 * LEN,
            ..io
        };
        put(scheduler, Time(2), again);
    }
    got
}

fn ratio(shares: &[u64]) -> f64 {
    shares[0] as f64 / shares[1] as f64
}

#[test]
fn a_queue_has_the_drive_until_its_budget_is_used_up() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(64));
    for key in 0..40 {
        put(
            &mut scheduler,
            Time(1),
            of(1, read(key, u64::from(key) * LEN)),
        );
    }
    for key in 40..80 {
        put(
            &mut scheduler,
            Time(1),
            of(2, read(key, (1 << 30) + u64::from(key) * LEN)),
        );
    }
    // Two thirds of 64 KiB are 10 requests of 4 KiB; used up, the next budget is four times that, at most 64 KiB.
    let order = runs(&mut scheduler, Time(2), 52);
    assert_eq!(order, [(1, 10), (2, 10), (1, 16), (2, 16)]);
}

#[test]
fn shares_follow_weights_and_count_bytes() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(64));
    let high = with_priority(0, of(1, read(0, 0)));
    let middle = with_priority(4, of(2, read(0, 1 << 40)));
    // Weights of 80 and 40.
    let two = ratio(&shares(&mut scheduler, &[high, middle]));
    assert!((two - 2.0).abs() < 0.05, "{two}");
}

#[test]
fn what_nobody_waits_for_is_charged_three_times() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(64));
    let three = ratio(&shares(
        &mut scheduler,
        &[of(1, read(0, 0)), of(2, write(0, 1 << 40))],
    ));
    assert!((three - 3.0).abs() < 0.1, "{three}");
}

#[test]
fn where_weights_differ_they_alone_make_the_shares() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(64));
    let waited_for = of(1, read(0, 0));
    let high = with_priority(0, of(2, write(0, 1 << 40)));
    let half = ratio(&shares(&mut scheduler, &[waited_for, high]));
    assert!((half - 0.5).abs() < 0.02, "{half}");
}

#[test]
fn the_drive_waits_for_a_process_where_shares_depend_on_it() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(1), with_priority(0, of(1, read(0, 0))));
    put(
        &mut scheduler,
        Time(1),
        with_priority(7, of(2, read(1, 1 << 30))),
    );
    let first = scheduler.dispatch(Time(1)).unwrap();
    assert_eq!(first.key, IoKey(0));
    assert_eq!(
        (scheduler.dispatch(Time(2)), scheduler.next_timer()),
        (None, None)
    );
    scheduler.completed(Time(3), &first);
    assert_eq!(scheduler.dispatch(Time(3)), None);
    let timer = Time(3) + Dur::ms(8);
    assert_eq!(scheduler.next_timer(), Some(timer));
    // It comes back in time, and goes; then it does not.
    put(
        &mut scheduler,
        Time(4),
        with_priority(0, of(1, read(2, LEN))),
    );
    assert_eq!(next(&mut scheduler, Time(4), ALL), [2]);
    assert_eq!(next(&mut scheduler, Time(4) + Dur(7_999_999), ALL), []);
    assert_eq!(next(&mut scheduler, Time(4) + Dur::ms(8), ALL), [1]);
}

#[test]
fn among_equals_nobody_is_waited_for_unless_the_drive_seeks() {
    for (rotational, expected) in [(false, vec![0, 1]), (true, vec![0])] {
        let mut scheduler = scheduler(|tunables| tunables.rotational = rotational);
        put(&mut scheduler, Time(1), of(1, read(0, 0)));
        put(&mut scheduler, Time(1), of(2, read(1, 1 << 30)));
        assert_eq!(next(&mut scheduler, Time(2), ALL), expected);
    }
}

#[test]
fn a_turn_ends_when_its_time_is_over() {
    let mut scheduler = scheduler(|_| {});
    for key in 0..3 {
        put(
            &mut scheduler,
            Time(1),
            of(1, read(key, u64::from(key) * LEN)),
        );
        put(
            &mut scheduler,
            Time(1),
            of(2, read(key + 10, (1 << 30) + u64::from(key) * LEN)),
        );
    }
    assert_eq!(next(&mut scheduler, Time(1), 1), [0]);
    assert_eq!(next(&mut scheduler, Time(1) + Dur(124_999_999), 1), [1]);
    assert_eq!(next(&mut scheduler, Time(1) + Dur::ms(125), 1), [10]);
}

#[test]
fn the_oldest_goes_first_once_it_has_expired() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(0), of(1, read(9, 100 * LEN)));
    assert_eq!(next(&mut scheduler, Time(0), 1), [9]);
    put(&mut scheduler, Time(1), of(1, read(0, (1 << 30) + LEN)));
    for key in 1..4 {
        put(
            &mut scheduler,
            Time(2),
            of(1, read(key, u64::from(key + 100) * LEN)),
        );
    }
    // Time is over, and with the new turn the age is looked at, once; then it goes up from there and around.
    assert_eq!(
        next(&mut scheduler, Time(1) + Dur::ms(125), ALL),
        [0, 1, 2, 3]
    );
}

#[test]
fn the_age_is_looked_at_once_a_turn() {
    let mut scheduler = scheduler(|_| {});
    for (key, block) in [(0, 500), (1, 100)] {
        put(
            &mut scheduler,
            Time(u64::from(key)),
            of(1, read(key, block * LEN)),
        );
    }
    let late = Time(2) + Dur::ms(125);
    put(&mut scheduler, late, of(1, read(2, 501 * LEN)));
    // The first has expired, and so has the second, but the third is nearer.
    assert_eq!(next(&mut scheduler, late, ALL), [0, 2, 1]);
}

#[test]
fn a_budget_is_enough_for_the_next_request() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(16));
    for key in 0..2 {
        let long = Io {
            len: 1 << 20,
            ..of(1, read(key, u64::from(key) << 20))
        };
        put(&mut scheduler, Time(1), long);
        put(
            &mut scheduler,
            Time(1),
            of(2, read(key + 10, (1 << 30) + u64::from(key) * LEN)),
        );
    }
    assert_eq!(runs(&mut scheduler, Time(2), 1), [(2, 1)]);
    assert_eq!(runs(&mut scheduler, Time(2), ALL), [(2, 1), (1, 2)]);
}

#[test]
fn a_request_that_outgrew_the_budget_does_not_use_it_up() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(32));
    let before = of(1, read(0, 0));
    scheduler.insert(Time(0), before);
    let grown = Io {
        len: 1 << 20,
        ..before
    };
    scheduler.changed(Time(0), &before, grown);
    let first_budget = scheduler.queues[0].next_budget;
    assert_eq!(scheduler.dispatch(Time(1)), Some(grown));
    assert_eq!(scheduler.queues[0].next_budget, first_budget);
}

#[test]
fn a_little_way_back_is_nearer_than_a_long_way_ahead() {
    let mut scheduler = scheduler(|_| {});
    let mib = 1 << 20;
    put(&mut scheduler, Time(1), of(1, read(0, 100 * mib)));
    assert_eq!(next(&mut scheduler, Time(1), 1), [0]);
    for (key, at) in [(1, 121), (2, 90), (3, 80)] {
        put(&mut scheduler, Time(1), of(1, read(key, at * mib)));
    }
    // 10 MiB back count as 20, less than 21 ahead; then 10 back as 20 again; what is left is 41 ahead.
    assert_eq!(next(&mut scheduler, Time(2), ALL), [2, 3, 1]);
    for (key, at) in [(4, 200), (5, 104)] {
        put(&mut scheduler, Time(2), of(1, read(key, at * mib)));
    }
    // 17 MiB back from 121 are too far.
    assert_eq!(next(&mut scheduler, Time(3), ALL), [4, 5]);
}

#[test]
fn a_queue_goes_on_where_it_was() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(1), of(1, read(0, 100 * LEN)));
    put(&mut scheduler, Time(1), of(2, read(1, 1 << 30)));
    assert_eq!(next(&mut scheduler, Time(1), ALL), [0, 1]);
    for (key, block) in [(2, 50), (3, 150)] {
        put(&mut scheduler, Time(2), of(1, read(key, block * LEN)));
    }
    // From 100, not from where the other queue has left the head.
    assert_eq!(next(&mut scheduler, Time(2), ALL), [3, 2]);
}

#[test]
fn a_queue_whose_last_request_was_merged_away_wants_nothing() {
    let mut scheduler = scheduler(|_| {});
    let gone = with_priority(0, of(1, read(0, 0)));
    scheduler.insert(Time(0), gone);
    put(&mut scheduler, Time(0), of(2, read(1, 1 << 30)));
    scheduler.remove(&gone);
    assert_eq!((scheduler.len(), scheduler.time.busy()), (1, 1));
    assert_eq!(next(&mut scheduler, Time(1), ALL), [1]);
}

#[test]
fn requests_of_two_queues_are_not_merged() {
    let scheduler = scheduler(|_| {});
    let (a, b) = (of(1, read(0, 0)), of(2, read(1, LEN)));
    assert!(!scheduler.may_merge(&a, &b));
    assert!(scheduler.may_merge(&a, &of(1, b)));
    // What nobody waits for is of no process.
    assert!(scheduler.may_merge(&of(1, write(0, 0)), &of(2, write(1, LEN))));
    assert!(!scheduler.may_merge(&write(0, 0), &with_priority(5, write(1, LEN))));
}

#[test]
fn tunables_that_cannot_be_are_refused() {
    let key = |change: fn(&mut Tunables)| {
        let mut tunables = Tunables::default();
        change(&mut tunables);
        Bfq::new(&tunables).unwrap_err().key
    };
    assert_eq!(key(|t| t.timeout_sync = Dur::ZERO), "timeout_sync");
    assert_eq!(key(|t| t.max_budget = Bytes(4096)), "max_budget");
    assert_eq!(key(|t| t.back_seek_penalty = 0), "back_seek_penalty");
}
