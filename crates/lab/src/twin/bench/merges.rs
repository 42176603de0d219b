//! Random overwrites of a drive that merges blocks.

use super::rig::{Ask, Rig};
use crate::twin::figures::OVERWRITES;
use fathom_block::Op;
use fathom_ssd::Spec;
use std::ops::Range;

/// The length of a write, in bytes, if the mapping unit is not longer, and the writes in flight (parameter
/// `over_provisioning`).
const LEN: u64 = 64 << 10;
const DEPTH: usize = 32;
/// The writes that put all log blocks in use.
const WRITES: Range<u64> = 128..6144;
/// The batches in which the record overwrites a part once.
const BATCHES: u64 = 16;

/// Returns the length of a write, in bytes.
pub(super) fn length(spec: &Spec) -> u64 {
    let unit = spec.mapping.unit.map_or(LEN, |unit| unit.0.max(1));
    let len = if unit > LEN { unit } else { LEN / unit * unit };
    len.min(spec.host.max_request.0)
}

/// Overwrites the span of a candidate at random until all log blocks are in use.
pub(super) fn use_logs(rig: &mut Rig, spec: &Spec) {
    let len = length(spec);
    let all = u64::from(spec.mapping.log_blocks) * spec.flash.clustered_block.0;
    let count = (all / len).clamp(WRITES.start, WRITES.end);
    let any = |_| Ask::new(Op::Write, rig.any(len), len);
    let asks: Vec<Ask> = (0..count).map(any).collect();
    rig.together(&asks, DEPTH);
}

/// Overwrites the span of a candidate at random and in order, in turns, as the record has it, and returns the rates of both in
/// bytes per second. All else is trimmed, and log blocks are in use.
pub(super) fn in_turns(rig: &mut Rig, spec: &Spec) -> [Vec<f64>; 2] {
    use_logs(rig, spec);
    let live = rig.span;
    rig.trim(0..rig.capacity);
    rig.fill(0..live);
    let len = length(spec);
    let places = (live / len).max(1);
    let count = (places / BATCHES).clamp(1, WRITES.end / 2);
    let mut rates = [Vec::new(), Vec::new()];
    for batch in 0..u64::from(OVERWRITES) {
        let ask = |place: u64| Ask::new(Op::Write, place * len, len);
        let random: Vec<Ask> = (0..count).map(|_| ask(rig.below(places))).collect();
        let ordered = (0..count).map(|n| ask((batch * count + n) % places));
        for (rates, asks) in rates.iter_mut().zip([random, ordered.collect()]) {
            rates.push((count * len) as f64 / rig.together(&asks, DEPTH) * 1e9);
        }
    }
    rates
}
