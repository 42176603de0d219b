//! Random overwrites of a drive that merges blocks.

use super::rig::{Ask, Rig};
use fathom_block::Op;
use fathom_ssd::Spec;
use std::ops::Range;

/// The length of a write, in bytes, if the mapping unit is not longer, and the writes in flight (parameter
/// `over_provisioning`).
const LEN: u64 = 64 << 10;
const DEPTH: usize = 32;
/// The writes that put all log blocks in use, and those that are timed.
const WRITES: Range<u64> = 128..2048;

/// Returns the length of a write, in bytes.
pub(super) fn length(spec: &Spec) -> u64 {
    let unit = spec.mapping.unit.map_or(LEN, |unit| unit.0.max(1));
    let len = if unit > LEN { unit } else { LEN / unit * unit };
    len.min(spec.host.max_request.0)
}

/// Returns the rate of random overwrites of the span of a candidate, in bytes per second, once its log blocks are in use.
pub(super) fn rate(rig: &mut Rig, spec: &Spec) -> f64 {
    let (len, block) = (length(spec), spec.flash.clustered_block.0);
    let mut write = |count: u64| {
        let count = count.clamp(WRITES.start, WRITES.end);
        let any = |_| Ask::new(Op::Write, rig.any(len), len);
        let asks: Vec<Ask> = (0..count).map(any).collect();
        (count * len) as f64 / rig.together(&asks, DEPTH) * 1e9
    };
    write(u64::from(spec.mapping.log_blocks) * block / len);
    // Log blocks are given back one after the other.
    write(2 * block / len)
}
