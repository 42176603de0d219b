//! Ground truth of the reclaim unit: what a stream of writes fills before the drive erases blocks of all dies again.
//!
//! A page-mapped drive spreads a stream over all groups, one clustered page each in turn, so that their open blocks are full
//! together: a clustered block of every group is the unit. Parity (RAIN) lies in blocks of its own, which are erased with these
//! (`fathom_ssd`, `engine/parity.rs`). A drive that keeps its map in flash writes pages of it between those of the host, which
//! makes the unit smaller by a few percent at most. A static order of groups fills them together as well.
//!
//! With a fast cache a stream fills blocks of all groups in SLC mode, which hold only a part of their pages. Folding erases them
//! together as well, so that their size is not wrong.
//!
//! The erases show in a stream if flash is the slowest stage. Then data is moved for small zones, if the spare flash is
//! too little to wait until all zones of a unit are written again. Three things make either of them unclear: a fast cache, whose
//! shorter blocks are erased and folded between the others; victims drawn at random, which are not those that a stream has
//! emptied; and a limit in front of the drive. Log blocks are merged and not collected.

use super::clustered_block::SUPERBLOCK;
use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::spec::{MappingKind, Victim};
use fathom_ssd::{Geometry, Spec};

/// The least number of units of a drive: with fewer, a zone of some units is a large part of all.
const UNITS_MIN: u64 = 32;
/// The largest ratio of spare flash for data to be moved for small zones.
const SPARE_MAX: f64 = 0.3;

pub(super) fn truth(spec: &Spec) -> Truth {
    let block = spec.flash.clustered_block.0;
    let row = block * Speeds::of(spec).groups;
    let size = Value::Bytes;
    if !spec.mapping.kind.is_paged() {
        // The blocks of a superblock (`ftl/superblock.rs`) are merged and erased one after the other.
        let wide = match spec.mapping.kind {
            MappingKind::Superblock => row * SUPERBLOCK,
            _ => row,
        };
        let mut sizes = vec![block, row, wide];
        sizes.dedup();
        let right = sizes
            .into_iter()
            .map(|bytes| Right::Is(size(bytes)))
            .collect();
        return Truth::new(Sight::Faint, right, "log blocks are merged, not collected");
    }
    let one = |unit: u64| match spec.mapping.kind {
        MappingKind::Dftl => Right::Between(size(unit / 100 * 95), size(unit)),
        _ => Right::Is(size(unit)),
    };
    let cached = spec.fast_cache.as_ref().map(|cache| {
        let pages = u64::from(spec.flash.pages_per_block);
        row / pages * (pages / u64::from(cache.bits_per_cell))
    });
    let right: Vec<Right> = std::iter::once(row).chain(cached).map(one).collect();
    match why_not(spec, row) {
        None => Truth::new(Sight::Identifiable, right, ""),
        Some(why) => Truth::new(Sight::Faint, right, why),
    }
}

/// Returns why the unit is not seen clearly, if so.
fn why_not(spec: &Spec, unit: u64) -> Option<&'static str> {
    let (geometry, speeds) = (Geometry::new(spec), Speeds::of(spec));
    let good = geometry.cblocks_per_group - geometry.bad_cblocks_per_group;
    let flash = f64::from(good * geometry.groups) * f64::from(geometry.units_per_cblock);
    let spare = flash / f64::from(geometry.logical_units) - 1.0;
    let page = speeds.page();
    match () {
        () if spec.limit.is_some() => Some("a limit is slower than erases"),
        () if spec.thermal.is_some() => Some("heat changes the speed"),
        () if spec.fast_cache.is_some() => Some("the fast cache erases blocks of its own"),
        () if matches!(spec.gc.victim, Victim::DChoices) => {
            Some("victims are drawn at random, so that their erases have no order")
        }
        () if speeds.host(page) >= speeds.programmed(page as f64, speeds.stations) => {
            Some("the link is slower than flash, so that memory hides erases")
        }
        () if spec.capacity.0 / unit.max(1) < UNITS_MIN || spare > SPARE_MAX => {
            Some("the spare flash outlasts small zones")
        }
        () => None,
    }
}
