//! The cost of a flush: with nothing to write, after one small write, and after many.

mod judge;
mod measure;
mod robust;

use crate::about::{Figure, Mark, X};
use crate::{About, Look, Series, Unit};

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

/// Flushes with nothing to write.
pub(crate) const CLEAN: Series = Series::new("clean");
/// Flushes after a write of `x` bytes.
pub(crate) const DIRTY: Series = Series::new("dirty");
/// Small writes without a flush.
pub(crate) const PLAIN: Series = Series::new("plain");
/// The same writes with forced unit access.
pub(crate) const FUA: Series = Series::new("fua");

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
