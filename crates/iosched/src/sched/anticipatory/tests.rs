//! Tests of the anticipatory scheduler with sequences made by hand.

use super::*;
use crate::sched::hand::{LEN, next, of, put, read, write};

const FAR: u64 = 1 << 32;

fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::ms(ms)
}

fn anticipatory(change: fn(&mut Tunables)) -> Anticipatory {
    let mut tunables = Tunables::default();
    change(&mut tunables);
    Anticipatory::new(&tunables).unwrap()
}

/// Nine adjacent reads and nine adjacent writes are held. Nobody is waited for, and no read expires.
fn nine_of_each() -> Anticipatory {
    let mut a = anticipatory(|t| {
        t.antic_expire = Dur::ZERO;
        t.read_expire = Dur::ms(100_000);
    });
    for (key, at) in (0..9).map(|key| (key, u64::from(key) * LEN)) {
        put(&mut a, ms(0), read(key, at));
        put(&mut a, ms(0), of(7, write(10 + key, FAR + at)));
    }
    a
}

/// A process has read sequentially five times, with `think` time before each read. Its last read is complete.
fn reader(scheduler: &mut Anticipatory, think: Dur) -> Time {
    let mut now = Time::ZERO;
    for key in 0..5 {
        now += think;
        put(scheduler, now, of(1, read(key, u64::from(key) * LEN)));
        assert_eq!(next(scheduler, now, 1), [key]);
    }
    now
}

#[test]
fn the_drive_is_kept_idle_for_the_next_read_of_a_process() {
    let mut a = anticipatory(|_| {});
    put(&mut a, ms(0), of(1, read(0, 0)));
    let first = a.dispatch(ms(0)).unwrap();
    put(&mut a, ms(0), of(2, read(1, FAR)));
    // The wait does not begin before the read completes.
    assert_eq!((a.dispatch(ms(1)), a.next_timer()), (None, None));
    a.completed(ms(20), &first);
    assert_eq!((a.dispatch(ms(20)), a.next_timer()), (None, Some(ms(26))));
    let mut asks = a.clone();
    put(&mut asks, ms(25), of(1, read(2, 7 * FAR)));
    assert_eq!(next(&mut asks, ms(25), 1), [1]);
    let mut near = a.clone();
    put(&mut near, ms(25), of(1, read(2, LEN)));
    assert_eq!(next(&mut near, ms(25), 1), [2]);
    assert_eq!(a.dispatch(Time(ms(26).0 - 1)), None);
    assert_eq!(next(&mut a, ms(26), 1), [1]);
}

#[test]
fn a_near_read_of_another_process_ends_the_wait_and_a_far_one_does_not() {
    let mut a = anticipatory(|_| {});
    let now = reader(&mut a, Dur::us(100));
    put(&mut a, now, of(2, read(8, FAR)));
    assert_eq!(a.dispatch(now), None);
    put(&mut a, now, of(3, read(9, 5 * LEN + NEAR)));
    assert_eq!(next(&mut a, now, 1), [9]);
}

#[test]
fn nobody_waits_for_a_process_that_thinks_longer_than_the_wait() {
    for (think, waits) in [(Dur::ms(2), true), (Dur::ms(10), false)] {
        let mut a = anticipatory(|_| {});
        let now = reader(&mut a, think);
        put(&mut a, now, of(2, read(8, FAR)));
        assert_eq!(a.dispatch(now).is_none(), waits, "{think}");
    }
}

/// Returns when the read of another process goes, while one process reads sequentially, a read each millisecond.
fn served_at(mut a: Anticipatory) -> Time {
    let mut now = reader(&mut a, Dur::us(100));
    put(&mut a, now, of(2, read(1000, FAR)));
    for key in 5..600 {
        // The drive is kept idle for the next read most of the time.
        if let Some(io) = a.dispatch(now) {
            assert_eq!(io.process, 2);
            return now;
        }
        now += Dur::us(500);
        put(&mut a, now, of(1, read(key, u64::from(key) * LEN)));
        let io = a.dispatch(now).unwrap();
        now += Dur::us(500);
        a.completed(now, &io);
        if io.process == 2 {
            return now;
        }
    }
    now
}

#[test]
fn a_pending_read_goes_when_it_has_expired() {
    let at = |change| served_at(anticipatory(change));
    let within = |at: Time, from, to| ms(from) < at && at < ms(to);
    // Checked once per expiry time: served after one and before two of them.
    assert!(within(at(|_| {}), 124, 250));
    assert!(within(at(|t| t.read_expire = Dur::ms(8)), 8, 18));
    assert!(within(at(|t| t.antic_expire = Dur::us(1)), 0, 3));
}

#[test]
fn reads_go_on_until_their_batch_is_over_and_then_writes_until_theirs_is() {
    let mut a = nine_of_each();
    assert_eq!(next(&mut a, ms(500), 2), [0, 1]);
    // 31 ticks of write time are three writes at first.
    assert_eq!(next(&mut a, ms(501), 4), [10, 11, 12, 2]);
    // They took far less than their time: the next batch has twice as many.
    assert_eq!(next(&mut a, ms(1001), 2), [3, 4]);
    assert_eq!(next(&mut a, ms(1002), 7), [13, 14, 15, 16, 17, 18, 5]);
}

#[test]
fn the_drive_runs_dry_between_batches() {
    let mut a = anticipatory(|t| t.antic_expire = Dur::ZERO);
    put(&mut a, ms(0), read(0, 0));
    put(&mut a, ms(0), read(1, LEN));
    put(&mut a, ms(0), of(7, write(2, FAR)));
    put(&mut a, ms(0), of(7, write(3, FAR + LEN)));
    let first = a.dispatch(ms(0)).unwrap();
    assert_eq!(a.dispatch(ms(501)), None);
    a.completed(ms(510), &first);
    // The time of the batch of writes begins here, not earlier.
    assert_eq!(next(&mut a, ms(510), 3), [2, 3, 1]);
}

#[test]
fn nobody_waits_for_new_processes_while_most_of_them_read_once() {
    let mut a = anticipatory(|_| {});
    let mut waits = Vec::new();
    for process in 0..8 {
        let now = ms(u64::from(process) * 100);
        put(&mut a, now, of(process, read(0, u64::from(process) * FAR)));
        let io = a.dispatch(now).unwrap();
        a.completed(now, &io);
        put(&mut a, now, of(99, write(1, FAR / 2)));
        let at_once = next(&mut a, now, 1);
        waits.push(at_once.is_empty());
        let later = next(&mut a, now + Dur::ms(6), 1);
        assert_eq!([at_once, later].concat(), [1]);
    }
    // 1 - (7/8)^n is above one half from the sixth on.
    assert_eq!(waits, [true, true, true, true, true, true, false, false]);
}

#[test]
fn a_little_way_back_is_gone_and_a_long_one_is_not() {
    let mut a = anticipatory(|t| t.antic_expire = Dur::ZERO);
    put(&mut a, ms(0), read(0, FAR));
    assert_eq!(next(&mut a, ms(0), 1), [0]);
    put(&mut a, ms(0), read(1, FAR - BACK_MAX - LEN));
    put(&mut a, ms(0), read(2, FAR - LEN));
    put(&mut a, ms(0), read(3, FAR + 4 * BACK_MAX));
    assert_eq!(next(&mut a, ms(0), 9), [2, 3, 1]);
}

#[test]
fn one_expired_read_is_served_in_an_expiry() {
    let mut a = anticipatory(|t| {
        t.antic_expire = Dur::ZERO;
        t.read_expire = Dur::ms(10);
    });
    put(&mut a, ms(0), read(1, 2 * FAR));
    put(&mut a, ms(0), read(2, FAR));
    put(&mut a, ms(20), read(3, 3 * FAR));
    assert_eq!(next(&mut a, ms(20), 3), [1, 3, 2]);
}

#[test]
fn reads_have_their_whole_batch_from_when_the_first_write_comes() {
    let mut a = anticipatory(|t| {
        t.antic_expire = Dur::ZERO;
        t.read_expire = Dur::ms(100_000);
    });
    for key in 0..4 {
        put(&mut a, ms(0), read(key, u64::from(key) * LEN));
    }
    assert_eq!(next(&mut a, ms(1000), 1), [0]);
    put(&mut a, ms(1000), of(7, write(9, FAR)));
    assert_eq!(next(&mut a, ms(1500), 1), [1]);
    assert_eq!(next(&mut a, ms(1501), 1), [9]);
}

#[test]
fn a_process_that_reads_ahead_does_not_think() {
    let mut a = anticipatory(|_| {});
    let mut now = ms(0);
    for key in 0..5 {
        now += Dur::ms(10);
        for half in [0, 1] {
            let key = 2 * key + half;
            put(&mut a, now, of(1, read(key, u64::from(key) * LEN)));
        }
        assert_eq!(next(&mut a, now, 2), [2 * key, 2 * key + 1]);
    }
    // 10 ms before one read and nothing before the other are below 6 ms on average.
    put(&mut a, now, of(2, read(99, FAR)));
    assert_eq!(a.dispatch(now), None);
}

#[test]
fn a_new_process_is_waited_for_if_the_last_new_ones_were_quick() {
    for (think, waits) in [(Dur::ms(2), true), (Dur::ms(10), false)] {
        let mut a = anticipatory(|_| {});
        let now = reader(&mut a, think) + Dur::ms(6);
        put(&mut a, now, of(2, read(8, FAR)));
        assert_eq!(next(&mut a, now, 1), [8]);
        put(&mut a, now, of(3, read(9, 3 * FAR)));
        assert_eq!(a.dispatch(now).is_none(), waits, "{think}");
    }
}

#[test]
fn a_batch_of_writes_that_takes_too_long_has_fewer_the_next_time() {
    for (done_at, fewer) in [(700, 2), (900, 1)] {
        let mut a = nine_of_each();
        assert_eq!(next(&mut a, ms(501), 1), [10]);
        let slow = a.dispatch(ms(520)).unwrap();
        a.completed(ms(done_at), &slow);
        assert_eq!(next(&mut a, ms(done_at), 1), [0]);
        let after: Vec<u32> = next(&mut a, ms(done_at + 501), 3);
        assert_eq!(after.iter().take_while(|&&key| key >= 10).count(), fewer);
    }
}

#[test]
fn a_batch_of_writes_that_nobody_waited_for_is_not_counted() {
    let mut a = anticipatory(|t| t.antic_expire = Dur::ZERO);
    for key in 0..9 {
        put(&mut a, ms(0), of(7, write(key, u64::from(key) * LEN)));
    }
    assert_eq!(next(&mut a, ms(0), 4), [0, 1, 2, 3]);
    put(&mut a, ms(900), read(20, FAR));
    put(&mut a, ms(900), read(21, FAR + LEN));
    // It took 900 ms, but only for lack of reads. The next batch has three writes, as this one had.
    assert_eq!(next(&mut a, ms(900), 1), [20]);
    assert_eq!(next(&mut a, ms(1401), 4), [4, 5, 6, 21]);
}
