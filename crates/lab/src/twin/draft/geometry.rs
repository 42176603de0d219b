//! The layout of the flash array, from the answers on sizes and counts.

use super::dies::dies;
use super::mapping::{Mapped, merged, waits};
use super::parts::{Assumptions, Layout};
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_base::Bytes;
use fathom_probe::Parameter;
use fathom_ssd::spec::MappingKind;

const KIB: u64 = 1 << 10;
/// The usual value of what is not known.
const UNIT: u64 = 4 * KIB;
/// The longest page that a drive file may have.
const PAGE_MAX: u64 = 1 << 20;
/// The blocks that a die should have: enough for collection to choose from.
const BLOCKS_OF_DIE: u64 = 160;
const PAGES: std::ops::RangeInclusive<u64> = 16..=512;
/// Fewer pages than this are no block that was reclaimed: the number of dies or the page is another.
const RECLAIMED_MIN: u64 = 16;
/// The dies that share a channel at least where the number of channels is not known.
const CHANNELS_MAX: u64 = 8;

/// Pages that are tried if the answers do not tell the page.
const PAGES_TRIED: [u64; 4] = [16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB];

/// How many times as long as the usual unit those are that are tried if the answers do not tell the unit.
const UNITS_TRIED: [u64; 3] = [1, 4, 16];

/// Returns the mapping units that fit the answers: a power of two of logical blocks, or the usual one and longer ones. Those are
/// told apart by the loops that write, if there are such.
pub(super) fn units_tried(seen: &Seen<'_>) -> Vec<u64> {
    let usual = UNIT.max(logical_block(seen));
    let written = seen.series(Parameter::FastCache, series::LOAD_WRITE);
    match told_unit(seen) {
        Ok(unit) => vec![unit],
        Err(_) if written.is_empty() || !lies(seen, 4 * usual) => vec![usual],
        Err(_) => {
            let page = known_page(seen, usual);
            let fits = |unit: &u64| lies(seen, *unit) && known_page(seen, *unit) == page;
            let tried = UNITS_TRIED.map(|times| times * usual);
            tried.into_iter().filter(fits).collect()
        }
    }
}

/// Returns the pages that fit the answers and a mapping unit.
pub(super) fn pages_tried(seen: &Seen<'_>, unit: u64) -> Vec<u64> {
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

pub(super) fn layout(
    seen: &Seen<'_>,
    (unit, page): (u64, u64),
    mapped: Mapped,
    assumed: &mut Assumptions,
) -> Layout {
    if let Err(why) = told_unit(seen) {
        let why = match units_tried(seen).len() {
            1 => why,
            _ => format!("{why}; the one that fits best"),
        };
        assumed.add("mapping.unit", Bytes(unit), why);
    }
    if known_page(seen, unit).is_none() {
        let why = format!(
            "{}; the one that fits best",
            seen.why_not(Parameter::StripeUnit)
        );
        assumed.add("flash.page", Bytes(page), why);
    }
    let dies = dies(seen, page, assumed);
    let Mapped { kind, why } = mapped;
    if let Some(why) = why {
        assumed.add("mapping.kind", kind, why);
    }
    let whole = seen.record.meta.target.capacity_bytes;
    let pages_per_block = pages(seen, kind, [whole, page, dies], assumed);
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

fn logical_block(seen: &Seen<'_>) -> u64 {
    u64::from(seen.record.meta.target.logical_block_bytes).max(1)
}

/// Returns true if a mapping unit lies on one die: it is no longer than what is striped.
fn lies(seen: &Seen<'_>, unit: u64) -> bool {
    let stripe = seen
        .bytes(Parameter::StripeUnit)
        .filter(|_| seen.value(Parameter::ReadUnit).is_some());
    stripe.is_none_or(|stripe| unit <= stripe)
}

/// Returns the mapping unit, or why the answers do not tell it.
fn told_unit(seen: &Seen<'_>) -> Result<u64, String> {
    let block = logical_block(seen);
    let known = seen.bytes(Parameter::IndirectionUnit);
    let known = known.or_else(|| seen.bytes(Parameter::ClusteredPage));
    match known.filter(|unit| unit.is_multiple_of(block)) {
        Some(unit) if lies(seen, unit) => Ok(unit.min(PAGE_MAX / block * block)),
        Some(long) => Err(format!("{} would not lie on one die", Bytes(long))),
        None => Err(seen.why_not(Parameter::IndirectionUnit)),
    }
}

/// Returns the clustered page, if the answers tell it: what lies on one die before the next die's turn. Without a write buffer it
/// is what programs a small write.
fn known_page(seen: &Seen<'_>, unit: u64) -> Option<u64> {
    let fits = |page: &u64| page.is_multiple_of(unit) && *page <= PAGE_MAX;
    let of = |parameter| seen.bytes(parameter).filter(fits);
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
fn pages(
    seen: &Seen<'_>,
    kind: MappingKind,
    [whole, page, dies]: [u64; 3],
    assumed: &mut Assumptions,
) -> u64 {
    let known = merged(seen).map(|(block, _)| block / page);
    if let Some(pages) = known.filter(|pages| (1..=16_384).contains(pages)) {
        return pages;
    }
    // A drive that stripes over all dies is overwritten by whole stripes of blocks; one that merges them, block by block.
    let wide = if kind.is_paged() { dies } else { 1 };
    let reclaimed = seen.bytes(Parameter::ReclaimUnit).map(|unit| {
        let pages = unit as f64 / (page * wide) as f64;
        pages.round() as u64
    });
    if let Some(pages) = reclaimed.filter(|pages| (RECLAIMED_MIN..=16_384).contains(pages)) {
        return pages;
    }
    let waits = waits(seen).filter(|_| !kind.is_paged());
    let dips = waits.map(|bytes| (bytes / page as f64).round() as u64);
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
