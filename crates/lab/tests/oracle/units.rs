//! Measures aligned accesses against shifted ones, to see which unit sizes make a difference.

use super::rig::{Rig, apart, scattered, steady, writes};
use fathom_ssd::Spec;

const MIB: u64 = 1 << 20;
/// Maximum number of clustered pages that the writes of one pattern may move.
const PAGES_MAX: u64 = 2_000_000;

/// Returns the largest relative difference that shifting writes by half their size makes, over several patterns and depths.
pub(crate) fn shifted_writes(spec: &Spec, size: u64) -> f64 {
    let block = spec.host.logical_block.0;
    let shift = size / 2 / block * block;
    if shift == 0 {
        return 0.0;
    }
    let erased = spec.flash.clustered_block.0;
    let region = spec.capacity.0.min((8 * erased).max(64 * MIB)) / MIB * MIB;
    let one = erased.max(8 * size).min(region);
    let mut rig = Rig::quiet(spec);
    rig.fill(region);
    let memory = spec.write_buffer.as_ref().map_or(0, |b| b.capacity.0);
    // With log blocks any write may cause a merge.
    let moved = match spec.mapping.kind.is_paged() {
        true => 4,
        false => erased / spec.flash.clustered_page.0,
    };
    let most = (PAGES_MAX / moved).clamp(1_000, 100_000);
    let mut largest = 0.0f64;
    for pattern in [scattered, strided] {
        for area in [one, region] {
            for (depth, flush) in [(1, true), (1, false), (32, false)] {
                let n = (400 + 4 * memory / size + 4 * area / size).min(most);
                let n = if flush { n.min(1_000) } else { n };
                let time = |shift| {
                    let places = pattern(area, size, shift, n);
                    steady(&rig, &writes(&places, size, flush), depth)
                };
                largest = largest.max(apart(time(0), time(shift)));
                if largest > 0.3 {
                    return largest;
                }
            }
        }
    }
    largest
}

/// Returns every third place, pass after pass, so that no two writes touch.
fn strided(region: u64, size: u64, shift: u64, n: u64) -> Vec<u64> {
    let slots = ((region - shift - size) / (3 * size)).max(1);
    (0..n).map(|i| i % slots * 3 * size + shift).collect()
}
