//! An attribute that is changed, or that another change resets.

use crate::sysfs::{chosen, text};
use std::fs;
use std::io;
use std::path::Path;

/// The scheduler resets others and lists its values in another form.
pub(super) const SCHEDULER: &str = "scheduler";

/// The attributes that a switch resets: those of the scheduler and some of the queue.
pub(super) const OF_SCHEDULER: &str = "iosched/";
pub(super) const OF_QUEUE: [&str; 2] = ["nr_requests", "wbt_lat_usec"];

/// An attribute with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name below `queue`.
    pub(super) attribute: String,
    /// The value that was found.
    pub(super) old: String,
    /// The value that is wanted; `None` if a change of the scheduler resets it.
    pub(super) new: Option<String>,
    /// The value that the kernel made of it.
    pub(super) seen: Option<String>,
}

impl Entry {
    /// Returns the value now.
    pub(super) fn now(&self, queue: &Path) -> Option<String> {
        value(queue, &self.attribute)
    }

    /// Sets a value.
    pub(super) fn set(&self, queue: &Path, value: &str) -> io::Result<()> {
        fs::write(queue.join(&self.attribute), value)
    }

    /// Sets the new value unless it is set.
    ///
    /// # Errors
    /// The error from the kernel, or that it accepts the value and keeps the old one.
    pub(super) fn change(&self, queue: &Path, new: &str) -> io::Result<()> {
        if self.now(queue).as_deref() == Some(new) {
            return Ok(());
        }
        self.set(queue, new)?;
        if self.old == new || self.now(queue).as_ref() != Some(&self.old) {
            return Ok(());
        }
        // The kernel may have noted the value and limited it.
        let _it_was_set_before = self.set(queue, &self.old);
        Err(io::Error::other(
            "it accepted the value and kept the old one",
        ))
    }

    /// Sets the old value unless it is set.
    pub(super) fn put_back(&self, queue: &Path) -> io::Result<()> {
        match self.now(queue).as_ref() == Some(&self.old) {
            true => Ok(()),
            false => self.set(queue, &self.old),
        }
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

/// Returns true if a name is that of an attribute: it does not leave the directory of the queue.
pub(super) fn is_attribute(name: &str) -> bool {
    let parts = name.strip_prefix(OF_SCHEDULER).unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !parts.is_empty() && parts.chars().all(plain)
}

/// Returns true if a switch of the scheduler resets this attribute (`elevator_switch`, block/elevator.c, 6.18).
pub(super) fn is_reset_by_scheduler(attribute: &str) -> bool {
    attribute.starts_with(OF_SCHEDULER) || OF_QUEUE.contains(&attribute)
}
