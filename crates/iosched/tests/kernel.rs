//! Comparison of the schedulers with those of the kernel: the order in which Linux 6.18 dispatched requests on a loop
//! device.
//!
//! `kernel/record.py` made the recordings (`kernel/*.csv`; it needs root). Each scheduler gets the same requests at the
//! same times. It is asked for a request whenever the kernel took one, and is told of a completion when the kernel's
//! request at the same position in the order completed. The measure is the largest share of the requests that go in the
//! same order (a longest common subsequence), so a request that goes earlier or later counts once.
//!
//! Reasons why the orders do not agree fully:
//! - Two processors insert, dispatch and complete requests at the same time. The tracepoints do not tell the order of
//!   arrival at the scheduler within a microsecond or two, and two requests taken by two processors may be issued in
//!   either order.
//! - `bfq-writeback`: the reader ends before the writes. The kernel's BFQ does not wait for a process that has exited
//!   (`bfqq_process_refs`). Fathom's BFQ, which is not told of the exit, waits once, for 20 ms.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common;
use crate::kernel_trace::{Trace, in_order};
use fathom_iosched::{Config, Scheduler};

/// The jobs of `kernel/record.py`.
const JOBS: [&str; 7] = [
    "writers",
    "mixed",
    "reader",
    "together",
    "deep",
    "fsync",
    "writeback",
];

/// Returns the scheduler recorded under a name.
fn recorded(name: &str) -> Box<dyn Scheduler> {
    let mut config = common::config(name.trim_end_matches("-plain"));
    if let Config::Bfq(tunables) = &mut config {
        tunables.low_latency = name == "bfq";
    }
    config.build().unwrap()
}

/// The share of the requests of a job that go in the order of the kernel.
fn order(name: &str, job: &str, scheduler: &mut dyn Scheduler) -> f64 {
    let replay = Trace::read(name, job).replay(scheduler);
    assert_eq!(replay.ours.len(), replay.theirs.len(), "{name}-{job}");
    in_order(&replay.ours, &replay.theirs)
}

/// Checks that the share is at least `least` in every job and at least `mean` on average.
fn keeps_to(name: &str, least: f64, mean: f64) {
    let mut sum = 0.0;
    for job in JOBS {
        let share = order(name, job, recorded(name).as_mut());
        // See the header of the file.
        let least = if (name, job) == ("bfq", "writeback") {
            0.7
        } else {
            least
        };
        assert!(share >= least, "{name}-{job}: {share:.3}, not {least}");
        sum += share;
    }
    let share = sum / JOBS.len() as f64;
    assert!(share >= mean, "{name}: {share:.3}, not {mean}");
}

#[test]
fn mq_deadline_dispatches_in_the_order_of_the_kernel() {
    keeps_to("mq-deadline", 0.97, 0.99);
}

/// Without a scheduler requests go in order of arrival, but two processes that wait for room in the drive get it in the
/// order in which they wake up. In `reader` requests are split, which is not recorded.
#[test]
fn the_kernel_without_a_scheduler_dispatches_in_the_order_of_mq_none() {
    for job in JOBS.into_iter().filter(|&job| job != "reader") {
        let share = order("none", job, recorded("mq-none").as_mut());
        assert!(share >= 0.85, "none-{job}: {share:.3}");
    }
}

#[test]
fn kyber_dispatches_in_the_order_of_the_kernel() {
    keeps_to("kyber", 0.97, 0.99);
}

#[test]
fn bfq_dispatches_in_the_order_of_the_kernel() {
    keeps_to("bfq", 0.93, 0.95);
}

#[test]
fn bfq_without_low_latency_dispatches_in_the_order_of_the_kernel() {
    keeps_to("bfq-plain", 0.96, 0.98);
}

/// The measure distinguishes schedulers: no other one comes near where the order matters.
#[test]
fn another_scheduler_does_not_dispatch_in_the_order_of_the_kernel() {
    for (name, job) in [
        ("mq-deadline", "mixed"),
        ("mq-deadline", "reader"),
        ("kyber", "mixed"),
        ("bfq", "mixed"),
        ("bfq-plain", "together"),
    ] {
        for other in ["noop", "deadline", "mq-deadline", "kyber", "bfq"] {
            if !name.starts_with(other) {
                let share = order(name, job, common::config(other).build().unwrap().as_mut());
                assert!(share < 0.85, "{name}-{job} with {other}: {share:.3}");
            }
        }
    }
}
