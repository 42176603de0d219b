//! The limit of operations per second that a cloud or a hypervisor sets in front of a volume.

mod gate;
mod law;
mod length;
mod measure;
pub(crate) mod robust;

use crate::about::{Figure, Mark, X};
use crate::{About, Unit};
use measure::{AFTER_LONG, AFTER_SHORT, BATCH};

pub(crate) const ABOUT: About = About {
    unit: Unit::PerSecond,
    question: "Does something in front of the drive limit its operations per second?",
    page: include_str!("../../../../docs/parameters/rate_limit.md"),
    writes: false,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::OPERATIONS,
    rules: &[],
    fits: crate::look::always,
};

/// The figure of both limits.
pub(crate) const FIGURES: &[Figure] = &[Figure {
    x: X::Elapsed,
    mark: Mark::Nothing,
    ..Figure::throughput(
        "Throughput of reads at full speed over time",
        "Look for a level that drops at once to a constant one, and comes back after a pause for as long as the pause has \
         refilled the bucket.",
        &[
            (BATCH, "From the beginning"),
            (AFTER_SHORT, "After a short pause"),
            (AFTER_LONG, "After a long pause"),
        ],
    )
}];
