//! `zpool create` (zpoolprops(7)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "zpool",
    rules: &[Rule {
        setting: "-o ashift",
        decide: ashift,
    }],
};

/// The range of `ashift`; it cannot be changed later.
const ASHIFT_MAX: u32 = 16;
/// 4 KiB: a smaller one excludes every later drive with blocks of 4 KiB from the pool.
const ASHIFT_MIN: u32 = 12;

fn ashift(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    let physical = case.reported.size("physical_block_size").unwrap_or(0);
    let shift = unit.high.max(1).ilog2();
    if shift > ASHIFT_MAX {
        let why = format!("no pool has blocks of {}", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reported = physical.is_power_of_two().then(|| physical.ilog2());
    let reported = reported.filter(|shift| *shift <= ASHIFT_MAX).unwrap_or(0);
    let value = shift.max(reported).max(ASHIFT_MIN);
    let reason = match value == shift {
        true => format!(
            "a block below {} makes the drive read first; it cannot be changed later, and every block takes that much",
            unit.said
        ),
        false => format!(
            "the drive writes {} without reading, and no pool should have blocks below {}",
            unit.said,
            bytes(1 << value)
        ),
    };
    Ok(Decided::new(value, unit.parameter, reason))
}
