//! Checks of single values, and the bounds that several of them share.

use fathom_base::{BadValue, Dur, want};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Maximum time of a step that a request waits for.
pub(super) const STEP_MAX: Dur = Dur::ms(10_000);
/// Maximum idle time before something starts.
pub(super) const IDLE_MAX: Dur = Dur::ms(3_600_000);
/// Checks that the value of a key is in a range.
pub(super) fn within<T: PartialOrd + Display>(
    key: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), BadValue> {
    want(range.contains(&value), key, value, || {
        format!("{} to {}", range.start(), range.end())
    })
}

/// Checks that a time is at most `most`.
pub(super) fn at_most(key: &'static str, time: Dur, most: Dur) -> Result<(), BadValue> {
    want(time <= most, key, time, || format!("at most {most}"))
}
