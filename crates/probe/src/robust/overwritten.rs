//! Which drives are overwritten as wholes, several times, to see how they collect garbage.

use super::size::size;
use crate::record::Level;
use crate::{Estimate, Record, Space};
use fathom_base::Bytes;

/// The smallest and the largest drive that is overwritten, in bytes.
const DRIVE_MIN: u64 = 64 << 20;
const DRIVE_MAX: u64 = 64 << 30;

/// Returns true if a region of this size is overwritten at this level.
pub(crate) fn fits(space: &Space) -> bool {
    space.level == Level::Full && (DRIVE_MIN..=DRIVE_MAX).contains(&space.bytes())
}

/// Returns why the region does not let a question be answered that overwrites the drive, if so. `bound` is the most that it
/// writes, `rest` what the free space of the rest of the drive does.
pub(crate) fn unfit(record: &Record, bound: fn(&Space) -> u64, rest: &str) -> Option<Estimate> {
    let (space, target) = (Space::of(record), &record.meta.target);
    let whole = space.region == (0..target.capacity_bytes);
    let is_drive = target.modelled || target.name.starts_with("/dev/");
    if !(whole && is_drive) {
        return Some(Estimate::not_identifiable(format!(
            "only a part of the drive is measured: the free space of the rest {rest} as well"
        )));
    }
    if space.level == Level::Quick {
        return Some(Estimate::inconclusive(format!(
            "a quick run does not measure it: up to {} would have to be written",
            Bytes(bound(&space)).human()
        )));
    }
    if !(DRIVE_MIN..=DRIVE_MAX).contains(&space.bytes()) {
        return Some(Estimate::inconclusive(format!(
            "the drive has to be overwritten several times, which is done from {} to {}",
            size(DRIVE_MIN),
            size(DRIVE_MAX)
        )));
    }
    None
}
