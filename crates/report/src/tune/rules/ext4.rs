//! `mkfs.ext4` (mke2fs(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "ext4",
    rules: &[
        Rule {
            setting: "-b",
            decide: block,
        },
        Rule {
            setting: "-E",
            decide: stripe,
        },
    ],
};

/// The largest block that every machine mounts: a page of x86.
const BLOCK: u64 = 4096;

fn block(case: &Case<'_>) -> Decision {
    let unit = case.write_unit()?;
    let reason = match unit.high <= BLOCK {
        true => format!(
            "a block of 4 KiB is written without reading, because the drive maps units of {}",
            unit.said
        ),
        false => format!(
            "the drive maps units of {}, and a block is at most a page; -E below keeps files on whole units",
            unit.said
        ),
    };
    Ok(Decided::new(BLOCK, unit.parameter, reason))
}

fn stripe(case: &Case<'_>) -> Decision {
    let unit = case.request_unit()?;
    let stride = unit.value / BLOCK;
    if stride < 2 || !unit.value.is_multiple_of(BLOCK) {
        let why = format!(
            "a unit of {} needs no alignment beyond that of a block",
            unit.said
        );
        return Err(Undecided::identified(unit.parameter, why));
    }
    let whole = case
        .stripe()
        .ok()
        .filter(|s| s.bytes.is_multiple_of(unit.value));
    let width = whole.as_ref().map_or(unit.value, |stripe| stripe.bytes);
    let reason = match &whole {
        Some(stripe) => format!(
            "the allocator then begins large files at multiples of {}, where {} work at once",
            bytes(width),
            stripe.said
        ),
        None => format!(
            "the allocator then begins large files at multiples of {}",
            unit.said
        ),
    };
    let value = format!("stride={stride},stripe_width={}", width / BLOCK);
    Ok(Decided::new(value, unit.parameter, reason))
}
