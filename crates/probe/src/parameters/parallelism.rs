//! The parallelism of reads: how many parts of the drive serve reads without waiting for each other.

pub(crate) mod blank;
pub(crate) mod collide;
pub(crate) mod even;
mod made;
mod pool;
pub(crate) mod robust;
pub(crate) mod take;
mod volumes;

use crate::about::{Figure, Mark, X};
use crate::robust::blank::{NOTHING, NOTHING_PAIR};
use crate::{About, Look, Method, Unit};
pub(crate) use take::{BELOW, LONG};
use take::{FIRST, PAIR, SECOND, SOLO, TOGETHER};

pub(crate) const ABOUT: About = About {
    unit: Unit::Count,
    question: "How many parts of the drive serve reads without waiting for each other?",
    page: include_str!("../../../../docs/parameters/parallelism.md"),
    writes: false,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::Parallelism,
    rules: &[(Method::Ssdcheck, &volumes::Volumes)],
    fits: takes_two,
};

/// Fits drives that take more than one request at a time.
pub(crate) fn takes_two(look: &Look) -> Result<(), &'static str> {
    match (look.queue_depth, look.rotational) {
        (0..2, _) => Err("the drive takes one request at a time"),
        (_, Some(true)) => Err("a disk with a head reads one place at a time"),
        _ => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "One read, and two at once",
            "Look for pairs that take longer than the rest, by about the difference between a read of data and a read of \
             nothing: both reads wanted the same part of the flash. Their share is one over the parallelism.",
            &[
                (SOLO, "One read"),
                (PAIR, "Two at once"),
                (LONG, "One of twice the length"),
                (TOGETHER, "Two of neighbouring blocks at once"),
                (NOTHING, "One of nothing"),
                (NOTHING_PAIR, "Two of nothing"),
            ],
        )
    },
    Figure {
        x: X::Distance,
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "A read near a place that was just read",
            "Look for reads as fast as one of nothing: they lie in one line of a memory with the place before.",
            &[
                (FIRST, "First read"),
                (SECOND, "Again"),
                (BELOW, "Below it"),
            ],
        )
    },
];
