//! Ground truth of the reach of the map, the span over which random reads do not read the map from flash.
//!
//! A map that lies in flash has a cache of entries in memory, of 8 bytes each. It reaches over as many mapping units as it
//! has entries. A read beyond it reads a page of the map first. The latencies show the reach to within a fifth.
//!
//! With memory of the host, a read beyond the cache fetches the page of the map from there, which takes a few microseconds;
//! only one beyond the host's memory reads it from flash. Either reach is right, and the clearer one decides.
//!
//! Faint: a reach below 1 MiB, which hardly any read of a span hits; one of more than half of the drive; one that the memory
//! for data exceeds, so that reads within it ask for no map; behind a limit that sets the time of reads; and a map that is read
//! in less than a tenth of the time.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;
use fathom_ssd::spec::MappingKind;

/// The bytes of a cached entry (`ftl/dftl.rs`).
const ENTRY: u64 = 8;
/// The bytes of an entry of a translation page (`ftl/dftl.rs`).
const LENT_ENTRY: u64 = 4;
/// The length of a read, and the least reach, in bytes.
const READ: u64 = 4096;
const REACH_MIN: u64 = 1 << 20;
/// The accepted deviation.
const WITHIN: f64 = 0.2;

/// A memory for the map: how far it reaches, in bytes, and what a read takes that finds its entry there and one that does
/// not.
struct Level {
    reach: u64,
    hit: f64,
    miss: f64,
}

pub(super) fn truth(spec: &Spec) -> Truth {
    let levels = levels(spec);
    let capacity = spec.capacity.0;
    let within = |level: &Level| {
        let ends = [1.0 - WITHIN, 1.0 + WITHIN];
        let [low, high] = ends.map(|by| Value::Bytes((by * level.reach as f64) as u64));
        Right::Between(low, high)
    };
    let right: Vec<Right> = levels.iter().map(within).collect();
    match levels.first() {
        None => return Truth::missing(),
        Some(first) if first.reach >= capacity => {
            return Truth::new(
                Sight::Hidden,
                right,
                "the map of the whole drive fits into memory",
            );
        }
        Some(_) => {}
    }
    let read = READ.max(spec.host.logical_block.0);
    let kept = spec
        .read_buffer
        .as_ref()
        .filter(|b| b.min_request.0 <= read);
    let data = kept.map_or(0, |b| b.capacity.0);
    let limited = Speeds::of(spec).limited(read);
    let effect = |level: &Level| {
        let beyond = 1.0 - level.reach as f64 / capacity as f64;
        let visible =
            level.reach >= REACH_MIN && 2 * level.reach <= capacity && 4 * data <= level.reach;
        if visible && limited < level.hit {
            beyond * (level.miss / level.hit - 1.0)
        } else {
            0.0
        }
    };
    Truth::by_effect(
        levels.iter().map(effect).fold(0.0, f64::max),
        right,
        "no span shows both hits and misses of the map, without a memory for data or a limit in front",
    )
}

/// Returns the memories for the map, the nearest first: the drive's own, and the host's, which holds whole translation pages.
fn levels(spec: &Spec) -> Vec<Level> {
    let mapping = &spec.mapping;
    let Some(cache) = mapping
        .map_cache
        .filter(|_| mapping.kind == MappingKind::Dftl)
    else {
        return Vec::new();
    };
    let speeds = Speeds::of(spec);
    let read = READ.max(spec.host.logical_block.0);
    let hit = speeds.command() + speeds.link(read) + speeds.read + speeds.bus(read);
    let flash = speeds.read + speeds.bus(spec.unit());
    let own = reach(spec, cache.0);
    let Some(lent) = mapping.host_memory_buffer else {
        return vec![Level {
            reach: own,
            hit,
            miss: hit + flash,
        }];
    };
    let fetched = hit + speeds.link(spec.unit()) + mapping.host_memory_latency.0 as f64;
    vec![
        Level {
            reach: own,
            hit,
            miss: fetched,
        },
        Level {
            reach: lent_reach(spec, lent.0),
            hit: fetched,
            miss: hit + flash,
        },
    ]
}

/// Returns the bytes whose map is in memory, be it the drive's own or the host's.
pub(super) fn known(spec: &Spec) -> Option<u64> {
    let own = reach(spec, spec.mapping.map_cache?.0);
    let lent = spec
        .mapping
        .host_memory_buffer
        .map(|lent| lent_reach(spec, lent.0));
    Some(own.max(lent.unwrap_or(0)))
}

/// Returns the bytes that the map in host memory covers.
fn lent_reach(spec: &Spec, lent: u64) -> u64 {
    let unit = spec.unit().max(LENT_ENTRY);
    (lent / unit * (unit / LENT_ENTRY)).saturating_mul(unit)
}

/// Returns the bytes that a cache of the map covers.
pub(super) fn reach(spec: &Spec, cache: u64) -> u64 {
    (cache / ENTRY).max(1).saturating_mul(spec.unit())
}
