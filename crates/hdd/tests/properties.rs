//! Properties of any disk under any requests: runs are reproducible, and no request is faster than the mechanics allow.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::{bare, preset, run, small};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Completion, Device, Op, Request};
use fathom_hdd::spec::{Destage, ReadCache, Scheduling, WriteCache};
use fathom_hdd::{Hdd, Spec};
use proptest::prelude::*;

fn requests(spec: &Spec, seed: u64, n: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed, 0);
    let sectors = spec.capacity.0 / 512;
    let mut last = 0;
    let mut next = |id| {
        let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Flush][rng.below(5) as usize];
        let len = 1 + rng.below(200);
        let follows = rng.chance(0.4) && last + len <= sectors;
        let first = if follows {
            last
        } else {
            rng.below(sectors - len)
        };
        last = first + len;
        let mut request = Request::new(id, op, first * 512, len * 512);
        if op == Op::Flush {
            (request.offset, request.len) = (0, 0);
        }
        request.tag.fua = rng.chance(0.1);
        request
    };
    (0..n).map(&mut next).collect()
}

fn disks() -> impl Strategy<Value = Spec> {
    let read = prop::option::of((1u32..6, 1u64..200, 0u64..200));
    let write = prop::option::of((1u64..900, any::<bool>()));
    // The medium of these disks delivers 4 MB/s.
    let link = prop::sample::select(vec!["1MB/s", "5MB/s", "100MB/s"]);
    let queue = (1u32..33, any::<bool>());
    (read, write, queue, link).prop_map(|(read, write, (depth, fcfs), link)| {
        let mut spec = small();
        spec.host.bandwidth = link.parse().unwrap();
        spec.read_cache = read.map(|(segments, sectors, ahead)| ReadCache {
            segments,
            segment: Bytes(sectors * 512),
            read_ahead: Bytes(ahead.min(sectors) * 512),
        });
        spec.write_cache = write.map(|(sectors, fifo)| WriteCache {
            capacity: Bytes(sectors * 512),
            destage: if fifo { Destage::Fifo } else { Destage::CScan },
        });
        spec.host.queue_depth = depth;
        if fcfs {
            spec.host.scheduling = Scheduling::Fcfs;
        }
        spec
    })
}

/// Returns a lower bound in nanoseconds for a request: command and link, and the time of the sectors if they cannot come
/// from memory.
fn least(spec: &Spec, request: &Request) -> u64 {
    let front = spec.host.command_overhead.0;
    let link = |bytes: u64| bytes * 1_000_000_000 / spec.host.bandwidth.bytes_per_second();
    let sectors = request.len / 512;
    // The outer zone has the shortest sectors: 8 ms / 64.
    let medium = sectors * 125_000;
    match request.op {
        Op::Read if spec.read_cache.is_none() && spec.write_cache.is_none() => {
            front + medium + link(512)
        }
        // It cannot be on the medium before its data has arrived, nor before its sectors have passed under the head.
        Op::Write if spec.write_cache.is_none() || request.tag.fua => {
            front + (medium + link(512)).max(link(request.len))
        }
        Op::Read | Op::Write => front + link(request.len),
        Op::Flush | Op::Trim | Op::Append | Op::Zone(_) => front,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_is_faster_than_physics_and_equal_runs_are_equal(spec in disks(), seed in 0u64..1000) {
        let requests = requests(&spec, seed, 300);
        let finish = |spec: &Spec, seed| {
            let mut disk = Hdd::new(spec, seed).unwrap();
            let done = run(&mut disk, requests.clone());
            (done, disk.counters(), disk.now())
        };
        let (done, counters, end) = finish(&spec, seed);
        prop_assert_eq!(done.len(), requests.len());
        for completion in &done {
            let request = &requests[completion.id.0 as usize];
            prop_assert_eq!(completion.result, Ok(()));
            prop_assert!(completion.latency().0 >= least(&spec, request), "{:?}", completion);
        }
        prop_assert_eq!(&finish(&spec, seed), &(done, counters, end));
        // The head passes no more sectors than the elapsed turns allow, and each written sector has passed or was
        // overwritten.
        let passed = counters.medium_sectors_read + counters.medium_sectors_written;
        prop_assert!(passed * 125_000 <= end.0 + 100 * 125_000, "{:?} {:?}", counters, end);
        if spec.write_cache.is_none() {
            prop_assert_eq!(counters.medium_sectors_written, counters.host_sectors_written);
        }
        if spec.read_cache.is_none() {
            prop_assert_eq!(counters.read_ahead_sectors, 0);
        }
    }

    /// After a flush everything is on the medium: a second flush takes only the command time.
    #[test]
    fn a_flush_drains(spec in disks(), seed in 0u64..1000) {
        let mut disk = Hdd::new(&spec, 1).unwrap();
        run(&mut disk, requests(&spec, seed, 100));
        common::flush(&mut disk);
        let written = disk.counters().medium_sectors_written;
        let again = common::flush(&mut disk);
        prop_assert_eq!(again.latency(), spec.host.command_overhead);
        common::idle(&mut disk, Dur::ms(1000));
        prop_assert_eq!(disk.counters().medium_sectors_written, written);
    }
}

#[test]
fn a_fork_goes_on_like_the_original_and_another_seed_differs() {
    let spec = preset("hitachi-7k160");
    let mut disk = Hdd::new(&spec, 1).unwrap();
    run(&mut disk, requests(&spec, 1, 200));
    let mut fork = disk.clone();
    let more = requests(&spec, 2, 200);
    assert_eq!(run(&mut disk, more.clone()), run(&mut fork, more.clone()));
    let times = |seed| {
        let mut disk = Hdd::new(&bare(spec.clone()), seed).unwrap();
        let done = run(&mut disk, more.clone());
        done.iter()
            .map(|c: &Completion| c.completed)
            .collect::<Vec<Time>>()
    };
    assert_ne!(times(1), times(2));
}
