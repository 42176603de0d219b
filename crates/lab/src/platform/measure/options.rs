//! What is measured.

use fathom_base::{Bytes, Dur};
use std::path::PathBuf;

/// What is measured.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Block devices and regular files. With several, the rate of all together is measured, too.
    pub targets: Vec<PathBuf>,
    /// Length of a read.
    pub block: Bytes,
    /// Time of each part of the measurement.
    pub time: Dur,
    /// Whether the kernel's events may be recorded.
    pub trace: bool,
    /// The seed of the places that are read.
    pub seed: u64,
    /// Called regularly; `true` ends the measurement.
    pub stop: fn() -> bool,
    /// Gets a function that removes a recording, to be called if the process ends at once. The last one counts.
    pub before_the_end: fn(Box<dyn Fn() + Send + Sync>),
}
