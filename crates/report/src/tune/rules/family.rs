//! What a family of settings consists of.

use crate::tune::advice::Decision;
use crate::tune::case::Case;

/// A family of settings: what one program, or one part of the system, reads.
pub(super) struct Family {
    /// Its name in the output.
    pub(super) name: &'static str,
    pub(super) rules: &'static [Rule],
}

/// A setting and how it is decided.
pub(super) struct Rule {
    pub(super) setting: &'static str,
    pub(super) decide: fn(&Case<'_>) -> Decision,
}
