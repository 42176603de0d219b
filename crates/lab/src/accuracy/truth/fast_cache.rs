//! Ground truth of the fast cache: what it holds on an empty drive.
//!
//! The static part is rounded up to whole clustered blocks of every group, and the dynamic part is a share of what an empty
//! drive holds with one bit per cell. Writes are faster into it as long as the link is not the slowest stage.
//!
//! Where both kinds of blocks are as fast, the drop is where an empty drive runs out of erased blocks, and data of the cache
//! must be moved to make room: each byte in the cache takes the place of as many as its blocks would hold.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::spec::WhenFull;
use fathom_ssd::{Geometry, Spec};

/// The ratio of the speeds from which a drop is clear.
const CLEAR: f64 = 1.5;
/// The shares of the capacity between which a size is clear: a few pieces of a fill, and enough left after it.
const SHARES: (f64, f64) = (0.03, 0.8);
/// The size up to which it may be a write buffer that survives a power cut, in bytes.
const PROTECTED: f64 = 80.0 * 1_048_576.0;
/// How far whole blocks, and writes that go around a cache that is nearly full, may move the size.
const NEAR: (f64, f64) = (0.85, 1.15);

/// Returns what all blocks hold at their full number of bits per cell, in bytes.
fn flash(spec: &Spec) -> f64 {
    let geometry = Geometry::new(spec);
    let good = geometry.cblocks_per_group - geometry.bad_cblocks_per_group;
    f64::from(good * geometry.groups) * spec.flash.clustered_block.0 as f64
}

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(cache) = &spec.fast_cache else {
        return Truth::missing();
    };
    let speeds = Speeds::of(spec);
    let capacity = spec.capacity.0 as f64;
    let group = spec.flash.clustered_block.0 as f64 / f64::from(cache.bits_per_cell);
    let blocks = speeds.groups as f64 * group;
    let fixed = (cache.static_capacity.0 as f64 / blocks).ceil() * blocks;
    let dynamic = capacity / f64::from(cache.bits_per_cell) * cache.dynamic_percent / 100.0;
    let size = fixed + dynamic;
    let value = |bytes: f64| Value::Bytes(bytes.max(0.0) as u64);
    let [low, high] = [NEAR.0 * size - blocks, NEAR.1 * size + blocks];
    let mut right = vec![Right::Between(value(low), value(high))];
    if size == 0.0 {
        return Truth::missing();
    }
    // Both at full width, over the same bus and link.
    let page = speeds.page();
    let stage = |program: f64| {
        let flash = (program + speeds.bus(page)) / speeds.stations;
        flash.max(speeds.link(page))
    };
    let ratio = stage(speeds.program) / stage(cache.program.0 as f64);
    if ratio < CLEAR && cache.when_full == WhenFull::Bypass {
        let all = flash(spec);
        let beside = |cached: f64| value(all - f64::from(cache.bits_per_cell - 1) * cached);
        right.push(Right::Between(beside(high), beside(low)));
    }
    let share = size / capacity;
    let volatile = spec.write_buffer.as_ref().is_some_and(|b| !b.battery);
    let why = match () {
        () if spec.limit.is_some() || spec.thermal.is_some() => "heat or a limit drops as well",
        () if ratio < CLEAR => "the link or the bus makes both speeds alike",
        () if share < SHARES.0 => "it is small",
        () if !volatile && size < PROTECTED => "it may be memory that a flush does not empty",
        () if share > SHARES.1 => "too little is left to see the drop",
        () => return Truth::new(Sight::Identifiable, right, ""),
    };
    Truth::new(Sight::Faint, right, why)
}
