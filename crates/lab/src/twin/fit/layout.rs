//! Structures that are tried: the arrangement of the dies, and the manners of a fast cache.

use crate::twin::draft::{Arrangement, arrangements, rate};
use fathom_base::Bytes;
use fathom_ssd::Spec;
use fathom_ssd::spec::{FastCache, Fold, MappingKind, WhenFull};

/// Returns a drive with other arrangements of its dies.
pub(super) fn arranged(spec: &Spec, faster: f64) -> Vec<Spec> {
    let flash = &spec.flash;
    let dies = u64::from(flash.channels * flash.dies_per_package);
    let lane = flash.page.0 * u64::from(flash.pages_per_block);
    let with = |arrangement: Arrangement| {
        let Arrangement { channels, wide } = arrangement;
        let mut spec = spec.clone();
        spec.host.bandwidth = rate(faster * spec.host.bandwidth.bytes_per_second() as f64);
        spec.flash.channels = channels as u32;
        spec.flash.dies_per_package = (dies / channels) as u32;
        // A wide block may not divide the capacity, which is not below that of the measured drive.
        let whole = spec.capacity.0.next_multiple_of(lane * wide);
        if spec.mapping.kind.is_paged() {
            spec.flash.clustered_block = Bytes(lane * wide);
            spec.capacity = Bytes(whole);
        }
        whole_blocks(&mut spec);
        spec
    };
    arrangements(dies).into_iter().map(with).collect()
}

/// Makes the static part of a fast cache a whole number of blocks of every group: the drive rounds it up.
fn whole_blocks(spec: &mut Spec) {
    let flash = &spec.flash;
    let dies = u64::from(flash.channels * flash.dies_per_package);
    let wide = flash.clustered_block.0 / (flash.page.0 * u64::from(flash.pages_per_block)).max(1);
    let Some(cache) = &mut spec.fast_cache else {
        return;
    };
    let pages = u64::from((flash.pages_per_block / cache.bits_per_cell.max(1)).max(1));
    let of_all = flash.page.0 * pages * wide.max(1) * (dies / wide.max(1)).max(1);
    let blocks = (cache.static_capacity.0 as f64 / of_all as f64).round() as u64;
    let some = u64::from(cache.static_capacity.0 > 0);
    cache.static_capacity = Bytes(blocks.max(some) * of_all);
}

/// Returns a drive with every manner of its fast cache.
pub(super) fn caches(spec: &Spec) -> Vec<Spec> {
    let Some(cache) = &spec.fast_cache else {
        return vec![spec.clone()];
    };
    let with = |cache: FastCache| Spec {
        fast_cache: Some(cache),
        ..spec.clone()
    };
    let full = [WhenFull::Bypass, WhenFull::Fold];
    let full = full.map(|when_full| FastCache {
        when_full,
        ..cache.clone()
    });
    let mut all = full.to_vec();
    // What a pause does not give back stays full: its static part was not seen, and a full drive that folds has none or some.
    if cache.fold == Fold::Pressure && cache.static_capacity.0 > 0 {
        let [_, folds] = full;
        let native = cache.static_capacity.0 as f64 * f64::from(cache.bits_per_cell);
        let more = (native / spec.capacity.0 as f64 * 100.0).round();
        all.push(FastCache {
            static_capacity: Bytes(0),
            dynamic_percent: (folds.dynamic_percent + more).min(100.0),
            ..folds
        });
    }
    all.into_iter().map(with).collect()
}

/// Returns a drive with other numbers of log blocks, of one log for all blocks and of a log block for each one that is written: the
/// sizes of what is merged and of what is reclaimed are those of both.
pub(super) fn logs(spec: &Spec) -> Vec<Spec> {
    let kinds: &[MappingKind] = match spec.mapping.kind {
        MappingKind::Fast => &[MappingKind::Fast, MappingKind::Block],
        _ => &[spec.mapping.kind],
    };
    let with = |kind: MappingKind, log_blocks: u32| {
        let mut spec = spec.clone();
        spec.mapping.kind = kind;
        spec.mapping.log_blocks = log_blocks;
        spec
    };
    let of = |kind: &MappingKind| LOGS.map(|logs| with(*kind, logs));
    kinds.iter().flat_map(of).collect()
}

/// The numbers of log blocks that are tried.
const LOGS: [u32; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

#[cfg(test)]
mod tests {
    use super::*;

    /// A workload that fits the measured drive fits every arrangement of its twin.
    #[test]
    fn no_arrangement_is_smaller_than_the_drive() {
        let text = fathom_model::find("nvme").unwrap().text;
        let mut spec = Spec::from_toml(text).unwrap();
        let lane = spec.flash.page.0 * u64::from(spec.flash.pages_per_block);
        // A prime number of blocks is divided by no number of dies.
        spec.capacity = Bytes(1009 * lane);
        let all = arranged(&spec, 1.0);
        assert!(all.len() > 1);
        for one in all {
            assert!(one.capacity.0 >= spec.capacity.0, "{}", one.capacity);
            assert!(one.capacity.0.is_multiple_of(one.flash.clustered_block.0));
        }
    }

    /// What merges and what is reclaimed are one block of a log for all blocks and of a log block for each; of a superblock they
    /// are not.
    #[test]
    fn translation_layers_that_sizes_do_not_tell_apart_are_both_tried() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        let kinds = |spec: &Spec| {
            let mut kinds: Vec<MappingKind> = logs(spec).iter().map(|s| s.mapping.kind).collect();
            kinds.dedup();
            kinds
        };
        spec.mapping.kind = MappingKind::Fast;
        assert_eq!(kinds(&spec), [MappingKind::Fast, MappingKind::Block]);
        spec.mapping.kind = MappingKind::Superblock;
        assert_eq!(kinds(&spec), [MappingKind::Superblock]);
    }
}
