//! `cryptsetup luksFormat` (cryptsetup-luksFormat(8)). `--allow-discards` is no matter of speed alone: it shows which
//! blocks are unused, so no rule advises it.

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "luksFormat",
    rules: &[
        Rule {
            setting: "--sector-size",
            decide: sector,
        },
        Rule {
            setting: "--offset",
            decide: offset,
        },
    ],
};

/// The largest sector of LUKS2.
const SECTOR: u64 = 4096;

fn sector(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    if unit.value < SECTOR {
        let why = format!(
            "the drive writes {} without reading; a longer sector could be torn by a power cut",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = format!(
        "4 KiB are encrypted at once instead of 512 B, and the drive writes {} at once, too",
        unit.said
    );
    Ok(Decided::new(SECTOR, unit.parameter, reason))
}

/// Where the data of LUKS2 begins by default: after a header of 16 MiB.
const DATA: u64 = 16 << 20;
const DATA_MAX: u64 = 1 << 30;

fn offset(case: &Case<'_>) -> Decision {
    let unit = case.exact_erase_unit()?;
    let offset = DATA.next_multiple_of(unit.value.max(1));
    if offset == DATA {
        let why = format!("the default of 16 MiB is a multiple of {}", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    if offset > DATA_MAX || !offset.is_multiple_of(SECTOR) {
        let why = format!("a unit of {} is no place for data", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = format!("the default of 16 MiB is no multiple of {}", unit.said);
    Ok(Decided::new(offset / 512, unit.parameter, reason))
}
