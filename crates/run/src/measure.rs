//! A program on a device, measured: what a library's user calls.

use crate::figures::Totals;
use crate::play::{PlayError, play};
use crate::recorder::Recorder;
use fathom_block::program::Program;
use fathom_block::{DriveStats, Subject};

/// What was measured of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Response times, throughput and how they went over time.
    pub totals: Totals,
    /// What the drive did during the run; `None` for one that does not tell.
    pub work: Option<DriveStats>,
}

/// Plays a program to its end on a device that is ready, and measures it.
///
/// # Errors
/// As [`play()`].
pub fn measure<P: Program + ?Sized>(
    device: &mut dyn Subject,
    program: &mut P,
) -> Result<Measured, PlayError<P::Error>> {
    let mut recorder = Recorder::new(|| false);
    play(device, program, &mut recorder)?;
    let work = device.stats().zip(recorder.before());
    Ok(Measured {
        work: work.map(|(after, before)| after.since(&before)),
        totals: recorder.finish(),
    })
}
