//! The indirection unit: the unit in which the drive maps addresses. A write that covers a part of one costs a read, because
//! the drive completes the unit before it writes it elsewhere.

mod confirm;
mod iotune;
mod latency;
mod media;
mod model;
pub(crate) mod robust;
mod series;
mod stream;

use crate::about::{Figure, Mark, X};
use crate::{About, Method, Parameter, Unit};
use series::{
    ACROSS, ALIGNED, ANYWHERE, READ, SHIFTED, SHORT, STREAM_ALIGNED, STREAM_SHIFTED, STREAM_SHORT,
    STREAM_SHORT_AGAIN, STREAM_WHOLE_AGAIN, WHOLE,
};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "In what unit does the drive map addresses, so that a write of a part costs a read?",
    page: include_str!("../../../../docs/parameters/indirection_unit.md"),
    writes: true,
    looks_at: &[Parameter::ClusteredPage],
    marks: None,
    figures: FIGURES,
    robust: &robust::IndirectionUnit,
    rules: &[(Method::Iotune, &iotune::FirstPair)],
    fits: crate::look::always,
};

const FIGURES: &[Figure] = &[
    Figure::latency(
        "Latency of flushed writes over their size",
        "Look for the size{at} from which on aligned writes are faster than shifted ones: they fill whole units.",
        &[
            (ALIGNED, "At multiples of the size"),
            (SHIFTED, "Shifted by half of the size"),
            (ANYWHERE, "Anywhere"),
        ],
    ),
    Figure {
        side_by_side: true,
        ..Figure::latency(
            "A whole unit against a unit without one block",
            "Look for the shorter write that takes longer: the drive reads what is missing.",
            &[(WHOLE, "Whole units"), (SHORT, "One logical block less")],
        )
    },
    Figure {
        x: X::Multiples,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Small flushed writes across multiples of a size",
            "Look for sizes at which they take longer: the write lies in two units.",
            &[(ACROSS, "Two blocks across a multiple")],
        )
    },
    Figure::throughput(
        "Throughput of random writes at depth 32 over their size",
        "For memory that answers flushed writes. Look for the size{at} from which on aligned writes are faster than shifted ones.",
        &[
            (STREAM_ALIGNED, "At multiples of the size"),
            (STREAM_SHIFTED, "Shifted by half of the size"),
            (STREAM_SHORT, "One logical block less"),
        ],
    ),
    Figure {
        side_by_side: true,
        ..Figure::throughput(
            "Throughput of whole units against units without one block",
            "Look for the gap: a stream of incomplete units is slower by what the drive reads for them.",
            &[
                (STREAM_WHOLE_AGAIN, "Whole units"),
                (STREAM_SHORT_AGAIN, "One logical block less"),
            ],
        )
    },
    Figure {
        mark: Mark::Nothing,
        ..Figure::latency(
            "For comparison: small reads",
            "Where flushed writes are faster than reads, memory takes them, and only the throughput can show a unit.",
            &[(READ, "Reads at random places")],
        )
    },
];
