//! Decides whether the fitted model describes the drive.
//!
//! A drive without merges also takes a constant time for each request, and garbage collection makes every random byte
//! more expensive, so a line through the times proves nothing. The model must have what makes it one of merges:
//! - A set at a random place costs more than one that follows the last one, by a time in which at least a sixteenth of a
//!   logical block could be written. A merge rewrites the block; reading and writing again a page does not come near.
//! - B is that of sequential writes, within a factor of three. Collection moves data for each byte, a merge for each block.
//! - A whole block takes about as long at a random place as in sequence: that is what L means (`greedy-space` IV.A).
//! - The line meets every size below L.

use super::types::{Fit, Row, Verdict};

/// The part of a logical block that a merge must at least be worth, in its time at the bandwidth.
const MERGE_SHARE_MIN: f64 = 1.0 / 16.0;
/// How much longer a sector may take at a random place than in sequence.
const SECTOR_RATIO_MAX: f64 = 3.0;
/// How much longer a whole block may take at a random place than in sequence.
const BLOCK_RATIO_MAX: f64 = 2.0;
/// The largest error of a model that fits.
const ERROR_MAX: f64 = 0.1;

/// Returns the verdict on a model of sectors of `sector_bytes` in logical blocks of `block_bytes`, and why.
pub(super) fn judge(fit: &Fit, sector_bytes: u64, block_bytes: u64) -> (Verdict, String) {
    let no_merge =
        merge_is_small(fit, block_bytes).or_else(|| sectors_cost_more(fit, sector_bytes));
    if let Some(reason) = no_merge {
        return (Verdict::NoMerge, reason);
    }
    if let Some(reason) = block_is_wrong(fit) {
        return (Verdict::Misfit, reason);
    }
    let low = fit.merge_ns.low;
    if low.is_none_or(|low| low <= fit.request_ns) {
        let reason = "the interval of T_merge includes the time of a request without a merge";
        return (Verdict::Undecided, reason.to_owned());
    }
    let worst = 100.0 * fit.worst_error.abs();
    match fit.worst_error.abs() > ERROR_MAX {
        true => {
            let limit = 100.0 * ERROR_MAX;
            let reason = format!("a size is predicted {worst:.0} % off; the limit is {limit:.0} %");
            (Verdict::Misfit, reason)
        }
        false => {
            let reason = format!("every size below L is predicted within {worst:.1} %");
            (Verdict::Fits, reason)
        }
    }
}

fn merge_is_small(fit: &Fit, block_bytes: u64) -> Option<String> {
    let block_ns = block_bytes as f64 * 1e9 / fit.bytes_per_s.value;
    let share = (fit.merge_ns.value - fit.request_ns) / block_ns;
    (share < MERGE_SHARE_MIN).then(|| {
        format!(
            "a set in another block costs {:.1} % of the time in which a logical block is written; a merge, which \
             rewrites the block, costs at least {:.0} %",
            100.0 * share.max(0.0),
            100.0 * MERGE_SHARE_MIN
        )
    })
}

fn sectors_cost_more(fit: &Fit, sector_bytes: u64) -> Option<String> {
    let largest: &Row = fit.rows.iter().rfind(|row| row.fitted)?;
    let sequential = (largest.sectors * sector_bytes) as f64 * 1e9 / largest.sequential_ns;
    let ratio = sequential / fit.bytes_per_s.value;
    (ratio > SECTOR_RATIO_MAX).then(|| {
        format!(
            "a sector costs {ratio:.1} times as much at random places as in sequence: the drive moves data for each sector, \
             not for each block"
        )
    })
}

fn block_is_wrong(fit: &Fit) -> Option<String> {
    let whole = fit.rows.iter().find(|row| !row.fitted)?;
    let ratio = whole.measured.value / whole.sequential_ns;
    (ratio > BLOCK_RATIO_MAX).then(|| {
        format!("whole blocks take {ratio:.1} times as long at random places as in sequence: L is not their size")
    })
}
