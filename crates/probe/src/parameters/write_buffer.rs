//! The write buffer: how much the drive takes before a write waits for the flash (`parameter-aware-io` 4.2.6, Procedures 5
//! and 6).

mod beside_reads;
mod drain;
pub(crate) mod filling;
mod in_front;
mod paper;
pub(crate) mod robust;
mod ssdcheck;
mod steps;

use crate::about::{Figure, Mark, X};
use crate::{About, Method, Parameter, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How much can be written before the flash is waited for?",
    page: include_str!("../../../../docs/parameters/write_buffer.md"),
    writes: true,
    looks_at: &[Parameter::RateLimit, Parameter::BandwidthLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::WriteBuffer,
    rules: &[
        (Method::Paper, &paper::WriteBuffer),
        (Method::Ssdcheck, &ssdcheck::ModalInterval),
    ],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[
    Figure {
        x: X::WrittenBefore,
        ..Figure::latency(
            "Latency of writes into emptied memory, piece by piece",
            "Look for the place from which on pieces wait{at}, one of them or all: the memory is full there, in \
             every run. Longer runs were made with longer pieces.",
            &[(Series::FILLING, "Filling an empty buffer")],
        )
    },
    Figure::latency(
        "Latency of a write into an empty and into a full buffer",
        "Look for the size up to which a write into an empty buffer is faster than one into a full buffer{at}: \
         more does not fit.",
        &[
            (Series::EMPTY_BUFFER, "Into an empty buffer"),
            (Series::FULL_BUFFER, "Into a full buffer"),
        ],
    ),
    Figure::latency(
        "Latency of the flush after the write",
        "Look for flushes that take long after writes that were \
         fast: the buffer had taken the data, the flash had not.",
        &[(Series::FLUSH_AFTER, "Flush after the write")],
    ),
    Figure {
        mark: Mark::Nothing,
        ..Figure::latency(
            "For comparison: reads from the flash",
            "Hold it against the writes into emptied memory: memory took those that are faster than a read from the flash; where \
             all take longer, the flash answered them.",
            &[(Series::RANDOM_READ, "Random reads")],
        )
    },
];
