//! Counters of the work that a drive has done since it was new.

use fathom_base::Dur;

/// One pass of cleaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cleaning {
    /// Start time, in milliseconds since the start of the simulation.
    pub start_ms: f64,
    /// The element.
    pub element: u32,
    /// Time for which the element was blocked, in milliseconds.
    pub cost_ms: f64,
}

/// The work that the drive has done since it was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages written by the host.
    pub pages_written: u64,
    /// Valid pages moved by cleaning.
    pub pages_moved: u64,
    /// Blocks cleaned.
    pub cleanings: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Busy time, summed over all elements.
    pub busy: Dur,
}

impl Counters {
    /// Returns the write amplification: data pages programmed per page written by the host; `None` if the host has
    /// written none.
    pub fn waf(&self) -> Option<f64> {
        let programmed = (self.pages_written + self.pages_moved) as f64;
        (self.pages_written > 0).then(|| programmed / self.pages_written as f64)
    }
}
