//! How many clustered blocks a group has, and what they are for.

use crate::spec::{FastCache, Separation, Spec};

/// Number of clustered blocks of a group, by purpose.
pub(super) struct Blocks {
    pub(super) groups: u64,
    /// Blocks for the group's share of the capacity.
    pub(super) share: u64,
    /// Blocks for over-provisioning or logs and for lost units, plus the reserve and the bad blocks.
    pub(super) spare: u64,
    pub(super) reserve: u64,
    /// Blocks that are bad from the start; part of `spare`.
    pub(super) bad: u64,
    pub(super) units_lost: u64,
    /// Blocks of the static part of the fast cache; part of `reserve`.
    pub(super) fast: u64,
    /// Clustered pages of a block in SLC mode.
    pub(super) fast_cpages: u64,
}

impl Blocks {
    pub(super) fn of(spec: &Spec) -> Blocks {
        let (flash, mapping) = (&spec.flash, &spec.mapping);
        let dies = flash.channels * flash.packages_per_channel * flash.dies_per_package;
        let planes = u64::from(dies) * u64::from(flash.planes_per_die);
        let block = flash.page.0 * u64::from(flash.pages_per_block);
        let groups = planes / (flash.clustered_block.0 / block);
        let share = (spec.stored() / flash.clustered_block.0).div_ceil(groups);
        let over = (share as f64 * mapping.over_provisioning_percent / 100.0).round() as u64;
        // Parity takes unnumbered blocks from over-provisioning.
        let of = u64::from(flash.parity_stripe);
        let over = over.saturating_sub((share + over).checked_div(of).unwrap_or(0));
        // Page mapping gets as many spare blocks as it would get log blocks.
        let logs = spec.logs_per_group(mapping.log_blocks, groups as u32);
        let paged = mapping.kind.is_paged();
        // The rest of a page that cannot be programmed again stays empty.
        let loses = paged && !mapping.partial_program;
        let units_lost = if loses {
            flash.clustered_page.0 / spec.unit() - 1
        } else {
            0
        };
        // Reserve, in addition to what the user asked for: two open blocks, two in exchange and, with page mapping, one
        // erased block that is kept for recovery after a power cut. Without them no data can be moved. Hot data may have
        // a third open block, and so may data that is moved for wear levelling.
        let parted = spec.gc.separate == Separation::HotCold;
        let levelled = spec.gc.wear_gap > 0;
        let open = u64::from(parted) + u64::from(levelled);
        let (fast, fast_cpages) = match &spec.fast_cache {
            Some(cache) => fast_of(spec, cache, groups),
            None => (0, 0),
        };
        // The fast cache has its static blocks and an open one.
        let cached = fast + u64::from(spec.fast_cache.is_some());
        // Each placement handle but the first has one, too.
        let handles = u64::from(mapping.placement_handles.max(1)) - 1;
        let reserve = if paged {
            5 + open + cached + handles
        } else {
            4
        };
        // Enough blocks for all data even if each of them has lost units. A mapping table in flash takes its space from
        // the spare blocks as far as they suffice, so the flash is as large as that of a drive with its map in memory.
        let units = flash.clustered_block.0 / spec.unit();
        let held = (u128::from(share) * u128::from(units)).max(with_map(spec, groups));
        let held = held.div_ceil(u128::from(units - units_lost)) as u64;
        let spare = over.max(u64::from(logs)).max(held - share) + reserve;
        let bad = bad_of(spec, share + spare);
        Blocks {
            groups,
            share,
            spare: spare + bad,
            reserve,
            bad,
            units_lost,
            fast,
            fast_cpages,
        }
    }
}

/// Number of blocks of a group for the static part of the fast cache, and the clustered pages of a block in SLC mode.
fn fast_of(spec: &Spec, cache: &FastCache, groups: u64) -> (u64, u64) {
    let flash = &spec.flash;
    let pages = u64::from(flash.pages_per_block);
    let cpages = flash.clustered_block.0 / flash.clustered_page.0;
    // Whole pages of each lane.
    let cpages = cpages / pages * (pages / u64::from(cache.bits_per_cell));
    let of_group = cache.static_capacity.0.div_ceil(groups);
    (of_group.div_ceil(cpages * flash.clustered_page.0), cpages)
}

/// Mapped units of a mapping table stored in flash: 4 bytes an entry (Gupta, Kim and Urgaonkar, ASPLOS 2009).
pub(super) fn map_units(spec: &Spec) -> u64 {
    let entries = (spec.unit() / 4).max(1);
    match spec.mapping.kind.needs().map_in_flash {
        true => (spec.capacity.0 / spec.unit()).div_ceil(entries),
        false => 0,
    }
}

/// Largest number of mapped units in a group when the capacity and the map in flash are spread over `groups`.
fn with_map(spec: &Spec, groups: u64) -> u128 {
    let units = u128::from(spec.stored() / spec.unit() + map_units(spec));
    let of_page = u128::from(spec.flash.clustered_page.0 / spec.unit());
    units.div_ceil(of_page).div_ceil(u128::from(groups)) * of_page
}

/// Number of blocks of a group that are bad from the start, in addition to `good` ones.
fn bad_of(spec: &Spec, good: u64) -> u64 {
    let share = spec.faults.factory_bad_percent / 100.0;
    (good as f64 * share / (1.0 - share)).round() as u64
}

/// Physical mapped units of a spec whose flash array and unit have been checked, spare blocks included; `None` if the
/// number overflows.
pub(crate) fn physical_units(spec: &Spec) -> Option<u64> {
    let blocks = Blocks::of(spec);
    let of_group = blocks.share.checked_add(blocks.spare)?;
    let cblocks = of_group.checked_mul(blocks.groups)?;
    cblocks.checked_mul(spec.flash.clustered_block.0 / spec.unit())
}
