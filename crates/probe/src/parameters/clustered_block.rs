//! The clustered block: the internal unit of erasing (`parameter-aware-io` 4.1.2, Procedure 2).

mod exact;
mod look;
mod paper;
mod parts;
pub(crate) mod robust;
mod scan;

use crate::about::{Figure, Mark, X};
use crate::parameters::logical_block::READS;
use crate::{About, Method, Parameter, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How large is the unit in which the drive erases?",
    page: include_str!("../../../../docs/parameters/clustered_block.md"),
    writes: true,
    looks_at: &[Parameter::ClusteredPage],
    marks: None,
    figures: FIGURES,
    robust: &robust::ClusteredBlock,
    rules: &[(Method::Paper, &paper::ClusteredBlock)],
    fits: crate::look::merges,
};

const FIGURES: &[Figure] = &[
    Figure {
        x: X::Place { last: true },
        mark: Mark::End("a block begins"),
        see_found: Some(
            "Of the last scan alone. All blocks are laid over one another, with the beginning of a block in the middle. Look for a dip or a \
             peak there: reads across it are served by two blocks, and the first write behind it costs a merge.",
        ),
        ..Figure::latency(
            "Latency over the place of an access",
            "Of the last scan alone. Look for dips or peaks at equal distances: blocks would begin there.",
            &[
                (Series::PLACE, "At regular places"),
                (Series::AROUND, "Around the ends of blocks"),
            ],
        )
    },
    Figure::throughput(
        "Throughput of writes over their size",
        "Look for the size at which random writes become as fast as sequential ones: from there on nothing \
         has to be copied before an erase.",
        &[
            (Series::SEQUENTIAL, "Sequential writes"),
            (Series::RANDOM, "Random writes"),
        ],
    ),
    READS,
];
