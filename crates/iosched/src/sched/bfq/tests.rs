//! Tests of BFQ with sequences made by hand.

use super::*;
use crate::sched::hand::{LEN, next, of, put, read, write};

const ALL: usize = usize::MAX;

/// A scheduler without weight raising (`low_latency` off).
fn scheduler(change: impl FnOnce(&mut Tunables)) -> Bfq {
    let mut tunables = Tunables {
        low_latency: false,
        ..Tunables::default()
    };
    change(&mut tunables);
    Bfq::new(&tunables).unwrap()
}

/// The first request of a process, late enough after the previous process to get a queue of its own.
fn first(process: u32) -> Time {
    Time(0) + Dur::ms(1_000) * u64::from(process)
}

/// A time after the first requests of all processes.
fn later(by: Dur) -> Time {
    first(9) + by
}

fn with_priority(priority: u8, io: Io) -> Io {
    Io { priority, ..io }
}

/// The processes of the next requests, as runs of one process.
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

/// Dispatches for a long time, repeating each of `requests` at once, a little farther. Returns the bytes that each got.
fn shares(scheduler: &mut Bfq, requests: &[Io]) -> Vec<u64> {
    let mut got = vec![0; requests.len()];
    for (key, io) in (0..).zip(requests) {
        for ahead in 0..8 {
            let io = Io {
                key: IoKey(ahead * requests.len() as u32 + key),
                offset: io.offset + u64::from(ahead) * LEN,
                ..*io
            };
            put(scheduler, first(io.process), io);
        }
    }
    let now = later(Dur(0));
    for _ in 0..20_000 {
        let io = scheduler.dispatch(now).unwrap();
        scheduler.completed(now, &io);
        got[io.key.0 as usize % requests.len()] += io.len;
        let again = Io {
            offset: io.offset + 8 * LEN,
            ..io
        };
        put(scheduler, now, again);
    }
    got
}

fn ratio(shares: &[u64]) -> f64 {
    shares[0] as f64 / shares[1] as f64
}

#[test]
fn a_queue_has_the_drive_until_its_budget_is_used_up() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(64));
    for (process, place) in [(1, 0), (2, 1 << 30)] {
        for ahead in 0..40 {
            let io = read(process * 40 + ahead, place + u64::from(ahead) * LEN);
            put(&mut scheduler, first(process), of(process, io));
        }
    }
    // Two thirds of 64 KiB are 10 requests of 4 KiB. When they are used up, the next budget is four times that, at most
    // 64 KiB.
    let order = runs(&mut scheduler, later(Dur(0)), 52);
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
    // The process comes back in time and goes first; then it does not.
    put(
        &mut scheduler,
        Time(4),
        with_priority(0, of(1, read(2, LEN))),
    );
    assert_eq!(next(&mut scheduler, Time(4), ALL), [2]);
    assert_eq!(next(&mut scheduler, Time(4) + Dur(7_999_999), ALL), []);
    assert_eq!(next(&mut scheduler, Time(4) + Dur::ms(8), ALL), [1]);
}

/// `bfq_better_to_idle`: on a drive without a head that queues, idling costs throughput.
#[test]
fn among_equals_nobody_is_waited_for_unless_the_drive_seeks() {
    for (rotational, expected) in [(false, vec![0, 1]), (true, vec![0])] {
        let mut scheduler = scheduler(|tunables| tunables.rotational = Some(rotational));
        put(&mut scheduler, first(1), of(1, read(0, 0)));
        put(&mut scheduler, first(2), of(2, read(1, 1 << 30)));
        assert_eq!(next(&mut scheduler, later(Dur(0)), ALL), expected);
    }
}

#[test]
fn a_turn_ends_when_its_time_is_over() {
    let mut scheduler = scheduler(|_| {});
    for key in 0..3 {
        let ahead = u64::from(key) * LEN;
        put(&mut scheduler, first(1), of(1, read(key, ahead)));
        let other = of(2, read(key + 10, (1 << 30) + ahead));
        put(&mut scheduler, first(2), other);
    }
    assert_eq!(next(&mut scheduler, later(Dur(0)), 1), [0]);
    assert_eq!(next(&mut scheduler, later(Dur(124_999_999)), 1), [1]);
    assert_eq!(next(&mut scheduler, later(Dur::ms(125)), 1), [10]);
}

/// `bfq_check_fifo` is asked for the request after another one (`bfq_find_next_rq`), the first time in a turn.
#[test]
fn the_oldest_goes_second_in_a_turn_once_it_has_expired() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, Time(0), of(1, read(9, 100 * LEN)));
    assert_eq!(next(&mut scheduler, Time(0), 1), [9]);
    put(&mut scheduler, Time(1), of(1, read(0, (1 << 30) + LEN)));
    for key in 1..4 {
        let io = of(1, read(key, u64::from(key + 100) * LEN));
        put(&mut scheduler, Time(2), io);
    }
    // The time has expired, but the request chosen before still goes next. Then the age is checked, once; then the
    // order wraps around.
    let late = Time(1) + Dur::ms(125);
    assert_eq!(next(&mut scheduler, late, ALL), [1, 0, 2, 3]);
}

#[test]
fn a_budget_is_enough_for_the_next_request() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(16));
    for key in 0..2 {
        let long = Io {
            len: 1 << 20,
            ..of(1, read(key, u64::from(key) << 20))
        };
        put(&mut scheduler, first(1), long);
        let short = read(key + 10, (1 << 30) + u64::from(key) * LEN);
        put(&mut scheduler, first(2), of(2, short));
    }
    assert_eq!(runs(&mut scheduler, later(Dur(0)), 1), [(2, 1)]);
    assert_eq!(runs(&mut scheduler, later(Dur(0)), ALL), [(2, 1), (1, 2)]);
}

/// `bfq_request_merged` handles front merges only, so `bfq_select_queue` finds the budget exhausted.
#[test]
fn a_request_that_outgrew_the_budget_uses_it_up() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::kib(32));
    let before = of(1, read(0, 0));
    scheduler.insert(Time(0), before);
    let grown = Io {
        len: 1 << 20,
        ..before
    };
    scheduler.changed(Time(0), &before, grown);
    assert_eq!(scheduler.queues[0].max_budget, 42);
    assert_eq!(scheduler.dispatch(Time(1)), Some(grown));
    assert_eq!(scheduler.queues[0].max_budget, 64);
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
    // 10 MiB back cost 20, less than 21 ahead; then 10 back cost 20 again; 41 ahead is left.
    assert_eq!(next(&mut scheduler, Time(2), ALL), [2, 3, 1]);
    for (key, at) in [(4, 200), (5, 104)] {
        put(&mut scheduler, Time(2), of(1, read(key, at * mib)));
    }
    // 17 MiB back from 121 is too far.
    assert_eq!(next(&mut scheduler, Time(3), ALL), [4, 5]);
}

/// `bfq_add_request` chooses by `bfqd->last_position`.
#[test]
fn what_comes_is_near_to_where_any_queue_was_last() {
    let mut scheduler = scheduler(|_| {});
    put(&mut scheduler, first(1), of(1, read(0, 100 * LEN)));
    put(&mut scheduler, first(2), of(2, read(1, 1 << 30)));
    assert_eq!(next(&mut scheduler, later(Dur(0)), ALL), [0, 1]);
    for (key, block) in [(2, 50), (3, 150)] {
        put(&mut scheduler, later(Dur(1)), of(1, read(key, block * LEN)));
    }
    // Both are too far behind 1 GiB: the lower one goes. From 100 blocks, 150 would be nearer.
    assert_eq!(next(&mut scheduler, later(Dur(1)), ALL), [2, 3]);
}

#[test]
fn a_queue_whose_last_request_was_merged_away_wants_nothing() {
    let mut scheduler = scheduler(|_| {});
    let gone = with_priority(0, of(1, read(0, 0)));
    scheduler.insert(Time(0), gone);
    put(&mut scheduler, first(2), of(2, read(1, 1 << 30)));
    scheduler.remove(&gone);
    assert_eq!((scheduler.len(), scheduler.busy.all), (1, 1));
    assert_eq!(next(&mut scheduler, Time(1), ALL), [1]);
}

#[test]
fn requests_of_two_queues_are_not_merged() {
    let scheduler = scheduler(|_| {});
    let (a, b) = (of(1, read(0, 0)), of(2, read(1, LEN)));
    assert!(!scheduler.may_merge(&a, &b));
    assert!(scheduler.may_merge(&a, &of(1, b)));
    // Async requests do not belong to a process.
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

/// A process that floods and one that reads a block at a time, each alone in its queue. The keys from 100 on belong to
/// the flood. The read was dispatched and is complete.
fn flood_and_reader(low_latency: bool) -> Bfq {
    let mut scheduler = scheduler(|tunables| tunables.low_latency = low_latency);
    for key in 100..200 {
        let io = Io {
            sync: true,
            len: 16 * LEN,
            ..write(key, u64::from(key) << 30)
        };
        put(&mut scheduler, first(1), of(1, io));
    }
    next(&mut scheduler, first(1), 8);
    put(&mut scheduler, first(2), of(2, read(0, 1 << 20)));
    let keys = next(&mut scheduler, first(2), 92);
    assert!(keys.contains(&0), "{keys:?}");
    for key in 200..300 {
        let io = Io {
            sync: true,
            len: 16 * LEN,
            ..write(key, u64::from(key) << 30)
        };
        put(&mut scheduler, first(2), of(1, io));
    }
    scheduler
}

/// `bfq_bfqq_update_budg_for_activation`, `BFQQE_PREEMPTED`: within three times `slice_idle`.
#[test]
fn who_asks_again_in_time_takes_the_drive() {
    let mut scheduler = flood_and_reader(false);
    let now = first(2) + Dur::ms(1);
    assert!(next(&mut scheduler, now, 1)[0] >= 100);
    put(&mut scheduler, now, of(2, read(1, 2 << 20)));
    assert_eq!(next(&mut scheduler, now, 1), [1]);
}

/// `bfq_bfqq_idle_for_long_time`: a queue without requests for 2 s is interactive and weighs 30 times as much.
#[test]
fn what_seems_to_be_interactive_weighs_more() {
    for (low_latency, weight) in [(true, 1_200), (false, 40)] {
        let mut scheduler = flood_and_reader(low_latency);
        let now = first(2) + Dur::ms(3_000);
        put(&mut scheduler, now, of(2, read(1, 2 << 20)));
        let queue = scheduler.processes[&2].queue;
        assert_eq!(scheduler.time.weight_of(queue), weight);
        assert_eq!(next(&mut scheduler, now, 1), [1]);
    }
}

/// `bfq_update_wr_data`: a queue is no longer raised after 120,000 sectors, or after `bfq_wr_duration`, which is 2.5 s
/// times 3/2 before the rate is estimated.
#[test]
fn nothing_is_raised_for_good() {
    for (requests, len, apart, raised) in [
        (58, 1 << 20, Dur::ZERO, true),
        (59, 1 << 20, Dur::ZERO, false),
        (35, LEN, Dur::ms(100), true),
        (40, LEN, Dur::ms(100), false),
    ] {
        let mut scheduler = Bfq::new(&Tunables::default()).unwrap();
        let mut now = Time(0);
        for key in 0..requests {
            let io = read(key, u64::from(key) << 20);
            put(&mut scheduler, now, of(1, Io { len, ..io }));
            assert_eq!(next(&mut scheduler, now, 1), [key]);
            now += apart;
        }
        let by = scheduler.queues[0].raise.by;
        assert_eq!(by > 1, raised, "{requests} {len} {apart}");
    }
}

/// `bfq_handle_burst`: eight queues within 180 ms of one another are a large burst.
#[test]
fn a_burst_of_processes_is_not_raised() {
    for (processes, raised) in [(7, true), (9, false)] {
        let mut scheduler = Bfq::new(&Tunables::default()).unwrap();
        for process in 0..processes {
            // A different priority gives each process its own queue; the last one has the default.
            let priority = if process + 1 == processes {
                4
            } else {
                3 - (process % 2) as u8
            };
            let io = of(process, read(process, u64::from(process) << 30));
            let now = Time(0) + Dur::ms(100) * u64::from(process);
            put(&mut scheduler, now, with_priority(priority, io));
        }
        let queue = scheduler.processes[&(processes - 1)].queue;
        assert_eq!(scheduler.queues[queue as usize].raise.by > 1, raised);
    }
}

/// `bfq_do_or_sched_stable_merge`, on a drive without a head.
#[test]
fn processes_that_begin_together_share_a_queue() {
    for (rotational, apart, queues) in [(false, 180, 1), (false, 181, 2), (true, 0, 2)] {
        let mut scheduler = scheduler(|tunables| tunables.rotational = Some(rotational));
        put(&mut scheduler, Time(0), of(1, read(0, 0)));
        let second = Time(0) + Dur::ms(apart);
        put(&mut scheduler, second, of(2, read(1, 1 << 30)));
        assert_eq!(scheduler.queues.len(), queues, "{rotational} {apart}");
    }
}

/// `bfq_bfqq_charge_time`: a turn of more than 20 ms with little service is charged as if the drive had worked at its
/// peak rate.
#[test]
fn who_is_slow_is_charged_for_the_time() {
    let mut scheduler = scheduler(|tunables| tunables.max_budget = Bytes::mib(8));
    for key in 0..4 {
        let place = u64::from(key) << 30;
        put(&mut scheduler, first(1), of(1, read(key, place)));
        put(&mut scheduler, first(2), of(2, read(key + 10, place)));
    }
    assert_eq!(next(&mut scheduler, later(Dur(0)), 3), [0, 1, 2]);
    // 8 of 16,384 sectors in 100 of 125 ms: 13,107 sectors are charged, and the next request goes after the budget of
    // the other queue.
    let late = later(Dur::ms(100));
    assert_eq!(next(&mut scheduler, late, 1), [3]);
    let finish = |scheduler: &Bfq, id| scheduler.time.finish_of(id);
    let span = |sectors: u64| (sectors << 22) / 40;
    assert_eq!(finish(&scheduler, 0), span(13_107));
}

/// `bfq_update_hw_tag`: 32 completions with more than 3 requests held or in flight, never more than 3 in flight.
#[test]
fn a_drive_that_takes_one_at_a_time_does_not_queue() {
    for (at_a_time, queues) in [(1, false), (8, true)] {
        let mut scheduler = scheduler(|_| {});
        for key in 0..80 {
            put(
                &mut scheduler,
                Time(0),
                of(1, read(key, u64::from(key) * LEN)),
            );
        }
        let mut flying = std::collections::VecDeque::new();
        for _ in 0..40 {
            while flying.len() < at_a_time {
                flying.push_back(scheduler.dispatch(Time(1)).unwrap());
            }
            let io = flying.pop_front().unwrap();
            scheduler.completed(Time(1), &io);
        }
        assert_eq!(scheduler.depth.queues, queues);
    }
}

fn of_class(class: Class, io: Io) -> Io {
    Io { class, ..io }
}

/// Linux 6.12, `bfq_lookup_next_entity`: the highest busy class is served; `bfq_bfqq_higher_class_or_weight`: it
/// preempts a lower one.
#[test]
fn real_time_goes_before_best_effort_and_that_before_idle() {
    let mut scheduler = scheduler(|tunables| tunables.low_latency = false);
    let classes = [Class::Idle, Class::BestEffort, Class::RealTime];
    for (process, class) in (1..).zip(classes) {
        for i in 0..2 {
            let key = 2 * process + i;
            let io = of(process, read(key, u64::from(key) << 30));
            put(&mut scheduler, Time(1), of_class(class, io));
        }
    }
    let (mut now, mut order) = (Time(2), Vec::new());
    while order.len() < 6 {
        match scheduler.dispatch(now) {
            Some(io) => {
                order.push(io.key.0);
                now += Dur::us(1);
                scheduler.completed(now, &io);
            }
            // The drive is kept idle for the queue that was served.
            None => now = scheduler.next_timer().unwrap(),
        }
    }
    assert_eq!(order, [6, 7, 4, 5, 2, 3]);
}

/// `bfq_async_queue_prio`: async requests have a queue for each level of each class; requests of two queues are not
/// merged.
#[test]
fn what_nobody_waits_for_is_kept_by_class() {
    let mut scheduler = scheduler(|_| {});
    for (key, class) in (0..).zip([Class::RealTime, Class::BestEffort, Class::Idle]) {
        let io = of_class(class, write(key, u64::from(key) << 30));
        put(&mut scheduler, Time(1), io);
    }
    assert_eq!(scheduler.unwaited.len(), 3);
    assert!(!scheduler.may_merge(&write(0, 0), &of_class(Class::Idle, write(1, LEN))));
}

/// `bfq_better_to_idle`: no idling for a queue of the idle class.
#[test]
fn the_drive_is_not_kept_idle_for_the_idle_class() {
    for (class, waits) in [(Class::BestEffort, true), (Class::Idle, false)] {
        let mut scheduler = scheduler(|tunables| tunables.rotational = Some(true));
        put(&mut scheduler, Time(1), of_class(class, read(0, 0)));
        let io = scheduler.dispatch(Time(2)).unwrap();
        scheduler.completed(Time(3), &io);
        assert_eq!(scheduler.wait.waits, waits, "{class:?}");
    }
}
