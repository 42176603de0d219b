//! `mdadm --create` (mdadm(8)), for levels with chunks.

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "mdadm",
    rules: &[Rule {
        setting: "--chunk",
        decide: chunk,
    }],
};

/// The default chunk.
const CHUNK: u64 = 512 << 10;
const CHUNK_MAX: u64 = 64 << 20;

fn chunk(case: &Case<'_>) -> Decision {
    let unit = case.request_unit()?;
    // A chunk is a power of two for the levels that move data between layouts.
    let chunk = CHUNK.max(unit.value.next_power_of_two());
    if !chunk.is_multiple_of(unit.value) || chunk > CHUNK_MAX {
        let why = format!("no chunk is a multiple of a unit of {}", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = match chunk == CHUNK {
        true => format!(
            "the default: a chunk ends where a unit of {} ends",
            unit.said
        ),
        false => format!("the default of 512 KiB would cut units of {}", unit.said),
    };
    Ok(Decided::new(chunk >> 10, unit.parameter, reason))
}
