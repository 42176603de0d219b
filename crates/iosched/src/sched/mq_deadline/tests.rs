//! Tests of mq-deadline with sequences made by hand.

use super::*;
use crate::IoKey;
use crate::sched::hand::{LEN, next, put, read, write};

const ALL: usize = usize::MAX;

fn scheduler(change: impl FnOnce(&mut Tunables)) -> MqDeadline {
    let mut tunables = Tunables::default();
    change(&mut tunables);
    MqDeadline::new(&tunables).unwrap()
}

fn of_class(class: Priority, io: Io) -> Io {
    Io { class, ..io }
}

#[test]
fn a_batch_ascends_over_gaps_and_then_begins_with_the_oldest() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(1), read(0, 50 * LEN));
    assert_eq!(next(&mut scheduler, Time(1), 1), [0]);
    for (key, block) in [(1, 40), (2, 90), (3, 10), (4, 70)] {
        put(&mut scheduler, Time(2), read(key, block * LEN));
    }
    // Upwards from 50. Nothing is above 90, and of those below the oldest is 40.
    assert_eq!(next(&mut scheduler, Time(3), ALL), [4, 2, 1, 3]);
}

#[test]
fn reads_are_preferred_as_often_as_writes_may_starve() {
    let mut scheduler = scheduler(|tunables| tunables.fifo_batch = 1);
    put(&mut scheduler, Time(1), read(9, 0));
    assert_eq!(next(&mut scheduler, Time(1), 1), [9]);
    for key in 0..4 {
        put(&mut scheduler, Time(1), read(key, u64::from(key) * LEN));
    }
    for key in 4..6 {
        put(&mut scheduler, Time(1), write(key, u64::from(key) * LEN));
    }
    assert_eq!(next(&mut scheduler, Time(2), ALL), [0, 1, 4, 2, 3, 5]);
}

#[test]
fn a_batch_has_at_most_so_many_requests() {
    let mut scheduler = scheduler(|tunables| {
        tunables.fifo_batch = 3;
        tunables.writes_starved = 1;
    });
    for key in 0..4 {
        let offset = u64::from(key) * LEN;
        put(&mut scheduler, Time(1), read(key, offset));
        put(&mut scheduler, Time(1), write(key + 10, (1 << 30) + offset));
    }
    // As in Linux, the very first batch is one of writes.
    let order = next(&mut scheduler, Time(2), ALL);
    assert_eq!(order, [10, 11, 12, 0, 1, 2, 13, 3]);
}

#[test]
fn what_has_expired_begins_the_next_batch() {
    let mut scheduler = scheduler(|tunables| tunables.fifo_batch = 2);
    let late = Time(1) + Dur::ms(500);
    put(&mut scheduler, Time(0), read(9, 10 * LEN));
    assert_eq!(next(&mut scheduler, Time(0), 1), [9]);
    put(&mut scheduler, Time(1), read(0, 0));
    for key in 1..5 {
        put(
            &mut scheduler,
            Time(2),
            read(key, u64::from(key + 10) * LEN),
        );
    }
    // One more request of the ascending batch that began with 9; then the one at 0 has expired.
    assert_eq!(next(&mut scheduler, late, ALL), [1, 0, 2, 3, 4]);
}

#[test]
fn a_lower_class_waits_for_what_is_held_or_in_flight_of_a_higher() {
    let mut scheduler = scheduler(|_| {});
    put(
        &mut scheduler,
        Time(1),
        of_class(Priority::Idle, read(0, 0)),
    );
    put(
        &mut scheduler,
        Time(1),
        of_class(Priority::BestEffort, read(1, LEN)),
    );
    put(
        &mut scheduler,
        Time(1),
        of_class(Priority::RealTime, read(2, 2 * LEN)),
    );
    let first = scheduler.dispatch(Time(2)).unwrap();
    assert_eq!(first.key, IoKey(2));
    assert_eq!(scheduler.dispatch(Time(3)), None);
    assert_eq!(scheduler.next_timer(), Some(Time(1) + Dur::ms(10_000)));
    scheduler.completed(Time(4), &first);
    assert_eq!(next(&mut scheduler, Time(4), ALL), [1, 0]);
}

#[test]
fn a_class_is_idle_when_its_requests_are_merged_away_or_complete() {
    let mut scheduler = scheduler(|_| {});
    let urgent = |key| of_class(Priority::RealTime, read(key, u64::from(key) * LEN));
    for io in [urgent(1), urgent(2), read(3, 3 * LEN)] {
        put(&mut scheduler, Time(1), io);
    }
    let queued = Time(1);
    let merged = Io {
        queued,
        ..urgent(2)
    };
    scheduler.remove(&merged);
    assert_eq!(scheduler.len(), 2);
    assert_eq!(next(&mut scheduler, Time(2), ALL), [1, 3]);
}

#[test]
fn what_has_waited_long_enough_goes_before_a_higher_class() {
    let mut scheduler = scheduler(|_| {});
    put(
        &mut scheduler,
        Time(1),
        of_class(Priority::Idle, write(0, 0)),
    );
    for key in 1..4 {
        let io = read(key, u64::from(key) * LEN);
        put(&mut scheduler, Time(2), of_class(Priority::RealTime, io));
    }
    let due = Time(1) + Dur::ms(10_000);
    assert_eq!(next(&mut scheduler, Time(due.0 - 1), 1), [1]);
    assert_eq!(next(&mut scheduler, due, ALL), [0, 2, 3]);
}

#[test]
fn of_a_lower_class_goes_what_has_waited_not_what_comes_next_by_place() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(0), write(9, 0));
    assert_eq!(next(&mut scheduler, Time(0), 1), [9]);
    put(&mut scheduler, Time(1), read(0, 0));
    let due = Time(1) + Dur::ms(10_000);
    put(&mut scheduler, due, write(1, LEN));
    put(
        &mut scheduler,
        due,
        of_class(Priority::RealTime, read(2, 0)),
    );
    assert_eq!(next(&mut scheduler, due, ALL), [0, 2, 1]);
}

#[test]
fn merges_stay_in_their_class_and_in_front_only_where_allowed() {
    let (low, high) = (read(0, 0), read(1, LEN));
    let allowed = scheduler(|_| {});
    assert!(allowed.may_merge(&low, &high) && allowed.may_merge(&high, &low));
    assert!(!allowed.may_merge(&low, &of_class(Priority::RealTime, high)));
    let behind_only = scheduler(|tunables| tunables.front_merges = false);
    assert!(behind_only.may_merge(&low, &high) && !behind_only.may_merge(&high, &low));
}
