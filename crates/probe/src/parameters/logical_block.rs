//! The logical block: the aligned write size at which random and sequential throughput meet (`irbw` 4.1, `greedy-space` IV.A).

mod alignment;
mod paper;
mod robust;

use crate::about::{Figure, Mark};
use crate::{About, Method, Parameter, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "From which size on are random writes as fast as sequential ones?",
    page: include_str!("../../../../docs/parameters/logical_block.md"),
    writes: true,
    looks_at: &[Parameter::ClusteredPage],
    marks: None,
    figures: FIGURES,
    robust: &robust::LogicalBlock,
    rules: &[(Method::Paper, &paper::LogicalBlock)],
    fits: crate::look::merges,
};

const FIGURES: &[Figure] = &[
    Figure {
        side_by_side: true,
        ..Figure::latency(
            "Random writes of whole blocks, aligned against shifted by half",
            "Look for the gap between the two: a shifted write lies half in each of two blocks, which are merged \
             for it.",
            &[
                (Series::ALIGNED, "Aligned writes"),
                (Series::SHIFTED, "Shifted writes"),
            ],
        )
    },
    Figure::throughput(
        "Throughput of writes over their size",
        "Look for the size at which random writes become as fast as sequential ones: from there on their order does not \
         matter.",
        &[
            (Series::SEQUENTIAL, "Sequential writes"),
            (Series::RANDOM, "Random writes"),
        ],
    ),
    READS,
];

/// Throughput of reads, for comparison with the throughput of writes.
pub(crate) const READS: Figure = Figure {
    mark: Mark::Nothing,
    ..Figure::throughput(
        "For comparison: throughput of reads",
        "The answer does not rest on it. Where random reads become as fast as sequential ones, their order does not \
         matter either.",
        &[
            (Series::SEQUENTIAL_READ, "Sequential reads"),
            (Series::RANDOM_READ, "Random reads"),
        ],
    )
};
