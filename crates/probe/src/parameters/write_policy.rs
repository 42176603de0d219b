//! The write policy: whether the memory for writes is a FIFO buffer or a cache (`parameter-aware-io` 4.3).

mod paper;
mod robust;

use crate::about::{Figure, X};
use crate::{About, Method, Parameter, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Word,
    question: "Is the memory for writes a FIFO buffer or a cache?",
    page: include_str!("../../../../docs/parameters/write_policy.md"),
    writes: true,
    looks_at: &[Parameter::ClusteredPage, Parameter::WriteBuffer],
    marks: Some(Parameter::WriteBuffer),
    figures: FIGURES,
    robust: &robust::WritePolicy,
    rules: &[(Method::Paper, &paper::WritePolicy)],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[Figure {
    x: X::WrittenBefore,
    side_by_side: true,
    ..Figure::latency(
        "Writes to the same places against writes to new places",
        "Look right of the capacity of the memory{at}. Writes to new places wait for the flash there, not every one \
             and not all equally long: the points lie at several heights. If no write to the same places waits, the \
             memory is a cache; if they wait like the others, it is a FIFO buffer.",
        &[
            (Series::REWRITE, "To the same places"),
            (Series::DISTINCT, "To new places"),
        ],
    )
}];
