//! `mkfs.f2fs` (mkfs.f2fs(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "f2fs",
    rules: &[Rule {
        setting: "-s",
        decide: section,
    }],
};

/// A segment of f2fs; a section is a number of them, and is cleaned at once.
const SEGMENT: u64 = 2 << 20;
const SECTION_MAX: u64 = 1 << 30;

fn section(case: &Case<'_>) -> Decision {
    let unit = case.erase_unit()?;
    let segments = unit.value.div_ceil(SEGMENT).max(1);
    if unit.value > SECTION_MAX || !(segments * SEGMENT).is_multiple_of(unit.value.max(1)) {
        let why = format!("no section is a whole number of units of {}", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = format!(
        "a section that is cleaned covers whole units of {}, so the drive has nothing left to copy",
        unit.said
    );
    Ok(Decided::new(segments, unit.parameter, reason))
}
