//! The layout of the flash array and the mapping, from the answers on sizes and counts.

use super::Assumptions;
use crate::twin::seen::Seen;
use fathom_base::Bytes;
use fathom_probe::Parameter;
use fathom_ssd::spec::{Mapping, MappingKind};

const KIB: u64 = 1 << 10;
/// The usual values of what is not known.
const PAGE: u64 = 16 * KIB;
const UNIT: u64 = 4 * KIB;
const DIES: u64 = 8;
const OVER_PERCENT: f64 = 7.0;
/// The longest page that a drive file may have.
const PAGE_MAX: u64 = 1 << 20;
/// The blocks that a die should have: enough for collection to choose from.
const BLOCKS_OF_DIE: u64 = 160;
const PAGES: std::ops::RangeInclusive<u64> = 16..=512;
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

pub(super) fn layout(seen: &Seen<'_>, assumed: &mut Assumptions) -> Layout {
    let unit = unit(seen, assumed);
    let page = page(seen, unit, assumed);
    let dies = dies(seen, assumed);
    let kind = kind(seen, assumed);
    let whole = seen.record.meta.target.capacity_bytes;
    let pages_per_block = pages(seen, whole, page, dies, assumed);
    let block = page * pages_per_block;
    let capacity = (whole / block).max(1) * block;
    if capacity != whole {
        let why = format!("rounded from {} to whole blocks", Bytes(whole));
        assumed.add("capacity", Bytes(capacity), why);
    }
    let channels = channels(dies);
    let why = "which dies share a bus does not show in the answers";
    assumed.add("flash.channels", channels, why);
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
    if let Some(unit) = known.filter(|unit| unit.is_multiple_of(block)) {
        return unit.min(PAGE_MAX / block * block);
    }
    let unit = UNIT.max(block);
    assumed.add(
        "mapping.unit",
        Bytes(unit),
        seen.why_not(Parameter::IndirectionUnit),
    );
    unit
}

/// Returns the clustered page: what lies on one die before the next die's turn.
fn page(seen: &Seen<'_>, unit: u64, assumed: &mut Assumptions) -> u64 {
    let fits = |page: &u64| page.is_multiple_of(unit) && *page <= PAGE_MAX;
    let of = |parameter| bytes(seen, parameter).filter(fits);
    let known = of(Parameter::StripeUnit).or_else(|| of(Parameter::ReadUnit));
    if let Some(page) = known {
        return page;
    }
    let page = PAGE.next_multiple_of(unit);
    assumed.add(
        "flash.page",
        Bytes(page),
        seen.why_not(Parameter::StripeUnit),
    );
    page
}

/// Returns the number of dies. The rate of random reads that saturate the flash tells it more exactly than pairs of reads
/// do; of several numbers that fit, the one with the most factors of two is taken, because dies come in equal channels.
fn dies(seen: &Seen<'_>, assumed: &mut Assumptions) -> u64 {
    let pairs = seen.interval(Parameter::Parallelism);
    let busy = busy(seen);
    if let (Some([low, high]), Some(busy)) = (pairs, busy)
        && busy >= 0.6 * low
        && busy <= 1.1 * high
        && seen.number(Parameter::QueueKnee).is_some()
    {
        return even(0.92 * busy, 1.03 * busy).max(1);
    }
    if let Some([low, high]) = pairs {
        return even(low, high).max(1);
    }
    if seen.is_absent(Parameter::Parallelism) {
        return 1;
    }
    let least = busy.map_or(DIES, |busy| (busy.ceil() as u64).next_power_of_two());
    let dies = least.clamp(1, 256);
    assumed.add("flash.dies", dies, seen.why_not(Parameter::Parallelism));
    dies
}

/// Returns how many dies the highest rate of random reads keeps busy.
fn busy(seen: &Seen<'_>) -> Option<f64> {
    let peak = seen.figure(Parameter::QueueKnee, "iops")?;
    let flash = seen.figure(Parameter::Parallelism, "flash_ns")?;
    Some(peak * flash / 1e9)
}

/// Returns the whole number in an interval that is divisible by the largest power of two; the nearest one if there is none.
fn even(low: f64, high: f64) -> u64 {
    let (from, to) = (low.ceil() as u64, high.floor() as u64);
    let best = (from..=to).max_by_key(|n| (n.trailing_zeros().min(4), *n));
    best.unwrap_or(((low + high) / 2.0).round() as u64)
}

fn channels(dies: u64) -> u64 {
    let fits = |n: &u64| dies.is_multiple_of(*n) && dies / n <= 64;
    let most = (1..=CHANNELS_MAX.min(dies)).rev().find(fits);
    // A number without small divisors would leave one bus for all.
    most.filter(|n| *n >= dies.min(4)).unwrap_or(dies)
}

/// Returns the pages of a block, such that the capacity is a whole number of blocks if that is possible.
fn pages(seen: &Seen<'_>, whole: u64, page: u64, dies: u64, assumed: &mut Assumptions) -> u64 {
    let known = bytes(seen, Parameter::ClusteredBlock).map(|block| block / page);
    if let Some(pages) = known.filter(|pages| (1..=16_384).contains(pages)) {
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

fn kind(seen: &Seen<'_>, assumed: &mut Assumptions) -> MappingKind {
    if seen.value(Parameter::MapReach).is_some() {
        return MappingKind::Dftl;
    }
    if seen.value(Parameter::ClusteredBlock).is_some() {
        let why = "blocks are merged; which translation layer does it does not show";
        assumed.add("mapping.kind", "superblock", why);
        return MappingKind::Superblock;
    }
    MappingKind::Page
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
            "the number of log blocks does not show",
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
