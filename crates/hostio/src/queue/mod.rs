//! The attributes of a drive's request queue in sysfs: reading them, changing them for a while, and restoring them.
//!
//! The kernel changes some attributes with others, so a change holds all that it may touch: they are written in an order,
//! read again, and compared. It writes its journal before the first attribute, so that the old values survive a process
//! that is killed. The journal belongs into a directory that does not survive a restart, as the attributes do not (`/run`).

mod back;
mod change;
mod drive;
mod entry;
mod journal;
mod left;
mod lock;
mod notes;
mod own;
mod refusal;
mod settle;
mod since;
mod state;
#[cfg(test)]
mod tests;
mod written;

pub use change::QueueChange;
pub use drive::DriveQueue;
pub use left::{Left, Outcome, restore_left};
pub use refusal::{Refusal, Setting};
pub use since::Since;
