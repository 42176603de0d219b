//! The stripe unit: how many consecutive bytes of sequentially written data lie on one die.

pub(crate) mod robust;
pub(crate) mod take;

use crate::about::{Figure, Mark, X};
use crate::{About, Parameter, Series, Unit};

/// Two reads at once on both sides of a multiple of `x`.
pub(crate) const SIDES: Series = Series::new("both_sides");
/// Two reads at once within units of `x` bytes.
pub(crate) const INSIDE: Series = Series::new("inside");

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How many consecutive bytes lie on one die?",
    page: include_str!("../../../../docs/parameters/stripe_unit.md"),
    writes: true,
    looks_at: &[Parameter::Parallelism],
    marks: None,
    figures: FIGURES,
    robust: &robust::StripeUnit,
    rules: &[],
    fits: super::parallelism::takes_two,
};

const FIGURES: &[Figure] = &[Figure {
    x: X::Multiples,
    mark: Mark::Size,
    ..Figure::latency(
        "Two neighbouring reads at once, on both sides of multiples of a size",
        "Look for the smallest size at which the pairs are fast{at}, and for its multiples: the two sides lie on different \
         dies there. Elsewhere both reads wait for one die.",
        &[
            (SIDES, "Both sides of a multiple"),
            (INSIDE, "Within the unit"),
        ],
    )
}];
