//! The knee of the queue: how many random reads must be in flight for the drive's full rate.

mod peak;
mod robust;
mod take;

use crate::about::{Figure, Mark, X};
use crate::{About, Look, Method, Parameter, Unit};
use take::{ALONE, AT_KNEE, CLOSED, OPEN};

pub(crate) const ABOUT: About = About {
    unit: Unit::Count,
    question: "How many random reads must be in flight for the drive's full rate?",
    page: include_str!("../../../../docs/parameters/queue_knee.md"),
    writes: false,
    looks_at: &[Parameter::RateLimit, Parameter::BandwidthLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::QueueKnee,
    rules: &[(Method::Knee95, &peak::Knee95)],
    fits: takes_many,
};

/// Fits drives that take more than one request at a time.
fn takes_many(look: &Look) -> Result<(), &'static str> {
    match look.queue_depth {
        0..2 => Err("the drive takes one request at a time"),
        _ => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        x: X::Depth,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput of 4-KiB random reads over the requests in flight",
            "Look for the depth from which on the curve is flat: more requests in flight only wait longer.",
            &[(CLOSED, "Closed loop")],
        )
    },
    Figure {
        x: X::Load,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Latency of reads that are due at random times",
            "Look for the load at which the latency leaves the level of a lone read: from there on requests wait for each \
             other. At 100 % the queue has no room for bursts.",
            &[(OPEN, "Open loop, Poisson arrivals")],
        )
    },
    Figure {
        x: X::Depth,
        side_by_side: true,
        mark: Mark::Nothing,
        ..Figure::latency(
            "Latency of a read alone and at the knee",
            "Look for the difference: it is the price of the full rate.",
            &[(ALONE, "Alone"), (AT_KNEE, "At the knee")],
        )
    },
];
