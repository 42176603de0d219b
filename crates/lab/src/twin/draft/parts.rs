//! What the parts of a draft share: the list of assumptions, the rate of the link, and quantities.

use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_base::{Dur, Rate};
use fathom_probe::Parameter;
use fathom_report::twin::Assumed;
use fathom_stats::location::quantile;
use std::fmt::Display;

/// The assumptions, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Assumptions(pub(super) Vec<Assumed>);

impl Assumptions {
    pub(super) fn add(&mut self, key: &str, value: impl Display, why: impl Into<String>) {
        self.0.push(Assumed {
            key: key.to_owned(),
            value: value.to_string(),
            why: why.into(),
        });
    }
}

/// Returns the highest rate of long reads or writes.
pub(super) fn link(seen: &Seen<'_>) -> Option<f64> {
    let long = [
        (Parameter::BandwidthLimit, series::BATCH),
        (Parameter::FastCache, series::EMPTY),
    ];
    let rates = long.into_iter().filter_map(|(parameter, series)| {
        let samples = seen.series(parameter, series).iter();
        let rates: Vec<f64> = samples
            .map(|sample| sample.bytes as f64 / sample.ns.max(1) as f64 * 1e9)
            .collect();
        quantile(&rates, 0.9)
    });
    rates.reduce(f64::max)
}

/// Returns a duration of a positive number of nanoseconds, rounded.
pub(in crate::twin) fn dur(ns: f64) -> Dur {
    Dur(ns.max(0.0).round() as u64)
}

/// Returns a rate of at least one byte per second.
pub(in crate::twin) fn rate(bytes_per_second: f64) -> Rate {
    let whole = bytes_per_second.round().max(1.0) as u64;
    Rate::new(whole).unwrap_or_else(|| rate(1.0))
}
