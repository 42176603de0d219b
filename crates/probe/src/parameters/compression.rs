//! Compression and deduplication: whether the content of writes changes their cost.

mod judge;
mod measure;
mod robust;
mod series;

use crate::about::{Figure, Mark};
use crate::{About, Look, Parameter, Unit};
use series::{
    READ_REPEATED, READ_UNIQUE, READ_ZEROS, REPEATED, SMALL_REPEATED, SMALL_UNIQUE, SMALL_ZEROS,
    UNIQUE, ZEROS,
};

pub(crate) const ABOUT: About = About {
    unit: Unit::Word,
    question: "Does it compress or deduplicate what is written?",
    page: include_str!("../../../../docs/parameters/compression.md"),
    writes: true,
    looks_at: &[Parameter::RateLimit, Parameter::BandwidthLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::Compression,
    rules: &[],
    fits,
};

fn fits(look: &Look) -> Result<(), &'static str> {
    match look.read_only {
        true => Err("nothing may be written, so no content can be compared"),
        false => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput of writes in order, by their content",
            "Look for zeros or repeated bytes that are written faster than others.",
            &[
                (UNIQUE, "Bytes that occur nowhere else"),
                (REPEATED, "The same 4 KiB again and again"),
                (ZEROS, "Zeros"),
            ],
        )
    },
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput of small writes at random places, by their content",
            "The same comparison for small writes.",
            &[
                (SMALL_UNIQUE, "Bytes that occur nowhere else"),
                (SMALL_REPEATED, "The same 4 KiB again and again"),
                (SMALL_ZEROS, "Zeros"),
            ],
        )
    },
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput of reads, by what was written",
            "A drive that reads zeros faster does not keep them as data.",
            &[
                (READ_UNIQUE, "Bytes that occur nowhere else"),
                (READ_REPEATED, "The same 4 KiB again and again"),
                (READ_ZEROS, "Zeros"),
            ],
        )
    },
];
