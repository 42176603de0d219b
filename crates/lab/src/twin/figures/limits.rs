//! Samples that a limit of a volume, or an overload, has slowed down.

use super::what::What;
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_probe::{Parameter, Sample};

/// The lengths of small and of long reads in loops.
const SMALL: u64 = 4096;
const LONG: f64 = 262_144.0;

/// The limits of a volume. What they slow down says nothing about the drive.
pub(super) struct Limits {
    per_second: Option<f64>,
    bytes: Option<f64>,
    /// Whether the reads and writes of the windows stay below the limits, and below what the drive writes.
    slow: bool,
    /// Whether reads one after another stay below the limits.
    lone: bool,
}

/// The share of a limit from which on a loop may be held back, and how often the limit a rate must be to be free of it.
const HELD: f64 = 0.95;
const FREE: f64 = 1.5;
/// How often the limit the rate of single requests and pairs that wait for it is at most.
const NEAR: f64 = 1.05;
/// The interval of the reads in a window, as a multiple of a single read, and the least one in nanoseconds; the writes beside
/// them, by their number and by their bytes per second (parameter `stalls`).
const APART: f64 = 4.0;
const APART_MIN: f64 = 200_000.0;
const WRITES: f64 = 256.0;
const WRITTEN: f64 = 16_777_216.0;
/// The share of a limit up to which requests that come evenly are not held back.
const SLOW: f64 = 0.8;
/// The share of the rate of fills from which writes of the windows keep a drive busy that collects: that delays reads by more
/// than programs, and the bench does not have it.
const BUSY: f64 = 0.4;
/// Reads during writes that take longer than this are those of an overloaded drive: their times grow with the window.
const OVERLOADED_NS: u64 = 100_000_000;

impl Limits {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let per_second = seen.number(Parameter::RateLimit);
        let bytes = seen.number(Parameter::BandwidthLimit);
        let alone = seen.median(Parameter::Stalls, series::ALONE);
        let reads = 1e9 / (APART * alone.unwrap_or(0.0)).max(APART_MIN);
        let below = |limit: Option<f64>, load: f64| limit.is_none_or(|limit| load < SLOW * limit);
        let lone = 1e9 / alone.unwrap_or(1e9).max(1.0);
        Self {
            lone: below(per_second, lone) && below(bytes, SMALL as f64 * lone),
            per_second,
            bytes,
            slow: below(per_second, reads + WRITES)
                && below(bytes, SMALL as f64 * reads + WRITTEN)
                && seen.fill().is_none_or(|fill| WRITTEN < BUSY * fill),
        }
    }

    /// Returns true if reads one after another stay below all limits.
    pub(super) const fn let_lone_pass(&self) -> bool {
        self.lone
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
            // These wait until the limit lets them pass, and take as long as its turns.
            What::One | What::Two | What::Pair | What::Small | What::Piece => {
                let turns = if what == What::Pair { 2.0 } else { 1.0 };
                let pace = turns * 1e9 / sample.ns.max(1) as f64;
                of(self.per_second, pace, NEAR) || of(self.bytes, rate, NEAR)
            }
            What::Knee | What::Load => any,
            What::Long | What::Fill | What::FastFill => {
                of(self.bytes, rate, FREE) || of(self.per_second, rate / LONG, FREE)
            }
            What::Typical | What::Slowest | What::Tail => !self.slow || sample.ns > OVERLOADED_NS,
            _ => false,
        }
    }
}
