//! The fast cache: blocks with one bit per cell (SLC mode) that take writes before the others do.

mod cliff;
mod curve;
mod fill;
mod load;
mod measure;
mod robust;
mod series;
mod steady;

use crate::about::{Figure, Mark, X};
use crate::{About, Look, Method, Parameter, Unit};
use series::{AFTER, EMPTY, HALF, NEARLY};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "After how many bytes do writes get slower, and when is the drive fast again?",
    page: include_str!("../../../../docs/parameters/fast_cache.md"),
    writes: true,
    looks_at: &[Parameter::RateLimit, Parameter::BandwidthLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::FastCache,
    rules: &[
        (Method::SniaPts, &steady::SteadyState),
        (Method::Cliff70, &cliff::Cliff70),
    ],
    fits,
};

fn fits(look: &Look) -> Result<(), &'static str> {
    match () {
        () if look.read_only => Err("nothing may be written, so no cache can be filled"),
        () if look.rotational == Some(true) => Err("a disk with a head has no flash"),
        () => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        x: X::WrittenBefore,
        ..Figure::throughput(
            "Throughput of a fill in sequence over the bytes written",
            "Look for a level that drops for good{at}: up to there the fast cache takes the writes.",
            &[
                (EMPTY, "An empty drive"),
                (HALF, "From half full on"),
                (NEARLY, "From nine tenths on"),
            ],
        )
    },
    Figure {
        x: X::WrittenBefore,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput after a pause of an exhausted cache",
            "The longer a curve stays high, the more of the cache the pause has given back.",
            &[
                (AFTER[0], "After 1 s"),
                (AFTER[1], "After 10 s"),
                (AFTER[2], "After 60 s"),
                (AFTER[3], "After 600 s"),
            ],
        )
    },
];
