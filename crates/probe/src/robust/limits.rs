//! The limits in front of a drive that other questions have found.

use crate::{Answers, Parameter, Verdict};

/// Returns true if a limit in front of the drive was found, of requests or of bytes.
pub(crate) fn any(others: &Answers<'_>) -> bool {
    bytes_per_second(others, 1.0).is_some()
}

/// Returns the bytes a second that the limits let through in requests of this size, in bytes; `None` if none was found.
pub(crate) fn bytes_per_second(others: &Answers<'_>, request: f64) -> Option<f64> {
    let of = |parameter, each: f64| {
        let found = others(parameter);
        let value = found.value.filter(|_| found.verdict == Verdict::Identified);
        Some(value?.number()? * each)
    };
    let both = [
        of(Parameter::RateLimit, request),
        of(Parameter::BandwidthLimit, 1.0),
    ];
    both.into_iter().flatten().reduce(f64::min)
}
