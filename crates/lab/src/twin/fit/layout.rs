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

/// Returns a drive with every manner of its fast cache, or of its blocks if it merges them.
pub(super) fn manners(spec: &Spec) -> Vec<Spec> {
    if !spec.mapping.kind.is_paged() {
        return wide(spec);
    }
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

/// Returns a drive that merges with its blocks on one die, and on several.
fn wide(spec: &Spec) -> Vec<Spec> {
    let flash = &spec.flash;
    let dies = u64::from(flash.channels * flash.dies_per_package);
    let widths = arrangements(dies).into_iter().map(|one| one.wide);
    let mut widths: Vec<u64> = widths.collect();
    widths.sort_unstable();
    widths.dedup();
    let with = |wide: u64| {
        let mut spec = spec.clone();
        let pages = u64::from(spec.flash.pages_per_block);
        spec.flash.pages_per_block = (pages / wide) as u32;
        (pages.is_multiple_of(wide) && spec.check().is_ok()).then_some(spec)
    };
    widths.into_iter().filter_map(with).collect()
}

/// Returns a drive that merges with other translation layers and numbers of log blocks. Where the sizes of what is merged and of
/// what is reclaimed tell one, it is a superblock mapping. Else there are one log for all blocks, a log block for each one that is
/// written, and superblocks, of which all blocks that share theirs are merged together.
pub(super) fn layers(spec: &Spec) -> Vec<Spec> {
    let dies = spec.flash.channels * spec.flash.dies_per_package;
    // The blocks of a superblock lie on one die each, and the superblocks of all dies are written in turn.
    let shares: &[u32] = match spec.mapping.kind {
        MappingKind::Superblock => &[1],
        _ => &[1, SHARED, SHARED * dies],
    };
    let mut kinds = match spec.mapping.kind {
        MappingKind::Superblock => Vec::new(),
        _ => vec![(MappingKind::Fast, 1), (MappingKind::Block, 1)],
    };
    kinds.extend(shares.iter().map(|share| (MappingKind::Superblock, *share)));
    kinds.dedup();
    let with = |(kind, share): (MappingKind, u32), log_blocks: u32| {
        let mut spec = spec.clone();
        spec.mapping.kind = kind;
        spec.mapping.log_blocks = log_blocks;
        let pages = spec.flash.pages_per_block;
        let whole = pages.is_multiple_of(share);
        whole.then(|| with_block(&spec, pages / share)).flatten()
    };
    let of = |kind| FEW_LOGS.map(|logs| with(kind, logs));
    kinds.into_iter().flat_map(of).flatten().collect()
}

/// Returns a drive that merges with other blocks.
pub(super) fn blocks(spec: &Spec) -> Vec<Spec> {
    let pages = f64::from(spec.flash.pages_per_block);
    let with = |times: f64| with_block(spec, (pages * times).round() as u32);
    BLOCKS.into_iter().filter_map(with).collect()
}

/// Returns a drive with other blocks, if they are not known, and with other static parts of its fast cache, the first as it is.
/// How often a drive erases, and what it folds when it is full, follow from them.
pub(super) fn sized(spec: &Spec, block: bool) -> Vec<Spec> {
    let times: &[f64] = if block { &[1.0] } else { &LONGER };
    let pages = f64::from(spec.flash.pages_per_block);
    let longer = times
        .iter()
        .filter_map(|times| with_block(spec, (pages * times).round() as u32));
    let size = empty_bytes(spec);
    let parts = longer.flat_map(|spec| STATICS.map(|share| with_static(&spec, share, size)));
    let mut all: Vec<Spec> = std::iter::once(spec.clone())
        .chain(parts.flatten().filter(|spec| spec.check().is_ok()))
        .collect();
    all.dedup();
    all
}

/// Returns the bytes that the fast cache of an empty drive takes.
fn empty_bytes(spec: &Spec) -> f64 {
    spec.fast_cache.as_ref().map_or(0.0, |cache| {
        let dynamic = cache.dynamic_percent / 100.0 * spec.capacity.0 as f64;
        cache.static_capacity.0 as f64 + dynamic / f64::from(cache.bits_per_cell)
    })
}

/// Returns a drive whose fast cache takes `size` bytes when the drive is empty, and of which another share of the capacity is
/// static.
fn with_static(spec: &Spec, share: Option<f64>, size: f64) -> Option<Spec> {
    let mut spec = spec.clone();
    let capacity = spec.capacity.0 as f64;
    let cache = spec.fast_cache.as_mut()?;
    if let Some(share) = share {
        cache.static_capacity = Bytes((share * capacity).min(size) as u64);
        whole_blocks(&mut spec);
    }
    let cache = spec.fast_cache.as_mut()?;
    let rest = size - cache.static_capacity.0 as f64;
    let percent = rest.max(0.0) * f64::from(cache.bits_per_cell) / capacity * 100.0;
    cache.dynamic_percent = (percent * 10.0).round() / 10.0;
    Some(spec)
}

/// Returns a drive that merges, and the same with twice as many dies. A block stays on one of them.
pub(super) fn with_dies(spec: &Spec) -> Vec<Spec> {
    let with = |times: u32| {
        let mut spec = spec.clone();
        spec.flash.dies_per_package *= times;
        spec.check().is_ok().then_some(spec)
    };
    [1, 2].into_iter().filter_map(with).collect()
}

/// Returns a drive with other rates of its buses, the first as it is.
pub(super) fn buses(spec: &Spec) -> Vec<Spec> {
    let with = |bytes_per_second: &f64| {
        let mut spec = spec.clone();
        spec.flash.bus = rate(*bytes_per_second);
        spec
    };
    std::iter::once(spec.clone())
        .chain(BUSES.iter().map(with))
        .collect()
}

/// Returns a drive that merges, and the same with a log block less, with one more, and with other numbers of them.
pub(super) fn nearby(spec: &Spec) -> Vec<Spec> {
    let logs = spec.mapping.log_blocks;
    let with = |log_blocks: u32| {
        let mut spec = spec.clone();
        spec.mapping.log_blocks = log_blocks;
        spec
    };
    let near = [logs, logs.saturating_sub(1), logs + 1].into_iter();
    let near = near.chain(LOGS).map(with);
    near.filter(|one| one.check().is_ok()).collect()
}

/// Returns a drive with another number of pages of a block, if there is one.
fn with_block(spec: &Spec, pages: u32) -> Option<Spec> {
    let mut spec = spec.clone();
    let flash = &mut spec.flash;
    let wide = flash.clustered_block.0 / (flash.page.0 * u64::from(flash.pages_per_block));
    let block = flash.page.0 * u64::from(pages) * wide;
    flash.pages_per_block = pages;
    flash.clustered_block = Bytes(block);
    spec.capacity = Bytes(spec.capacity.0.next_multiple_of(block.max(1)));
    whole_blocks(&mut spec);
    spec.check().is_ok().then_some(spec)
}

/// The blocks that are tried, over the assumed one.
const BLOCKS: [f64; 7] = [1.0, 0.25, 0.35, 0.5, 0.7, 1.4, 2.0];

/// The blocks that are tried of a drive that maps pages, over the assumed one, and the static parts of its fast cache, as shares
/// of the capacity.
const LONGER: [f64; 4] = [1.0, 2.5, 6.0, 14.0];
const STATICS: [Option<f64>; 4] = [None, Some(0.0), Some(0.01), Some(0.02)];

/// The data blocks that share their blocks in a superblock mapping (Kang et al., EMSOFT 2006).
const SHARED: u32 = 4;

/// The rates of buses that are tried where no read tells them, in bytes per second: from 40 MT/s of eight bits on.
const BUSES: [f64; 9] = [40e6, 66e6, 100e6, 133e6, 166e6, 200e6, 266e6, 333e6, 400e6];

/// The numbers of log blocks that are tried, and those with which translation layers are compared.
const FEW_LOGS: [u32; 3] = [1, 4, 12];
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
            let mut kinds: Vec<MappingKind> = layers(spec).iter().map(|s| s.mapping.kind).collect();
            kinds.dedup();
            kinds
        };
        spec.mapping.kind = MappingKind::Fast;
        let three = [
            MappingKind::Fast,
            MappingKind::Block,
            MappingKind::Superblock,
        ];
        assert_eq!(kinds(&spec), three);
        spec.mapping.kind = MappingKind::Superblock;
        assert_eq!(kinds(&spec), [MappingKind::Superblock]);
    }

    /// A card of two dies of 64 KiB pages, whose block of 8 MiB is on one of them.
    fn card() -> Spec {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.flash.channels = 1;
        spec.flash.packages_per_channel = 1;
        spec.flash.dies_per_package = 2;
        spec.flash.planes_per_die = 1;
        spec.flash.page = Bytes::kib(64);
        spec.flash.clustered_page = Bytes::kib(64);
        spec.flash.pages_per_block = 128;
        spec.flash.clustered_block = Bytes::mib(8);
        spec.capacity = Bytes::mib(1024);
        spec.mapping.kind = MappingKind::Fast;
        spec.mapping.unit = Some(Bytes::kib(64));
        spec.mapping.log_blocks = 4;
        spec.check().unwrap();
        spec
    }

    #[test]
    fn a_block_that_is_merged_may_lie_on_several_dies() {
        let pages = |spec: &Spec| (spec.flash.pages_per_block, spec.flash.clustered_block);
        let all: Vec<_> = manners(&card()).iter().map(pages).collect();
        assert_eq!(all, [(128, Bytes::mib(8)), (64, Bytes::mib(8))]);
    }

    /// Four blocks of a superblock mapping are merged together, so that what merges show may be four blocks.
    #[test]
    fn superblocks_of_four_blocks_and_of_one_are_tried() {
        let all = layers(&card());
        let supers = all
            .iter()
            .filter(|one| one.mapping.kind == MappingKind::Superblock);
        let mut sizes: Vec<Bytes> = supers.map(|one| one.flash.clustered_block).collect();
        sizes.dedup();
        assert_eq!(sizes, [Bytes::mib(8), Bytes::mib(2), Bytes::mib(1)]);
        let near = nearby(&card());
        let near: Vec<u32> = near.iter().map(|one| one.mapping.log_blocks).collect();
        assert_eq!(near[..3], [4, 3, 5]);
        assert!(LOGS.iter().all(|logs| near.contains(logs)));
    }

    /// The fast cache of an empty drive is measured; how much of it is static, and the block, need not show.
    #[test]
    fn longer_blocks_and_static_parts_leave_the_fast_cache_as_large() {
        let mut spec = Spec::from_toml(fathom_model::find("tlc-dram").unwrap().text).unwrap();
        let block = |spec: &Spec| spec.flash.clustered_block.0;
        let fixed = |spec: &Spec| spec.fast_cache.as_ref().unwrap().static_capacity.0;
        let known = sized(&spec, true);
        assert!(known.len() > 2);
        assert_eq!(known[0], spec);
        assert!(known.iter().all(|one| block(one) == block(&spec)));
        assert!(known.iter().any(|one| fixed(one) == 0));
        let open = sized(&spec, false);
        assert!(open.iter().any(|one| block(one) > 10 * block(&spec)));
        for one in known.iter().chain(&open) {
            one.check().unwrap();
            assert!(
                (empty_bytes(one) / empty_bytes(&spec) - 1.0).abs() < 0.02,
                "{}",
                empty_bytes(one) / empty_bytes(&spec)
            );
        }
        spec.fast_cache = None;
        assert_eq!(sized(&spec, true), [spec]);
    }

    #[test]
    fn blocks_that_nothing_tells_are_tried_from_a_quarter_to_twice() {
        let of = |spec: &Spec| spec.flash.clustered_block.0 >> 10;
        let sizes: Vec<u64> = blocks(&card()).iter().map(of).collect();
        assert_eq!(sizes, [8192, 2048, 2880, 4096, 5760, 11456, 16384]);
        for one in blocks(&card()) {
            assert!(one.capacity >= card().capacity);
        }
    }
}
