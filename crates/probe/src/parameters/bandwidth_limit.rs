//! The limit of bytes per second that a cloud or a hypervisor sets in front of a volume.

mod iotune;

use super::rate_limit::{FIGURES, robust};
use crate::{About, Method, Parameter, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::BytesPerSecond,
    question: "Does something in front of the drive limit its bytes per second?",
    page: include_str!("../../../../docs/parameters/bandwidth_limit.md"),
    writes: false,
    looks_at: &[Parameter::RateLimit],
    marks: None,
    figures: FIGURES,
    robust: &robust::BANDWIDTH,
    rules: &[(Method::Iotune, &iotune::Rates)],
    fits: crate::look::always,
};
