//! Stalls: how often and how long requests wait for the drive's own work.

mod after;
mod measure;
mod robust;

use crate::about::{Figure, Mark, Measure, X};
use crate::{About, Unit};
use after::AFTER_WRITE;
use measure::{SLOWEST, SLOWEST_WRITING, TYPICAL, TYPICAL_WRITING};

pub(crate) const ABOUT: About = About {
    unit: Unit::Nanoseconds,
    question: "How long do the slowest reads wait, and how often?",
    page: include_str!("../../../../docs/parameters/stalls.md"),
    writes: false,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::Stalls,
    rules: &[],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[
    Figure {
        measure: Measure::Latency,
        x: X::Elapsed,
        mark: Mark::Nothing,
        ..Figure::latency(
            "The slowest reads over time",
            "Look for points far above the line of typical reads: each is a read that waited for work of the drive's own.",
            &[
                (TYPICAL, "The median read of a window"),
                (SLOWEST, "The slowest reads of it"),
            ],
        )
    },
    Figure {
        measure: Measure::Latency,
        x: X::WrittenBefore,
        mark: Mark::Nothing,
        ..Figure::latency(
            "The slowest reads during writes",
            "Look for points that come back after the same number of bytes: collections and merges cause those.",
            &[
                (TYPICAL_WRITING, "The median read of a window"),
                (SLOWEST_WRITING, "The slowest reads of it"),
            ],
        )
    },
    Figure {
        measure: Measure::Latency,
        x: X::Elapsed,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Slow reads after a write of 256 KiB",
            "Look for points close together: then the drive programs what it had in memory.",
            &[(AFTER_WRITE, "A slow read")],
        )
    },
];
