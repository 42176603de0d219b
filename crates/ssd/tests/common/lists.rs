//! The drives on which the suite always runs: every mapping with every buffer, every way of reclaiming space, and every
//! order of striping.

use super::random::{ORDERS, SEPARATIONS, VICTIMS};
use crate::common::{BUFFERS, KINDS, SHAPES, drive};
use fathom_base::{Bytes, Dur};
use fathom_ssd::Spec;
use fathom_ssd::spec::{MappingKind, Striping};

/// Every mapping with every buffer, and every mapping in every shape.
pub(crate) fn mappings_and_buffers() -> Vec<Spec> {
    let pairs = |kind| {
        let shapes = SHAPES.iter().cycle();
        BUFFERS
            .into_iter()
            .zip(shapes)
            .map(move |(buffer, shape)| drive(kind, shape, buffer))
    };
    KINDS.into_iter().flat_map(pairs).collect()
}

/// Every way of reclaiming space by page collection, on small drives of every shape.
pub(crate) fn ways() -> Vec<Spec> {
    let mut all = Vec::new();
    for (i, shape) in SHAPES.iter().enumerate() {
        for (j, victim) in VICTIMS.into_iter().enumerate() {
            for (k, separate) in SEPARATIONS.into_iter().enumerate() {
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

/// Pages striped in all 24 orders over two of each unit; fewer flash pages per block, because there are 16 groups.
pub(crate) fn stripings() -> Vec<Spec> {
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
    let orders = ORDERS
        .into_iter()
        .filter(|&order| order != Striping::Dynamic);
    orders.enumerate().map(of).collect()
}

/// All of the above, and every mapping with every buffer in every shape.
pub(crate) fn all() -> Vec<Spec> {
    let mut all = crate::common::drives();
    all.extend(ways());
    all.extend(stripings());
    all
}
