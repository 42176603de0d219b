//! Which samples of a record become figures, and how much each counts.

use super::what::What;
use crate::twin::series;
use fathom_probe::{Parameter, Series};

/// How the samples of a record become figures.
pub(super) struct Source {
    pub(super) what: What,
    pub(super) parameter: Parameter,
    pub(super) series: Series,
    pub(super) percents: &'static [u8],
    /// The weight of all figures of this kind together.
    pub(super) weight: f64,
}

const SPREAD: &[u8] = &[10, 50, 90];
const MIDDLE: &[u8] = &[50];

const fn of(
    what: What,
    parameter: Parameter,
    series: Series,
    percents: &'static [u8],
    weight: f64,
) -> Source {
    Source {
        what,
        parameter,
        series,
        percents,
        weight,
    }
}

pub(super) const SOURCES: &[Source] = &[
    of(What::One, Parameter::Parallelism, series::SOLO, SPREAD, 2.0),
    of(
        What::Two,
        Parameter::Parallelism,
        series::SOLO_OF_TWO,
        MIDDLE,
        2.0,
    ),
    of(
        What::Nothing,
        Parameter::Parallelism,
        series::NOTHING,
        SPREAD,
        1.0,
    ),
    of(
        What::NothingPair,
        Parameter::Parallelism,
        series::NOTHING_PAIR,
        MIDDLE,
        1.0,
    ),
    of(
        What::Pair,
        Parameter::Parallelism,
        series::PAIR,
        &[50, 90],
        1.0,
    ),
    of(
        What::Closed,
        Parameter::QueueKnee,
        series::CLOSED,
        MIDDLE,
        3.0,
    ),
    of(
        What::Knee,
        Parameter::QueueKnee,
        series::AT_KNEE,
        &[50, 90, 99],
        1.0,
    ),
    of(
        What::Long,
        Parameter::BandwidthLimit,
        series::BATCH,
        MIDDLE,
        1.0,
    ),
    of(What::Write, Parameter::Flush, series::PLAIN, SPREAD, 2.0),
    of(What::Clean, Parameter::Flush, series::CLEAN, MIDDLE, 0.5),
    of(What::Fua, Parameter::Flush, series::FUA, MIDDLE, 1.0),
    of(What::Dirty, Parameter::Flush, series::DIRTY, MIDDLE, 2.0),
    of(What::Small, Parameter::Stalls, series::ALONE, MIDDLE, 2.0),
    of(
        What::Piece,
        Parameter::FastCache,
        series::READ_COOL,
        MIDDLE,
        1.0,
    ),
    of(What::Fill, Parameter::FastCache, series::EMPTY, MIDDLE, 2.0),
    of(
        What::FastFill,
        Parameter::FastCache,
        series::EMPTY,
        MIDDLE,
        1.0,
    ),
    of(
        What::Load,
        Parameter::FastCache,
        series::LOAD_READ,
        MIDDLE,
        4.0,
    ),
    of(
        What::LoadRead,
        Parameter::FastCache,
        series::LOAD_READ,
        &[50, 99],
        4.0,
    ),
    of(
        What::LoadWrite,
        Parameter::FastCache,
        series::LOAD_WRITE,
        &[50, 99],
        2.0,
    ),
    of(
        What::Typical,
        Parameter::Stalls,
        series::TYPICAL_WRITING,
        MIDDLE,
        1.0,
    ),
    of(
        What::Slowest,
        Parameter::Stalls,
        series::SLOWEST_WRITING,
        &[10],
        2.0,
    ),
    of(
        What::Tail,
        Parameter::Stalls,
        series::TAIL_WRITING,
        MIDDLE,
        3.0,
    ),
    of(
        What::After,
        Parameter::Stalls,
        series::AFTER_WRITE,
        &[50, 90],
        3.0,
    ),
    of(
        What::AfterCount,
        Parameter::Stalls,
        series::AFTER_WRITE,
        MIDDLE,
        0.5,
    ),
    of(
        What::Random,
        Parameter::OverProvisioning,
        series::SPARSE,
        MIDDLE,
        2.0,
    ),
    of(
        What::Ordered,
        Parameter::OverProvisioning,
        series::IN_ORDER,
        MIDDLE,
        1.0,
    ),
    of(
        What::Near,
        Parameter::OverProvisioning,
        series::NEAR,
        MIDDLE,
        3.0,
    ),
];
