//! Several submission queues: the shares of the queues, against the rules of arbitration. The controller is the slowest
//! stage, so that the queues compete for it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Dur, Rng, Time};
use fathom_block::{Completion, Device, Op, Request, Tag};
use fathom_ssd::spec::{Noise, Priority, Protocol, QueueArbitration};
use fathom_ssd::{Spec, Ssd};

/// The controller's time for a command, in nanoseconds.
const COMMAND: u64 = 10_000;

fn spec(queues: u32) -> Spec {
    let mut spec = base();
    spec.host.queue_depth = 256;
    spec.host.command_overhead = Dur(COMMAND);
    spec.host.queues = queues;
    spec
}

fn weighted(priorities: &[Priority], weights: [u32; 3]) -> Spec {
    let mut spec = spec(priorities.len() as u32);
    spec.host.queue_arbitration = QueueArbitration::Weighted;
    spec.host.queue_priorities = priorities.to_vec();
    spec.host.queue_weights = weights.to_vec();
    spec
}

/// A read of a sector that was never written, by a process; the identifier tells the process, too.
fn read(process: u32, n: u64) -> Request {
    Request {
        tag: Tag {
            process,
            ..Tag::default()
        },
        ..Request::new(n * 100 + u64::from(process), Op::Read, 0, 512)
    }
}

fn process(completion: &Completion) -> usize {
    (completion.id.0 % 100) as usize
}

/// Keeps `depths[p]` requests of each process `p` in flight until `total` are complete. Returns the completions.
fn closed_loops(drive: &mut Ssd, depths: &[u64], total: usize) -> Vec<Completion> {
    let (mut next, mut done) = (0, Vec::new());
    let mut submit = |drive: &mut Ssd, process| {
        next += 1;
        drive.submit(read(process, next)).unwrap();
    };
    for (process, depth) in (0..).zip(depths) {
        (0..*depth).for_each(|_| submit(drive, process));
    }
    let mut all: Vec<Completion> = Vec::new();
    while all.len() < total {
        drive.wait(Time::MAX, &mut done);
        for completion in done.drain(..) {
            submit(drive, process(&completion) as u32);
            all.push(completion);
        }
    }
    all
}

fn counts<const N: usize>(done: &[Completion]) -> [usize; N] {
    let mut counts = [0; N];
    done.iter().for_each(|c| counts[process(c)] += 1);
    counts
}

#[test]
fn saturated_queues_get_their_weights_of_the_commands() {
    use Priority::{High, Low, Medium};
    for (priorities, weights, want) in [
        ([High, Low], [3, 1, 1], [3, 1]),
        ([Low, High], [3, 1, 1], [1, 3]),
        ([High, Medium], [5, 3, 1], [5, 3]),
        ([Medium, Medium], [9, 1, 1], [1, 1]),
    ] {
        let mut drive = Ssd::new(&weighted(&priorities, weights), 1).unwrap();
        let done = closed_loops(&mut drive, &[16, 16], 4800);
        let rounds = 4800 / (want[0] + want[1]);
        // At the beginning the first queue is alone, when its first command comes.
        let got: [usize; 2] = counts(&done);
        for (got, want) in got.into_iter().zip(want) {
            assert!(got.abs_diff(want * rounds) <= want, "{priorities:?}: {got}");
        }
        // All commands together take the controller's time.
        let (first, last) = (done[0].completed, done[4799].completed);
        assert_eq!(last.since(first).0, 4799 * COMMAND);
    }
}

#[test]
fn queues_take_turns_whatever_their_depths() {
    let mut drive = Ssd::new(&spec(3), 1).unwrap();
    let done = closed_loops(&mut drive, &[100, 10, 2], 3000);
    let got: [usize; 3] = counts(&done);
    assert!(got.iter().all(|n| n.abs_diff(1000) <= 1), "{got:?}");
    // One queue of all processes serves them as they come.
    let mut drive = Ssd::new(&spec(1), 1).unwrap();
    let got: [usize; 3] = counts(&closed_loops(&mut drive, &[100, 10, 2], 1120));
    assert_eq!(got, [1000, 100, 20]);
}

#[test]
fn a_burst_of_each_queue_comes_together() {
    for (burst, order) in [
        (1, "00101010101011"),
        (2, "00011001100111"),
        (4, "00000111100111"),
        (0, "00000001111111"),
    ] {
        // Process 2 uses queue 0, too.
        let mut spec = spec(2);
        spec.host.arbitration_burst = burst;
        let mut drive = Ssd::new(&spec, 1).unwrap();
        for n in 0..7 {
            drive
                .submit(read(if n % 2 == 0 { 0 } else { 2 }, n))
                .unwrap();
        }
        (0..7).for_each(|n| drive.submit(read(1, n)).unwrap());
        let mut done = Vec::new();
        while done.len() < 14 {
            drive.wait(Time::MAX, &mut done);
        }
        let got: String = done.iter().map(|c| ["0", "1", "0"][process(c)]).collect();
        // The first command is taken before the others come. The turn of its queue begins anew when they do.
        assert_eq!(got, order, "burst {burst}");
    }
}

/// An urgent command waits for the one that the controller processes, and for no other.
#[test]
fn an_urgent_command_waits_for_one_command_at_most() {
    use Priority::{High, Low, Urgent};
    let mut drive = Ssd::new(&weighted(&[Urgent, High, Low], [255, 1, 1]), 1).unwrap();
    let (urgent, busy) = ([1, 0, 0], [1, 60, 60]);
    let alone = closed_loops(&mut drive, &urgent, 1)[0].latency().0;
    let mut drive = Ssd::new(&weighted(&[Urgent, High, Low], [255, 1, 1]), 1).unwrap();
    let done = closed_loops(&mut drive, &busy, 3000);
    let urgent = done.iter().filter(|c| process(c) == 0);
    let worst = urgent.clone().map(|c| c.latency().0).max().unwrap();
    assert!(worst > alone && worst <= alone + COMMAND, "{worst} {alone}");
    assert!(urgent.count() > 1000);
    let [_, high, low]: [usize; 3] = counts(&done);
    // The low queue has one command in 256.
    assert!(low > 0 && high > 100 * low, "{high} {low}");
}

#[test]
fn a_queue_alone_is_served_like_the_only_one() {
    for (noise, latency) in [(0.0, 0), (20.0, 0), (0.0, 3)] {
        let times = |queues: u32| {
            let mut spec = spec(queues);
            spec.noise = Noise {
                command_percent: noise,
                ..Noise::default()
            };
            spec.host.latency = Dur::us(latency);
            let mut drive = Ssd::new(&spec, 1).unwrap();
            let mut rng = Rng::new(4, 0);
            let requests = (0..3000).map(|id| {
                let op = [Op::Read, Op::Write][rng.below(2) as usize];
                Request::new(id, op, rng.below(60) * 4096, 4096)
            });
            let done = run(&mut drive, 24, requests.collect::<Vec<_>>());
            done.iter().map(|c| (c.id, c.completed)).collect::<Vec<_>>()
        };
        assert_eq!(times(1), times(4));
    }
}

#[test]
fn impossible_queues_are_refused() {
    let refused = |change: fn(&mut Spec)| {
        let mut spec = weighted(&[Priority::High, Priority::Low], [3, 2, 1]);
        assert_eq!(spec.check(), Ok(()));
        change(&mut spec);
        spec.check().unwrap_err().to_string()
    };
    for (change, message) in [
        (
            (|spec| spec.host.queues = 0) as fn(&mut Spec),
            "`host.queues` is 0: 1 to 65535 for nvme, 1 for sata",
        ),
        (
            |spec| spec.host.protocol = Protocol::Sata,
            "`host.queues` is 2: 1 to 65535 for nvme, 1 for sata",
        ),
        (
            |spec| spec.host.queues = 1,
            "`host.queue_arbitration` is weighted: left out where host.queues is 1",
        ),
        (
            |spec| spec.host.arbitration_burst = 3,
            "`host.arbitration_burst` is 3: 0 for no limit, or a power of two from 1 to 64",
        ),
        (
            |spec| spec.host.queue_priorities.truncate(1),
            "`host.queue_priorities` is 1: one for each of the 2 queues of weighted arbitration, or left out",
        ),
        (
            |spec| spec.host.queue_weights[0] = 0,
            "`host.queue_weights` is [0, 2, 1]: three numbers from 1 to 256 for weighted arbitration (high, medium, low), or left out",
        ),
    ] {
        assert_eq!(refused(change), message);
    }
}
