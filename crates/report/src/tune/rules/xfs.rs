//! `mkfs.xfs` (mkfs.xfs(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "xfs",
    rules: &[
        Rule {
            setting: "-s",
            decide: sector,
        },
        Rule {
            setting: "-d",
            decide: stripe,
        },
    ],
};

const BLOCK: u64 = 4096;
/// The largest sector (mkfs.xfs(8)); it cannot exceed the block of 4 KiB either.
const SECTOR: u64 = 4096;

fn sector(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    if unit.value < SECTOR {
        let why = format!(
            "the drive writes {} without reading, so its own sector is right",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = format!(
        "the log and the headers are written in sectors, and one below {} makes the drive read first",
        unit.said
    );
    Ok(Decided::new(
        format!("size={SECTOR}"),
        unit.parameter,
        reason,
    ))
}

fn stripe(case: &Case<'_>) -> Decision {
    let unit = case.request_unit()?;
    if unit.value <= BLOCK || !unit.value.is_multiple_of(BLOCK) {
        let why = format!(
            "a unit of {} needs no alignment beyond that of a block",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let parts = case.measured.known("parallelism").ok();
    let of_stripe = unit.parameter == "stripe_unit";
    let parts = parts.filter(|parts| of_stripe && (1..=1024).contains(&parts.value));
    let (width, and) = match &parts {
        Some(parts) => (
            parts.value,
            format!(", and {} of them are worked on at once", parts.said),
        ),
        None => (1, String::new()),
    };
    let reason = format!(
        "extents and the log then begin at multiples of {}{and}",
        bytes(unit.value)
    );
    let value = format!("su={},sw={width}", unit.value);
    Ok(Decided::new(value, unit.parameter, reason))
}
