//! TRIM: what it costs, and what it changes.

mod measure;
mod robust;
mod series;

use crate::about::{Figure, Mark};
use crate::{About, Look, Unit};
use series::{DURING, INTO_TRIMMED, INTO_WRITTEN, QUIET, TRIM, TRIMMED, TRIMMED_LATER, WRITTEN};

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
