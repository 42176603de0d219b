//! Seastar's `io_properties.yaml` (seastar, doc/io-properties-file.md).

use super::family::{Family, Rule};
use super::loads::{Load, parameters};
use crate::tune::advice::{Decided, Decision};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "seastar",
    rules: &[
        Rule {
            setting: "read_iops",
            decide: |case| rate(case, Load::ReadRandom),
        },
        Rule {
            setting: "read_bandwidth",
            decide: |case| rate(case, Load::ReadBytes),
        },
        Rule {
            setting: "write_iops",
            decide: |case| rate(case, Load::WriteRandom),
        },
        Rule {
            setting: "write_bandwidth",
            decide: |case| rate(case, Load::WriteBytes),
        },
        Rule {
            setting: "physical_block_size",
            decide: physical_block,
        },
    ],
};

/// The scheduler divides by all four rates, so none is optional.
const ALL: [Load; 4] = [
    Load::ReadRandom,
    Load::ReadBytes,
    Load::WriteRandom,
    Load::WriteBytes,
];

fn rate(case: &Case<'_>, load: Load) -> Decision {
    let rates = Load::rates(&ALL, case)?;
    let found = ALL.iter().zip(&rates).find(|(one, _)| **one == load);
    let (parameter, per_second) = found.map_or(("rate_limit", 0), |(_, rate)| {
        (rate.parameter, rate.per_second)
    });
    let reason = format!("the rate that lasts, from {}", parameters(&rates));
    Ok(Decided::new(per_second, parameter, reason))
}

fn physical_block(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    let reported = case.reported.size("physical_block_size");
    let reason = match reported {
        Some(reported) if reported == unit.high => {
            format!(
                "the drive reports it, and the measured unit is {}",
                unit.said
            )
        }
        Some(_) => format!(
            "the drive reports another one, and the measured unit is {}",
            unit.said
        ),
        None => format!("the measured unit is {}", unit.said),
    };
    Ok(Decided::new(unit.high, unit.parameter, reason))
}
