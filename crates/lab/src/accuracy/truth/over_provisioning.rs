//! Ground truth of the over-provisioning: the flash of a page-mapped drive beyond its capacity.
//!
//! The drive file names a percentage, and the drive has some blocks more for open blocks and exchanges. The answer may lie
//! anywhere between, and beyond by a factor of 1.4: a probe does not know the victim policy, and the policies differ as if the
//! over-provisioning differed by a factor of up to 1.6 (`docs/validation-gc.md`: 7.4 for the better of two blocks with 10 %, 6.9
//! for greedy collection with 7 %).
//!
//! Collection shows if it is slower than the host and nothing disturbs it: hundreds of blocks a group, no separation by heat,
//! no wear levelling, no work in idle time, and no map in flash. Log blocks are no over-provisioning.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::spec::{MappingKind, Separation};
use fathom_ssd::{Geometry, Spec};

/// The factor by which policies differ.
const POLICIES: f64 = 1.4;
/// The least number of blocks of a group, and the largest ratio of spare flash, for collection to show.
const BLOCKS_MIN: u32 = 200;
const SPARE_MAX: f64 = 0.3;

pub(super) fn truth(spec: &Spec) -> Truth {
    if !spec.mapping.kind.is_paged() {
        return Truth::missing();
    }
    let geometry = Geometry::new(spec);
    let good = geometry.cblocks_per_group - geometry.bad_cblocks_per_group;
    let flash = f64::from(good * geometry.groups) * f64::from(geometry.units_per_cblock);
    let all = flash / f64::from(geometry.logical_units) - 1.0;
    let named = (spec.mapping.over_provisioning_percent / 100.0).min(all);
    let spare = (named - map(spec, &geometry)).max(0.0);
    let (low, high) = (spare / POLICIES, all * POLICIES);
    let right = vec![Right::Between(Value::Ratio(low), Value::Ratio(high))];
    let undisturbed = spec.mapping.kind == MappingKind::Page
        && spec.gc.separate != Separation::HotCold
        && spec.gc.wear_gap == 0
        && spec.gc.background_percent == 0.0
        && good >= BLOCKS_MIN
        && all <= SPARE_MAX;
    match undisturbed && is_slower(spec) {
        true => Truth::new(Sight::Identifiable, right, ""),
        false => Truth::new(
            Sight::Faint,
            right,
            "collection is hidden, disturbed or uneven",
        ),
    }
}

/// Returns the flash that the map takes, as a ratio of the capacity.
fn map(spec: &Spec, geometry: &Geometry) -> f64 {
    let each = match spec.mapping.partial_program {
        true => 1,
        false => geometry.units_per_cpage,
    };
    f64::from(geometry.map_units) * f64::from(each) / f64::from(geometry.logical_units)
}

/// Returns true if flash alone sets the speed of writes, even without collection.
fn is_slower(spec: &Spec) -> bool {
    let speeds = Speeds::of(spec);
    speeds.host(speeds.page()) < speeds.programmed(speeds.page() as f64, speeds.stations)
}
