//! The layout of the flash array and the mapping, from the answers on sizes and counts.

use super::dies::dies;
use super::parts::Assumptions;
use crate::twin::seen::Seen;
use fathom_base::Bytes;
use fathom_probe::Parameter;
use fathom_ssd::spec::{Mapping, MappingKind};

const KIB: u64 = 1 << 10;
/// The usual values of what is not known.
const UNIT: u64 = 4 * KIB;
const OVER_PERCENT: f64 = 7.0;
/// The longest page that a drive file may have.
const PAGE_MAX: u64 = 1 << 20;
/// The blocks that a die should have: enough for collection to choose from.
const BLOCKS_OF_DIE: u64 = 160;
const PAGES: std::ops::RangeInclusive<u64> = 16..=512;
/// Fewer pages than this are no block that was reclaimed: the number of dies or the page is another.
const RECLAIMED_MIN: u64 = 16;
/// The bytes of an entry of a map in flash.
const ENTRY: u64 = 8;
/// The dies that share a channel at least where the number of channels is not known.
const CHANNELS_MAX: u64 = 8;

/// The layout of a drive: single planes of the size of the clustered page, one clustered block on one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) capacity: u64,
    pub(super) unit: u64,
    pub(super) page: u64,
    pub(super) dies: u64,
    pub(super) channels: u64,
    pub(super) pages_per_block: u64,
    pub(super) kind: MappingKind,
}

/// Pages that are tried if the answers do not tell the page.
const PAGES_TRIED: [u64; 4] = [16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB];

/// Returns the pages that fit the answers.
pub(super) fn pages_tried(seen: &Seen<'_>) -> Vec<u64> {
    let mut assumed = Assumptions::default();
    let unit = unit(seen, &mut assumed);
    match known_page(seen, unit) {
        Some(page) => vec![page],
        None => {
            let fits = |page: &u64| page.is_multiple_of(unit);
            let mut pages: Vec<u64> = PAGES_TRIED.into_iter().filter(fits).collect();
            if pages.is_empty() {
                pages.push(unit);
            }
            pages
        }
    }
}

/// How dies share channels, and over how many dies a clustered block is striped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::twin) struct Arrangement {
    pub(in crate::twin) channels: u64,
    pub(in crate::twin) wide: u64,
}

/// Returns arrangements of a number of dies: up to eight on a channel, and clustered blocks on one die, one of each channel,
/// or all.
pub(in crate::twin) fn arrangements(dies: u64) -> Vec<Arrangement> {
    let fits = |n: &u64| dies.is_multiple_of(*n) && dies / n <= 8 && *n <= 16;
    let mut channels: Vec<u64> = (1..=dies).rev().filter(fits).take(3).collect();
    if channels.is_empty() {
        channels.push(dies);
    }
    let arranged = channels.into_iter().flat_map(|channels| {
        let mut wide = vec![1, dies / channels, channels, dies];
        wide.sort_unstable();
        wide.dedup();
        wide.into_iter()
            .map(move |wide| Arrangement { channels, wide })
    });
    arranged.collect()
}

pub(super) fn layout(seen: &Seen<'_>, page: u64, assumed: &mut Assumptions) -> Layout {
    let unit = unit(seen, assumed);
    if known_page(seen, unit).is_none() {
        let why = format!(
            "{}; the one that fits best",
            seen.why_not(Parameter::StripeUnit)
        );
        assumed.add("flash.page", Bytes(page), why);
    }
    let dies = dies(seen, page, assumed);
    let kind = kind(seen, assumed);
    let whole = seen.record.meta.target.capacity_bytes;
    let pages_per_block = pages(seen, whole, page, dies, assumed);
    let block = page * pages_per_block;
    // Whatever fits the measured drive fits its twin.
    let capacity = whole.div_ceil(block).max(1) * block;
    if capacity != whole {
        let why = format!("rounded up from {} to whole blocks", Bytes(whole));
        assumed.add("capacity", Bytes(capacity), why);
    }
    let channels = channels(dies);
    if dies > 1 {
        let why = "which dies share a bus does not show; the number that fits best";
        assumed.add("flash.channels", channels, why);
    }
    Layout {
        capacity,
        unit,
        page,
        dies,
        channels,
        pages_per_block,
        kind,
    }
}

fn bytes(seen: &Seen<'_>, parameter: Parameter) -> Option<u64> {
    seen.value(parameter)?.bytes()
}

/// Returns the mapping unit: a power of two of logical blocks.
fn unit(seen: &Seen<'_>, assumed: &mut Assumptions) -> u64 {
    let block = u64::from(seen.record.meta.target.logical_block_bytes).max(1);
    let known = bytes(seen, Parameter::IndirectionUnit);
    let known = known.or_else(|| bytes(seen, Parameter::ClusteredPage));
    // A mapping unit lies on one die: it is no longer than what is striped.
    let stripe =
        bytes(seen, Parameter::StripeUnit).filter(|_| seen.value(Parameter::ReadUnit).is_some());
    let lies = |unit: &u64| stripe.is_none_or(|stripe| *unit <= stripe);
    if let Some(unit) = known.filter(|unit| unit.is_multiple_of(block) && lies(unit)) {
        return unit.min(PAGE_MAX / block * block);
    }
    let unit = UNIT.max(block);
    let why = match known {
        Some(long) => format!("{} would not lie on one die", Bytes(long)),
        None => seen.why_not(Parameter::IndirectionUnit),
    };
    assumed.add("mapping.unit", Bytes(unit), why);
    unit
}

/// Returns the clustered page, if the answers tell it: what lies on one die before the next die's turn. Without a write buffer it
/// is what programs a small write.
fn known_page(seen: &Seen<'_>, unit: u64) -> Option<u64> {
    let fits = |page: &u64| page.is_multiple_of(unit) && *page <= PAGE_MAX;
    let of = |parameter| bytes(seen, parameter).filter(fits);
    let programmed = || of(Parameter::ClusteredPage).filter(|_| seen.waits_for_programs());
    of(Parameter::StripeUnit)
        .or_else(|| of(Parameter::ReadUnit))
        .or_else(programmed)
}

fn channels(dies: u64) -> u64 {
    let fits = |n: &u64| dies.is_multiple_of(*n) && dies / n <= 64;
    let most = (1..=CHANNELS_MAX.min(dies)).rev().find(fits);
    // A number without small divisors would leave one bus for all.
    most.filter(|n| *n >= dies.min(4)).unwrap_or(dies)
}

/// Returns the pages of a block, such that the capacity is a whole number of blocks if that is possible.
fn pages(seen: &Seen<'_>, whole: u64, page: u64, dies: u64, assumed: &mut Assumptions) -> u64 {
    let known = merged(seen).map(|(block, _)| block / page);
    if let Some(pages) = known.filter(|pages| (1..=16_384).contains(pages)) {
        return pages;
    }
    // A drive that stripes over all dies is overwritten by whole stripes of blocks; one that merges them, block by block.
    let wide = if seen.merges() { 1 } else { dies };
    let reclaimed = bytes(seen, Parameter::ReclaimUnit).map(|unit| {
        let pages = unit as f64 / (page * wide) as f64;
        pages.round() as u64
    });
    if let Some(pages) = reclaimed.filter(|pages| (RECLAIMED_MIN..=16_384).contains(pages)) {
        return pages;
    }
    let dips = waits(seen).map(|bytes| (bytes / page as f64).round() as u64);
    if let Some(pages) = dips.filter(|pages| (RECLAIMED_MIN..=16_384).contains(pages)) {
        let why = format!(
            "{}; overwrites in order wait once for each",
            seen.why_not(Parameter::ReclaimUnit)
        );
        assumed.add("flash.pages_per_block", pages, why);
        return pages;
    }
    let wanted = (whole / page / dies / BLOCKS_OF_DIE).clamp(*PAGES.start(), *PAGES.end());
    let far = |pages: &u64| (*pages as f64 / wanted as f64).ln().abs();
    let even = PAGES.filter(|pages| whole.is_multiple_of(page * pages));
    let even = even.min_by(|a, b| far(a).total_cmp(&far(b)));
    let pages = even.filter(|pages| far(pages) < 1.0).unwrap_or(wanted);
    assumed.add(
        "flash.pages_per_block",
        pages,
        seen.why_not(Parameter::ClusteredBlock),
    );
    pages
}

/// The data blocks that share their blocks in a superblock mapping (Kang et al., EMSOFT 2006), and how near two sizes are that
/// are the same.
const SHARED: f64 = 4.0;
const NEAR: f64 = 0.03;

/// Returns the block and the mapping of a drive that merges blocks. What merges show is the block of most mappings, and all
/// data blocks that share their blocks of a superblock mapping; what is reclaimed is a block.
fn merged(seen: &Seen<'_>) -> Option<(u64, Option<MappingKind>)> {
    let merged = bytes(seen, Parameter::ClusteredBlock)?;
    let Some(reclaimed) = bytes(seen, Parameter::ReclaimUnit).filter(|bytes| *bytes > 0) else {
        return Some((merged, None));
    };
    let times = merged as f64 / reclaimed as f64;
    let shared = (times / SHARED).round() * SHARED;
    Some(match () {
        () if (times - 1.0).abs() < NEAR => (merged, Some(MappingKind::Fast)),
        () if shared >= SHARED && (times / shared - 1.0).abs() < NEAR => (
            (merged as f64 / shared).round() as u64,
            Some(MappingKind::Superblock),
        ),
        () => (merged, None),
    })
}

/// Returns the bytes after which a stream in order waits each time, on a drive that merges: a block, whatever zones at random do.
fn waits(seen: &Seen<'_>) -> Option<f64> {
    let apart = seen.figure(Parameter::ReclaimUnit, "dips_apart_bytes");
    apart.filter(|_| seen.merges())
}

/// Returns true if what is merged, what is reclaimed, or a stream in order tells the block of a drive that merges.
pub(in crate::twin) fn knows_block(seen: &Seen<'_>) -> bool {
    let of = |parameter| bytes(seen, parameter).is_some_and(|bytes| bytes > 0);
    of(Parameter::ClusteredBlock) || of(Parameter::ReclaimUnit) || waits(seen).is_some()
}

fn kind(seen: &Seen<'_>, assumed: &mut Assumptions) -> MappingKind {
    if seen.value(Parameter::MapReach).is_some() {
        return MappingKind::Dftl;
    }
    match merged(seen) {
        None if seen.merges() => {
            let why = "random overwrites are many times as slow as those in order; which translation layer does it does not show";
            assumed.add("mapping.kind", MappingKind::Fast, why);
            MappingKind::Fast
        }
        None => MappingKind::Page,
        Some((_, known)) => {
            let kind = known.unwrap_or(MappingKind::Fast);
            let why = match known {
                Some(_) => "by the sizes of what is merged and reclaimed, and by random overwrites",
                None => "blocks are merged; which translation layer does it does not show",
            };
            assumed.add("mapping.kind", kind, why);
            kind
        }
    }
}

pub(super) fn mapping(seen: &Seen<'_>, layout: &Layout, assumed: &mut Assumptions) -> Mapping {
    let over = seen.number(Parameter::OverProvisioning);
    let percent = over.map_or(OVER_PERCENT, |ratio| (ratio * 1e4).round() / 1e2);
    if over.is_none() {
        assumed.add(
            "mapping.over_provisioning_percent",
            percent,
            seen.why_not(Parameter::OverProvisioning),
        );
    }
    let paged = layout.kind.is_paged();
    if !paged {
        assumed.add(
            "mapping.log_blocks",
            8,
            "the number with which random overwrites are as fast",
        );
    }
    let reach = bytes(seen, Parameter::MapReach);
    Mapping {
        unit: Some(Bytes(layout.unit)),
        over_provisioning_percent: percent,
        log_blocks: if paged { 0 } else { 8 },
        map_cache: reach.map(|reach| Bytes((reach / layout.unit * ENTRY).max(64))),
        ..Mapping::new(layout.kind)
    }
}
