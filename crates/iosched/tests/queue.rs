//! The requests that reach the drive: merging, splitting, plugging, and the order of overlapping requests.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::queue::{Recorder, finish, given, queue, read, run, write};
use crate::common::{config, splits};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::devices::NullDevice;
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, Request, Tag};
use fathom_iosched::{BlockQueue, Class, Config, Plug, Priority, QueueConfig, Split};

const KIB: u64 = 1024;

#[test]
fn adjacent_requests_become_one_at_either_end() {
    let mut queue = queue(QueueConfig::default());
    let requests = vec![
        write(1, 8 * KIB, 4 * KIB),
        write(2, 12 * KIB, 4 * KIB), // after it
        write(3, 4 * KIB, 4 * KIB),  // before it
        read(4, 16 * KIB, 4 * KIB),  // adjacent, but a read
        write(5, 24 * KIB, 4 * KIB),
        write(6, 20 * KIB, 4 * KIB), // before that
    ];
    let done = run(&mut queue, requests);
    assert_eq!(given(&queue), [(4, 12), (16, 4), (20, 8)]);
    let stats = queue.stats();
    assert_eq!(
        (stats.submitted, stats.back_merges, stats.front_merges),
        (6, 1, 2)
    );
    assert_eq!(done.len(), 6);
}

#[test]
fn a_gap_that_is_filled_joins_both_sides() {
    let mut queue = queue(QueueConfig::default());
    let requests = vec![
        write(1, 0, 4 * KIB),
        write(2, 8 * KIB, 4 * KIB),
        write(3, 4 * KIB, 4 * KIB),
    ];
    run(&mut queue, requests);
    assert_eq!(given(&queue), [(0, 12)]);
    assert_eq!(queue.stats().joined, 1);
}

#[test]
fn merging_stops_at_the_limit_and_long_requests_are_split_there() {
    let [nopas, pas, pasa] = splits().map(|split| {
        let mut queue = queue(QueueConfig {
            split,
            requests: Some(151),
            ..QueueConfig::default()
        });
        // 600 KiB from 20 KiB on, in pieces of 4 KiB, then the same length elsewhere in one request.
        let mut requests: Vec<Request> = (0..150)
            .map(|i| write(i, (20 + 4 * i) * KIB, 4 * KIB))
            .collect();
        requests.push(write(200, 2068 * KIB, 600 * KIB));
        run(&mut queue, requests);
        given(&queue)
    });
    assert_eq!(nopas, [(20, 512), (532, 88), (2068, 512), (2580, 88)]);
    assert_eq!(
        pas,
        [
            (20, 256),
            (276, 256),
            (532, 88),
            (2068, 256),
            (2324, 256),
            (2580, 88)
        ]
    );
    // The first piece of each ends at the next boundary of 16 KiB.
    assert_eq!(
        pasa,
        [
            (20, 12),
            (32, 256),
            (288, 256),
            (544, 76),
            (2068, 12),
            (2080, 256),
            (2336, 256),
            (2592, 76)
        ]
    );
}

#[test]
fn pieces_stay_aligned_where_the_buffer_is_no_multiple_of_the_clustered_page() {
    let sizes = "read = \"255KiB\"\nwrite = \"255KiB\"\nread_boundary = \"16KiB\"\nwrite_boundary = \"16KiB\"";
    let split: Split = toml::from_str(&format!("name = \"pasa\"\n{sizes}")).unwrap();
    let mut queue = queue(QueueConfig {
        split,
        ..QueueConfig::default()
    });
    run(
        &mut queue,
        vec![write(1, 16 * KIB, 512 * KIB), read(2, 4 * KIB, 4 * KIB)],
    );
    assert_eq!(given(&queue), [(16, 240), (256, 240), (496, 32), (4, 4)]);
}

#[test]
fn what_is_plugged_waits_for_more_until_somebody_waits_for_it() {
    let timer = |requests| QueueConfig {
        plug: Plug::Timer {
            requests,
            delay: Dur::ms(3),
        },
        ..QueueConfig::default()
    };
    // One write that nobody waits for: the delay of the plug, then the drive.
    let mut delayed = queue(timer(4));
    let done = run(&mut delayed, vec![write(1, 0, 4 * KIB)]);
    assert_eq!(done[0].completed, Time(0) + Dur::ms(3) + Dur::us(100));
    // Somebody waits for a read.
    let mut pulled = queue(timer(4));
    let done = run(
        &mut pulled,
        vec![write(1, 0, 4 * KIB), read(2, 64 * KIB, 4 * KIB)],
    );
    assert!(
        done.iter()
            .all(|done| done.completed == Time(0) + Dur::us(100))
    );
    // Enough requests that are not adjacent.
    let mut filled = queue(timer(2));
    let done = run(&mut filled, vec![write(1, 0, KIB), write(2, 64 * KIB, KIB)]);
    assert!(
        done.iter()
            .all(|done| done.completed == Time(0) + Dur::us(100))
    );
    // Requests can be merged while the plug holds.
    let mut joined = queue(timer(4));
    joined.submit(write(1, 0, 4 * KIB)).unwrap();
    joined.wait(Time(0) + Dur::ms(1), &mut Vec::new());
    joined.submit(write(2, 4 * KIB, 4 * KIB)).unwrap();
    finish(&mut joined, 2);
    assert_eq!(given(&joined), [(0, 8)]);
}

#[test]
fn overlapping_requests_go_one_after_another_and_the_rest_passes_them() {
    let mut queue = queue(QueueConfig {
        merge: false,
        ..QueueConfig::default()
    });
    let requests = vec![
        write(1, 0, 8 * KIB),
        write(2, 4 * KIB, 8 * KIB), // overlaps the first
        read(3, 8 * KIB, 4 * KIB),  // overlaps the second
        read(4, 64 * KIB, 4 * KIB), // overlaps nothing
        read(5, 64 * KIB, 4 * KIB), // the same offset: reads do not wait for reads
    ];
    let done = run(&mut queue, requests);
    let order: Vec<(u64, Time)> = done.iter().map(|d| (d.id.0, d.completed)).collect();
    let at = |n: u64| Time(0) + Dur::us(100 * n);
    assert_eq!(
        order,
        [(1, at(1)), (4, at(1)), (5, at(1)), (2, at(2)), (3, at(3))]
    );
    assert_eq!(queue.stats().held_back, 2);
}

/// Linux 6.12, `include/linux/blk_types.h`: `REQ_NOMERGE_FLAGS` contains `REQ_FUA`, so two FUA writes are not merged
/// either.
#[test]
fn forced_writes_stay_apart_and_flushes_pass_what_is_held() {
    let mut queue = queue(QueueConfig {
        depth: Some(1),
        ..QueueConfig::default()
    });
    let fua = |id, offset| Request {
        tag: Tag {
            fua: true,
            ..Tag::default()
        },
        ..write(id, offset, 4 * KIB)
    };
    let requests = vec![
        write(1, 0, 4 * KIB),
        fua(2, 4 * KIB),
        fua(3, 8 * KIB),
        write(4, 12 * KIB, 4 * KIB),
        Request::new(5, Op::Flush, 0, 0),
        Request::new(6, Op::Trim, 12 * KIB, 4 * KIB),
    ];
    let done = run(&mut queue, requests);
    let seen = queue
        .inner()
        .given
        .iter()
        .map(|r| (r.op, r.offset / KIB, r.len / KIB, r.tag.fua));
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            (Op::Flush, 0, 0, false),
            (Op::Write, 0, 4, false),
            (Op::Write, 4, 4, true),
            (Op::Write, 8, 4, true),
            (Op::Write, 12, 4, false),
            (Op::Trim, 12, 4, false), // after the write that it overlaps
        ]
    );
    assert_eq!(done.len(), 6);
}

#[test]
fn pai_lets_well_split_requests_go_first_and_the_others_wait_to_be_merged() {
    let pai = |bound: &str| -> Config {
        let Config::Pai(mut tunables) = config("pai") else {
            panic!("not pai");
        };
        tunables.bound = bound.parse().unwrap();
        Config::Pai(tunables)
    };
    let with = |bound: &str| {
        queue(QueueConfig {
            scheduler: pai(bound),
            split: splits()[2].clone(),
            plug: Plug::Off,
            depth: Some(1),
            alignment: Bytes(16 * KIB),
            ..QueueConfig::default()
        })
    };
    let mut waits = with("5ms");
    let done = run(
        &mut waits,
        vec![
            write(1, 40 * KIB, 4 * KIB),    // badly split
            write(2, 256 * KIB, 16 * KIB),  // a clustered page
            write(3, 512 * KIB, 256 * KIB), // as long as the buffer
        ],
    );
    assert_eq!(given(&waits), [(256, 16), (512, 256), (40, 4)]);
    assert_eq!(done[2].completed, Time(0) + Dur::ms(5) + Dur::us(100));
    assert_eq!(waits.stats().writes.aligned, 2);
    // A request that becomes well split by merging does not wait.
    let mut merged = with("5ms");
    let requests = vec![write(1, 36 * KIB, 12 * KIB), write(2, 32 * KIB, 4 * KIB)];
    let done = run(&mut merged, requests);
    assert_eq!(given(&merged), [(32, 16)]);
    assert_eq!(done[1].completed, Time(0) + Dur::us(100));
}

/// A drive that is busy for the first millisecond.
struct Late(Recorder);

impl Device for Late {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }
    fn now(&self) -> Time {
        self.0.now()
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        match self.now() < Time(0) + Dur::ms(1) {
            true => Err(Busy(request)),
            false => self.0.submit(request),
        }
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.0.wait(until, done);
    }
}

/// A current drive takes more than 32 requests at a time, and `nr_requests` of Linux is the number of its tags.
#[test]
fn a_drive_has_as_many_requests_as_it_takes_unless_a_depth_is_given() {
    let most = |depth: Option<u32>| {
        let info = DeviceInfo {
            queue_depth: 100,
            ..common::info()
        };
        let config = QueueConfig {
            depth,
            ..QueueConfig::default()
        };
        let inner = Recorder::new(NullDevice::new(info, Dur::us(100)));
        let mut queue = BlockQueue::new(inner, config).unwrap();
        let places = (0..120).map(|i| read(i, 64 * i * KIB, KIB));
        let done = run(&mut queue, places.collect());
        let first = done[0].completed;
        done.iter().filter(|d| d.completed == first).count()
    };
    assert_eq!(most(None), 100);
    assert_eq!(most(Some(40)), 40);
    assert_eq!(most(Some(400)), 100);
}

#[test]
fn each_direction_has_a_pool_of_its_own() {
    let mut queue = queue(QueueConfig {
        requests: Some(4),
        ..QueueConfig::default()
    });
    assert_eq!(queue.info().queue_depth, 8);
    for round in 0..2 {
        queue.submit(Request::new(1, Op::Flush, 0, 0)).unwrap();
        queue.submit(Request::new(2, Op::Trim, 0, KIB)).unwrap();
        queue.submit(write(3, 64 * KIB, KIB)).unwrap();
        // A request that waits for another one is in the pool; an invalid one is not.
        queue.submit(write(4, 64 * KIB, KIB)).unwrap();
        queue.submit(read(5, 65 << 20, KIB)).unwrap();
        for op in [Op::Write, Op::Flush, Op::Trim] {
            let request = Request::new(6, op, 128 * KIB, KIB);
            let Err(Busy(back)) = queue.submit(request.clone()) else {
                panic!("{op} was taken");
            };
            assert_eq!(back, request);
        }
        for i in 0..4 {
            queue.submit(read(10 + i, i * 8 * KIB, KIB)).unwrap();
        }
        assert_eq!(
            queue.submit(read(20, 0, KIB)),
            Err(Busy(read(20, 0, KIB))),
            "round {round}"
        );
        finish(&mut queue, 9);
    }
}

/// Linux 6.18: `blk_mq_alloc_sched_tags` (block/blk-mq-sched.c), twice the smaller of the controller's depth and
/// `BLKDEV_DEFAULT_RQ`, 128; `blk_mq_init_allocated_queue` (block/blk-mq.c), its depth where there is no scheduler.
/// `AHCI_MAX_CMDS` (drivers/ata/ahci.h), 32. Linux 2.6.39: `BLKDEV_MAX_RQ`, 128, of each direction.
#[test]
fn unless_given_a_queue_has_the_requests_of_its_linux() {
    let room = |name, depth| {
        let info = DeviceInfo {
            queue_depth: depth,
            ..queue(QueueConfig::default()).inner().info().clone()
        };
        let queue = QueueConfig {
            scheduler: config(name),
            // The depth limit of the drive does not change the number of tags of the controller.
            depth: Some(8),
            ..QueueConfig::default()
        };
        let queue = BlockQueue::new(NullDevice::new(info, Dur::us(1)), queue).unwrap();
        queue.info().queue_depth
    };
    for name in ["mq-deadline", "kyber", "bfq"] {
        let of = [1, 32, 64, 128, 1023].map(|depth| room(name, depth));
        assert_eq!(of, [64, 64, 128, 256, 256], "{name}");
    }
    assert_eq!(
        [1, 32, 1023].map(|depth| room("mq-none", depth)),
        [32, 32, 1023]
    );
    assert_eq!([1, 1023].map(|depth| room("deadline", depth)), [256, 256]);
}

/// Linux 6.18, default settings, of 16 requests: `dd_limit_depth` with `async_depth` = `nr_requests`
/// (block/mq-deadline.c), `kyber_limit_depth` with `KYBER_ASYNC_PERCENT` 75 (block/kyber-iosched.c),
/// `bfq_depth_updated` with 1/2 and 3/4 (block/bfq-iosched.c); no limit without a scheduler. Direct writes count as
/// waited for (`dio_bio_write_op`).
#[test]
fn today_both_directions_share_one_pool_and_schedulers_keep_some_of_it_from_writes() {
    for (name, unawaited, awaited) in [
        ("mq-none", 16, 16),
        ("mq-deadline", 16, 16),
        ("kyber", 12, 16),
        ("bfq", 8, 12),
    ] {
        for (direct, writes) in [(false, unawaited), (true, awaited)] {
            let mut queue = queue(QueueConfig {
                scheduler: config(name),
                requests: Some(16),
                ..QueueConfig::default()
            });
            let mut taken = |op, first: u64| {
                let one = |i| Request {
                    tag: Tag {
                        direct,
                        ..Tag::default()
                    },
                    ..Request::new(first + i, op, (first + i) * 8 * KIB, KIB)
                };
                (0..20)
                    .take_while(|&i| queue.submit(one(i)).is_ok())
                    .count()
            };
            assert_eq!(taken(Op::Write, 0), writes, "{name}");
            assert_eq!(taken(Op::Read, 100), 16 - writes, "{name}");
            finish(&mut queue, 16);
            assert!(queue.submit(read(200, 0, KIB)).is_ok());
        }
    }
}

/// Three processes of three classes with 64 reads each. The 256 requests of Linux 6.18 hold all of them, so mq-deadline
/// sees each class, and the drive has 8 requests of the first class (on a loop device as well: `nr_requests` is 256).
#[test]
fn a_scheduler_of_today_sees_three_processes_with_64_reads_each() {
    let inner = DeviceInfo {
        queue_depth: 256,
        ..queue(QueueConfig::default()).inner().info().clone()
    };
    let priorities = [
        ("0", Class::Idle, 7),
        ("1", Class::BestEffort, 4),
        ("2", Class::RealTime, 0),
    ];
    let config = QueueConfig {
        scheduler: config("mq-deadline"),
        depth: Some(8),
        priorities: priorities
            .map(|(process, class, level)| {
                (process.to_owned(), Priority::new(class, level).unwrap())
            })
            .into(),
        ..QueueConfig::default()
    };
    let inner = Recorder::new(NullDevice::new(inner, Dur::us(100)));
    let mut queue = BlockQueue::new(inner, config).unwrap();
    for i in 0..192 {
        let mut request = read(i, i * 64 * KIB, KIB);
        request.tag.process = (i / 64) as u32;
        queue.submit(request).unwrap();
    }
    finish(&mut queue, 192);
    let first: Vec<u32> = queue.inner().given.iter().map(|r| r.tag.process).collect();
    assert!(first[..64].iter().all(|&process| process == 2), "{first:?}");
}

#[test]
fn a_busy_drive_keeps_neither_direction_from_entering() {
    let config = QueueConfig {
        requests: Some(4),
        ..QueueConfig::default()
    };
    let inner = queue(QueueConfig::default()).inner().info().clone();
    let inner = Late(Recorder::new(NullDevice::new(inner, Dur::us(100))));
    let mut queue = BlockQueue::new(inner, config).unwrap();
    let mut done = Vec::new();
    for i in 0..4 {
        queue.submit(write(i, i * 8 * KIB, KIB)).unwrap();
    }
    // The drive refuses the first write.
    queue.wait(Time(0) + Dur::us(500), &mut done);
    assert!(queue.submit(write(8, 80 * KIB, KIB)).is_err());
    for i in 0..4 {
        queue.submit(read(10 + i, 256 * KIB, KIB)).unwrap();
    }
    queue.wait(Time(0) + Dur::ms(1), &mut done);
    assert!(done.is_empty());
    finish(&mut queue, 8);
    let first = queue.inner().0.given.first().unwrap();
    assert_eq!((first.op, first.offset), (Op::Write, 0));
}

#[test]
fn what_a_queue_cannot_be_is_said() {
    let build = |config| {
        let info = queue(QueueConfig::default()).inner().info().clone();
        let inner = NullDevice::new(info, Dur::us(1));
        BlockQueue::new(inner, config)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let split: Split =
        toml::from_str("name = \"pas\"\nread = \"1000B\"\nwrite = \"4KiB\"").unwrap();
    let error = build(QueueConfig {
        split,
        ..QueueConfig::default()
    });
    assert!(
        error.contains("`read` is 1000 bytes") && error.contains("512"),
        "{error}"
    );
    let error = build(QueueConfig {
        scheduler: "pai".parse().unwrap(),
        ..QueueConfig::default()
    });
    assert!(error.contains("fathom probe --only read_buffer"), "{error}");
    // A bundle of whole sectors, over a drive with a longer logical block.
    let info = DeviceInfo {
        logical_block_bytes: 4096,
        ..queue(QueueConfig::default()).inner().info().clone()
    };
    for name in ["irbw-fifo", "irbw-fifo-rp"] {
        let scheduler = |bundle: &str| -> Config {
            toml::from_str(&format!("name = \"{name}\"\nbundle = \"{bundle}\"")).unwrap()
        };
        let over = |bundle: &str| {
            let config = QueueConfig {
                scheduler: scheduler(bundle),
                ..QueueConfig::default()
            };
            BlockQueue::new(NullDevice::new(info.clone(), Dur::us(1)), config).map(|_| ())
        };
        assert_eq!(over("12KiB"), Ok(()));
        let error = over("6KiB").unwrap_err().to_string();
        assert!(
            error.contains("`bundle` is 6KiB") && error.contains("4096 bytes"),
            "{error}"
        );
    }
    let error = build(QueueConfig {
        depth: Some(0),
        ..QueueConfig::default()
    });
    assert!(error.contains("`depth` is 0"), "{error}");
    let error = build(QueueConfig {
        requests: Some(0),
        ..QueueConfig::default()
    });
    assert!(error.contains("`requests` is 0"), "{error}");
    let error = build(QueueConfig {
        priorities: [("first".to_owned(), Priority::default())].into(),
        ..QueueConfig::default()
    });
    assert!(error.contains("`first` the priority 4"), "{error}");
}

#[test]
fn the_log_is_that_of_the_drive() {
    let mut queue = queue(QueueConfig::default());
    run(
        &mut queue,
        vec![write(1, 0, 4 * KIB), write(2, 4 * KIB, 4 * KIB)],
    );
    assert_eq!(queue.log().unwrap().host_bytes_written, Some(8 * KIB));
}
