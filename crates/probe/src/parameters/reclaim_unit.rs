//! The reclaim unit: the bytes of a stream of writes whose flash the drive erases together.

mod dips;
mod memory;
mod order;
pub(crate) mod robust;
mod series;
mod zones;

use crate::about::{Figure, Mark, Measure, X};
use crate::look::always;
use crate::{About, Look, Parameter, Unit};
use series::{PIECE, ZONE};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "How many bytes, written in sequence and trimmed together, does the drive erase without moving data?",
    page: include_str!("../../../../docs/parameters/reclaim_unit.md"),
    writes: true,
    looks_at: &[
        Parameter::RateLimit,
        Parameter::BandwidthLimit,
        Parameter::WriteBuffer,
    ],
    marks: None,
    figures: FIGURES,
    robust: &robust::ReclaimUnit,
    rules: &[],
    fits,
};

const FIGURES: &[Figure] = &[
    Figure {
        measure: Measure::Throughput,
        ..Figure::latency(
            "Throughput of zones that are trimmed and written as wholes, over their size",
            "Look for the size{at} from which on larger zones are no faster: their data is moved no more.",
            &[(ZONE, "Zones at random")],
        )
    },
    Figure {
        x: X::Place { last: false },
        mark: Mark::Nothing,
        see_found: Some(
            "All units are laid over one another. Look for a dip at one place: the drive erases a unit for each one that is \
             filled.",
        ),
        ..Figure::throughput(
            "Throughput of overwrites in order over their place",
            "Look for dips at even distances: the drive erases a unit for each one that is filled.",
            &[(PIECE, "Pieces")],
        )
    },
];

/// Fits drives that take TRIM.
fn fits(look: &Look) -> Result<(), &'static str> {
    match () {
        () if look.read_only => Err("nothing may be written"),
        () if !look.trim => Err("the drive takes no TRIM, so zones cannot be given back"),
        () => always(look),
    }
}
