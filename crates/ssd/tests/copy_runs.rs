//! A run of copies takes the time of single ones. A drive that keeps bytes does one copy after another.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::base;
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::Arbitration;
use fathom_ssd::{Counters, Spec, Ssd};

const PAGE: u64 = 4096;
const PAGES: u64 = 1024;

/// Two dies with blocks of 16 pages, whose data stays in its plane when it is copied.
fn two_dies() -> Spec {
    let mut spec = base();
    let flash = &mut spec.flash;
    (flash.channels, flash.pages_per_block) = (2, 16);
    (flash.page, flash.clustered_page) = (Bytes(PAGE), Bytes(PAGE));
    flash.clustered_block = Bytes(16 * PAGE);
    flash.copy_back = true;
    spec.capacity = Bytes(PAGES * PAGE);
    spec.mapping.over_provisioning_percent = 15.0;
    spec
}

/// The time and the counters after every wait for completions, under writes and reads at random.
fn course(mut drive: Ssd) -> Vec<(Time, Counters)> {
    let mut rng = Rng::new(4, 0);
    let (mut course, mut done, mut sent) = (Vec::new(), Vec::new(), 0);
    while sent < 6 * PAGES {
        let op = match sent < PAGES || rng.chance(0.8) {
            true => Op::Write,
            false => Op::Read,
        };
        let at = if sent < PAGES { sent } else { rng.below(PAGES) };
        match drive.submit(Request::new(sent, op, at * PAGE, PAGE)) {
            Ok(()) => sent += 1,
            Err(_) => {
                done.clear();
                drive.wait(Time::MAX, &mut done);
                course.push((drive.now(), drive.counters()));
            }
        }
    }
    assert!(drive.merges().moved_units > 3 * PAGES);
    course
}

#[test]
fn it_takes_the_time_of_single_copies_and_reads_come_between_them_where_they_may() {
    for arbitration in [
        Arbitration::CommandFirst,
        Arbitration::InOrder,
        Arbitration::ReadFirst,
    ] {
        for (steps, percent) in [(false, 0.0), (true, 0.0), (false, 7.0)] {
            let mut spec = two_dies();
            let program = spec.flash.program.0;
            spec.flash.arbitration = arbitration;
            spec.noise.flash_percent = percent;
            if steps {
                spec.flash.program_steps = vec![Dur(program / 2), Dur(program * 2 - program / 2)];
            }
            let drive = Ssd::new(&spec, 1).unwrap();
            let single = course(drive.clone().keep_data());
            assert!(
                course(drive) == single,
                "{arbitration:?}, steps {steps}, noise {percent} %"
            );
        }
    }
}
