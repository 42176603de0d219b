//! Every mapping with every write buffer, every striping and every way of making room passes one check suite
//! (`common/suite.rs`).
//!
//! `cargo test --release -p fathom-ssd --test suite -- --ignored` cuts the power at every single flash operation
//! instead of at every third.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/suite.rs"]
mod suite;
#[path = "common/torture.rs"]
mod torture;

use common::{BUFFERS, KINDS, SHAPES, drive};
use fathom_base::{Bytes, Dur};
use fathom_ssd::Spec;
use fathom_ssd::spec::{MappingKind, Separation, Striping, Victim};
use suite::{Effort, check};

/// The 24 orders of static striping.
#[rustfmt::skip]
const ORDERS: [Striping; 24] = {
    use Striping::*;
    [
        Cwdp, Cwpd, Cdwp, Cdpw, Cpwd, Cpdw, Wcdp, Wcpd, Wdcp, Wdpc, Wpcd, Wpdc,
        Dcwp, Dcpw, Dwcp, Dwpc, Dpcw, Dpwc, Pcwd, Pcdw, Pwcd, Pwdc, Pdcw, Pdwc,
    ]
};

/// Every mapping with every buffer, and every mapping in every shape.
fn mappings_and_buffers() -> Vec<Spec> {
    let pairs = |kind| {
        let shapes = SHAPES.iter().cycle();
        BUFFERS
            .into_iter()
            .zip(shapes)
            .map(move |(buffer, shape)| drive(kind, shape, buffer))
    };
    KINDS.into_iter().flat_map(pairs).collect()
}

/// Every way to make room by collecting pages, on small drives of every shape.
fn ways() -> Vec<Spec> {
    let victims = [
        Victim::Greedy,
        Victim::CostBenefit,
        Victim::Fifo,
        Victim::DChoices,
    ];
    let parts = [Separation::Nothing, Separation::Copies, Separation::HotCold];
    let mut all = Vec::new();
    for (i, shape) in SHAPES.iter().enumerate() {
        for (j, victim) in victims.into_iter().enumerate() {
            for (k, separate) in parts.into_iter().enumerate() {
                let nth = i + j + k;
                let kind = [MappingKind::Page, MappingKind::Dftl][nth % 2];
                let mut spec = drive(kind, shape, BUFFERS[nth % BUFFERS.len()]);
                spec.name = format!("{} {victim:?} {separate:?}", spec.name);
                let gc = &mut spec.gc;
                (gc.victim, gc.separate, gc.choices) = (victim, separate, 2);
                gc.least_worn_first = nth % 2 == 0;
                gc.wear_gap = if nth % 3 == 0 { 3 } else { 0 };
                gc.background_percent = if nth % 4 == 0 { 20.0 } else { 0.0 };
                gc.background_delay = Dur::us(500);
                if nth % 5 < 2 {
                    spec.mapping.striping = [Striping::Cwdp, Striping::Pdwc][nth % 5];
                }
                all.push(spec);
            }
        }
    }
    all
}

/// Pages over two of everything, in the 24 orders; with fewer flash pages in a block, for there are 16 groups.
fn stripings() -> Vec<Spec> {
    let of = |(i, striping)| {
        let kind = [MappingKind::Page, MappingKind::Dftl][i % 2];
        let mut spec = drive(kind, "whole", BUFFERS[i % BUFFERS.len()]);
        spec.name = format!("{} {striping:?}", spec.name);
        let flash = &mut spec.flash;
        (flash.packages_per_channel, flash.dies_per_package) = (2, 2);
        (flash.planes_per_die, flash.pages_per_block) = (2, 4);
        flash.clustered_page = flash.page;
        flash.clustered_block = Bytes(4 * flash.page.0);
        spec.mapping.striping = striping;
        spec
    };
    ORDERS.into_iter().enumerate().map(of).collect()
}

fn all_pass(specs: &[Spec], every: u64) {
    let failed = |(spec, seed)| check(spec, Effort { seed, every }).err();
    let failures: Vec<String> = specs.iter().zip(0..).filter_map(failed).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_mapping_with_every_buffer() {
    all_pass(&mappings_and_buffers(), 3);
}

#[test]
fn every_way_of_making_room_by_pages() {
    all_pass(&ways(), 67);
}

#[test]
fn every_order_of_striping() {
    all_pass(&stripings(), 97);
}

#[test]
#[ignore = "minutes"]
fn every_mapping_with_every_buffer_cut_at_every_operation() {
    for kind in KINDS {
        for shape in SHAPES {
            let specs = BUFFERS.map(|buffer| drive(kind, shape, buffer));
            all_pass(&specs, 1);
        }
    }
}
