//! What can be said of a rate before a host is searched for it: the drive alone, and ceilings that no number passes.

use crate::platform::meter::bare;
use crate::platform::stand::{Stand, StandError};
use fathom_base::Dur;
use fathom_block::Device as _;
use fathom_platform::Platform;

/// Most drives of a search: each is a model in memory, and more than a host has slots and enclosures for.
pub(super) const DRIVES_MAX: u32 = 256;
/// Most processors of a search.
pub(super) const CORES_MAX: u32 = 1024;
/// Most I/Os in flight, in all and of each drive (`nr_requests` of Linux's block layer is 256 where it is large). What is
/// more than a drive's own queue waits outside of the model of the host.
pub(super) const IN_FLIGHT_MAX: u32 = 1 << 14;
pub(super) const DEPTH_MAX: u32 = 256;
/// A drive is saturated at this share of its highest rate.
const SATURATED: f64 = 0.98;
/// Deeper than this many times the depth that saturates it, a drive's rate does not rise.
const DEEP: u32 = 8;
/// A measured rate may be off by so much, as a share.
pub(super) const ERROR: f64 = 0.005;

/// One drive without a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Alone {
    /// Its highest rate, in reads per second.
    pub(super) most: f64,
    /// The latency of one read at a time, in nanoseconds.
    pub(super) latency_ns: f64,
    /// The most in flight that a search gives it.
    pub(super) deepest: u32,
}

/// Reads at growing depths from one drive.
///
/// # Errors
/// A run failed.
pub(super) fn alone(stand: &Stand) -> Result<Alone, StandError> {
    let mut rates = Vec::new();
    let mut latency_ns = 0.0;
    let queue = stand.drive.info().queue_depth.clamp(1, DEPTH_MAX);
    for depth in (0..=queue.ilog2()).map(|power| 1 << power) {
        let reading = bare(stand, depth)?;
        if depth == 1 {
            latency_ns = reading.latency_ns;
        }
        rates.push((depth, reading.iops));
        // Twice doubled without a rise.
        let before = rates.iter().rev().nth(2);
        if before.is_some_and(|(_, before)| reading.iops < before * (1.0 + ERROR)) {
            break;
        }
    }
    let most = rates.iter().map(|(_, iops)| *iops).fold(0.0, f64::max);
    let enough = rates.iter().find(|(_, iops)| *iops >= SATURATED * most);
    let enough = enough.map_or(DEPTH_MAX, |(depth, _)| *depth);
    Ok(Alone {
        most,
        latency_ns,
        deepest: (enough * DEEP).min(queue),
    })
}

/// What a drive with an adapter of its own can do at most, in reads per second, and whether the adapter is why.
pub(super) fn with_adapter(alone: &Alone, platform: &Platform, block: u64) -> (f64, bool) {
    let by_count = platform.adapter.iops.map(|iops| iops as f64);
    let by_bytes = platform.adapter.rate;
    let by_bytes = by_bytes.map(|rate| rate.bytes_per_second() as f64 / block as f64);
    let adapter = by_count.into_iter().chain(by_bytes);
    let adapter = adapter.fold(f64::INFINITY, f64::min);
    (alone.most.min(adapter), adapter < alone.most)
}

/// The most drives that an adapter can carry of so many, each with the same share of the rate.
pub(super) fn most_per_adapter(drives: u32, wanted: f64, platform: &Platform, block: u64) -> u32 {
    let mut most = f64::from(drives);
    if let Some(iops) = platform.adapter.iops {
        most = most.min(f64::from(drives) * iops as f64 / wanted);
    }
    if let Some(rate) = platform.adapter.rate {
        let rate = rate.bytes_per_second() as f64;
        most = most.min(f64::from(drives) * rate / (wanted * block as f64));
    }
    ((most * (1.0 + ERROR)) as u32).clamp(1, drives)
}

/// The most I/Os in flight: a mean latency of at most `latency_max` at the rate has at most their product in flight, by
/// Little's law.
pub(super) fn deepest(alone: &Alone, drives: u32, wanted: f64, latency_max: Option<Dur>) -> u32 {
    let all = drives.saturating_mul(alone.deepest).min(IN_FLIGHT_MAX);
    let by_latency = latency_max.map(|most| wanted * most.0 as f64 / 1e9);
    by_latency.map_or(all, |most| (most as u32).min(all))
}
