//! An attribute that is changed or kept, and which attributes the kernel changes with another one.

use crate::sysfs::{chosen, number, text};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// The scheduler resets others and lists its values in another form.
pub(super) const SCHEDULER: &str = "scheduler";

/// The directory of the attributes of a scheduler.
pub(super) const OF_SCHEDULER: &str = "iosched/";

/// The attributes that a change may touch, in the order of writing: each one before those that the kernel changes with it.
pub(super) const ORDER: [&str; 6] = [
    SCHEDULER,
    "max_sectors_kb",
    "read_ahead_kb",
    "wbt_lat_usec",
    "nr_requests",
    "rq_affinity",
];

/// Returns the place of an attribute in the order of writing. Those that are not listed change the limits of the queue as
/// `max_sectors_kb` does.
pub(super) fn place(attribute: &str) -> usize {
    match attribute.starts_with(OF_SCHEDULER) {
        true => ORDER.len(),
        false => ORDER.iter().position(|a| *a == attribute).unwrap_or(1),
    }
}

/// Returns true if the kernel may change `other` when `written` is written (Linux 6.18):
/// - A switch of the scheduler resets `nr_requests` and the scheduler's own attributes (`elevator_switch`), and `bfq`
///   switches the throttling of write-back (`wbt_disable_default`).
/// - A change of the queue's limits computes `read_ahead_kb` anew (`blk_apply_bdi_limits`, block/blk-settings.c).
/// - `nr_requests` sets the scheduler's `async_depth` (`dd_depth_updated`, block/mq-deadline.c).
pub(super) fn moves(written: &str, other: &str) -> bool {
    match written {
        SCHEDULER => {
            ["nr_requests", "wbt_lat_usec"].contains(&other) || other.starts_with(OF_SCHEDULER)
        }
        "nr_requests" => other.starts_with(OF_SCHEDULER),
        "read_ahead_kb" | "wbt_lat_usec" | "rq_affinity" => false,
        _ => other == "read_ahead_kb" && !written.starts_with(OF_SCHEDULER),
    }
}

/// Returns true if the kernel may have given an attribute this value when `written` was written. Its read-ahead is two
/// optimal I/Os, of a rotational drive without one two of the longest requests, or the default of 128 KiB
/// (`blk_apply_bdi_limits`, in whole pages of at most 64 KiB). Of the others any value may be its own.
pub(super) fn may_make(queue: &Path, written: &str, attribute: &str, value: &str) -> bool {
    if written == attribute {
        return true;
    }
    let lengths = ["optimal_io_size", "max_sectors_kb"].map(|name| number(&queue.join(name)));
    let [optimal, longest] = lengths.map(|length| length.unwrap_or(0));
    let computed = |now: u64| {
        let whole = |kib: u64| now <= kib && kib - now < 64;
        [128, optimal / 1024 * 2, longest.saturating_mul(2)]
            .into_iter()
            .any(whole)
    };
    moves(written, attribute) && (attribute != "read_ahead_kb" || value.parse().is_ok_and(computed))
}

/// An attribute with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name below `queue`.
    pub(super) attribute: String,
    /// The value that was found.
    pub(super) old: String,
    /// The value that is wanted; `None` if the old one is to stay.
    pub(super) new: Option<String>,
    /// Other values that the kernel has given it with ours.
    pub(super) seen: Vec<String>,
}

impl Entry {
    /// An attribute that is to keep its value.
    pub(super) fn kept(attribute: String, old: String) -> Self {
        Self {
            attribute,
            old,
            new: None,
            seen: Vec::new(),
        }
    }

    /// Returns the value now.
    pub(super) fn now(&self, queue: &Path) -> Option<String> {
        value(queue, &self.attribute)
    }

    /// Returns true if this change is known to give it this value.
    pub(super) fn knows(&self, value: &str) -> bool {
        self.old == value
            || self.new.as_deref() == Some(value)
            || self.seen.iter().any(|seen| seen == value)
    }

    /// Returns true if it is an attribute of the scheduler.
    pub(super) fn is_of_scheduler(&self) -> bool {
        self.attribute.starts_with(OF_SCHEDULER)
    }
}

/// Returns the value of an attribute; of the scheduler the active one.
pub(super) fn value(queue: &Path, attribute: &str) -> Option<String> {
    let text = text(&queue.join(attribute))?;
    Some(match attribute {
        SCHEDULER => chosen(&text),
        _ => text,
    })
}

/// Writes a value to an attribute, which exists.
pub(super) fn write(queue: &Path, attribute: &str, value: &str) -> io::Result<()> {
    let path = queue.join(attribute);
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(value.as_bytes())
}

/// Returns true if a name is that of an attribute: it does not leave the directory of the queue.
pub(super) fn is_attribute(name: &str) -> bool {
    let parts = name.strip_prefix(OF_SCHEDULER).unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !parts.is_empty() && parts.chars().all(plain)
}
