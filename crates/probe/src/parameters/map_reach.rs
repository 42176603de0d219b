//! The reach of the map: the span over which random reads are as fast as at best, because the map of it is in memory.

mod robust;
mod take;

use crate::about::{Figure, Mark, X};
use crate::robust::blank::NOTHING;
use crate::{About, Look, Parameter, Unit};
use take::{ELSEWHERE, RESTED, SPANNED, STEADY};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "Over which span are random reads as fast as at best?",
    page: include_str!("../../../../docs/parameters/map_reach.md"),
    writes: false,
    looks_at: &[Parameter::RateLimit, Parameter::BandwidthLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::MapReach,
    rules: &[],
    fits: has_no_head,
};

/// Fits drives without a head, whose reads take longer the farther it moves.
fn has_no_head(look: &Look) -> Result<(), &'static str> {
    match look.rotational {
        Some(true) => Err(
            "a disk with a head needs no map, and its reads take longer the farther the head moves",
        ),
        _ => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        x: X::Span,
        mark: Mark::Size,
        ..Figure::latency(
            "Latency of random reads over the span that they are spread over",
            "Look for the span from which on the latency rises{at}: from there on the map of the span does not fit into the \
             drive's memory, and a part of the reads reads the map from flash first.",
            &[
                (SPANNED, "Reads of data"),
                (ELSEWHERE, "Over a span as long, elsewhere"),
                (STEADY, "Over the shortest span again"),
                (RESTED, "The same, each after a pause"),
            ],
        )
    },
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Reads of a trimmed place",
            "Look at the level: it is what a read takes without the flash. Reads at this level come from a memory of data.",
            &[(NOTHING, "Nothing there")],
        )
    },
];
