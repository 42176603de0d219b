//! The queue compared with the block layers of Linux: merging, plugging, and room for requests.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{
    config,
    queue::{Recorder, finish, given, queue, read, run, write},
};
use fathom_base::{Dur, Time};
use fathom_block::{Device, Op, Request, Tag};
use fathom_iosched::{BlockQueue, Plug, QueueConfig};

const KIB: u64 = 1024;

fn with(name: &str, plug: Plug) -> BlockQueue<Recorder> {
    queue(QueueConfig {
        scheduler: config(name),
        plug,
        ..QueueConfig::default()
    })
}

fn by(process: u32, request: Request) -> Request {
    let tag = Tag {
        process,
        ..request.tag
    };
    Request { tag, ..request }
}

/// Marks a request as direct I/O (`O_DIRECT`) from libaio or io_uring, which nobody waits for.
fn direct(request: Request) -> Request {
    let tag = Tag {
        direct: true,
        ..request.tag
    };
    Request { tag, ..request }
}

/// Writes of 4 KiB at these offsets, in KiB.
fn writes(places: &[u64]) -> Vec<Request> {
    let numbered = (0..).zip(places);
    numbered
        .map(|(id, at)| write(id, at * KIB, 4 * KIB))
        .collect()
}

/// Linux 6.18, `block/fops.c`, `dio_bio_write_op`: `REQ_SYNC | REQ_IDLE` for every direct write; the recordings in
/// `kernel/` of libaio and io_uring have `WS`.
#[test]
fn direct_writes_are_waited_for_in_linux_of_today() {
    for (name, waited_for) in [
        ("bfq", true),
        ("kyber", true),
        ("mq-deadline", true),
        ("mq-none", true),
        ("noop", false),
        ("deadline", false),
        ("anticipatory", false),
        ("cfq", false),
    ] {
        let mut queue = with(name, Plug::Off);
        let other = write(2, 64 * KIB, KIB);
        run(&mut queue, vec![direct(write(1, 0, KIB)), other]);
        let mut given: Vec<_> = queue
            .inner()
            .given
            .iter()
            .map(|r| (r.offset, r.tag.sync))
            .collect();
        given.sort_unstable();
        assert_eq!(given, [(0, waited_for), (64 * KIB, false)], "{name}");
    }
}

/// Linux 2.6.23, `__make_request`, `block/ll_rw_blk.c`: `elv_merge` comes first, and only a bio that is not merged asks
/// for a request (`get_request_wait`), of which there are `nr_requests` for each direction.
#[test]
fn what_is_merged_takes_no_room() {
    for plug in [Plug::Off, Plug::Batch] {
        let mut queue = queue(QueueConfig {
            scheduler: config("deadline"),
            plug,
            requests: Some(4),
            ..QueueConfig::default()
        });
        // Ten requests that are merged to one, and three separate ones.
        for request in writes(&[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 100, 200, 300]) {
            queue.submit(request).unwrap();
        }
        // The queue is full, but accepts requests that can be merged at either end.
        queue.submit(write(20, 40 * KIB, 4 * KIB)).unwrap();
        queue.submit(write(21, 296 * KIB, 4 * KIB)).unwrap();
        assert!(queue.submit(write(22, 400 * KIB, 4 * KIB)).is_err());
        // A refused submitter sleeps, and others of its direction too, until a request completes.
        assert!(queue.submit(write(23, 44 * KIB, 4 * KIB)).is_err());
        queue.submit(read(24, 500 * KIB, 4 * KIB)).unwrap();
        finish(&mut queue, 16);
        let mut given = given(&queue);
        given.sort_unstable();
        assert_eq!(given, [(0, 44), (100, 4), (200, 4), (296, 8), (500, 4)]);
        queue.submit(write(22, 400 * KIB, 4 * KIB)).unwrap();
    }
}

/// As above: `nr_requests` counts requests as the drive gets them, so a long one takes room for each piece. A bio is
/// split first (`blk_queue_split`); a request that has entered is not removed again.
#[test]
fn what_is_split_takes_room_for_each_piece() {
    let mut queue = queue(QueueConfig {
        requests: Some(4),
        ..QueueConfig::default()
    });
    queue.submit(write(1, 0, 1536 * KIB)).unwrap();
    queue.submit(write(2, 4096 * KIB, 4 * KIB)).unwrap();
    assert!(queue.submit(write(3, 8192 * KIB, 4 * KIB)).is_err());
    finish(&mut queue, 2);
    queue.submit(write(3, 8192 * KIB, 4 * KIB)).unwrap();
}

/// Linux 2.6.23: noop has no `elevator_merge_fn`; `elv_merge` checks `q->last_merge` for both ends, then
/// `elv_rqhash_find` for the back. `elv_insert` makes the first request `last_merge`, a merge makes it the one that
/// grew.
#[test]
fn noop_merges_in_front_of_the_last_merged_alone() {
    let mut noop = with("noop", Plug::Off);
    // The hint is 100, the first request to arrive. No merge in front of 200 is found.
    run(&mut noop, writes(&[100, 200, 196, 96]));
    assert_eq!(given(&noop), [(96, 8), (200, 4), (196, 4)]);
    let stats = noop.stats();
    assert_eq!(
        (stats.back_merges, stats.front_merges, stats.joined),
        (0, 1, 0)
    );
    // A merge behind 200 is found by the hash and makes it the hint.
    let mut noop = with("noop", Plug::Off);
    run(&mut noop, writes(&[100, 200, 204, 196, 96]));
    assert_eq!(given(&noop), [(100, 4), (196, 12), (96, 4)]);
    // Schedulers that sort by place find either (`deadline_merge`).
    let mut deadline = with("deadline", Plug::Off);
    run(&mut deadline, writes(&[100, 200, 196, 96]));
    assert_eq!(given(&deadline), [(96, 8), (196, 8)]);
}

/// Linux 2.6.23: `attempt_back_merge` asks `noop_latter_request` for the next request in order of arrival.
#[test]
fn noop_joins_neighbours_in_the_order_of_arrival_alone() {
    let mut noop = with("noop", Plug::Off);
    run(&mut noop, writes(&[0, 8, 4]));
    assert_eq!((given(&noop), noop.stats().joined), (vec![(0, 12)], 1));
    let mut noop = with("noop", Plug::Off);
    run(&mut noop, writes(&[0, 100, 8, 4]));
    assert_eq!(
        (given(&noop), noop.stats().joined),
        (vec![(0, 8), (100, 4), (8, 4)], 0)
    );
}

fn timer(scheduler: &str) -> BlockQueue<Recorder> {
    let (requests, delay) = (4, Dur::ms(3));
    queue(QueueConfig {
        scheduler: config(scheduler),
        plug: Plug::Timer { requests, delay },
        depth: Some(1),
        ..QueueConfig::default()
    })
}

/// Plays requests at their times in microseconds. Returns when the drive got each.
fn played(queue: &mut BlockQueue<Recorder>, requests: Vec<(u64, Request)>) -> Vec<(u64, Dur)> {
    let count = requests.len();
    let mut done = Vec::new();
    for (at, request) in requests {
        let at = Time(0) + Dur::us(at);
        while queue.now() < at {
            queue.wait(at, &mut done);
        }
        queue.submit(request).unwrap();
    }
    while done.len() < count {
        queue.wait(Time::MAX, &mut done);
    }
    let given = queue.inner().given.iter().zip(&queue.inner().when);
    given
        .map(|(request, at)| (request.offset / KIB, at.since(Time(0))))
        .collect()
}

/// Linux 2.6.23, `elv_insert`, `block/elevator.c`: the plug ends when `rq.count[READ] + rq.count[WRITE] - in_flight`
/// reaches `unplug_thresh`, 4; merged requests count as one.
#[test]
fn the_plug_of_old_counts_requests_and_not_what_was_merged() {
    let four = writes(&[0, 100, 200, 300]);
    let at_once = played(
        &mut timer("deadline"),
        four.into_iter().map(|r| (10, r)).collect(),
    );
    assert_eq!(at_once[0], (0, Dur::us(10)));
    let merged = writes(&[0, 4, 8, 100, 200]);
    let after = played(
        &mut timer("deadline"),
        merged.into_iter().map(|r| (10, r)).collect(),
    );
    assert_eq!(after[0], (0, Dur::us(3_010)));
}

/// The requests of a plugged queue are held by the scheduler, which sorts and merges them (`blk_plug_device`: "the I/O
/// scheduler is still adding and merging requests on the queue", `generic_unplug_device`).
#[test]
fn what_the_plug_of_old_holds_back_is_with_the_scheduler() {
    let mut deadline = timer("deadline");
    let order = played(
        &mut deadline,
        writes(&[200, 100, 104])
            .into_iter()
            .map(|r| (0, r))
            .collect(),
    );
    // The sweep begins at the lowest offset, not at the first arrival.
    assert_eq!(order[0].0, 100);
}

/// `__make_request`: only an empty queue is plugged, whatever is in flight; `scsi_run_queue`
/// (`drivers/scsi/scsi_lib.c`) calls `blk_run_queue` after each completion, which removes the plug.
#[test]
fn the_plug_of_old_comes_when_the_queue_is_empty_and_goes_with_a_completion() {
    let requests = vec![
        (0, direct(write(1, 0, 4 * KIB))),
        // The drive is busy with the first request until 100 us, and the queue is empty.
        (50, write(2, 100 * KIB, 4 * KIB)),
        (200, write(3, 200 * KIB, 4 * KIB)),
        // The queue is empty and the drive idle again.
        (250, write(4, 300 * KIB, 4 * KIB)),
    ];
    let mut queue = timer("noop");
    let given = played(&mut queue, requests);
    let us = Dur::us;
    let wanted = [
        (0, us(0)),
        (100, us(100)),
        (200, us(3_200)),
        (300, us(3_300)),
    ];
    assert_eq!(given, wanted);
}

/// `bio_sync` (a write that somebody waits for) runs the queue at once, also if it was merged. So do direct I/O
/// (`blk_run_address_space`, `fs/direct-io.c`), a reader that waits (`sync_page`), and a submitter that finds no room
/// (`get_request_wait`: `__generic_unplug_device`).
#[test]
fn the_plug_of_old_goes_for_who_waits() {
    let waited = |request: Request| {
        let tag = Tag {
            sync: true,
            ..request.tag
        };
        Request { tag, ..request }
    };
    for request in [
        waited(write(2, 100 * KIB, 4 * KIB)),
        waited(write(2, 4 * KIB, 4 * KIB)),
        direct(write(2, 100 * KIB, 4 * KIB)),
        read(2, 100 * KIB, 4 * KIB),
        Request::new(2, Op::Flush, 0, 0),
    ] {
        let mut queue = timer("noop");
        let given = played(&mut queue, vec![(0, write(1, 0, 4 * KIB)), (20, request)]);
        assert_eq!(given[0].1, Dur::us(20));
    }
    let mut queue = queue(QueueConfig {
        plug: Plug::Timer {
            requests: 4,
            delay: Dur::ms(3),
        },
        requests: Some(1),
        ..QueueConfig::default()
    });
    queue.submit(write(1, 0, 4 * KIB)).unwrap();
    assert!(queue.submit(write(2, 100 * KIB, 4 * KIB)).is_err());
    assert_eq!(given(&queue), [(0, 4)]);
}

/// Linux 6.18, `blk_attempt_plug_merge`, `block/blk-merge.c`: the last request of the list, at either end; 2.6.39,
/// `attempt_plug_merge`, `block/blk-core.c`: any of the list.
#[test]
fn a_plug_list_is_searched_at_its_end_alone_today() {
    let places = [100, 200, 204, 196, 104];
    let mut today = with("mq-none", Plug::Batch);
    run(&mut today, writes(&places));
    assert_eq!(given(&today), [(100, 4), (196, 12), (104, 4)]);
    let mut old = with("noop", Plug::Batch);
    run(&mut old, writes(&places));
    assert_eq!(given(&old), [(100, 8), (196, 12)]);
}

/// Each task has its own list (`current->plug`), which goes to the scheduler as a whole.
#[test]
fn a_plug_list_is_of_one_task() {
    let mut queue = with("mq-none", Plug::Batch);
    let requests = vec![
        by(1, write(1, 0, 4 * KIB)),
        by(2, write(2, 100 * KIB, 4 * KIB)),
        by(1, write(3, 4 * KIB, 4 * KIB)),
        by(2, write(4, 8 * KIB, 4 * KIB)),
        by(1, write(5, 200 * KIB, 4 * KIB)),
    ];
    run(&mut queue, requests);
    assert_eq!(given(&queue), [(0, 8), (200, 4), (100, 4), (8, 4)]);
}

/// Linux 6.18, `blk_bio_list_merge`: at most eight requests of the software queue are searched, the latest first;
/// `kyber_bio_merge` has a list for each domain. Held requests are never joined.
#[test]
fn without_a_scheduler_the_latest_eight_are_looked_at() {
    let far: Vec<u64> = (0..10).map(|i| 1000 + 100 * i).collect();
    for (new, merged) in [(1104, false), (1204, true), (1196, true), (1904, true)] {
        for name in ["mq-none", "kyber"] {
            let mut queue = with(name, Plug::Off);
            let mut all = writes(&far);
            all.push(write(99, new * KIB, 4 * KIB));
            run(&mut queue, all);
            let count = queue.stats().back_merges + queue.stats().front_merges;
            assert_eq!(count, u64::from(merged), "{name}: {new}");
        }
    }
    // Eight reads in between are in the same list for mq-none, but in another domain for kyber.
    for (name, merged) in [("mq-none", 0), ("kyber", 1)] {
        let mut queue = with(name, Plug::Off);
        let mut all = writes(&[0]);
        all.extend((1..9).map(|i| read(i, (1000 + 100 * i) * KIB, 4 * KIB)));
        all.push(write(99, 4 * KIB, 4 * KIB));
        run(&mut queue, all);
        assert_eq!(queue.stats().back_merges, merged, "{name}");
    }
    let mut queue = with("mq-none", Plug::Off);
    run(&mut queue, writes(&[0, 8, 4]));
    assert_eq!(given(&queue), [(0, 4), (4, 8)]);
}

/// Linux 6.18, `blk_add_rq_to_plug`, `block/blk-mq.c`: a list whose first request has 128 KiB (`BLK_PLUG_FLUSH_SIZE`)
/// is flushed before the next request, not only a list of 32.
#[test]
fn a_long_request_ends_a_plug_list() {
    let mut queue = with("mq-deadline", Plug::Batch);
    // The next request is merged by place if the first one is in the scheduler, which it is.
    let requests = vec![
        write(1, 1000 * KIB, 128 * KIB),
        write(2, 2000 * KIB, 4 * KIB),
        write(3, 996 * KIB, 4 * KIB),
    ];
    run(&mut queue, requests);
    assert_eq!(given(&queue), [(996, 132), (2000, 4)]);
    let mut queue = with("mq-deadline", Plug::Batch);
    let requests = vec![
        write(1, 1000 * KIB, 124 * KIB),
        write(2, 2000 * KIB, 4 * KIB),
        write(3, 996 * KIB, 4 * KIB),
    ];
    run(&mut queue, requests);
    // In the list only the request at 2000 is checked, and on the way to the scheduler only one that ends there.
    assert_eq!(queue.stats().front_merges, 0);
}

/// Linux 6.18, `elv_attempt_insert_merge`, `block/elevator.c`, through `dd_insert_request`: a request that leaves a
/// plug list is merged with one that ends where it begins.
#[test]
fn what_leaves_a_plug_list_joins_what_ends_where_it_begins() {
    for (name, joined) in [
        ("mq-deadline", 2),
        ("bfq", 2),
        ("deadline", 0),
        ("kyber", 0),
        ("mq-none", 0),
    ] {
        let mut queue = with(name, Plug::Batch);
        run(&mut queue, writes(&[0, 100, 4, 200, 8]));
        assert_eq!(queue.stats().joined, joined, "{name}");
    }
}

/// Linux 6.18, `__blk_mq_do_dispatch_sched`, `blk_mq_dispatch_rq_list`: the scheduler is asked until the drive has no
/// tag left, which is noticed with a request in hand. Later arrivals cannot overtake that request.
#[test]
fn one_request_more_is_taken_from_a_scheduler_than_the_drive_has_room_for() {
    // The request at 300 KiB is chosen when the drive has got the first one.
    let play = |name: &str, later: u64| {
        let mut queue = queue(QueueConfig {
            scheduler: config(name),
            plug: Plug::Off,
            depth: Some(1),
            ..QueueConfig::default()
        });
        queue.submit(write(1, 0, 4 * KIB)).unwrap();
        queue.submit(write(2, 300 * KIB, 4 * KIB)).unwrap();
        queue.wait(Time(10), &mut Vec::new());
        queue.submit(write(3, later * KIB, 4 * KIB)).unwrap();
        finish(&mut queue, 3);
        given(&queue)
    };
    assert_eq!(play("mq-deadline", 100), [(0, 4), (300, 4), (100, 4)]);
    assert_eq!(play("mq-deadline", 304), [(0, 4), (300, 4), (304, 4)]);
    // Linux 2.6 asks only for requests that the drive has room for (`elv_next_request`). Without a scheduler a request
    // has its tag from the beginning.
    for name in ["deadline", "mq-none"] {
        assert_eq!(play(name, 304), [(0, 4), (300, 8)], "{name}");
    }
}
