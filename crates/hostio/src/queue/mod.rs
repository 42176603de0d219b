//! The attributes of a drive's request queue in sysfs: reading them, changing them for a while, and restoring them.
//!
//! A change writes its journal before the first attribute, so that the old values survive a process that is killed. The
//! journal belongs into a directory that does not survive a restart, as the attributes do not (`/run`).

mod change;
mod drive;
mod entry;
mod journal;
mod left;
#[cfg(test)]
mod tests;

pub use change::{QueueChange, Refusal, Setting};
pub use drive::DriveQueue;
pub use left::{Left, Outcome, restore_left};
