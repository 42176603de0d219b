//! What the run loop tells of a run while it goes on.

use fathom_base::{Dur, Time};
use fathom_block::{Access, DriveStats, QueueWork};

/// An access that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Which access of the workload, counted from 0.
    pub number: u64,
    /// Which process asked for it, counted from 0; all is one process unless the program has several.
    pub process: u32,
    /// What it was. Its time is that of the workload.
    pub access: Access,
    /// When it was asked for, on the device's clock.
    pub asked: Time,
    /// When the device took it.
    pub submitted: Time,
    /// When it was done.
    pub completed: Time,
    /// Where it was done before that, it counts in no figure.
    pub counts: Time,
    /// How long, in all so far, the device has had at least one access: from when it took one until it had none.
    pub busy: Dur,
}

/// What was done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// By the drive, where it can tell.
    pub drive: Option<DriveStats>,
    /// By the block layer above it, if there is one.
    pub queue: Option<QueueWork>,
}

/// Watches a workload play.
pub trait Observer {
    /// The workload begins; `moment` is what was done before.
    fn begin(&mut self, _start: Time, _moment: Moment) {}

    /// An access is done. `moment` tells what the drive and the block layer above it have done so far.
    fn played(&mut self, played: &Played, moment: &dyn Fn() -> Moment);

    /// Whether to give up.
    fn interrupted(&self) -> bool {
        false
    }
}
