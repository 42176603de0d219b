//! Measurement of a program on a device: the entry point for users of the library.

use crate::figures::Totals;
use crate::play::{PlayError, play};
use crate::recorder::Recorder;
use fathom_block::program::Program;
use fathom_block::{DriveStats, Subject};

/// The measurements of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Response times, throughput and their timeline.
    pub totals: Totals,
    /// The work of the drive during the run; `None` for a drive without counters.
    pub work: Option<DriveStats>,
}

/// Plays a program to its end on a prepared device and measures it.
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
