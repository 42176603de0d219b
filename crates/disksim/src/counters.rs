//! What a drive has done since it was new.

use fathom_base::Dur;

/// A pass of cleaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cleaning {
    /// When it began, in milliseconds since the start.
    pub start_ms: f64,
    /// Which element.
    pub element: u32,
    /// How long the element was away, in milliseconds.
    pub cost_ms: f64,
}

/// What the drive has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages that the host has written.
    pub pages_written: u64,
    /// Pages that cleaning has moved.
    pub pages_moved: u64,
    /// Blocks that were cleaned.
    pub cleanings: u64,
    /// Blocks that were erased.
    pub erases: u64,
    /// The time for which elements were at work, all elements together.
    pub busy: Dur,
}

impl Counters {
    /// Write amplification: pages programmed with data for each page that the host has written; `None` where it has
    /// written none.
    pub fn waf(&self) -> Option<f64> {
        let programmed = (self.pages_written + self.pages_moved) as f64;
        (self.pages_written > 0).then(|| programmed / self.pages_written as f64)
    }
}
