//! Tests of CFQ with sequences made by hand.

use super::*;
use crate::IoKey;
use crate::sched::hand::{LEN, next, of, put, read, write};

const FAR: u64 = 1 << 30;

fn cfq() -> Cfq {
    Cfq::new(&Tunables::default()).unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::ms(ms)
}

fn with_priority(priority: u8, io: Io) -> Io {
    Io { priority, ..io }
}

/// Serves one request at a time, 10 ms each. Returns the number of consecutive requests of one process, turn by turn.
fn turns(cfq: &mut Cfq, count: usize) -> Vec<(u32, u32)> {
    let (mut now, mut turns) = (Time::ZERO, Vec::<(u32, u32)>::new());
    while turns.len() <= count {
        let io = cfq.dispatch(now).unwrap();
        now += Dur::ms(10);
        cfq.completed(now, &io);
        match turns.last_mut() {
            Some((process, run)) if *process == io.process => *run += 1,
            _ => turns.push((io.process, 1)),
        }
    }
    turns.truncate(count);
    turns
}

#[test]
fn processes_have_the_drive_in_turn_for_a_slice_of_their_priority() {
    let mut cfq = cfq();
    for key in 0..90 {
        // The offsets of the processes alternate: an elevator would alternate between them.
        let io = of(key % 3, read(key, u64::from(key) * LEN));
        put(
            &mut cfq,
            Time::ZERO,
            with_priority([4, 4, 7][key as usize % 3], io),
        );
    }
    // A slice of 100 ms begins with the first completion, so it is one request longer; a slice of priority 7 has 40 ms.
    // Turns are delayed by the difference of the slice to 180 ms, once for every other queue: 0, 80 and 2 * 140 ms at
    // the beginning, 110 + 2 * 80 ms for the second turn of the first process.
    assert_eq!(turns(&mut cfq, 4), [(0, 11), (1, 11), (0, 11), (2, 5)]);
    let mut high = self::cfq();
    for key in 0..50 {
        let io = of(key % 2, read(key, u64::from(key) * LEN));
        put(
            &mut high,
            Time::ZERO,
            with_priority([0, 4][key as usize % 2], io),
        );
    }
    // 180 ms at priority 0.
    assert_eq!(turns(&mut high, 2), [(0, 19), (1, 11)]);
}

#[test]
fn what_a_slice_ran_over_is_counted_in_the_next_turn() {
    let mut cfq = cfq();
    for (process, priority) in [(0, 4), (1, 4), (2, 7)] {
        for key in 0..20 {
            let io = of(process, read(process * 20 + key, u64::from(key) * LEN));
            put(&mut cfq, ms(0), with_priority(priority, io));
        }
    }
    assert_eq!(next(&mut cfq, ms(0), 1), [0]);
    let slow = cfq.dispatch(ms(10)).unwrap();
    // The slice is exceeded by 310 ms. The next turn, otherwise at 410 + 2 * 80 ms, comes before that of 2, at 280 ms.
    cfq.completed(ms(410), &slow);
    let processes = std::iter::from_fn(|| cfq.dispatch(ms(410))).map(|io| io.process);
    assert_eq!(processes.take(4).collect::<Vec<_>>(), [1; 4]);
    let second = cfq.active.unwrap().queue;
    cfq.queues[second].slice_end = Some(ms(410));
    assert_eq!(cfq.dispatch(ms(410)).map(|io| io.process), Some(0));
}

#[test]
fn the_drive_is_kept_idle_for_a_process_that_was_just_answered() {
    let mut cfq = cfq();
    put(&mut cfq, ms(0), of(1, read(0, 0)));
    put(&mut cfq, ms(0), of(2, read(1, FAR)));
    let first = cfq.dispatch(ms(0)).unwrap();
    assert_eq!(cfq.dispatch(ms(0)), None);
    cfq.completed(ms(5), &first);
    assert_eq!(cfq.dispatch(ms(5)), None);
    assert_eq!(cfq.next_timer(), Some(ms(13)));
    let mut asks_again = cfq.clone();
    put(&mut asks_again, ms(12), of(1, read(2, 2 * FAR)));
    assert_eq!(next(&mut asks_again, ms(12), 1), [2]);
    assert_eq!(cfq.dispatch(Time(ms(13).0 - 1)), None);
    assert_eq!(next(&mut cfq, ms(13), 1), [1]);
}

/// A process has made five requests, 64 KiB apart, with `think` time before each. Its last request is in flight.
fn accustomed(cfq: &mut Cfq, think: Dur, stride: u64) -> (Time, Io) {
    let mut now = Time::ZERO;
    for key in 0..4 {
        put(cfq, now, of(1, read(key, u64::from(key) * stride)));
        assert_eq!(next(cfq, now, 1), [key]);
        now += think;
    }
    put(cfq, now, of(1, read(4, 4 * stride)));
    (now, cfq.dispatch(now).unwrap())
}

#[test]
fn nobody_waits_for_a_process_that_thinks_longer_than_the_wait() {
    for (think, waits) in [(Dur::ms(1), true), (Dur::ms(15), false)] {
        let mut cfq = cfq();
        let (now, last) = accustomed(&mut cfq, think, LEN);
        put(&mut cfq, now, of(2, read(9, FAR)));
        cfq.completed(now, &last);
        assert_eq!(cfq.dispatch(now).is_none(), waits, "{think}");
    }
}

#[test]
fn a_process_that_seeks_is_waited_for_less() {
    for (stride, wait) in [(LEN, Dur::ms(8)), (FAR / 4, Dur::ms(2))] {
        let mut cfq = cfq();
        let (now, last) = accustomed(&mut cfq, Dur::ms(1), stride);
        put(&mut cfq, now, of(2, read(9, 1 << 40)));
        cfq.completed(now, &last);
        assert_eq!(cfq.dispatch(now), None);
        assert_eq!(cfq.next_timer(), Some(now + wait));
    }
}

#[test]
fn a_near_request_of_another_process_ends_the_wait() {
    let mut cfq = cfq();
    let (now, last) = accustomed(&mut cfq, Dur::ms(1), 64 << 10);
    cfq.completed(now, &last);
    put(&mut cfq, now, of(2, read(8, FAR)));
    assert_eq!(cfq.dispatch(now), None);
    // As near as the requests of the process itself usually are.
    put(&mut cfq, now, of(3, read(9, last.end() + LEN)));
    assert_eq!(next(&mut cfq, now, 1), [9]);
}

#[test]
fn what_is_waited_for_goes_before_what_is_not() {
    let mut cfq = cfq();
    for key in 0..3 {
        put(&mut cfq, ms(0), write(key, u64::from(key) * LEN));
    }
    assert_eq!(next(&mut cfq, ms(0), 1), [0]);
    put(&mut cfq, ms(0), of(1, read(9, FAR)));
    let waited_for = cfq.dispatch(ms(0)).unwrap();
    assert_eq!(waited_for.key, IoKey(9));
    // The drive could take more, but the writes would delay the next sync requests.
    assert_eq!(cfq.dispatch(ms(0)), None);
    cfq.completed(ms(1), &waited_for);
    assert_eq!(cfq.dispatch(ms(1)), None);
    assert_eq!(next(&mut cfq, ms(9), 1), [1]);
}

#[test]
fn writes_wait_for_the_reads_in_the_drive_even_where_nobody_is_waited_for() {
    let mut cfq = Cfq::new(&Tunables {
        slice_idle: Dur::ZERO,
        ..Tunables::default()
    })
    .unwrap();
    put(&mut cfq, ms(0), of(1, read(9, FAR)));
    put(&mut cfq, ms(0), write(0, 0));
    let waited_for = cfq.dispatch(ms(0)).unwrap();
    assert_eq!(waited_for.key, IoKey(9));
    assert_eq!(cfq.dispatch(ms(0)), None);
    cfq.completed(ms(1), &waited_for);
    assert_eq!(next(&mut cfq, ms(1), 1), [0]);
}

#[test]
fn a_process_that_seeks_on_a_drive_with_a_queue_is_not_waited_for() {
    for (stride, waits) in [(LEN, true), (FAR / 4, false)] {
        let mut cfq = cfq();
        let mut out = Vec::new();
        for key in 0..7 {
            put(&mut cfq, ms(0), of(1, read(key, u64::from(key) * stride)));
            out.push(cfq.dispatch(ms(0)).unwrap());
        }
        put(&mut cfq, ms(0), of(2, read(9, 1 << 40)));
        for io in out {
            cfq.completed(ms(1), &io);
        }
        assert_eq!(cfq.dispatch(ms(1)).is_none(), waits);
    }
}

#[test]
fn what_grows_and_what_goes_is_found_where_it_is() {
    const MIB: u64 = 1 << 20;
    let mut cfq = cfq();
    put(&mut cfq, ms(0), read(9, 9 * MIB));
    assert_eq!(next(&mut cfq, ms(0), 1), [9]);
    for key in 1..4 {
        put(&mut cfq, ms(0), read(key, u64::from(key) * MIB));
    }
    // The next request, just behind the head, grows away from it.
    let grown = Io {
        len: 2 * LEN,
        ..read(3, 3 * MIB - LEN)
    };
    cfq.changed(ms(0), &read(3, 3 * MIB), grown);
    cfq.remove(&read(2, 2 * MIB));
    assert_eq!(next(&mut cfq, ms(0), 9), [3, 1]);
    assert!(cfq.is_empty());
}

#[test]
fn the_oldest_goes_first_in_a_slice_once_it_has_expired() {
    let mut cfq = cfq();
    put(&mut cfq, ms(0), read(0, 2 * FAR));
    let begun = cfq.dispatch(ms(0)).unwrap();
    cfq.completed(ms(1), &begun);
    put(&mut cfq, ms(1), read(1, 0));
    put(&mut cfq, ms(1), read(2, 3 * FAR));
    let ahead = cfq.dispatch(ms(1)).unwrap();
    assert_eq!(ahead.key, IoKey(2));
    // The slice of 100 ms is over. The next one begins.
    cfq.completed(ms(101), &ahead);
    for key in 3..6 {
        put(&mut cfq, ms(101), read(key, u64::from(key + 1) * FAR));
    }
    let mut early = cfq.clone();
    assert_eq!(next(&mut early, ms(124), 1), [3]);
    // The oldest has expired now, but was already checked in this slice.
    assert_eq!(next(&mut early, ms(125), 1), [4]);
    assert_eq!(next(&mut cfq, ms(125), 2), [1, 3]);
}

#[test]
fn a_queue_has_a_quantum_in_the_drive_while_others_wait_and_four_alone() {
    let mut cfq = cfq();
    for key in 0..20 {
        put(&mut cfq, ms(0), of(1, read(key, u64::from(key) * LEN)));
    }
    let mut alone = cfq.clone();
    put(&mut cfq, ms(0), of(2, read(99, FAR)));
    let out = |cfq: &mut Cfq| std::iter::from_fn(|| cfq.dispatch(ms(0))).count();
    assert_eq!((out(&mut cfq), out(&mut alone)), (4, 16));
}

#[test]
fn an_async_queue_that_had_its_share_gives_way() {
    let mut cfq = cfq();
    for key in 0..12 {
        let io = with_priority([7, 4][key as usize % 2], write(key, u64::from(key) * LEN));
        put(&mut cfq, ms(0), io);
    }
    // Twice 2 at priority 7, 16 at priority 4.
    assert_eq!(next(&mut cfq, ms(0), 7), [0, 2, 4, 6, 1, 3, 5]);
}

#[test]
fn requests_are_merged_within_a_queue_only() {
    let cfq = cfq();
    let (mine, yours) = (of(1, read(0, 0)), of(2, read(1, LEN)));
    assert!(cfq.may_merge(&mine, &of(1, yours)) && !cfq.may_merge(&mine, &yours));
    let (mine, yours) = (of(1, write(0, 0)), of(2, write(1, LEN)));
    assert!(cfq.may_merge(&mine, &yours));
    assert!(!cfq.may_merge(&mine, &with_priority(2, yours)));
    assert!(!cfq.may_merge(
        &mine,
        &Io {
            sync: true,
            ..of(1, yours)
        }
    ));
}

#[test]
fn what_cannot_be_is_refused() {
    let key = |change: fn(&mut Tunables)| {
        let mut tunables = Tunables::default();
        change(&mut tunables);
        Cfq::new(&tunables).unwrap_err().key
    };
    assert_eq!(key(|t| t.quantum = 0), "quantum");
    assert_eq!(key(|t| t.back_seek_penalty = 0), "back_seek_penalty");
}

#[test]
fn a_process_that_never_stops_asking_keeps_no_write_back_for_ever() {
    let mut cfq = cfq();
    put(&mut cfq, ms(0), of(1, read(1, 0)));
    put(&mut cfq, ms(0), write(0, FAR));
    let (mut now, mut key) = (Time::ZERO, 1);
    let mut in_flight = std::collections::VecDeque::new();
    while now < ms(2000) {
        // Eight are in flight or held at any time: each completion brings the next request.
        while in_flight.len() < 4
            && let Some(io) = cfq.dispatch(now)
        {
            if io.is_write() {
                return;
            }
            in_flight.push_back(io);
        }
        while cfq.len() + in_flight.len() < 9 {
            key += 1;
            put(&mut cfq, now, of(1, read(key, u64::from(key) * LEN)));
        }
        now += Dur::us(100);
        if let Some(io) = in_flight.pop_front() {
            cfq.completed(now, &io);
        }
    }
    panic!("held for {now:?}");
}

fn of_class(class: Class, io: Io) -> Io {
    Io { class, ..io }
}

/// `cfq_service_tree_add` (2.6.23): "sort RT queues first, we always want to give preference to them. IDLE queues goes
/// to the back." `cfq_get_next_queue`: the idle class waits until `last_end_request + CFQ_IDLE_GRACE`.
#[test]
fn classes_go_in_their_order_and_the_idle_one_once_all_is_quiet() {
    let mut cfq = cfq();
    for (process, class) in (1..).zip([Class::Idle, Class::BestEffort, Class::RealTime]) {
        let io = of(process, read(process, u64::from(process) * FAR));
        put(&mut cfq, ms(0), of_class(class, io));
    }
    let mut now = ms(0);
    for expected in [3, 2] {
        let io = loop {
            if let Some(io) = cfq.dispatch(now) {
                break io;
            }
            now = cfq.next_timer().unwrap();
        };
        assert_eq!(io.key, IoKey(expected));
        now += Dur::ms(5);
        cfq.completed(now, &io);
    }
    // The drive is kept idle for the process just served; then 100 ms pass since its completion.
    let answered = now;
    assert_eq!(cfq.dispatch(answered + Dur::ms(8)), None);
    assert_eq!(cfq.next_timer(), Some(answered + Dur::ms(100)));
    assert_eq!(cfq.dispatch(answered + Dur(99_999_999)), None);
    assert_eq!(next(&mut cfq, answered + Dur::ms(100), 1), [1]);
}

/// `cfq_should_preempt` (2.6.23): an idle queue is preempted, an idle request never preempts, and a real-time one does
/// not end a slice of best effort. `cfq_dispatch_requests`: `max_dispatch` is 1 for the idle class.
#[test]
fn an_idle_queue_gives_way_to_all_and_no_slice_to_the_real_time_class() {
    let mut idle = cfq();
    for key in 0..3 {
        let io = of(1, read(key, u64::from(key) * LEN));
        put(&mut idle, ms(0), of_class(Class::Idle, io));
    }
    // One request per round, and four in flight if no other queue is busy.
    assert_eq!(next(&mut idle, ms(100), 3), [0, 1, 2]);
    put(
        &mut idle,
        ms(100),
        of_class(Class::Idle, of(1, read(3, FAR))),
    );
    put(&mut idle, ms(100), of(2, read(9, FAR)));
    assert_eq!(next(&mut idle, ms(100), 1), [9]);
    let mut busy = cfq();
    for key in 0..3 {
        put(&mut busy, ms(0), of(1, read(key, u64::from(key) * LEN)));
    }
    assert_eq!(next(&mut busy, ms(0), 1), [0]);
    put(
        &mut busy,
        ms(0),
        of_class(Class::RealTime, of(2, read(9, FAR))),
    );
    assert_eq!(next(&mut busy, ms(0), 2), [1, 2]);
}
