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

/// The batches of random writes of a few blocks, and the writes of a batch.
const NEAR_BATCHES: u64 = 8;
const NEAR_WRITES: u64 = 64;

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

/// Overwrites ever longer parts of a candidate at random, and returns the length of each part in bytes, and its rates in bytes per
/// second.
pub(super) fn near(rig: &mut Rig, spec: &Spec, parts: &[u64]) -> Vec<(u64, Vec<f64>)> {
    let len = length(spec);
    let mut rates = |part: u64| {
        let places = (part.min(rig.span) / len).max(1);
        let mut rate = || {
            let any = |_| Ask::new(Op::Write, rig.below(places) * len, len);
            let asks: Vec<Ask> = (0..NEAR_WRITES).map(any).collect();
            (NEAR_WRITES * len) as f64 / rig.together(&asks, DEPTH) * 1e9
        };
        (0..NEAR_BATCHES).map(|_| rate()).collect()
    };
    parts.iter().map(|part| (*part, rates(*part))).collect()
}

#[cfg(test)]
mod tests {
    use crate::twin::bench::Bench;
    use crate::twin::figures::{What, distance, goals, samples};
    use crate::twin::seen::Seen;
    use fathom_base::Bytes;
    use fathom_probe::run::{RunConfig, run, solve};
    use fathom_probe::{Level, Parameter, Unobserved};
    use fathom_ssd::Spec;
    use fathom_ssd::spec::{Mapping, MappingKind};

    /// A log block for each block that is written, and superblocks, are as fast with overwrites of the whole part; of a few blocks
    /// they are not.
    #[test]
    fn overwrites_of_a_few_blocks_tell_translation_layers_apart() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.capacity = Bytes::mib(1024);
        spec.write_buffer = None;
        (spec.flash.channels, spec.flash.dies_per_package) = (1, 1);
        (spec.flash.packages_per_channel, spec.flash.planes_per_die) = (1, 1);
        (spec.flash.page, spec.flash.clustered_page) = (Bytes::kib(16), Bytes::kib(16));
        spec.flash.pages_per_block = 96;
        spec.flash.clustered_block = Bytes::kib(1536);
        spec.capacity = Bytes::kib(1536 * 600);
        spec.mapping = Mapping::new(MappingKind::Block);
        spec.mapping.log_blocks = 4;
        spec.check().unwrap();
        let mut drive = fathom_model::Model::Ssd(Box::new(spec.clone()))
            .build(1)
            .unwrap();
        let config = RunConfig {
            seed: 1,
            level: Level::Full,
            parameters: vec![Parameter::FastCache, Parameter::OverProvisioning],
            ..RunConfig::default()
        };
        let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = solve(&record);
        let seen = Seen::new(&record, &profile);
        let goals = goals(&samples(&seen));
        let bench = Bench::of(&seen);
        let far = |kind| {
            let mut spec = spec.clone();
            spec.mapping.kind = kind;
            let samples = bench.merges(&spec).unwrap();
            distance(&goals, &samples, |what| what == What::Near)
        };
        let (own, other) = (far(MappingKind::Block), far(MappingKind::Superblock));
        assert!(own < 3.0 && other > 3.0 * own, "{own} and {other}");
    }
}
