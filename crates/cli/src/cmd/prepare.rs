//! Brings a modelled drive into its initial state and shows the progress, because some kinds are filled by requests.

use crate::failure::Failure;
use crate::progress::Playing;
use fathom_base::Time;
use fathom_block::{Busy, Completion, Device, DeviceInfo, DriveStats, QueueWork, Request, Subject};
use fathom_lab::replay::RunError;
use fathom_model::Drive;
use fathom_run::{Precondition, prepare};

/// Returns the drive in this state.
///
/// # Errors
/// If the drive refuses a write.
pub(super) fn prepared(mut drive: Drive, state: Precondition, seed: u64) -> Result<Drive, Failure> {
    let again = match state {
        Precondition::Random { times, .. } => times,
        Precondition::AsIs | Precondition::Fresh | Precondition::Filled => 0.0,
    };
    let capacity = drive.info().capacity_bytes;
    let mut watched = Watched {
        drive: &mut drive,
        shown: Playing::new(),
        written: 0,
        of: (capacity as f64 * (1.0 + again)) as u64,
    };
    prepare(&mut watched, state, seed).map_err(RunError::Prepare)?;
    drop(watched);
    Ok(drive)
}

/// Wraps a drive and shows how much of it is written.
struct Watched<'a> {
    drive: &'a mut Drive,
    shown: Playing,
    written: u64,
    of: u64,
}

impl Device for Watched<'_> {
    fn info(&self) -> &DeviceInfo {
        self.drive.info()
    }

    fn now(&self) -> Time {
        self.drive.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let len = request.len;
        self.drive.submit(request)?;
        self.written += len;
        self.shown.written(self.written, self.of);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.drive.wait(until, done);
    }
}

impl Subject for Watched<'_> {
    fn stats(&self) -> Option<DriveStats> {
        self.drive.stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        self.drive.queue()
    }

    fn fill(&mut self) -> u64 {
        self.written = self.drive.fill();
        self.written
    }
}
