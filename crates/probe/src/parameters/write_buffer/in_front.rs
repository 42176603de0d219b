//! Writes that wait for a limit in front of the drive, and not for its memory.

use super::filling::REQUEST;
use crate::robust::limits;
use crate::{Answers, Parameter, Record, Sample, Series};
use fathom_stats::location::{median, quantile};

/// The relative difference up to which writes come at the pace of the limit.
const NEAR: f64 = 0.1;
/// The quantile of the paces before the place that no limit has held back.
const FREE: f64 = 0.9;
/// The pieces beyond the place that are looked at: later on a burst is used up, whatever made the first ones wait.
const PIECES: u64 = 5;

/// Returns true if a limit in front of the drive was found, and the writes that follow `low` bytes come as fast as it lets them pass,
/// and those before them faster.
pub(super) fn at_the_pace(record: &Record, of: Parameter, low: u64, others: &Answers<'_>) -> bool {
    let block = u64::from(record.meta.target.logical_block_bytes).max(1);
    let request = REQUEST.next_multiple_of(block);
    let paces = |which: &dyn Fn(&Sample) -> bool| {
        let samples = record.series(of, Series::FILLING).filter(|s| which(s));
        samples.map(|s| pace(s, request)).collect::<Vec<_>>()
    };
    // In some of the runs nothing of the burst was left.
    let before = quantile(&paces(&|s| s.x < low.max(s.bytes + 1)), FREE);
    let after = median(&paces(&|s| {
        s.x > low + s.bytes && s.x <= low + PIECES * s.bytes
    }));
    let (Some(limit), Some(before), Some(after)) = (
        limits::bytes_per_second(others, request as f64),
        before,
        after,
    ) else {
        return false;
    };
    is_held(limit, before, after)
}

/// Returns true if writes come at the pace of a limit after a place, and faster before it.
fn is_held(limit: f64, before: f64, after: f64) -> bool {
    before > (1.0 + NEAR) * limit && (after / limit - 1.0).abs() < NEAR
}

/// Returns the bytes a second of a piece if all of its requests were as long as a whole one.
fn pace(sample: &Sample, request: u64) -> f64 {
    let requests = sample.bytes.div_ceil(request).max(1);
    (requests * request) as f64 / sample.ns.max(1) as f64 * 1e9
}

#[cfg(test)]
mod tests {
    use super::is_held;

    #[test]
    fn writes_that_come_at_the_pace_of_the_limit_from_a_place_on_wait_for_it() {
        assert!(is_held(8e6, 20e6, 8.1e6));
        // They wait for the flash, or came as slowly before.
        assert!(!is_held(8e6, 20e6, 5e6));
        assert!(!is_held(8e6, 8.2e6, 7.9e6));
    }
}
