//! `pvcreate` (pvcreate(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "pvcreate",
    rules: &[Rule {
        setting: "--dataalignment",
        decide: alignment,
    }],
};

/// The default alignment (lvm.conf(5), `default_data_alignment`), which is also that of an extent.
const DEFAULT: u64 = 1 << 20;
const ALIGNMENT_MAX: u64 = 1 << 30;

fn alignment(case: &Case<'_>) -> Decision {
    let unit = match case.exact_erase_unit() {
        Ok(unit) => unit,
        Err(why) => case.request_unit().map_err(|_| why)?,
    };
    let alignment = DEFAULT.next_multiple_of(unit.value.max(1));
    if alignment > ALIGNMENT_MAX || !alignment.is_multiple_of(512) {
        let why = format!("a unit of {} is no alignment", unit.said);
        return Err(Undecided::identified(unit.parameter, why));
    }
    let reason = format!(
        "extents then begin at a multiple of {}, as long as their size is one of {} too",
        unit.said,
        bytes(unit.value)
    );
    Ok(Decided::new(
        format!("{}b", alignment),
        unit.parameter,
        reason,
    ))
}
