//! The limit of bytes per second that a cloud or a hypervisor sets in front of a volume.

use super::rate_limit::{FIGURES, robust};
use crate::{About, Parameter, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::BytesPerSecond,
    question: "Does something in front of the drive limit its bytes per second?",
    page: include_str!("../../../../docs/parameters/bandwidth_limit.md"),
    writes: false,
    looks_at: &[Parameter::RateLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::BANDWIDTH,
    rules: &[],
    fits: crate::look::always,
};
