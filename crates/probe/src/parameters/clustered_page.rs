//! The clustered page: the internal unit of reads and writes. A write that covers a part of one reads, modifies and writes
//! the whole page (`parameter-aware-io` 4.1.1, Procedure 1).

mod pairs;
mod paper;
pub(crate) mod robust;
mod straddle;
mod stream;

use crate::about::{Figure, Mark, X};
use crate::{About, Method, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How large is the unit in which the drive reads and writes?",
    page: include_str!("../../../../docs/parameters/clustered_page.md"),
    writes: true,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::ClusteredPage,
    rules: &[(Method::Paper, &paper::ClusteredPage)],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[
    Figure {
        x: X::Place { last: false },
        mark: Mark::End("a unit ends"),
        see_found: Some(
            "All units are laid over one another, with the end of a unit in the middle. Look for a peak there: a write \
             across it has two units read and written.",
        ),
        ..Figure::latency(
            "Latency of small flushed writes over their place",
            "Over the whole drive. Where a unit is found, all units are laid over one another.",
            &[
                (Series::ACROSS, "Across multiples of a size that is tried"),
                (Series::WITHIN, "Anywhere else"),
            ],
        )
    },
    Figure {
        mark: Mark::Period,
        ..Figure::latency(
            "Latency of flushed writes over their size",
            "Look for drops at equal distances{every}: a write that fills whole internal pages needs nothing read \
             before it.",
            &[(Series::SWEEP, "Write and flush")],
        )
    },
    Figure {
        side_by_side: true,
        ..Figure::latency(
            "Aligned against shifted",
            "Look for the gap between the two: a shifted write covers pages in part, \
             and the drive has to read the rest of them first.",
            &[
                (Series::ALIGNED, "Aligned writes"),
                (Series::SHIFTED, "Shifted writes"),
            ],
        )
    },
    Figure {
        mark: Mark::Nothing,
        ..Figure::latency(
            "For comparison: reads from the flash",
            "Hold it against the small flushed writes: where they are faster than reads, memory takes them, and \
             the flash does not show.",
            &[(Series::RANDOM_READ, "Random reads")],
        )
    },
    Figure {
        x: X::Multiples,
        side_by_side: true,
        ..Figure::throughput(
            "Throughput of small writes without flushes",
            "For memory that answers flushed writes. Look for sizes at which the streams across multiples are slower than \
             those anywhere else: a write that lies in two units counts twice.",
            &[
                (
                    Series::STREAM_ACROSS,
                    "Streams of writes across multiples of a size",
                ),
                (Series::STREAM_WITHIN, "Streams of writes anywhere else"),
            ],
        )
    },
];
