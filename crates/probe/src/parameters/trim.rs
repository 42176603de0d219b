//! TRIM: what it costs, and what it changes.

mod measure;
mod robust;

use crate::about::{Figure, Mark};
use crate::{About, Look, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Nanoseconds,
    question: "What does a TRIM cost, and what does it change?",
    page: include_str!("../../../../docs/parameters/trim.md"),
    writes: true,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::Trim,
    rules: &[],
    fits,
};

/// A TRIM of `x` bytes that were written before.
pub(crate) const TRIM: Series = Series::new("trim");
/// Reads of a trimmed place, the same after a pause, and reads of a written place.
pub(crate) const TRIMMED: Series = Series::new("trimmed");
pub(crate) const TRIMMED_LATER: Series = Series::new("trimmed_later");
pub(crate) const WRITTEN: Series = Series::new("written");
/// Reads with nothing else going on, and with TRIMs in between.
pub(crate) const QUIET: Series = Series::new("quiet");
pub(crate) const DURING: Series = Series::new("during");
/// Small random writes into a trimmed and into a written place, with the flush after them.
pub(crate) const INTO_TRIMMED: Series = Series::new("into_trimmed");
pub(crate) const INTO_WRITTEN: Series = Series::new("into_written");

fn fits(look: &Look) -> Result<(), &'static str> {
    match () {
        () if !look.trim => Err("the drive does not support TRIM"),
        () if look.read_only => Err("nothing may be written or trimmed"),
        () => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        mark: Mark::Nothing,
        ..Figure::latency(
            "The latency of a TRIM over its length",
            "A flat line costs by the command, a rising one by the length: such a drive is better trimmed in pieces.",
            &[(TRIM, "TRIM")],
        )
    },
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Reads of trimmed and of written places",
            "A trimmed place that is read faster holds nothing. Reads during TRIMs show what a TRIM delays.",
            &[
                (TRIMMED, "Trimmed"),
                (TRIMMED_LATER, "Trimmed, after a pause"),
                (WRITTEN, "Written"),
                (QUIET, "Written, two at a time"),
                (DURING, "The same during TRIMs"),
            ],
        )
    },
    Figure {
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Small random writes into trimmed and into written places",
            "Shorter times in a trimmed place mean that the drive uses what it was told.",
            &[
                (INTO_TRIMMED, "Into a trimmed place"),
                (INTO_WRITTEN, "Into a written place"),
            ],
        )
    },
];
