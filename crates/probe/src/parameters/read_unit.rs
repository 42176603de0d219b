//! The read unit: the page, or page of several planes, that the flash reads at once.

mod flashbench;
mod robust;
mod take;

use crate::about::{Figure, Mark, X};
use crate::parameters::stripe_unit::{INSIDE, SIDES};
use crate::{About, Look, Method, Unit};
use take::STRADDLE;

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "In what unit does the flash read?",
    page: include_str!("../../../../docs/parameters/read_unit.md"),
    writes: true,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::ReadUnit,
    rules: &[(Method::Flashbench, &flashbench::Boundaries)],
    fits: has_no_head,
};

/// Fits drives without a head.
fn has_no_head(look: &Look) -> Result<(), &'static str> {
    match look.rotational {
        Some(true) => Err("a disk with a head has no pages"),
        _ => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        x: X::Multiples,
        mark: Mark::Size,
        ..Figure::latency(
            "A read of two blocks across odd multiples of a size",
            "Look for the smallest size at which the read is slow{at}: it reads two pages of one die, one after the other.",
            &[(STRADDLE, "Across an odd multiple")],
        )
    },
    Figure {
        x: X::Multiples,
        mark: Mark::Size,
        ..Figure::latency(
            "Two neighbouring reads at once, on both sides of multiples of a size",
            "Look for the smallest size at which the pairs are fast{at}: the two sides are pages of different dies.",
            &[
                (SIDES, "Both sides of a multiple"),
                (INSIDE, "Within the unit"),
            ],
        )
    },
];
