//! A wanted value, and one that the kernel did not accept.

use super::settle::Missed;

/// An attribute and the value that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the attribute, such as `nr_requests`.
    pub attribute: String,
    /// The value.
    pub value: String,
}

/// A value that the kernel did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// What the kernel said.
    pub error: String,
    /// What can be done.
    pub help: &'static str,
}

/// Returns the refusal of a value.
pub(super) fn refusal(missed: &Missed, wanted: String) -> Refusal {
    Refusal {
        attribute: missed.attribute.clone(),
        value: wanted,
        error: missed.error.to_string(),
        help: help(&missed.attribute),
    }
}

/// Returns what can be done about a value that the kernel refuses.
fn help(attribute: &str) -> &'static str {
    match attribute {
        "scheduler" => "load its module first, or build the kernel with it",
        "nr_requests" => {
            "with the scheduler `none` a drive takes no more requests than it has tags; another scheduler allows more"
        }
        "max_sectors_kb" => "a request is at most as long as `max_hw_sectors_kb`",
        "wbt_lat_usec" => {
            "throttling of write-back is not in this kernel, or the scheduler `bfq` does it; choose another scheduler"
        }
        "rq_affinity" => "this kernel or drive has no choice of the processor that completes",
        _ => "set another value by hand, or leave it",
    }
}
