//! Ground truth of the reach of the map, the span over which random reads do not read the map from flash.
//!
//! A map that lies in flash has a cache of entries in memory, of 8 bytes each. It reaches over as many mapping units as it
//! has entries. A read beyond it reads a page of the map first. The latencies show the reach to within a fifth.
//!
//! Faint: a reach below 1 MiB, which hardly any read of a span hits; one of more than half of the drive; one that the memory
//! for data exceeds, so that reads within it ask for no map; and a map that is read in less than a tenth of the time.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;
use fathom_ssd::spec::MappingKind;

/// The bytes of a cached entry (`ftl/dftl.rs`).
const ENTRY: u64 = 8;
/// The length of a read, and the least reach, in bytes.
const READ: u64 = 4096;
const REACH_MIN: u64 = 1 << 20;
/// The accepted deviation.
const WITHIN: f64 = 0.2;

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(cache) = spec
        .mapping
        .map_cache
        .filter(|_| spec.mapping.kind == MappingKind::Dftl)
    else {
        return Truth::missing();
    };
    let reach = reach(spec, cache.0);
    let ends = [1.0 - WITHIN, 1.0 + WITHIN].map(|by| Value::Bytes((by * reach as f64) as u64));
    let [low, high] = ends;
    let right = vec![Right::Between(low, high)];
    if reach >= spec.capacity.0 {
        return Truth::new(
            Sight::Hidden,
            right,
            "the map of the whole drive fits into memory",
        );
    }
    let speeds = Speeds::of(spec);
    let read = READ.max(spec.host.logical_block.0);
    let kept = spec
        .read_buffer
        .as_ref()
        .filter(|b| b.min_request.0 <= read);
    let data = kept.map_or(0, |b| b.capacity.0);
    let hit = speeds.command() + speeds.link(read) + speeds.read + speeds.bus(read);
    let miss = speeds.read + speeds.bus(spec.unit());
    let beyond = 1.0 - reach as f64 / spec.capacity.0 as f64;
    let visible = reach >= REACH_MIN && 2 * reach <= spec.capacity.0 && 4 * data <= reach;
    let effect = if visible { beyond * miss / hit } else { 0.0 };
    Truth::by_effect(
        effect,
        right,
        "no span shows both hits and misses of the map, without a memory for data",
    )
}

/// Returns the bytes that a cache of the map covers.
pub(super) fn reach(spec: &Spec, cache: u64) -> u64 {
    (cache / ENTRY).max(1).saturating_mul(spec.unit())
}
