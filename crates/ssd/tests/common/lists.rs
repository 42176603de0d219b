//! The drives on which the suite always runs: every mapping with every buffer, every way of reclaiming space, and every
//! order of striping.

use super::random::{ORDERS, SEPARATIONS, VICTIMS};
use crate::common::{BUFFERS, KINDS, SHAPES, drive};
use fathom_base::{Bytes, Dur};
use fathom_ssd::Spec;
use fathom_ssd::spec::{FastCache, Fold, MappingKind, ProgramMode, Striping, WhenFull};

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

/// Fast caches of every kind, on small drives of every shape: static, dynamic or both, bypassed or folded when they are full,
/// folded in idle time or not.
pub(crate) fn fast_caches() -> Vec<Spec> {
    let mut all = Vec::new();
    for (i, shape) in SHAPES.iter().enumerate() {
        for nth in 0..12 {
            let kind = [MappingKind::Page, MappingKind::Page, MappingKind::Dftl][(i + nth) % 3];
            let mut spec = drive(kind, shape, BUFFERS[(5 * i + nth) % BUFFERS.len()]);
            let most = spec.flash.pages_per_block.min(4);
            let cache = FastCache {
                bits_per_cell: most.min(2 + nth as u32 % 3),
                static_capacity: Bytes([0, 1, 40][nth % 3] << 10),
                dynamic_percent: [100.0, 0.0, 40.0][nth % 3],
                read: Dur::us(15),
                program: Dur::us(60),
                erase: Dur::us(900),
                fold: [Fold::Idle, Fold::Pressure][nth / 3 % 2],
                idle_delay: Dur::us(300),
                when_full: [WhenFull::Bypass, WhenFull::Fold][nth / 6],
            };
            spec.name = format!("{} {:?} {:?} {nth}", spec.name, cache.fold, cache.when_full);
            spec.fast_cache = Some(cache);
            spec.gc.victim = VICTIMS[(i + nth) % VICTIMS.len()];
            spec.gc.separate = SEPARATIONS[(i + nth / 3) % SEPARATIONS.len()];
            spec.gc.wear_gap = if nth % 5 == 0 { 3 } else { 0 };
            if nth % 4 == 1 {
                spec.mapping.striping = Striping::Cwdp;
            }
            if nth % 4 == 2 {
                spec.flash.program_mode = ProgramMode::MultiPlane;
            }
            all.push(spec);
        }
    }
    all
}

/// All of the above, and every mapping with every buffer in every shape.
pub(crate) fn all() -> Vec<Spec> {
    let mut all = crate::common::drives();
    all.extend(ways());
    all.extend(stripings());
    all.extend(fast_caches());
    all
}
