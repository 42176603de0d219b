//! Samples that a limit of a volume, or an overload, has slowed down.

use super::what::What;
use crate::twin::seen::Seen;
use fathom_probe::{Parameter, Sample};

/// The lengths of small and of long reads in loops.
const SMALL: u64 = 4096;
const LONG: f64 = 262_144.0;

/// The limits of a volume. What they slow down says nothing about the drive.
pub(super) struct Limits {
    per_second: Option<f64>,
    bytes: Option<f64>,
}

/// The share of a limit from which on a loop may be held back, and how often the limit a rate must be to be free of it.
const HELD: f64 = 0.95;
const FREE: f64 = 1.5;
/// Reads during writes that take longer than this are those of an overloaded drive: their times grow with the window.
const OVERLOADED_NS: u64 = 100_000_000;

impl Limits {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        Self {
            per_second: seen.number(Parameter::RateLimit),
            bytes: seen.number(Parameter::BandwidthLimit),
        }
    }

    /// Returns true if a limit or an overload shows in a sample.
    pub(super) fn hold(&self, what: What, sample: &Sample) -> bool {
        let rate = sample.bytes as f64 / sample.ns.max(1) as f64 * 1e9;
        let of = |limit: Option<f64>, rate: f64, most: f64| {
            limit.is_some_and(|limit| rate > HELD * limit && rate < most * limit)
        };
        let any = self.per_second.is_some() || self.bytes.is_some();
        match what {
            What::Closed => {
                let reads = rate / SMALL as f64;
                of(self.per_second, reads, f64::MAX) || of(self.bytes, rate, f64::MAX)
            }
            What::Knee => any,
            What::Long | What::Fill | What::FastFill => {
                of(self.bytes, rate, FREE) || of(self.per_second, rate / LONG, FREE)
            }
            What::Typical | What::Slowest => any || sample.ns > OVERLOADED_NS,
            _ => false,
        }
    }
}
