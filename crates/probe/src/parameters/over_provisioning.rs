//! Over-provisioning: the flash that the drive has beyond its capacity, as far as random overwrites in the steady state feel it.

mod invert;
pub(crate) mod robust;
mod steady;
mod waf;

use crate::about::{Figure, Mark, Measure, X};
use crate::look::always;
use crate::{About, Look, Parameter, Unit};
use steady::{IN_ORDER, NEAR, OVERWRITE, SPARSE};

pub(crate) const ABOUT: About = About {
    unit: Unit::Ratio,
    question: "How much flash beyond its capacity does the drive have for garbage collection?",
    page: include_str!("../../../../docs/parameters/over_provisioning.md"),
    writes: true,
    looks_at: &[
        Parameter::IndirectionUnit,
        Parameter::MapReach,
        Parameter::RateLimit,
        Parameter::BandwidthLimit,
        Parameter::FastCache,
    ],
    marks: None,
    figures: &[Figure {
        measure: Measure::Throughput,
        x: X::Span,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Throughput of random overwrites over the part of the drive that holds data",
            "Look for the fall to the right: the fuller the drive, the more data must be moved for each write.",
            &[
                (OVERWRITE, "Random overwrites, the rest trimmed"),
                (SPARSE, "Random overwrites of an empty drive"),
                (IN_ORDER, "The same in order"),
                (NEAR, "Random overwrites of a few blocks"),
            ],
        )
    }],
    robust: &robust::OverProvisioning,
    rules: &[],
    fits,
};

/// Fits drives that take TRIM.
fn fits(look: &Look) -> Result<(), &'static str> {
    match look.trim {
        true => always(look),
        false => Err("the drive takes no TRIM, so it cannot be emptied step by step"),
    }
}
