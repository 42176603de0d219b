//! The start of a partition.

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "partition",
    rules: &[Rule {
        setting: "start",
        decide: start,
    }],
};

/// Where partitioning programs begin the first partition (util-linux, fdisk(8)).
const DEFAULT: u64 = 1 << 20;
/// A start beyond this wastes more than an erase unit is worth.
const START_MAX: u64 = 1 << 30;

fn start(case: &Case<'_>) -> Decision {
    let unit = match case.exact_erase_unit() {
        Ok(unit) => unit,
        Err(why) => case.request_unit().map_err(|_| why)?,
    };
    let start = DEFAULT.next_multiple_of(unit.value.max(1));
    if start > START_MAX || !start.is_multiple_of(512) {
        let why = format!("a unit of {} is no place for a partition", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = match start == DEFAULT {
        true => format!(
            "1 MiB, where partitioning programs begin, is a multiple of {}",
            unit.said
        ),
        false => format!(
            "1 MiB, where partitioning programs begin, is no multiple of {}; {} is the first one",
            unit.said,
            bytes(start)
        ),
    };
    Ok(Decided::new(
        // Sectors would be those of the drive, of 512 or of 4096 bytes.
        format!("{start}B"),
        unit.parameter,
        reason,
    ))
}
