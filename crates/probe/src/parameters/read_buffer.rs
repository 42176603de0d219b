//! The read buffer: how much the drive keeps of what was just read (`parameter-aware-io` 4.2.5, Procedures 3 and 4).

mod manner;
mod measure;
mod paper;
mod robust;
mod search;

use crate::about::Figure;
use crate::{About, Method, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How much does the drive keep of what was just read?",
    page: include_str!("../../../../docs/parameters/read_buffer.md"),
    writes: false,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::ReadBuffer,
    rules: &[(Method::Paper, &paper::READ_BUFFER)],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[Figure::latency(
    "Latency of a first read and of the same read again",
    "Look for the size up to which reading again is faster than reading first{at}: more does not fit into \
         the buffer.",
    &[
        (Series::MISS, "First read (miss)"),
        (Series::HIT, "Read again (hit)"),
    ],
)];
