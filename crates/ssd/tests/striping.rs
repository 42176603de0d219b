//! The placement of pages by static striping, observed from outside: pages on different channels, dies and planes are
//! served in parallel, pages that share one are not.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::Striping;
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 2048;

/// 3 channels of 2 packages of 2 dies of 2 planes; each plane is independent.
fn spec(striping: Striping) -> Spec {
    let mut spec = common::base();
    let flash = &mut spec.flash;
    (flash.channels, flash.packages_per_channel) = (3, 2);
    (flash.dies_per_package, flash.planes_per_die) = (2, 2);
    flash.pages_per_block = 8;
    flash.clustered_page = Bytes(PAGE);
    flash.clustered_block = Bytes(8 * PAGE);
    spec.capacity = Bytes(24 * 4 * 8 * PAGE);
    spec.mapping.striping = striping;
    // Only the flash array takes time.
    (spec.host.command_overhead, spec.host.latency) = (Dur(1), Dur(0));
    spec.host.bandwidth = common::rate(1_000_000_000_000);
    spec
}

/// Returns the nanoseconds to read the first `pages` pages in parallel, on a filled drive.
fn reading(striping: Striping, pages: u64) -> u64 {
    let mut drive = Ssd::new(&spec(striping), 1).unwrap();
    let all = spec(striping).capacity.0 / PAGE;
    let request = |op| move |page: u64| Request::new(page, op, page * PAGE, PAGE);
    // In random order, so that only the address can determine the place.
    let mut order: Vec<u64> = (0..all).collect();
    Rng::new(3, 0).shuffle(&mut order);
    run(&mut drive, 32, order.into_iter().map(request(Op::Write)));
    drive.check().unwrap();
    let done = run(&mut drive, 32, (0..pages).map(request(Op::Read)));
    let first = done.iter().map(|c| c.submitted.0).min().unwrap();
    done.iter().map(|c| c.completed.0).max().unwrap() - first
}

#[test]
fn pages_that_follow_one_another_meet_where_the_order_says() {
    // Array time 25 us, transfer of a page 5.12 us.
    let (array, transfer) = (25_000, 5_120);
    let around = |striping, pages, expected: u64| {
        let got = reading(striping, pages);
        let slack = 200;
        assert!(
            (expected..expected + slack).contains(&got),
            "{striping:?}: {got} ns for {pages} pages, not {expected}"
        );
    };
    // Three channels: all in parallel. Of three ways, dies or planes of one channel there are only two: the third page is
    // on the next channel or in the same package; at least two share a channel.
    around(Striping::Cwdp, 3, array + transfer);
    around(Striping::Wcdp, 2, array + 2 * transfer);
    around(Striping::Dcwp, 2, array + 2 * transfer);
    // Two planes of one die: one after the other; the second is sensed when the first has left the array.
    around(Striping::Pcwd, 2, 2 * (array + transfer));
    around(Striping::Cwdp, 12, array + 4 * transfer);
    around(Striping::Pdwc, 8, 2 * array + 5 * transfer);
}

#[test]
fn a_static_stripe_holds_a_page_where_it_is_and_a_dynamic_one_does_not() {
    // Pages that are overwritten repeatedly stay in their group, so reads of one group are sequential.
    let time = |striping| {
        let mut drive = Ssd::new(&spec(striping), 1).unwrap();
        let write = |page: u64| Request::new(page, Op::Write, page * PAGE, PAGE);
        let mut rng = Rng::new(5, 0);
        let all = spec(striping).capacity.0 / PAGE;
        run(&mut drive, 32, (0..all).map(write));
        run(&mut drive, 32, (0..4000).map(|_| write(rng.below(all))));
        drive.check().unwrap();
        // Waits until the last erase is done.
        drive.wait(Time(drive.now().0 + 100_000_000), &mut Vec::new());
        let mine = (0..8).map(|i| Request::new(i, Op::Read, i * 24 * PAGE, PAGE));
        let done = run(&mut drive, 32, mine);
        let first = done.iter().map(|c| c.submitted.0).min().unwrap();
        done.iter().map(|c| c.completed.0).max().unwrap() - first
    };
    assert!(time(Striping::Cwdp) > 8 * 25_000);
    assert!(time(Striping::Pdwc) > 8 * 25_000);
    // Eight random pages on twelve dies: almost never six on one die.
    assert!(time(Striping::Dynamic) < 6 * 30_120);
}

#[test]
fn a_buffer_whose_lines_share_a_page_hands_out_what_goes_apart() {
    let mut spec = common::drive(fathom_ssd::spec::MappingKind::Page, "parted", "fifo");
    let flash = &mut spec.flash;
    (flash.channels, flash.clustered_block) = (2, Bytes::kib(32));
    spec.mapping.striping = Striping::Cwdp;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let mut rng = Rng::new(6, 0);
    let units = spec.capacity.0 / 1024;
    let requests = (0..5000).map(|i| Request::new(i, Op::Write, rng.below(units) * 1024, 1024));
    run(&mut drive, 16, requests);
    // Checks the group of every unit.
    drive.check().unwrap();
}
