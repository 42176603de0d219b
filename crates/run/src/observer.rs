//! The interface through which the run loop reports a run in progress.

use fathom_base::{Dur, Time};
use fathom_block::{Access, DriveStats, QueueWork};

/// A completed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// The number of the access in the workload, from 0.
    pub number: u64,
    /// The process that asked for it, from 0. Always 0 unless the program has several processes.
    pub process: u32,
    /// The access. Its time is that of the workload.
    pub access: Access,
    /// When the access was asked for, on the device's clock.
    pub asked: Time,
    /// When the device accepted it.
    pub submitted: Time,
    /// When it completed.
    pub completed: Time,
    /// The access counts in no figure if it completed before this time.
    pub counts: Time,
    /// Total time so far in which the device had at least one access.
    pub busy: Dur,
}

/// The work done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The counters of the drive, if it has any.
    pub drive: Option<DriveStats>,
    /// The counters of the block layer above the drive, if there is one.
    pub queue: Option<QueueWork>,
}

/// Observes a workload while it is played.
pub trait Observer {
    /// Called at the start of the workload; `moment` is the work done before.
    fn begin(&mut self, _start: Time, _moment: Moment) {}

    /// Called for each completed access. `moment` returns the work done so far by the drive and the block layer above
    /// it.
    fn played(&mut self, played: &Played, moment: &dyn Fn() -> Moment);

    /// Returns true to end the run.
    fn interrupted(&self) -> bool {
        false
    }
}
