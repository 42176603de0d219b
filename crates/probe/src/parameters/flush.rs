//! The cost of a flush: with nothing to write, after one small write, and after many.

mod judge;
mod measure;
mod robust;
mod series;

use crate::about::{Figure, Mark, X};
use crate::{About, Look, Unit};
use series::{CLEAN, DIRTY, FUA, PLAIN};

pub(crate) const ABOUT: About = About {
    unit: Unit::Nanoseconds,
    question: "What does a flush cost, and does the drive report its volatile cache as it behaves?",
    page: include_str!("../../../../docs/parameters/flush.md"),
    writes: true,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::Flush,
    rules: &[],
    fits,
};

fn fits(look: &Look) -> Result<(), &'static str> {
    match look.read_only {
        true => Err("nothing may be written, so there is nothing to flush"),
        false => Ok(()),
    }
}

const FIGURES: &[Figure] = &[Figure {
    x: X::WrittenBefore,
    mark: Mark::Nothing,
    ..Figure::latency(
        "The latency of a flush over the bytes written before it",
        "Look at the distance between the flushes after a write and those after none: without any, memory is protected, \
         writes are durable at once, or the flush does nothing.",
        &[
            (DIRTY, "A flush after a write"),
            (CLEAN, "A flush with nothing to write"),
            (FUA, "A small write with forced unit access"),
            (PLAIN, "A small write alone"),
        ],
    )
}];
