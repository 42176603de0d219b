//! Prefetch: whether the drive reads ahead (`parameter-aware-io` 4.3).

mod paper;
mod robust;

use crate::about::Figure;
use crate::{About, Method, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Word,
    question: "Does the drive read ahead?",
    page: include_str!("../../../../docs/parameters/prefetch.md"),
    writes: false,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::Prefetch,
    rules: &[(Method::Paper, &paper::PREFETCH)],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[
    Figure {
        side_by_side: true,
        ..Figure::latency(
            "Scattered against consecutive reads",
            "Look for consecutive reads that are clearly faster than scattered ones: the drive \
             then reads ahead.",
            &[
                (Series::SCATTERED, "Scattered reads"),
                (Series::CONSECUTIVE, "Consecutive reads"),
            ],
        )
    },
    Figure {
        side_by_side: true,
        ..Figure::latency(
            "The place before one that was just read",
            "Look for sizes at which the second line is lower: both reads lie in one line of \
             a buffer there, so that such reads tell nothing of reading ahead.",
            &[
                (Series::MISS, "First read (miss)"),
                (Series::HIT, "Read again (hit)"),
            ],
        )
    },
];
